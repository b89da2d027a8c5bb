//! The top bar: the open session, the accuracy of its counts, and global actions.

use crate::app::state::command::{Command, Commands};
use crate::app::state::convert::conversion::ConvertCommand;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::report_export::{ReportCommand, ReportFormat};
use crate::app::state::restore::restoring::RestoreCommand;
use crate::app::state::sessions::list::{Sessions, SessionsCommand};
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::bar::input::BarInput;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::{theme, widgets};
use crate::safe_text;
use egui::{Frame as UiFrame, Margin, Panel, Popup, RichText, Ui, UiBuilder, vec2};

/// Width in points below which the back button shows only its icon.
const NARROW: f32 = 1100.0;

/// Shows the bar.
pub(crate) fn show(
    ui: &mut Ui,
    input: &BarInput<'_>,
    runs: Option<&Runs>,
    commands: &mut Commands,
) {
    let margin = Margin::symmetric(16, 6);
    let panel =
        Panel::top("bar").frame(UiFrame::new().fill(palette(ui).panel).inner_margin(margin));
    panel.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.label(RichText::new("Plimsoll").text_style(theme::strong()).size(14.0));
            if let Some(list) = input.list.filter(|list| !list.is_shown) {
                back_button(ui, list, commands);
            }
            // The buttons keep their width and the chips shrink. Keyboard focus goes from left to right, so the chips
            // are shown first and use the buttons' width from the previous frame.
            let id = ui.make_persistent_id("actions");
            let before: Option<f32> = ui.data(|data| data.get_temp(id));
            let row = ui.available_rect_before_wrap();
            let split = row.right() - before.unwrap_or(row.width() / 2.0);
            if let (Some(document), Some(runs)) = (input.document, runs) {
                let left = row.with_max_x(split - space::M).translate(vec2(space::XS, 0.0));
                ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
                    crate::app::ui::bar::chips::show(ui, input, document, runs, commands);
                    if let Some(state) = input.live.filter(|_| ui.available_width() > 64.0) {
                        crate::app::ui::bar::chips::live(ui, state);
                    }
                });
            }
            let right = UiBuilder::new().max_rect(row.with_min_x(split));
            let taken = ui.scope_builder(right, |ui| {
                actions(ui, input, runs.is_some(), commands);
                ui.min_rect().width()
            });
            if before.is_none_or(|before| (before - taken.inner).abs() > 0.5) {
                ui.data_mut(|data| data.insert_temp(id, taken.inner));
                ui.ctx().request_discard("the width of the buttons is known only after layout");
            }
        });
    });
}

/// Shows the button that returns to the list of sessions.
fn back_button(ui: &mut Ui, list: &Sessions, commands: &mut Commands) {
    // In a narrow bar the file name needs the space.
    let name = if ui.available_width() < NARROW { "⏴" } else { "⏴ Sessions" };
    let button = widgets::secondary_button(ui, name, "").accessible_name("Back to the sessions");
    let listed = match &list.folder {
        Some(folder) => safe_text::one_line(&folder.display().to_string(), 80),
        None => "sessions on this machine".to_owned(),
    };
    if button.on_hover_text(format!("Back to the list of sessions: {listed}")).clicked() {
        commands.push(SessionsCommand::Back);
    }
}

/// Shows the buttons at the right end. `is_ready`: a session is replayed.
fn actions(ui: &mut Ui, input: &BarInput<'_>, is_ready: bool, commands: &mut Commands) {
    if is_ready {
        let mut arrow = |is_enabled: bool, name: &str, sign: &str, keys: &str, command: Command| {
            let button = egui::Button::new(sign).min_size(vec2(28.0, space::CONTROL));
            let button = ui.add_enabled(is_enabled, button);
            if button.on_hover_text(format!("{name} ({keys})")).accessible_name(name).clicked() {
                commands.push(command);
            }
        };
        arrow(input.can_undo, "Undo", "⟲", "Ctrl+Z", ShellCommand::Undo.into());
        arrow(input.can_redo, "Redo", "⟳", "Ctrl+Shift+Z", ShellCommand::Redo.into());
    }
    crate::app::ui::bar::menu::show(ui, input, commands);
    let open = widgets::secondary_button(ui, "Open…", "Ctrl+O");
    if open.on_hover_text("Open a session file. You can also drop one on the window.").clicked() {
        commands.push(OpenCommand::ShowDialog);
    }
    if is_ready {
        export(ui, input, commands);
    }
}

/// Shows the export button with a menu of all exports.
fn export(ui: &mut Ui, input: &BarInput<'_>, commands: &mut Commands) {
    let [button, more] = widgets::primary_with_menu(ui, "Export…", "More exports");
    if button
        .on_hover_text("Write the focused lane's conversation to a new file (Ctrl+E)")
        .clicked()
    {
        commands.push(ExportCommand::Start(None));
    }
    Popup::menu(&more).show(|ui| {
        ui.set_min_width(280.0);
        let mut item = |name: &str, help: &str, command: Command| {
            if ui.button(name).on_hover_text(help).clicked() {
                commands.push(command);
            }
        };
        item(
            "Managed conversation…",
            "The focused lane's conversation as a new file, or as a session that its program can resume (Ctrl+E)",
            ExportCommand::Start(None).into(),
        );
        item(
            &format!("Context at call {}…", wording::number(input.call)),
            "The context sent for this call, as recorded or in the focused lane, as a conversation file",
            ExportCommand::StartContext.into(),
        );
        item(
            "Convert to another format…",
            "The whole session in another program's format; lists in advance what that format cannot store",
            ConvertCommand::Start.into(),
        );
        item(
            "Report…",
            "Events and results of each lane, as a web page or Markdown, redacted on request",
            ReportCommand::Start(ReportFormat::Page).into(),
        );
        item(
            "Curve…",
            "Fill of the context window at every call, as an image or a table",
            ReportCommand::Start(ReportFormat::Png).into(),
        );
        item(
            "Restore original…",
            "The source of a managed conversation, byte for byte, from the files that the export wrote",
            RestoreCommand::Start.into(),
        );
    });
}
