//! How the model is reached, folded away until somebody needs it: time limits, tries, proxy, certificates.

use super::super::path_field::PathField;
use super::model::{field, row};
use crate::app::command::{Command, Place};
use crate::app::managed_export::ConnectionDraft;
use crate::app::theme::{palette, space};
use crate::exec::model::{Limits, Retries};
use egui::{CollapsingHeader, RichText, TextEdit, Ui};

/// Shows the fields.
pub(super) fn show(ui: &mut Ui, draft: &mut ConnectionDraft, commands: &mut Vec<Command>) {
    let title = if draft.is_changed() {
        "Connection (changed)"
    } else {
        "Connection"
    };
    let header = CollapsingHeader::new(RichText::new(title).color(palette(ui).weak));
    header.id_salt("connection").show_unindented(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        limits(ui, draft);
        let proxy = &mut draft.proxy.0;
        field(
            ui,
            "proxy",
            proxy,
            "the system's; or none, or http://HOST:PORT",
        );
        row(ui, "CA file", |ui, label| {
            let path = PathField {
                id: "certificates",
                label,
                hint: "PEM, to trust beside the system's",
            };
            if path.show(ui, &mut draft.ca_file) {
                commands.push(Command::BrowseExport(Place::CaFile));
            }
        });
        field(
            ui,
            "temperature",
            &mut draft.temperature,
            "the model's own; or a number from 0 to 2",
        );
    });
}

/// Time limits and tries, side by side.
fn limits(ui: &mut Ui, draft: &mut ConnectionDraft) {
    let (limits, retries) = (Limits::default(), Retries::default());
    let short = |limit| humantime::format_duration(limit).to_string();
    row(ui, "limits", |ui, _| {
        let third = (ui.available_width() - 2.0 * space::S) / 3.0;
        let mut cell = |text: &mut String, hint: String, name: &str, help: &str| {
            let edit = TextEdit::singleline(text).hint_text(hint);
            ui.add_sized([third, space::CONTROL], edit)
                .accessible_name(name)
                .on_hover_text(help);
        };
        cell(
            &mut draft.whole,
            format!("{} in all", short(limits.total)),
            "Time limit of an answer",
            "How long an answer may take as a whole, every try included: seconds, or a time as 5 min",
        );
        cell(
            &mut draft.begin,
            format!("{} to begin", short(limits.first_byte)),
            "Time limit for an answer to begin",
            "How long until an answer begins; models on a slow machine read the whole prompt first",
        );
        cell(
            &mut draft.tries,
            format!("{} tries", retries.most + 1),
            "Tries",
            "How often a question is asked at most, where the server is busy or cannot be reached",
        );
    });
}
