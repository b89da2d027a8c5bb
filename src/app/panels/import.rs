//! The tab Import: how the file was understood, and what in it was not.

use super::{PanelInput, padded, small, weak};
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::session::StepsFrom;
use crate::units::Bytes;
use egui::{Align, Grid, Layout, RichText, ScrollArea, Ui};

/// A heading with room below it.
fn section(ui: &mut Ui, title: &str) {
    widgets::section(ui, title);
    ui.add_space(space::XS);
}

/// A column of the tab.
type Section = fn(&mut Ui, &PanelInput<'_>);

/// The number of warnings, behind the tab's name.
pub(super) fn remark(input: &PanelInput<'_>) -> String {
    match input.document.loaded.warnings.len() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// Shows the import report.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, _commands: &mut Vec<Command>) {
    // Sideways too: a narrow window cuts nothing off.
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        padded(ui, |ui| {
            ui.spacing_mut().interact_size.y = 18.0;
            let sections: [(f32, Section); 3] =
                [(330.0, understood), (300.0, records), (360.0, warnings)];
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 32.0;
                for (width, section) in sections {
                    ui.vertical(|ui| {
                        ui.spacing_mut().item_spacing.x = 8.0;
                        ui.set_width(width);
                        section(ui, input);
                    });
                }
            });
        });
    });
}

fn understood(ui: &mut Ui, input: &PanelInput<'_>) {
    let session = input.document.session();
    let report = &input.document.loaded.report;
    let with_usage = session.steps.iter().filter(|s| s.usage.is_some()).count();
    let calls = match session.steps_from {
        StepsFrom::Recorded => "recorded in the file",
        StepsFrom::AssistantMessages => "one for each assistant message",
    };
    section(ui, "How it was read");
    Grid::new("understood")
        .num_columns(2)
        .spacing([16.0, 4.0])
        .max_col_width(190.0)
        .show(ui, |ui| {
            let mut row = |name: &str, value: String| {
                // At the first line of a value of several.
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.label(weak(ui, name));
                });
                ui.vertical(|ui| ui.add(egui::Label::new(value).wrap()));
                ui.end_row();
            };
            row("format", input.document.format_label().to_owned());
            row("told by", report.recognized_by.replace('`', ""));
            row(
                "size",
                wording::bytes(Bytes(session.source.bytes.len() as u64)),
            );
            row("messages", wording::grouped(session.messages.len() as u64));
            row("turns", wording::grouped(u64::from(session.turns)));
            row(
                "calls",
                format!("{}, {calls}", wording::grouped(session.steps.len() as u64)),
            );
            row("calls with usage", wording::grouped(with_usage as u64));
            let ledger = &input.runs.case.ledger;
            row("counted", wording::basis_help(ledger));
            row(
                "recorded compactions",
                wording::grouped(session.compactions.len() as u64),
            );
        });
}

fn records(ui: &mut Ui, input: &PanelInput<'_>) {
    let records = &input.document.loaded.report.records;
    if records.is_empty() {
        return;
    }
    section(ui, "Records");
    Grid::new("records")
        .num_columns(3)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for head in ["kind", "in the file", "in the context"] {
                ui.label(small(ui, head));
            }
            ui.end_row();
            for (kind, count) in records {
                ui.label(kind);
                ui.label(wording::grouped(count.count as u64));
                ui.label(if count.in_context == 0 {
                    weak(ui, "–")
                } else {
                    RichText::new(wording::grouped(count.in_context as u64))
                });
                ui.end_row();
            }
        });
}

fn warnings(ui: &mut Ui, input: &PanelInput<'_>) {
    let (warnings, issues) = (&input.document.loaded.warnings, &input.document.issues);
    section(ui, "Warnings");
    if warnings.is_empty() && issues.is_empty() {
        ui.label(RichText::new("None: every record was read.").color(palette(ui).ok));
    }
    for warning in warnings.iter().take(MOST) {
        ui.label(RichText::new(warning.to_string().replace('`', "")).color(palette(ui).warn));
    }
    for issue in issues.iter().take(MOST) {
        ui.label(format!(
            "message {}: {}",
            wording::number(issue.message),
            issue.kind.sentence()
        ));
    }
    let more = (warnings.len() + issues.len())
        .saturating_sub(warnings.len().min(MOST) + issues.len().min(MOST));
    if more > 0 {
        ui.add_space(space::XS);
        ui.label(weak(
            ui,
            format!(
                "and {} more, which the command plimsoll inspect lists",
                wording::grouped(more as u64)
            ),
        ));
    }
}

/// Warnings and issues listed, each.
const MOST: usize = 200;
