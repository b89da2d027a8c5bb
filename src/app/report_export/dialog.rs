//! The dialog that writes a report or the context curve to a file.

use super::job::{Form, Handout, HandoutDraft};
use crate::app::command::Command;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::widgets::path_field::PathField;
use crate::app::widgets::text::{small, weak};
use egui::{Id, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 480.0;
/// Width of the labels, in points.
const LABEL: f32 = 64.0;

/// Shows the dialog.
pub fn show(ui: &mut Ui, handout: &Handout, commands: &mut Vec<Command>) {
    let is_report = handout.draft.form.is_report();
    let modal = crate::app::widgets::dialog::dialog(ui, "handout").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        crate::app::widgets::dialog::dialog_title(ui, if is_report { "Report" } else { "Curve" });
        let mut draft = handout.draft.clone();
        if is_report {
            report(ui, &mut draft);
        } else {
            curve(ui, &mut draft);
        }
        line(ui, "write to", |ui, label| {
            let field = PathField {
                id: "handout path",
                label,
                hint: "/home/me/session-report.html",
            };
            if field.show(ui, &mut draft.output) {
                commands.push(Command::BrowseHandout);
            }
        });
        if draft != handout.draft {
            commands.push(Command::EditHandout(draft));
        }
        if let Some(why) = &handout.failed {
            crate::app::export::dialog::failed(ui, "Nothing was written", why);
        }
        ui.add_space(space::S);
        buttons(ui, handout, commands);
    });
    if modal.should_close() && !handout.is_busy() {
        commands.push(Command::CloseHandout);
    }
}

fn report(ui: &mut Ui, draft: &mut HandoutDraft) {
    let text =
        "A self-contained report of the session, of each lane's results and of the problems found.";
    ui.label(weak(ui, text));
    ui.add_space(space::S);
    line(ui, "as", |ui, _| {
        ui.spacing_mut().item_spacing.x = space::L;
        ui.radio_value(&mut draft.form, Form::Page, "a page (HTML)");
        ui.radio_value(&mut draft.form, Form::Markdown, "Markdown")
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

fn curve(ui: &mut Ui, draft: &mut HandoutDraft) {
    ui.label(weak(
        ui,
        "Fill of the context window at every call, for all lanes.",
    ));
    ui.add_space(space::S);
    line(ui, "as", |ui, _| {
        ui.spacing_mut().item_spacing.x = space::L;
        ui.radio_value(&mut draft.form, Form::Png, "an image (PNG)");
        ui.radio_value(&mut draft.form, Form::Svg, "a vector image (SVG)")
            .on_hover_text("Sharp at any size; follows the reader's light or dark theme");
        ui.radio_value(&mut draft.form, Form::Csv, "a table (CSV)")
            .on_hover_text("One row per lane and call");
    });
    let is_png = draft.form == Form::Png;
    line(ui, "colors", |ui, _| {
        ui.add_enabled_ui(is_png, |ui| {
            ui.spacing_mut().item_spacing.x = space::L;
            ui.radio_value(&mut draft.is_dark, false, "light");
            ui.radio_value(&mut draft.is_dark, true, "dark");
        });
    });
}

fn line(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, Id)) {
    widgets::labelled(ui, (label, LABEL, space::M), content);
}

fn buttons(ui: &mut Ui, handout: &Handout, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let has_place = !handout.draft.output.trim().is_empty();
        ui.add_enabled_ui(has_place && !handout.is_busy(), |ui| {
            if widgets::primary_button(ui, "Write").clicked() {
                commands.push(Command::WriteHandout);
            }
        });
        ui.add_enabled_ui(!handout.is_busy(), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(Command::CloseHandout);
            }
        });
        if handout.is_busy() {
            ui.spinner();
        }
    });
}
