//! The top bar: the open session, the accuracy of its counts, and global actions.

use crate::app::command::Command;
use crate::app::convert::conversion::ConversionWish;
use crate::app::report_export::job::Form;
use crate::app::runs::replays::Runs;
use crate::app::sessions::list::{Sessions, SessionsWish};
use crate::app::shell::layout::Frame;
use crate::app::theme::{self, palette, space};
use crate::app::{widgets, wording};
use crate::safe_text;
use egui::{Frame as UiFrame, Margin, Panel, Popup, RichText, Ui, UiBuilder, vec2};

/// Width in points below which the back button shows only its icon.
const NARROW: f32 = 1100.0;

/// Shows the bar.
pub fn show(ui: &mut Ui, frame: &Frame<'_>, runs: Option<&Runs>, commands: &mut Vec<Command>) {
    let margin = Margin::symmetric(16, 6);
    let panel =
        Panel::top("bar").frame(UiFrame::new().fill(palette(ui).panel).inner_margin(margin));
    panel.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.label(
                RichText::new("Plimsoll")
                    .text_style(theme::strong())
                    .size(14.0),
            );
            if let Some(list) = frame.list.filter(|list| !list.is_shown) {
                back(ui, list, commands);
            }
            // The buttons keep their width and the chips shrink. Keyboard focus goes from left to right, so the chips
            // are shown first and use the buttons' width from the previous frame.
            let id = ui.make_persistent_id("actions");
            let before: Option<f32> = ui.data(|data| data.get_temp(id));
            let row = ui.available_rect_before_wrap();
            let split = row.right() - before.unwrap_or(row.width() / 2.0);
            if let (Some(document), Some(runs)) = (frame.document, runs) {
                let left = row
                    .with_max_x(split - space::M)
                    .translate(vec2(space::XS, 0.0));
                ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
                    super::chips::show(ui, frame, (document, runs), commands);
                    if let Some(state) = frame.live.filter(|_| ui.available_width() > 64.0) {
                        super::chips::live(ui, state);
                    }
                });
            }
            let right = UiBuilder::new().max_rect(row.with_min_x(split));
            let taken = ui.scope_builder(right, |ui| {
                actions(ui, frame, runs.is_some(), commands);
                ui.min_rect().width()
            });
            if before.is_none_or(|before| (before - taken.inner).abs() > 0.5) {
                ui.data_mut(|data| data.insert_temp(id, taken.inner));
                ui.ctx()
                    .request_discard("the width of the buttons is known only after layout");
            }
        });
    });
}

/// Shows the button that returns to the list of sessions.
fn back(ui: &mut Ui, list: &Sessions, commands: &mut Vec<Command>) {
    // In a narrow bar the file name needs the space.
    let name = if ui.available_width() < NARROW {
        "⏴"
    } else {
        "⏴ Sessions"
    };
    let button = widgets::secondary_button(ui, name, "").accessible_name("Back to the sessions");
    let listed = match &list.folder {
        Some(folder) => safe_text::one_line(&folder.display().to_string(), 80),
        None => "sessions on this machine".to_owned(),
    };
    if button
        .on_hover_text(format!("Back to the list of sessions: {listed}"))
        .clicked()
    {
        commands.push(Command::Sessions(SessionsWish::Back));
    }
}

fn actions(ui: &mut Ui, frame: &Frame<'_>, is_ready: bool, commands: &mut Vec<Command>) {
    if is_ready {
        let mut arrow = |is_enabled: bool, name: &str, sign: &str, keys: &str, does: Command| {
            let button = egui::Button::new(sign).min_size(vec2(28.0, space::CONTROL));
            let button = ui.add_enabled(is_enabled, button);
            if button
                .on_hover_text(format!("{name} ({keys})"))
                .accessible_name(name)
                .clicked()
            {
                commands.push(does);
            }
        };
        arrow(frame.can_undo, "Undo", "⟲", "Ctrl+Z", Command::Undo);
        arrow(frame.can_redo, "Redo", "⟳", "Ctrl+Shift+Z", Command::Redo);
    }
    super::menu::show(ui, frame, commands);
    let open = widgets::secondary_button(ui, "Open…", "Ctrl O");
    if open
        .on_hover_text("Open a session file. You can also drop one on the window.")
        .clicked()
    {
        commands.push(Command::OpenDialog);
    }
    if is_ready {
        export(ui, frame, commands);
    }
}

/// Shows the export button with a menu of all exports.
fn export(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    let [button, more] = widgets::primary_with_menu(ui, "Export…", "More exports");
    if button
        .on_hover_text("Write the focused lane's conversation to a new file (Ctrl+E)")
        .clicked()
    {
        commands.push(Command::StartExport(None));
    }
    Popup::menu(&more).show(|ui| {
        ui.set_min_width(280.0);
        let mut item = |name: &str, help: &str, does: Command| {
            if ui.button(name).on_hover_text(help).clicked() {
                commands.push(does);
            }
        };
        item(
            "Managed conversation…",
            "The focused lane's conversation as a new file, or as a session that its program can resume (Ctrl+E)",
            Command::StartExport(None),
        );
        item(
            &format!("Context at call {}…", wording::number(frame.step)),
            "The context sent for this call, as recorded or in the focused lane, as a conversation file",
            Command::StartSaw,
        );
        item(
            "Convert to another format…",
            "The whole session in another program's format; lists in advance what that format cannot store",
            Command::Convert(ConversionWish::Start),
        );
        item(
            "Report…",
            "Events and results of each lane, as a web page or Markdown, redacted on request",
            Command::StartHandout(Form::Page),
        );
        item(
            "Curve…",
            "Fill of the context window at every call, as an image or a table",
            Command::StartHandout(Form::Png),
        );
    });
}
