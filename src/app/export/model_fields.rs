//! The fields that select the summarizer model.

use super::command::{ExportCommand, ExportPath};
use super::draft::ExportDraft;
use super::job::Export;
use super::requests::{ModelDraft, Secret};
use super::{connection_fields, form};
use crate::app::command::Commands;
use crate::app::theme::{palette, space};
use crate::app::widgets;
use crate::app::widgets::path_field::PathField;
use crate::app::widgets::text::small;
use crate::providers::APIS;
use egui::{ComboBox, RichText, TextEdit, Ui};

/// Width of the labels, in points.
const LABEL: f32 = 82.0;

/// Shows the fields.
pub(super) fn show(ui: &mut Ui, export: &Export, draft: &mut ExportDraft, commands: &mut Commands) {
    ui.add_space(space::XS);
    ui.spacing_mut().item_spacing.y = space::XS;
    let model = &mut draft.model;
    let api = model.api();
    row(ui, "API", |ui, id| {
        let combo = ComboBox::from_id_salt("model api")
            .selected_text(api.label)
            .width(ui.available_width())
            .show_ui(ui, |ui| {
                for api in APIS {
                    ui.selectable_value(&mut model.api, api.name, api.label);
                }
            });
        combo.response.labelled_by(id);
    });
    field(ui, "address", &mut model.base_url, api.base_url);
    field(ui, "model", &mut model.model, "name on the server");
    row(ui, "key", |ui, id| {
        let half = (ui.available_width() - space::S) / 2.0;
        let mut key = export.key.clone();
        let typed = TextEdit::singleline(&mut key.0)
            .password(true)
            .hint_text("API key for this run");
        let response = ui.add_sized([half, space::CONTROL], typed).labelled_by(id);
        if response
            .on_hover_text("Kept until this dialog closes; never written or shown")
            .changed()
        {
            commands.push(ExportCommand::SetKey(Secret(key.0)));
        }
        let variable = TextEdit::singleline(&mut model.key_variable)
            .hint_text(format!("or in {}", api.key_variable));
        ui.add_sized([half, space::CONTROL], variable)
            .accessible_name("Environment variable of the key")
            .on_hover_text("The environment variable that contains the key");
    });
    field(ui, "window", &mut model.window, "from the server");
    row(ui, "prompt", |ui, id| {
        let edit = TextEdit::multiline(&mut model.prompt)
            .desired_rows(1)
            .desired_width(f32::INFINITY)
            .hint_text("policy's prompt");
        ui.add(edit).labelled_by(id).on_hover_text(
            "Ignored by system presets reproduced in code, which use their own prompts",
        );
    });
    log(ui, export, model, commands);
    connection_fields::show(ui, &mut model.connection, commands);
    remark(ui, model);
}

/// Shows what the form still needs, or how sending works.
fn remark(ui: &mut Ui, model: &ModelDraft) {
    match (model.endpoint(), form::model_trouble(model)) {
        (Err(_), _) if model.model.trim().is_empty() => {
            ui.label(small(ui, "Enter the model name to continue."));
        }
        (_, Some(why)) => {
            ui.label(RichText::new(why).color(palette(ui).bad));
        }
        (Ok(endpoint), _) if !endpoint.is_encrypted() && !endpoint.is_local() => {
            let text = format!("The connection to {} is not encrypted.", endpoint.host());
            ui.label(RichText::new(text).color(palette(ui).warn));
        }
        _ => {
            let text = "Nothing is sent before you confirm the amount and the destination.";
            ui.label(small(ui, text));
        }
    }
}

/// Shows whether and where requests and answers are logged.
fn log(ui: &mut Ui, export: &Export, model: &mut ModelDraft, commands: &mut Commands) {
    row(ui, "log", |ui, _| {
        let help = "A log allows the run to be repeated without a model. It contains private text, but never a key.";
        ui.checkbox(&mut model.keeps_log, "Keep requests and answers")
            .on_hover_text(help);
    });
    if !model.keeps_log {
        return;
    }
    row(ui, "log file", |ui, label| {
        let field = PathField {
            id: "log file",
            label,
            hint: if export.keeps_state {
                "a new file in Plimsoll's data folder"
            } else {
                "a new file; no data folder is used"
            },
        };
        if field.show(ui, &mut model.log) {
            commands.push(ExportCommand::Browse(ExportPath::Log));
        }
    });
}

/// Shows a labelled line with a text field.
pub(super) fn field(ui: &mut Ui, label: &str, text: &mut String, hint: &str) {
    row(ui, label, |ui, id| {
        let edit = TextEdit::singleline(text)
            .hint_text(hint)
            .desired_width(f32::INFINITY);
        ui.add(edit).labelled_by(id);
    });
}

/// Shows a labelled line of the form.
pub(super) fn row(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, egui::Id)) {
    widgets::labelled(ui, (label, LABEL, space::S), content);
}
