//! Marks by hand among the messages: what stands in a row, and the menu that makes them.

mod all;

pub(super) use all::AllMarks;

use super::{PanelInput, small};
use crate::app::by_hand::Mark;
use crate::app::command::Command;
use crate::app::theme::palette;
use crate::app::widgets;
use crate::app::wording;
use crate::engine::{Event, Fate};
use egui::{Button, Color32, Popup, Response, RichText, Ui};

/// Least width of the menu.
const LEAST: f32 = 150.0;

/// What the focused lane's run made of a message's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// What was asked for, or it is not known yet.
    True,
    /// Something else.
    Otherwise,
    /// It has no mark, and went for another's sake.
    Along,
}

/// The mark of a message in its row of the table, if there is anything to show.
pub(super) fn icon(ui: &mut Ui, input: &PanelInput<'_>, message: usize) {
    let came = came(input, message);
    let lane = || input.selection.lane.map(|l| input.runs.labels[l].as_str());
    let (mark, color, text) = match (mark(input, message), came) {
        (Some(mark), Some(Came::Otherwise)) => {
            let text = format!(
                "To be {} by hand, but not in {}. The menu above the table says why.",
                mark.word(),
                lane().unwrap_or_default()
            );
            (mark, palette(ui).warn, text)
        }
        (Some(mark), _) => {
            let color = if mark == Mark::Pinned {
                palette(ui).accent
            } else {
                palette(ui).text
            };
            (
                mark,
                color,
                format!("{} by hand. {}", capitalized(mark.word()), mark.help()),
            )
        }
        (None, Some(Came::Along)) => {
            let text = "Touched, too, in the focused lane: a call and its results go together.";
            (Mark::Dropped, palette(ui).faint, text.to_owned())
        }
        (None, _) => return,
    };
    widgets::mark_icon(ui, mark, color)
        .on_hover_text(&text)
        .accessible_name(text);
}

/// A message's text as its mark leaves it.
pub(super) fn inked(
    input: &PanelInput<'_>,
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

/// What is wanted of a message.
pub(super) fn mark(input: &PanelInput<'_>, message: usize) -> Option<Mark> {
    Mark::of(&input.config.by_hand, message)
}

/// What the focused lane made of it; nothing while it is replayed, or where nobody marked anything.
fn came(input: &PanelInput<'_>, message: usize) -> Option<Came> {
    let lane = input.selection.lane?;
    let is_there = input.runs.config.by_hand == input.config.by_hand;
    if input.config.by_hand.is_empty() || !is_there {
        return None;
    }
    let events = &input.runs.lanes.get(lane)?.outcome.events;
    let by_hand = || events.iter().rev().take_while(|event| event.is_by_hand());
    let touches = |event: &Event| event.messages.iter().any(|range| range.contains(&message));
    let is_touched = by_hand().any(touches);
    let fate = input.rows.lanes.get(lane)?.messages.get(message)?.fate;
    let is_as_wanted = match mark(input, message) {
        None if is_touched => return Some(Came::Along),
        None => return None,
        Some(Mark::Pinned) => matches!(fate, Fate::Kept | Fate::Absent),
        // What the policy has taken already need not be taken by hand.
        Some(Mark::Cleared) => is_touched || matches!(fate, Fate::Cleared | Fate::Dropped),
        Some(Mark::Dropped) => is_touched || fate == Fate::Dropped,
    };
    let came = if is_as_wanted {
        Came::True
    } else {
        Came::Otherwise
    };
    Some(came)
}

/// A menu for messages, which are one or more.
pub(super) fn menu(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    messages: &[usize],
    commands: &mut Vec<Command>,
) {
    let which = match messages {
        [] => return,
        [one] => format!("Message {}", wording::number(*one)),
        many => wording::count(many.len(), "message"),
    };
    ui.set_min_width(LEAST);
    ui.label(small(ui, which));
    for mark in Mark::ALL {
        let has_it = |m: &usize| self::mark(input, *m) == Some(mark);
        let (set, undo) = mark.verbs();
        let name = if messages.iter().all(has_it) {
            undo
        } else {
            set
        };
        if entry(ui, name, mark.key())
            .on_hover_text(mark.help())
            .clicked()
        {
            commands.push(Command::ToggleMark(messages.to_vec(), mark));
            ui.close();
        }
    }
}

/// The menu of a row: what there is to do with these messages, and with all marks.
pub(super) fn row_menu(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    messages: &[usize],
    commands: &mut Vec<Command>,
) {
    menu(ui, input, messages, commands);
    if !input.config.by_hand.is_empty() {
        ui.separator();
        if ui.button("Take all marks away").clicked() {
            commands.push(Command::ResetMarks);
            ui.close();
        }
    }
}

/// A line of a menu with its key.
fn entry(ui: &mut Ui, name: &str, key: &str) -> Response {
    let key = small(ui, key);
    let response = ui.add(Button::new(name).right_text(key));
    response.accessible_name(name)
}

/// A button that opens the menu for one message and says what is wanted of it.
pub(super) fn button(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    message: usize,
    commands: &mut Vec<Command>,
) {
    let now = mark(input, message);
    let name = now.map_or_else(|| "By hand".to_owned(), |mark| capitalized(mark.word()));
    let button = ui
        .button(format!("{name} ⏷"))
        .on_hover_text("Pin, clear or drop this message by hand")
        .accessible_name("Mark this message by hand");
    Popup::menu(&button)
        .width(160.0)
        .show(|ui| menu(ui, input, &[message], commands));
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
