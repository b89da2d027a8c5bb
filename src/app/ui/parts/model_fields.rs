//! The fields that select the summarizer model.

use crate::app::state::model_form::draft::{ModelDraft, ModelPath};
use crate::app::state::model_form::typed::Secret;
use crate::app::ui::parts::connection_fields;
use crate::app::ui::parts::form_row::{field, row};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::small;
use crate::providers::APIS;
use egui::{ComboBox, RichText, TextEdit, Ui};

/// An action of the fields that is not a change of the draft.
pub(crate) enum ModelFieldAction {
    /// Change the API key.
    SetKey(Secret),
    /// Show the system's dialog for a path.
    Browse(ModelPath),
}

/// Shows the fields with the typed key. `keeps_state`: the program may save logs.
pub(crate) fn show(
    ui: &mut Ui,
    key: &Secret,
    keeps_state: bool,
    model: &mut ModelDraft,
) -> Option<ModelFieldAction> {
    ui.add_space(space::XS);
    ui.spacing_mut().item_spacing.y = space::XS;
    let mut action = None;
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
        let mut key = key.clone();
        let typed =
            TextEdit::singleline(&mut key.0).password(true).hint_text("API key for this run");
        let response = ui.add_sized([half, space::CONTROL], typed).labelled_by(id);
        if response.on_hover_text("Kept until this dialog closes; never written or shown").changed()
        {
            action = Some(ModelFieldAction::SetKey(Secret(key.0)));
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
    if log(ui, keeps_state, model) {
        action = Some(ModelFieldAction::Browse(ModelPath::Log));
    }
    if connection_fields::show(ui, &mut model.connection) {
        action = Some(ModelFieldAction::Browse(ModelPath::CaFile));
    }
    remark(ui, model);
    action
}

/// Shows what the form still needs, or how sending works.
fn remark(ui: &mut Ui, model: &ModelDraft) {
    match (model.endpoint(), model.problem()) {
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

/// Shows whether and where requests and answers are logged. Returns whether the button for the file dialog was clicked.
fn log(ui: &mut Ui, keeps_state: bool, model: &mut ModelDraft) -> bool {
    row(ui, "log", |ui, _| {
        let help = "A log allows the run to be repeated without a model. It contains private text, but never a key.";
        ui.checkbox(&mut model.keeps_log, "Keep requests and answers").on_hover_text(help);
    });
    let mut is_clicked = false;
    if !model.keeps_log {
        return is_clicked;
    }
    row(ui, "log file", |ui, label| {
        let field = PathField {
            id: "log file",
            label,
            hint: if keeps_state {
                "a new file in Plimsoll's data folder"
            } else {
                "a new file; no data folder is used"
            },
        };
        is_clicked = field.show(ui, &mut model.log);
    });
    is_clicked
}
