//! Manual edits of messages: their icons in the table and the menu that sets them.

use crate::app::state::command::Commands;
use crate::app::state::model::marks::{Mark, MarkCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use crate::engine::{Event, MessageStatus};
use egui::{Button, Color32, Popup, Response, RichText, Ui};

/// Minimum width of the menu, in points.
const MIN_WIDTH: f32 = 150.0;

/// Result of a manual edit in the focused lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditResult {
    /// Applied, or not replayed yet.
    Applied,
    /// Not applied.
    NotApplied,
    /// Not edited, but changed together with an edited message.
    Linked,
}

/// Shows the icon of a message's manual edit, if any.
pub(crate) fn icon(ui: &mut Ui, input: &OpenSession<'_>, message: usize) {
    let result = edit_result(input, message);
    let lane = || input.selection.lane.map(|l| input.runs.labels[l].as_str());
    let (mark, color, text) = match (mark(input, message), result) {
        (Some(mark), Some(EditResult::NotApplied)) => {
            let text = format!(
                "Marked as {}, but not applied in {}. The menu above the table shows the reason.",
                mark.word(),
                lane().unwrap_or_default()
            );
            (mark, palette(ui).warn, text)
        }
        (Some(mark), _) => {
            let color = if mark == Mark::Pinned { palette(ui).accent } else { palette(ui).text };
            (
                mark,
                color,
                format!("{} manually. {}", wording::capitalized(mark.word()), mark.help()),
            )
        }
        (None, Some(EditResult::Linked)) => {
            let text = "Also changed in the focused lane: a tool call and its results are edited together.";
            (Mark::Dropped, palette(ui).faint, text.to_owned())
        }
        (None, _) => return,
    };
    widgets::mark_icon(ui, mark, color).on_hover_text(&text).accessible_name(text);
}

/// Returns a message's text in the style of its manual edit.
pub(crate) fn styled(
    input: &OpenSession<'_>,
    message: usize,
    text: RichText,
    weak: Color32,
) -> RichText {
    match mark(input, message) {
        Some(Mark::Dropped) => text.color(weak).strikethrough(),
        Some(Mark::Cleared) => text.color(weak),
        Some(Mark::Pinned) | None => text,
    }
}

/// Returns the manual edit of a message.
pub(crate) fn mark(input: &OpenSession<'_>, message: usize) -> Option<Mark> {
    Mark::of(&input.config.manual_edits, message)
}

/// Returns the result of the edit in the focused lane. `None` during the replay or without any manual edits.
fn edit_result(input: &OpenSession<'_>, message: usize) -> Option<EditResult> {
    let lane = input.selection.lane?;
    let is_replayed = input.runs.config.manual_edits == input.config.manual_edits;
    if input.config.manual_edits.is_empty() || !is_replayed {
        return None;
    }
    let events = &input.runs.lanes.get(lane)?.outcome.events;
    let manual = || events.iter().rev().take_while(|event| event.is_manual());
    let touches = |event: &Event| event.messages.iter().any(|range| range.contains(&message));
    let is_touched = manual().any(touches);
    let status = input.rows.lanes.get(lane)?.messages.get(message)?.status;
    let is_applied = match mark(input, message) {
        None if is_touched => return Some(EditResult::Linked),
        None => return None,
        Some(Mark::Pinned) => matches!(status, MessageStatus::Kept | MessageStatus::Absent),
        // No warning if the policy had already removed the message.
        Some(Mark::Cleared) => {
            is_touched || matches!(status, MessageStatus::Cleared | MessageStatus::Dropped)
        }
        Some(Mark::Dropped) => is_touched || status == MessageStatus::Dropped,
    };
    Some(if is_applied { EditResult::Applied } else { EditResult::NotApplied })
}

/// Shows the edit menu for one or more messages.
pub(crate) fn menu(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    messages: &[usize],
    commands: &mut Commands,
) {
    let title = match messages {
        [] => return,
        [one] => format!("Message {}", wording::number(*one)),
        many => wording::count(many.len(), "message"),
    };
    ui.set_min_width(MIN_WIDTH);
    ui.label(small(ui, title));
    for mark in Mark::ALL {
        let has_mark = |m: &usize| self::mark(input, *m) == Some(mark);
        let name =
            if messages.iter().all(has_mark) { mark.remove_label() } else { mark.set_label() };
        if entry(ui, name, mark.key()).on_hover_text(mark.help()).clicked() {
            commands.push(MarkCommand::Toggle(messages.to_vec(), mark));
            ui.close();
        }
    }
}

/// Shows the menu of a row: edits of the selection, and the removal of all edits.
pub(crate) fn row_menu(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    messages: &[usize],
    commands: &mut Commands,
) {
    menu(ui, input, messages, commands);
    if !input.config.manual_edits.is_empty() {
        ui.separator();
        if ui.button("Remove all manual edits").clicked() {
            commands.push(MarkCommand::RemoveAll);
            ui.close();
        }
    }
}

/// Shows a menu item with its key.
fn entry(ui: &mut Ui, name: &str, key: &str) -> Response {
    let key = small(ui, key);
    let response = ui.add(Button::new(name).right_text(key));
    response.accessible_name(name)
}

/// Shows a button with the message's manual edit that opens the edit menu.
pub(crate) fn button(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    message: usize,
    commands: &mut Commands,
) {
    let current = mark(input, message);
    let name = current.map_or_else(|| "Edit".to_owned(), |mark| wording::capitalized(mark.word()));
    let button = ui
        .button(format!("{name} ⏷"))
        .on_hover_text("Pin, clear or drop this message")
        .accessible_name("Edit this message manually");
    Popup::menu(&button).width(160.0).show(|ui| menu(ui, input, &[message], commands));
}
