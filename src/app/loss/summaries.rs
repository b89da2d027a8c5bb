//! Survival at recorded compactions: which earlier content the next call still contained, as recorded and in each lane.

use super::compute::Losses;
use super::input::LossInput;
use super::state::{LossView, survival_counts};
use crate::analysis::loss::{Kept, Survival};
use crate::app::command::Commands;
use crate::app::selection::{SelectCommand, Spot};
use crate::app::theme::{self, palette, space};
use crate::app::view::ViewCommand;
use crate::app::widgets::text::{padded, small, weak};
use crate::app::{widgets, wording};
use crate::safe_text;
use egui::{Frame, Grid, Label, Margin, Panel, RichText, ScrollArea, TextStyle, Ui};

/// Maximum number of listed names of each kind.
const MAX_NAMES: usize = 300;
/// Width of the counts and minimum width of the list, in points.
const COUNTS: f32 = 470.0;
const MIN_LIST: f32 = 280.0;

/// Shows one compaction: the counts by lane and the missing content of the focused lane.
pub(super) fn show(ui: &mut Ui, input: &LossInput<'_>, losses: &Losses, commands: &mut Commands) {
    let compactions = &input.document.session().compactions;
    if compactions.is_empty() {
        padded(ui, |ui| {
            let text = "This session has no recorded compaction to compare with.";
            ui.label(weak(ui, text));
        });
        return;
    }
    let Some(survivals) = input.survivals else {
        padded(ui, |ui| ui.label(weak(ui, "Measuring survival…")));
        return;
    };
    let chosen = input.view.compaction.min(compactions.len() - 1);
    let Some(lanes) = survivals.0.get(chosen) else {
        return;
    };
    let most = (ui.available_width() - MIN_LIST).max(240.0);
    Panel::left("survival counts")
        .resizable(true)
        .default_size(COUNTS.min(most))
        .size_range(200.0..=most)
        .frame(Frame::new().fill(palette(ui).panel))
        .show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                padded(ui, |ui| {
                    choose(ui, input, survivals.0.len(), chosen, commands);
                    legend(ui);
                    counts(ui, input, lanes, commands);
                });
            });
        });
    let lane = input.selection.lane;
    let found = lanes
        .get(lane.map_or(0, |lane| lane + 1))
        .and_then(Option::as_ref);
    ScrollArea::vertical()
        .id_salt(("survival", chosen, lane))
        .auto_shrink(false)
        .show(ui, |ui| {
            Frame::new()
                .inner_margin(Margin::symmetric(14, 8))
                .show(ui, |ui| match found {
                    Some(survival) => missing_content(ui, input, losses, (lane, survival)),
                    None => {
                        ui.label(weak(ui, "No call came after this compaction."));
                    }
                });
        });
}

/// Shows the choice of the recorded compaction.
fn choose(ui: &mut Ui, input: &LossInput<'_>, n: usize, chosen: usize, commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        for compaction in 0..n {
            let call = call_of(input, compaction);
            let name = call.map_or_else(
                || format!("compaction {}", compaction + 1),
                |call| format!("before call {}", wording::number(call)),
            );
            if ui
                .selectable_label(compaction == chosen, small(ui, name))
                .clicked()
            {
                commands.push(ViewCommand::Loss(LossView {
                    compaction,
                    ..input.view
                }));
                commands.push(SelectCommand::Spot(Spot {
                    call,
                    ..Spot::default()
                }));
            }
        }
    });
    ui.add_space(space::XS);
}

fn call_of(input: &LossInput<'_>, compaction: usize) -> Option<usize> {
    let survivals = input.survivals?.0.get(compaction)?;
    Some(survivals.iter().flatten().next()?.call)
}

/// Explains the three numbers of a cell in their order and colors.
fn legend(ui: &mut Ui) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().interact_size.y = 0.0;
        ui.label(small(ui, "earlier content:"));
        ui.label(small(ui, "present verbatim").color(palette(ui).text));
        ui.label(small(ui, "· partly present ·"));
        ui.label(small(ui, "missing").color(palette(ui).bad));
    });
    ui.add_space(space::XS);
}

/// Shows for each lane how much of the earlier content is present verbatim, partly present and missing.
fn counts(ui: &mut Ui, input: &LossInput<'_>, lanes: &[Option<Survival>], commands: &mut Commands) {
    Grid::new("survival counts")
        .num_columns(4)
        .spacing([space::L, 4.0])
        .min_row_height(20.0)
        .show(ui, |ui| {
            ui.label(small(ui, "lane"));
            for name in ["names used later", "instructions", "changed files"] {
                ui.label(small(ui, name)).on_hover_text(
                    "Present verbatim · partly present · missing, of the content before the compaction",
                );
            }
            ui.end_row();
            for (idx, survival) in lanes.iter().enumerate() {
                let lane = idx.checked_sub(1);
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let color = palette(ui).lane_or_recorded(lane);
                    widgets::swatch(ui, color);
                    let name = RichText::new(input.runs.label(lane));
                    let name = if lane == input.selection.lane {
                        name.text_style(theme::strong())
                    } else {
                        name
                    };
                    if ui.link(name.color(palette(ui).text)).clicked() {
                        commands.push(SelectCommand::Lane(lane));
                    }
                });
                match survival {
                    Some(survival) => {
                        for (_, counts) in survival_counts(survival) {
                            count_cell(ui, counts);
                        }
                    }
                    None => {
                        ui.label(weak(ui, "–"));
                    }
                }
                ui.end_row();
            }
        });
}

/// Shows `120 · 8 · 45`, with the missing count in red.
fn count_cell(ui: &mut Ui, [verbatim, partly, gone]: [usize; 3]) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if verbatim + partly + gone == 0 {
            ui.label(weak(ui, "none"));
            return;
        }
        let count = |n: usize| wording::grouped(n as u64);
        ui.label(count(verbatim));
        ui.label(weak(ui, format!("· {} ·", count(partly))));
        let text = RichText::new(count(gone));
        ui.label(if gone > 0 {
            text.color(palette(ui).bad)
        } else {
            text.color(palette(ui).weak)
        });
    });
}

/// Lists the content that is missing in the lane at that call, by kind.
fn missing_content(
    ui: &mut Ui,
    input: &LossInput<'_>,
    losses: &Losses,
    (lane, survival): (Option<usize>, &Survival),
) {
    ui.spacing_mut().item_spacing.y = space::XS;
    let name = input.runs.label(lane);
    let at = wording::number(survival.call);
    ui.label(weak(ui, format!("Missing in {name} at call {at}")));
    if survival.is_predicted {
        ui.label(small(
            ui,
            "The summary is only predicted: it may contain content listed as missing.",
        ));
    }
    let names = survival.names.iter();
    let names = names.map(|(name, kept)| (losses.names.word(*name), *kept));
    let files = survival.files.iter().map(|(file, kept)| (&**file, *kept));
    let all = losses.names.instructions();
    let instructions = survival.instructions.iter();
    let instructions = instructions.filter_map(|(idx, kept)| Some((&*all.get(*idx)?.text, *kept)));
    let mut is_any = group(ui, "instructions", instructions, &TextStyle::Body);
    is_any |= group(ui, "changed files", files, &TextStyle::Monospace);
    is_any |= group(ui, "names used later", names, &TextStyle::Monospace);
    if !is_any {
        ui.label(RichText::new("Nothing is missing.").color(palette(ui).ok));
    }
}

/// Lists the missing and partly present content of one kind. Returns whether there is any.
fn group<'a>(
    ui: &mut Ui,
    title: &str,
    all: impl Iterator<Item = (&'a str, Kept)>,
    style: &TextStyle,
) -> bool {
    let lacking: Vec<_> = all.filter(|(_, kept)| *kept != Kept::Verbatim).collect();
    if lacking.is_empty() {
        return false;
    }
    widgets::section(ui, title);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(space::M, 2.0);
        // A row is as high as its text.
        ui.spacing_mut().interact_size.y = 0.0;
        for (text, kept) in lacking.iter().take(MAX_NAMES) {
            let sentence = safe_text::one_line(text, 160);
            let (color, how) = match kept {
                Kept::Partly => (palette(ui).weak, "partly present"),
                Kept::Verbatim | Kept::Gone => (palette(ui).text, "missing"),
            };
            let text = RichText::new(sentence)
                .text_style(style.clone())
                .color(color);
            ui.add(Label::new(text)).on_hover_text(how);
        }
        if lacking.len() > MAX_NAMES {
            let more = wording::grouped((lacking.len() - MAX_NAMES) as u64);
            ui.label(small(ui, format!("and {more} more")));
        }
    });
    true
}
