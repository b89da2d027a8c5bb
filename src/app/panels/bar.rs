//! The bar at the top: what is open, how well it is known, and what can be done with all of it.

mod chips;
mod menu;
mod model;

use super::Frame;
use crate::app::command::Command;
use crate::app::conversion::ConversionWish;
use crate::app::handout::Form;
use crate::app::runs::Runs;
use crate::app::sessions::{Sessions, SessionsWish};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::safe_text;
use egui::{Frame as UiFrame, Margin, Panel, Popup, RichText, Ui, UiBuilder, vec2};

/// In a narrower bar the way back is a sign alone.
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
            // What acts stays whole at the right edge; the chips give way. The keyboard goes from left to right, so
            // that the chips come first and have to know how much the buttons took before.
            let id = ui.make_persistent_id("actions");
            let before: Option<f32> = ui.data(|data| data.get_temp(id));
            let row = ui.available_rect_before_wrap();
            let split = row.right() - before.unwrap_or(row.width() / 2.0);
            if let (Some(document), Some(runs)) = (frame.document, runs) {
                let left = row
                    .with_max_x(split - space::M)
                    .translate(vec2(space::XS, 0.0));
                ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
                    chips::show(ui, frame, (document, runs), commands);
                    if let Some(state) = frame.live.filter(|_| ui.available_width() > 64.0) {
                        chips::live(ui, state);
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
                    .request_discard("the width of the buttons is known only now");
            }
        });
    });
}

/// The way back to the list that a session was opened from.
fn back(ui: &mut Ui, list: &Sessions, commands: &mut Vec<Command>) {
    // Where the bar is narrow, the file's name needs the room more.
    let name = if ui.available_width() < NARROW {
        "⏴"
    } else {
        "⏴ Sessions"
    };
    let button = widgets::secondary_button(ui, name, "").accessible_name("Back to the sessions");
    let listed = match &list.folder {
        Some(folder) => safe_text::one_line(&folder.display().to_string(), 80),
        None => "what agents left on this machine".to_owned(),
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
    menu::show(ui, frame, commands);
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

/// The button for what is exported most often, and a menu with all there is beside it.
fn export(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    let [button, more] = widgets::primary_with_menu(ui, "Export…", "More to export");
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
            &format!("What the model saw at call {}…", wording::number(frame.step)),
            "As a conversation file: really, or in the focused lane",
            Command::StartSaw,
        );
        item(
            "Convert to another format…",
            "The whole session as it is, in another program's form; you see before what that cannot hold",
            Command::Convert(ConversionWish::Start),
        );
        item(
            "Report…",
            "What happened and what each lane would have done, as a page or as Markdown, redacted where you want",
            Command::StartHandout(Form::Page),
        );
        item(
            "Curve…",
            "How full the context is at every call, as a picture or a table",
            Command::StartHandout(Form::Png),
        );
    });
}
