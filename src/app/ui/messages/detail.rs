//! The selected message in full: its parts or records, linked messages, and a copy button.

use crate::app::state::command::Commands;
use crate::app::state::messages::state::{Aspect, Detail, MessagesCommand};
use crate::app::state::model::selection::{SelectCommand, Selection};
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::messages::find;
use crate::app::ui::parts::section::show_section;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, weak};
use crate::app::ui::{theme, widgets};
use crate::engine::MessageStatus;
use crate::session::{Body, Role};
use egui::{Frame, Id, Margin, RichText, ScrollArea, Ui, vec2};

/// Shows the selected message.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    if input.selection.written.is_some() {
        return show_written(ui, input, commands);
    }
    let Some(message) = input.selection.message else {
        return;
    };
    let is_changes = input.view.messages().detail.aspect == Aspect::Changes;
    let is_parts = input.view.messages().detail.aspect == Aspect::Parts;
    // If the head would take most of the height, it scrolls with the text.
    let scrolls_head =
        ui.available_height() < LOW && !is_changes && input.selected_text().is_some();
    if !scrolls_head {
        let margin = Margin { bottom: 0, ..INNER };
        Frame::new().inner_margin(margin).show(ui, |ui| head(ui, input, message, commands));
    }
    if is_changes {
        return show_changes(ui, input, commands);
    }
    let Some(text) = input.selected_text() else {
        return placeholder(ui, "Reading…");
    };
    let query = &input.view.messages().filter.query;
    let found = input.view.messages().found.filter(|_| is_parts);
    if let Some(found) = found.filter(|found| found.place.is_none()) {
        let place = find::place(found.hit, text, query);
        commands.push(MessagesCommand::ShowFound(place));
    }
    let found = found.and_then(|found| found.place);
    let find = |text: &str| query.occurrences(text);
    let page = input.view.messages().detail.page.min(text.pages() - 1);
    let is_record = !is_parts;
    let at = Id::unique(("detail", input.document.source_id, message, page, is_record));
    let area = ScrollArea::vertical().id_salt(at).auto_shrink(false);
    area.show(ui, |ui| {
        Frame::new().inner_margin(INNER).show(ui, |ui| {
            if scrolls_head {
                head(ui, input, message, commands);
            }
            pager(ui, input.view.messages().detail, page, text.pages(), commands);
            for (nth, section) in text.sections.iter().enumerate() {
                let found = found.filter(|found| (found.section, found.page) == (nth, page));
                let highlights = widgets::Highlights {
                    find: &find,
                    current: found.and_then(|found| found.nth),
                    is_revealed: input.once.reveals_hit,
                };
                if let Some(shown) = section.page(page) {
                    show_section(ui, section, shown, at.with(nth), highlights);
                }
            }
            if text.sections.is_empty() {
                ui.label(weak(ui, "No record in the file belongs to this message alone."));
            }
        });
    });
}

/// Height in points below which the head scrolls with the text.
const LOW: f32 = 150.0;

/// Margin around the text.
const INNER: Margin = Margin { left: 12, right: 16, top: 4, bottom: 8 };

/// Shows content that a lane wrote.
fn show_written(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let margin = Margin { bottom: 0, ..INNER };
    Frame::new()
        .inner_margin(margin)
        .show(ui, |ui| crate::app::ui::parts::changes::written_head(ui, input));
    show_changes(ui, input, commands);
}

/// Shows the focused lane's version of the selection.
fn show_changes(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(all) = input.selected_changes() else {
        let text = if input.selection.lane.is_some() {
            "Comparing…"
        } else {
            "Focus a lane to see its version of this message."
        };
        return placeholder(ui, text);
    };
    let pages = crate::app::ui::parts::changes::pages(all);
    let page = input.view.messages().detail.page.min(pages - 1);
    let Selection { lane, message, written, .. } = input.selection;
    let area = ScrollArea::vertical()
        .id_salt(("changes", lane, message, written, page))
        .auto_shrink(false);
    area.show(ui, |ui| {
        Frame::new().inner_margin(INNER).show(ui, |ui| {
            pager(ui, input.view.messages().detail, page, pages, commands);
            crate::app::ui::parts::changes::show(ui, input, all, page, commands);
        });
    });
}

/// Shows a placeholder of the same width as the text, so that the panel keeps its width.
fn placeholder(ui: &mut Ui, text: &str) {
    ui.set_min_width(ui.available_width());
    padded(ui, |ui| ui.label(weak(ui, text)));
}

/// Shows the title of a message, the choice of its aspect, its commands and its note.
fn head(ui: &mut Ui, input: &OpenSession<'_>, message: usize, commands: &mut Commands) {
    ui.spacing_mut().item_spacing.y = space::XS;
    ui.horizontal_wrapped(|ui| title(ui, input, message));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().button_padding = egui::vec2(8.0, 2.0);
        ui.spacing_mut().interact_size.y = 22.0;
        aspects(ui, input, message, commands);
        if let Some(text) = input.selected_text()
            && ui.button("Copy").on_hover_text("Copy the whole text, all pages").clicked()
        {
            commands.push(ShellCommand::Copy("the message", text.whole()));
        }
        crate::app::ui::parts::mark_menu::button(ui, input, message, commands);
        ui.spacing_mut().item_spacing.x = space::M;
        links(ui, input, message, commands);
    });
    crate::app::ui::parts::note::full(ui, input.config, message);
}

fn title(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    let kind = input.document.facts[message].kind;
    let number = wording::number(message);
    ui.label(RichText::new(format!("Message {number}")).text_style(theme::strong()));
    widgets::swatch(ui, palette(ui).kind(kind));
    let turn = match input.document.session().messages[message].turn {
        0 => String::new(),
        turn => format!(" · turn {turn}"),
    };
    let tokens = wording::tokens(input.runs.case.ledger.message(message));
    let text = format!("{} · {tokens} tok{turn}", role_text(input, message));
    ui.label(weak(ui, text));
}

/// Shows the choice of the aspect. A dot marks changes of the focused lane.
fn aspects(ui: &mut Ui, input: &OpenSession<'_>, message: usize, commands: &mut Commands) {
    for (aspect, name) in
        [(Aspect::Parts, "Parts"), (Aspect::Record, "Record"), (Aspect::Changes, "Changes")]
    {
        let mut tab = ui.selectable_label(input.view.messages().detail.aspect == aspect, name);
        if aspect == Aspect::Changes {
            tab = tab.on_hover_text("The focused lane's version of this message");
            if is_changed(input, message) {
                let dot = tab.rect.right_top() + vec2(-3.0, 5.0);
                ui.painter().circle_filled(dot, 2.5, palette(ui).accent);
            }
        }
        if tab.clicked() {
            commands.push(MessagesCommand::Detail(Detail { aspect, page: 0 }));
        }
    }
}

/// Returns the role of a message. Tool results that a format sends as user messages are labelled as such.
fn role_text(input: &OpenSession<'_>, message: usize) -> &'static str {
    let session = input.document.session();
    let m = &session.messages[message];
    match (m.role, m.author(session.parts_of(m))) {
        (Role::User, Role::Tool) => "result, sent as user",
        (role, _) => role.name(),
    }
}

/// Shows links to the paired messages and to the message's call.
fn links(ui: &mut Ui, input: &OpenSession<'_>, message: usize, commands: &mut Commands) {
    let facts = &input.document.facts[message];
    for partner in &facts.partners {
        let word = partner_word(input, message);
        let link = ui.link(format!("{word} {}", wording::number(*partner)));
        if link.clicked() {
            commands.push(SelectCommand::Message(*partner));
        }
    }
    if let Some(call) = facts.call {
        let link = ui.link(format!("call {}", wording::number(call)));
        let link = link.on_hover_text("Show this call on the timeline and in the lanes");
        if link.clicked() {
            commands.push(SelectCommand::Call(call));
        }
    }
}

/// Returns whether the focused lane changed or removed the message.
fn is_changed(input: &OpenSession<'_>, message: usize) -> bool {
    let lane = input.selection.lane.and_then(|l| input.rows.lanes.get(l));
    let in_lane = lane.and_then(|lane| lane.messages.get(message));
    in_lane.is_some_and(|in_lane| {
        !matches!(in_lane.status, MessageStatus::Kept | MessageStatus::Absent)
    })
}

/// Returns the link text for the paired message.
fn partner_word(input: &OpenSession<'_>, message: usize) -> &'static str {
    let session = input.document.session();
    let calls = session
        .parts_of(&session.messages[message])
        .iter()
        .any(|p| matches!(p.body, Body::ToolCall { .. }));
    if calls { "result in" } else { "called in" }
}

/// Shows the number of a page and buttons for the others, if there are several pages.
fn pager(ui: &mut Ui, detail: Detail, page: usize, pages: usize, commands: &mut Commands) {
    if pages == 1 {
        return;
    }
    ui.horizontal(|ui| {
        let mut turn = |ui: &mut Ui, is_enabled: bool, name: &str, to: usize| {
            if ui.add_enabled(is_enabled, egui::Button::new(name)).clicked() {
                commands.push(MessagesCommand::Detail(Detail { page: to, ..detail }));
            }
        };
        turn(ui, page > 0, "Previous page", page.saturating_sub(1));
        ui.label(weak(
            ui,
            format!("{} of {}", wording::number(page), wording::grouped(pages as u64)),
        ));
        turn(ui, page + 1 < pages, "Next page", page + 1);
    });
}
