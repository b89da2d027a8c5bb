//! What is recommended, in a sentence that says why, with a button that takes it over.

use super::{PanelInput, small, weak};
use crate::analysis::tune::rejections;
use crate::app::command::Command;
use crate::app::theme::{self, palette, space};
use crate::app::tuning::Tuning;
use crate::app::wording;
use egui::{Frame, Label, Margin, RichText, Ui};

/// In a drawer lower than this the plot needs the room more than the sentence.
const LOW: f32 = 320.0;

/// Shows the sentence, and what was out of the question.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    tuning: &Tuning,
    commands: &mut Vec<Command>,
) {
    let is_low = ui.available_height() < LOW;
    let margin = Margin {
        left: 16,
        right: 12,
        top: 6,
        bottom: 2,
    };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        if is_low {
            in_a_line(ui, input, tuning, commands);
            return;
        }
        match &tuning.recommended {
            None => {
                ui.label(weak(ui, "Trying…"));
            }
            Some(Err(why)) => {
                let said = RichText::new(wording::with_grouped(why));
                ui.add(Label::new(said.color(palette(ui).warn)).wrap());
            }
            Some(Ok(found)) => {
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing.x = space::S;
                    ui.spacing_mut().interact_size.y = 20.0;
                    ui.spacing_mut().button_padding = egui::vec2(8.0, 1.0);
                    ui.label(RichText::new("Recommended").text_style(theme::strong()));
                    adopt(ui, input, tuning, found.point, commands);
                    // It compares with what the lane had when it was swept.
                    if !has_it(input, tuning, found.point) {
                        ui.add(Label::new(wording::with_grouped(&found.text)).wrap());
                    }
                    if let Some(others) = &found.others {
                        ui.add(Label::new(weak(ui, wording::with_grouped(others))).wrap());
                    }
                });
            }
        }
        out_of_the_question(ui, tuning);
        if !tuning.holds_for(input.config) {
            ui.label(small(ui, CHANGED).color(palette(ui).warn));
        }
    });
}

/// Takes a setting over, unless the lane has it.
fn adopt(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    tuning: &Tuning,
    idx: usize,
    commands: &mut Vec<Command>,
) {
    if has_it(input, tuning, idx) {
        ui.label(weak(ui, "The lane has these settings now."));
    } else if ui
        .button("Adopt")
        .on_hover_text("Give the lane these settings of its own; can be undone")
        .clicked()
    {
        commands.push(Command::AdoptPoint(idx));
    }
}

/// The lane has the settings of this point already.
fn has_it(input: &PanelInput<'_>, tuning: &Tuning, idx: usize) -> bool {
    let point = &tuning.points[idx];
    let lane = input.runs.lanes.get(tuning.lanes[point.subject]);
    lane.is_some_and(|lane| lane.knobs == point.knobs)
}

/// The sentence as far as it fits one line; its tooltip says all.
fn in_a_line(ui: &mut Ui, input: &PanelInput<'_>, tuning: &Tuning, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = egui::vec2(8.0, 1.0);
        let (said, others, is_warning) = match &tuning.recommended {
            None => ("Trying…", None, false),
            Some(Err(why)) => (why.as_str(), None, true),
            Some(Ok(found)) => {
                ui.label(RichText::new("Recommended").text_style(theme::strong()));
                adopt(ui, input, tuning, found.point, commands);
                (found.text.as_str(), found.others.as_deref(), false)
            }
        };
        let is_old = !tuning.holds_for(input.config);
        let text = RichText::new(wording::with_grouped(if is_old { CHANGED } else { said }));
        let text = if is_warning || is_old {
            text.color(palette(ui).warn)
        } else {
            text
        };
        let line = Label::new(text).truncate();
        // It has a tooltip of its own that says more.
        ui.add(line.show_tooltip_when_elided(false))
            .on_hover_ui(|ui| {
                ui.label(wording::with_grouped(said));
                if let Some(others) = others {
                    ui.label(weak(ui, wording::with_grouped(others)));
                }
                out_of_the_question(ui, tuning);
            });
    });
}

/// Said of a sweep under other assumptions.
const CHANGED: &str = "Window, counter, prices or marks have changed since: sweep again.";

/// `12 of them do not fit, 3 cannot get below their trigger.`
fn out_of_the_question(ui: &mut Ui, tuning: &Tuning) {
    let reasons = rejections(&tuning.points);
    if reasons.is_empty() {
        return;
    }
    let said: Vec<String> = reasons
        .iter()
        .map(|(_, told, n)| format!("{} {told}", wording::grouped(*n as u64)))
        .collect();
    ui.label(small(
        ui,
        format!("Out of the question: {}.", said.join(", ")),
    ));
}
