//! The results of a search in all sessions: each session with its messages that match.

use crate::analysis::query::FoundMessage;
use crate::app::state::command::Commands;
use crate::app::state::session_tabs::target_tab::TargetTab;
use crate::app::state::sessions::list::{Sessions, SessionsCommand};
use crate::app::state::sessions::search::{FoundRow, SessionSearch};
use crate::app::state::wording;
use crate::app::ui::parts::open_item;
use crate::app::ui::sessions::table::{age_of_call, last_call};
use crate::app::ui::sessions::{keys, search_field};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::app::ui::{theme, widgets};
use crate::exec::search::FoundSession;
use crate::safe_text;
use egui::{
    Align, Id, Label, Layout, Rect, Response, RichText, Role, ScrollArea, Sense, Ui, UiBuilder,
    WidgetInfo, vec2,
};
use std::time::SystemTime;

/// Height of a row, in points.
const ROW: f32 = 24.0;
/// Indentation of messages, in points.
const INDENT: f32 = 16.0;
/// Width of the number, the call and the kind of a message, in points.
const WIDTHS: [f32; 3] = [76.0, 72.0, 150.0];

fn list_id() -> Id {
    Id::unique("search results")
}

/// Shows the results, or why there are none.
pub(crate) fn show(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    let search = &sessions.search;
    if search.rows.is_empty() || search.is_outdated() {
        return empty_state(ui, search, commands);
    }
    let highlighted = search.highlighted.filter(|_| search.is_current());
    let keys = keys::read(ui, list_id(), search_field::field_id(), search.rows.len(), highlighted);
    if let Some(row) = highlighted.filter(|_| keys.is_entered) {
        let row = search.rows[row];
        commands.push(SessionsCommand::OpenFound(row, TargetTab::Shown));
    }
    if let Some(row) = keys.moved_to {
        commands.push(SessionsCommand::HighlightFound(row));
    }
    let highlighted = keys.moved_to.or(highlighted);
    let area = ui.available_rect_before_wrap();
    let now = SystemTime::now();
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut scroll = ScrollArea::vertical().auto_shrink(false).id_salt("found");
    if let Some(row) = keys.moved_to {
        let offset = (row as f32 + 0.5) * ROW - area.height() / 2.0;
        scroll = scroll.vertical_scroll_offset(offset.max(0.0));
    }
    scroll.show_rows(ui, ROW, search.rows.len(), |ui, rows| {
        for idx in rows {
            let row = search.rows[idx];
            let response = show_row(ui, search, row, highlighted == Some(idx), now);
            let mut target = open_item::target(&response);
            response.context_menu(|ui| target = open_item::chosen(ui));
            commands.extend(target.map(|target| SessionsCommand::OpenFound(row, target)));
        }
    });
    let text = highlighted.map(|row| row_text(search, search.rows[row]));
    keys::make_focusable(ui, list_id(), area, "Messages found", text.as_deref());
}

fn empty_state(ui: &mut Ui, search: &SessionSearch, commands: &mut Commands) {
    padded(ui, |ui| {
        if let Some(error) = &search.error {
            ui.label(RichText::new(error.to_string()).color(palette(ui).bad));
        } else if search.is_outdated() {
            ui.label(weak(ui, "Press Enter to search."));
        } else if search.progress().is_some() {
            let text = if search.index_bytes.is_some() {
                "Searching the index…"
            } else {
                "Reading all sessions…"
            };
            ui.label(weak(ui, text));
        } else if search.is_complete() {
            let n = wording::count(search.result.n_searched, "session");
            ui.label(weak(ui, format!("No match in {n}.")));
            ui.add_space(space::S);
            if widgets::secondary_button(ui, "Clear the search", "").clicked() {
                commands.push(SessionsCommand::SearchText(String::new()));
            }
        } else if search.problem.is_none() {
            let text = if search.is_current() {
                "Stopped. Press Enter to search again."
            } else {
                "Press Enter to search."
            };
            ui.label(weak(ui, text));
        }
    });
}

fn show_row(
    ui: &mut Ui,
    search: &SessionSearch,
    row: FoundRow,
    is_highlighted: bool,
    now: SystemTime,
) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, row_text(search, row)));
    let tone = palette(ui);
    if is_highlighted {
        ui.painter().rect_filled(rect, 3.0, tone.selection);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, tone.hover);
    }
    let content = rect.shrink2(vec2(space::XS, 0.0));
    let layout = Layout::left_to_right(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(content).layout(layout));
    ui.style_mut().interaction.selectable_labels = false;
    match row {
        FoundRow::Session(idx) => session_row(&mut ui, &search.result.sessions[idx], now),
        FoundRow::Message(idx, message) => {
            let session = &search.result.sessions[idx];
            message_row(&mut ui, &session.messages[message]);
        }
        FoundRow::More(idx) => {
            let session = &search.result.sessions[idx];
            ui.add_space(INDENT);
            let n = wording::count(session.n_messages - session.messages.len(), "more message");
            ui.label(weak(&ui, format!("{n}: open the session to see all")));
        }
    }
    response
}

fn session_row(ui: &mut Ui, session: &FoundSession, now: SystemTime) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        let last = session.times.map(|(_, last)| last);
        last_call(ui, small(ui, age_of_call(now, last)), last);
        let text = format!(
            "{} in {}",
            wording::count(session.n_hits, "match"),
            wording::count(session.n_messages, "message")
        );
        ui.label(small(ui, text));
        ui.label(small(ui, session.agent_label()));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let title = safe_text::one_line(&session.title, 200);
            let title = RichText::new(title).text_style(theme::strong());
            let path = session.found.path.display().to_string();
            widgets::one_line(ui, title).on_hover_text(safe_text::one_line(&path, 300));
        });
    });
}

fn message_row(ui: &mut Ui, found: &FoundMessage) {
    ui.add_space(INDENT);
    let tone = palette(ui);
    let number = wording::number(found.hit.message as usize);
    let call = found.call.map(wording::number);
    let call = call.map_or_else(|| "–".to_owned(), |call| format!("call {call}"));
    cell(ui, WIDTHS[0], |ui| {
        ui.label(weak(ui, number));
    });
    cell(ui, WIDTHS[1], |ui| {
        ui.label(weak(ui, call));
    });
    cell(ui, WIDTHS[2], |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::swatch(ui, tone.kind(found.kind));
        ui.add(Label::new(kind(found)).truncate());
    });
    let more = (found.n_hits > 1).then(|| wording::count(found.n_hits, "match"));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if let Some(more) = more {
            ui.label(small(ui, more));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            widgets::snippet(ui, &found.snippet, tone.text);
        });
    });
}

/// Shows content of a fixed width.
fn cell(ui: &mut Ui, width: f32, show: impl FnOnce(&mut Ui)) {
    let (rect, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    let rect = Rect::from_min_max(rect.min, rect.max - vec2(space::XS, 0.0));
    let layout = Layout::left_to_right(Align::Center);
    show(&mut ui.new_child(UiBuilder::new().max_rect(rect).layout(layout)));
}

/// Returns the kind of a message with its tool.
fn kind(found: &FoundMessage) -> String {
    let kind = wording::kind(found.kind);
    match &found.tool {
        Some(tool) => format!("{kind} {}", safe_text::one_line(tool, 40)),
        None => kind.to_owned(),
    }
}

/// Describes a row to assistive tools.
fn row_text(search: &SessionSearch, row: FoundRow) -> String {
    let session = |idx: usize| &search.result.sessions[idx];
    match row {
        FoundRow::Session(idx) => safe_text::one_line(&session(idx).title, 200),
        FoundRow::Message(idx, message) => {
            let found = &session(idx).messages[message];
            let snippet: String = found.snippet.iter().map(|piece| &*piece.text).collect();
            let number = wording::number(found.hit.message as usize);
            let snippet = safe_text::one_line(&snippet, 200);
            format!("Message {number}: {snippet}")
        }
        FoundRow::More(_) => "More messages".to_owned(),
    }
}
