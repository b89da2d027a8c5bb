//! What is recommended, in a sentence that says why, with a button that takes it over.

use super::{PanelInput, small, weak};
use crate::analysis::tune::rejections;
use crate::app::command::Command;
use crate::app::theme::{self, palette, space};
use crate::app::tuning::Tuning;
use crate::app::wording;
use egui::{Frame, Label, Margin, RichText, Ui};

/// Shows the sentence, and what was out of the question.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    tuning: &Tuning,
    commands: &mut Vec<Command>,
) {
    let margin = Margin {
        left: 16,
        right: 12,
        top: 6,
        bottom: 2,
    };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
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
                    let point = &tuning.points[found.point];
                    let lane = input.runs.lanes.get(tuning.lanes[point.subject]);
                    let has_it = lane.is_some_and(|lane| lane.knobs == point.knobs);
                    if has_it {
                        ui.label(weak(ui, "The lane has these settings now."));
                    } else if ui
                        .button("Adopt")
                        .on_hover_text("Give the lane these settings of its own; can be undone")
                        .clicked()
                    {
                        commands.push(Command::AdoptPoint(found.point));
                    }
                    // It compares with what the lane had when it was swept.
                    if !has_it {
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
            let said = "Window, counter, prices or marks have changed since: sweep again.";
            ui.label(small(ui, said).color(palette(ui).warn));
        }
    });
}

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
