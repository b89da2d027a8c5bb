//! Restart marks among the knobs: where the agent's program is taken to have been started again.

use super::{PanelInput, small};
use crate::app::command::Command;
use crate::app::runs::resumes;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::wording;
use egui::Ui;

/// Marks shown one by one; more are told by their number.
const MOST: usize = 24;

/// Shows the marks, where there are any or where a lane's policy does something with them.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let marks = &input.config.restarts;
    let lanes = &input.config.lanes;
    let is_of_use = lanes
        .iter()
        .any(|lane| resumes(&input.policies.get(&lane.policy)));
    if marks.is_empty() && !is_of_use {
        return;
    }
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        ui.label("restarts");
        let help = if is_of_use {
            "Calls before which the agent's program was started again."
        } else {
            "No lane's policy does anything when it is started again."
        };
        ui.label(small(ui, help));
        if !marks.is_empty() {
            all(ui, marks, commands);
        }
        let step = input.selection.step;
        let name = if marks.binary_search(&step).is_ok() {
            format!("Take the mark at call {} away", wording::number(step))
        } else {
            format!("Mark a restart at call {}", wording::number(step))
        };
        if widgets::secondary_button(ui, &name, "R").clicked() {
            commands.push(Command::ToggleRestart(step));
        }
    });
}

/// The marks side by side.
fn all(ui: &mut Ui, marks: &[usize], commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(space::XS, space::XS);
        ui.spacing_mut().interact_size.y = 22.0;
        for step in marks.iter().take(MOST) {
            mark(ui, *step, commands);
        }
        if marks.len() > MOST {
            let more = wording::grouped((marks.len() - MOST) as u64);
            ui.label(small(ui, format!("and {more} more")));
        }
    });
}

/// A mark that leads to its call.
fn mark(ui: &mut Ui, step: usize, commands: &mut Vec<Command>) {
    let call = wording::number(step);
    let button = ui
        .button(small(ui, format!("call {call}")))
        .on_hover_text("Look at this call; R takes the mark away")
        .accessible_name(format!("Restart at call {call}"));
    if button.clicked() {
        commands.push(Command::SelectStep(step));
    }
}
