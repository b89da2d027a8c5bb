//! The dialog that writes a report or the context curve to a file.

use crate::app::state::command::Commands;
use crate::app::state::report_export::{ReportCommand, ReportDraft, ReportFormat};
use crate::app::ui::report_export::job::ReportExport;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::dialog::{dialog, dialog_title, error_box};
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::{small, weak};
use egui::{Id, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 480.0;
/// Width of the labels, in points.
const LABEL: f32 = 64.0;

/// Shows the dialog.
pub fn show(ui: &mut Ui, report: &ReportExport, commands: &mut Commands) {
    let is_report = report.draft.format.is_report();
    let modal = dialog(ui, "report").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, if is_report { "Report" } else { "Curve" });
        let mut draft = report.draft.clone();
        if is_report {
            report_fields(ui, &mut draft);
        } else {
            chart_fields(ui, &mut draft);
        }
        line(ui, "write to", |ui, label| {
            let field =
                PathField { id: "report path", label, hint: "/home/me/session-report.html" };
            if field.show(ui, &mut draft.output) {
                commands.push(ReportCommand::Browse);
            }
        });
        if draft != report.draft {
            commands.push(ReportCommand::Edit(draft));
        }
        if let Some(why) = &report.failed {
            error_box(ui, "Nothing was written", why);
        }
        ui.add_space(space::S);
        buttons(ui, report, commands);
    });
    if modal.should_close() && !report.is_busy() {
        commands.push(ReportCommand::Close);
    }
}

fn report_fields(ui: &mut Ui, draft: &mut ReportDraft) {
    let text =
        "A self-contained report of the session, of each lane's results and of the problems found.";
    ui.label(weak(ui, text));
    ui.add_space(space::S);
    line(ui, "as", |ui, _| {
        ui.spacing_mut().item_spacing.x = space::L;
        ui.radio_value(&mut draft.format, ReportFormat::Page, "a page (HTML)");
        ui.radio_value(&mut draft.format, ReportFormat::Markdown, "Markdown")
            .on_hover_text("Can be pasted into an issue");
    });
    line(ui, "redact", |ui, _| {
        ui.checkbox(&mut draft.redacts, "Redact texts, paths, names and ids");
    });
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(LABEL + space::M);
        let text = "Each is replaced by a number or a length. Roles, sizes, well-known tools and models are kept.";
        ui.add(egui::Label::new(small(ui, text)).wrap());
    });
    ui.add_space(space::XS);
}

fn chart_fields(ui: &mut Ui, draft: &mut ReportDraft) {
    ui.label(weak(ui, "Fill of the context window at every call, for all lanes."));
    ui.add_space(space::S);
    line(ui, "as", |ui, _| {
        ui.spacing_mut().item_spacing.x = space::L;
        ui.radio_value(&mut draft.format, ReportFormat::Png, "an image (PNG)");
        ui.radio_value(&mut draft.format, ReportFormat::Svg, "a vector image (SVG)")
            .on_hover_text("Sharp at any size; follows the reader's light or dark theme");
        ui.radio_value(&mut draft.format, ReportFormat::Csv, "a table (CSV)")
            .on_hover_text("One row per lane and call");
    });
    let is_png = draft.format == ReportFormat::Png;
    line(ui, "colors", |ui, _| {
        ui.add_enabled_ui(is_png, |ui| {
            ui.spacing_mut().item_spacing.x = space::L;
            ui.radio_value(&mut draft.is_dark, false, "light");
            ui.radio_value(&mut draft.is_dark, true, "dark");
        });
    });
}

fn line(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, Id)) {
    widgets::labelled(ui, label, LABEL, space::M, content);
}

fn buttons(ui: &mut Ui, report: &ReportExport, commands: &mut Commands) {
    ui.horizontal(|ui| {
        let has_space = !report.draft.output.trim().is_empty();
        ui.add_enabled_ui(has_space && !report.is_busy(), |ui| {
            if widgets::primary_button(ui, "Write").clicked() {
                commands.push(ReportCommand::Write);
            }
        });
        ui.add_enabled_ui(!report.is_busy(), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(ReportCommand::Close);
            }
        });
        if report.is_busy() {
            ui.spinner();
        }
    });
}
