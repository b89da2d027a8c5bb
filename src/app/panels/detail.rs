//! The selected message in full: its parts or its records, its partners, and its text for the clipboard.

use super::{PanelInput, marks, small, weak};
use crate::app::command::Command;
use crate::app::message_text::{MessageText, Section};
use crate::app::state::Detail;
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::session::Body;
use egui::{Frame, Label, Margin, RichText, ScrollArea, TextStyle, Ui};

/// Shows the selected message.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let Some(message) = input.selection.message else {
        return;
    };
    Frame::new()
        .inner_margin(Margin {
            left: 12,
            right: 12,
            top: 6,
            bottom: 0,
        })
        .show(ui, |ui| {
            head(ui, input, message, commands);
        });
    let Some(text) = input.text else {
        super::padded(ui, |ui| ui.label(weak(ui, "Reading…")));
        return;
    };
    let page = input.view.detail.page.min(text.pages() - 1);
    let area = ScrollArea::vertical()
        .id_salt(("detail", message, page, input.view.detail.is_raw))
        .auto_shrink(false);
    area.show(ui, |ui| {
        Frame::new()
            .inner_margin(Margin {
                left: 12,
                right: 16,
                top: 4,
                bottom: 8,
            })
            .show(ui, |ui| {
                pager(ui, input.view.detail, text, page, commands);
                for section in &text.sections {
                    if let Some(shown) = section.page(page) {
                        show_section(ui, section, shown);
                    }
                }
                if text.sections.is_empty() {
                    ui.label(weak(
                        ui,
                        "This message has no record of its own in the file.",
                    ));
                }
            });
    });
}

fn head(ui: &mut Ui, input: &PanelInput<'_>, message: usize, commands: &mut Vec<Command>) {
    let facts = &input.document.facts[message];
    let m = &input.document.session().messages[message];
    let tokens = input.runs.case.ledger.message(message);
    ui.spacing_mut().item_spacing.y = space::XS;
    ui.horizontal_wrapped(|ui| {
        ui.label(
            RichText::new(format!("Message {}", wording::number(message)))
                .text_style(theme::strong()),
        );
        widgets::swatch(ui, palette(ui).kind(facts.kind));
        let turn = if m.turn == 0 {
            String::new()
        } else {
            format!(" · turn {}", m.turn)
        };
        ui.label(weak(
            ui,
            format!("{} · {} tok{turn}", m.role.name(), wording::tokens(tokens)),
        ));
    });
    ui.horizontal_wrapped(|ui| {
        let detail = input.view.detail;
        ui.spacing_mut().button_padding = egui::vec2(8.0, 2.0);
        ui.spacing_mut().interact_size.y = 22.0;
        for (is_raw, name) in [(false, "Parts"), (true, "Record")] {
            if ui.selectable_label(detail.is_raw == is_raw, name).clicked() {
                commands.push(Command::SetDetail(Detail { is_raw, page: 0 }));
            }
        }
        if let Some(text) = input.text
            && ui
                .button("Copy")
                .on_hover_text("The whole text, all pages")
                .clicked()
        {
            commands.push(Command::CopyText("the message", text.whole()));
        }
        marks::button(ui, input, message, commands);
        for partner in &facts.partners {
            if ui
                .link(format!(
                    "{} {}",
                    partner_word(input, message),
                    wording::number(*partner)
                ))
                .clicked()
            {
                commands.push(Command::SelectMessage(*partner));
            }
        }
        if let Some(step) = facts.step
            && ui
                .link(format!("call {}", wording::number(step)))
                .on_hover_text("Show this call on the timeline and in the lanes")
                .clicked()
        {
            commands.push(Command::SelectStep(step));
        }
    });
}

/// What the other half of this message's pair is.
fn partner_word(input: &PanelInput<'_>, message: usize) -> &'static str {
    let session = input.document.session();
    let calls = session
        .parts_of(&session.messages[message])
        .iter()
        .any(|p| matches!(p.body, Body::ToolCall { .. }));
    if calls { "result in" } else { "called in" }
}

fn pager(
    ui: &mut Ui,
    detail: Detail,
    text: &MessageText,
    page: usize,
    commands: &mut Vec<Command>,
) {
    let pages = text.pages();
    if pages == 1 {
        return;
    }
    ui.horizontal(|ui| {
        let mut turn = |ui: &mut Ui, is_enabled: bool, name: &str, to: usize| {
            if ui
                .add_enabled(is_enabled, egui::Button::new(name))
                .clicked()
            {
                commands.push(Command::SetDetail(Detail { page: to, ..detail }));
            }
        };
        turn(ui, page > 0, "Previous page", page.saturating_sub(1));
        ui.label(weak(
            ui,
            format!(
                "{} of {}",
                wording::number(page),
                wording::grouped(pages as u64)
            ),
        ));
        turn(ui, page + 1 < pages, "Next page", page + 1);
    });
}

fn show_section(ui: &mut Ui, section: &Section, text: &str) {
    ui.add_space(space::XS);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(kind) = section.kind {
            widgets::swatch(ui, palette(ui).kind(kind));
        }
        let tokens = section
            .tokens
            .map_or_else(String::new, |t| format!(" · {} tok", wording::tokens(t)));
        ui.label(small(ui, format!("{}{tokens}", section.title)));
    });
    if text.is_empty() {
        return;
    }
    let style = if section.kind.is_some() && text.len() < 4_000 && !text.contains("  ") {
        TextStyle::Body
    } else {
        TextStyle::Monospace
    };
    ui.add(
        Label::new(RichText::new(text).text_style(style))
            .wrap()
            .selectable(true),
    );
}
