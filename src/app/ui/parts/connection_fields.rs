//! Connection settings of the model, folded by default: time limits, attempts, proxy and certificates;
//! and the temperature.

use crate::app::state::model_form::connection::ConnectionDraft;
use crate::app::ui::parts::form_row::{field, row};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::path_field::PathField;
use crate::exec::model::{RequestLimits, RetryPolicy};
use egui::{CollapsingHeader, RichText, TextEdit, Ui};

/// Shows the fields. Returns whether the button for the file dialog was clicked.
pub(crate) fn show(ui: &mut Ui, draft: &mut ConnectionDraft) -> bool {
    let mut is_clicked = false;
    let title = if draft.is_changed() { "Connection (changed)" } else { "Connection" };
    let header = CollapsingHeader::new(RichText::new(title).color(palette(ui).weak));
    header.id_salt("connection").show_unindented(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        limits(ui, draft);
        let proxy = &mut draft.proxy.0;
        field(ui, "proxy", proxy, "system proxy; or none, or http://HOST:PORT");
        row(ui, "CA file", |ui, label| {
            let path = PathField {
                id: "certificates",
                label,
                hint: "PEM file, in addition to the system's",
            };
            is_clicked = path.show(ui, &mut draft.ca_file);
        });
        field(
            ui,
            "temperature",
            &mut draft.temperature,
            "model's default; or a number from 0 to 2",
        );
    });
    is_clicked
}

/// Shows the time limits and the number of attempts side by side.
fn limits(ui: &mut Ui, draft: &mut ConnectionDraft) {
    let (limits, retries) = (RequestLimits::default(), RetryPolicy::default());
    let short = |limit| humantime::format_duration(limit).to_string();
    row(ui, "limits", |ui, _| {
        let third = (ui.available_width() - 2.0 * space::S) / 3.0;
        let mut cell = |text: &mut String, hint: String, name: &str, help: &str| {
            let edit = TextEdit::singleline(text).hint_text(hint);
            ui.add_sized([third, space::CONTROL], edit).accessible_name(name).on_hover_text(help);
        };
        cell(
            &mut draft.total,
            format!("{} total", short(limits.total)),
            "Total time limit",
            "Maximum time for an answer including all attempts: seconds, or a time such as 5 min",
        );
        cell(
            &mut draft.first_byte,
            format!("{} first byte", short(limits.first_byte)),
            "First byte time limit",
            "Maximum time until an answer begins; models on a slow machine read the whole prompt first",
        );
        cell(
            &mut draft.attempts,
            format!("{} attempts", retries.max_retries + 1),
            "Attempts",
            "Maximum number of attempts if the server is busy or unreachable",
        );
    });
}
