//! Simulated restarts in the settings panel: calls before which the agent's program is assumed to have been restarted.

use crate::app::state::command::Commands;
use crate::app::state::model::runs::replays::resumes;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::Ui;

/// Maximum number of restarts listed one by one.
const MAX_LISTED: usize = 24;

/// Shows the restarts if there are any or if a lane's policy reacts to them.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let marks = &input.config.restarts;
    let lanes = &input.config.lanes;
    let is_used = lanes.iter().any(|lane| resumes(&input.policies.get(&lane.policy)));
    if marks.is_empty() && !is_used {
        return;
    }
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        ui.label("restarts");
        let help = if is_used {
            "Simulated restarts: the agent's program is restarted before these calls."
        } else {
            "No lane's policy reacts to a restart."
        };
        ui.label(small(ui, help));
        if !marks.is_empty() {
            all(ui, marks, commands);
        }
        let call = input.selection.call;
        let name = if marks.binary_search(&call).is_ok() {
            format!("Remove the restart at call {}", wording::number(call))
        } else {
            format!("Add a restart at call {}", wording::number(call))
        };
        if widgets::secondary_button(ui, &name, "R").clicked() {
            commands.push(SettingsCommand::ToggleRestart(call));
        }
    });
}

/// Shows the restarts side by side.
fn all(ui: &mut Ui, marks: &[usize], commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(space::XS, space::XS);
        ui.spacing_mut().interact_size.y = 22.0;
        for call in marks.iter().take(MAX_LISTED) {
            mark(ui, *call, commands);
        }
        if marks.len() > MAX_LISTED {
            let more = wording::grouped((marks.len() - MAX_LISTED) as u64);
            ui.label(small(ui, format!("and {more} more")));
        }
    });
}

/// Shows a restart that selects its call when clicked.
fn mark(ui: &mut Ui, call: usize, commands: &mut Commands) {
    let number = wording::number(call);
    let button = ui
        .button(small(ui, format!("call {number}")))
        .on_hover_text("Show this call; R removes the restart")
        .accessible_name(format!("Restart at call {number}"));
    if button.clicked() {
        commands.push(SelectCommand::Call(call));
    }
}
