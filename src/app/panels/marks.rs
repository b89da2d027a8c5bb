//! Marks by hand among the messages: what stands in a row, the menu that makes them, how many there are, and what could
//! not be done.

use super::{PanelInput, small, weak};
use crate::app::by_hand::{Mark, is_about_marks, said};
use crate::app::command::Command;
use crate::app::message_table::{Filter, chosen};
use crate::app::theme::{palette, space};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::engine::{Event, Fate};
use crate::safe_text;
use egui::{
    Align, Button, Color32, Label, Layout, Popup, PopupCloseBehavior, Response, RichText, Ui,
};

/// Width of the menus.
const WIDTH: f32 = 300.0;
const LEAST: f32 = 150.0;
/// Warnings that a menu lists; the tab Insights has all.
const MOST: usize = 6;

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

/// How many are marked, with a menu for what is selected and shown, and for all marks.
pub(super) fn all(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let marks = said(&input.config.by_hand);
    let name = if marks.is_empty() { "By hand" } else { &marks };
    let button = ui
        .add(Button::new(name))
        .on_hover_text("Pin, clear or drop messages by hand")
        .accessible_name(format!(
            "Marked by hand: {}",
            if marks.is_empty() { "nothing" } else { &marks }
        ));
    let warnings = warnings(input);
    let mut opened = button;
    let n_told = warnings.iter().filter(|(_, w)| is_told(w)).count();
    if n_told > 0 {
        let badge = widgets::badge(ui, n_told, Tone::Warn);
        let badge = badge.on_hover_ui(|ui| list(ui, &warnings));
        opened = opened.union(badge);
    }
    Popup::menu(&opened)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .width(WIDTH)
        .show(|ui| {
            ui.set_max_width(WIDTH);
            let selected = chosen(&input.selection, input.order);
            menu(ui, input, &selected, commands);
            let has_shown = shown(ui, input, !selected.is_empty(), commands);
            if !marks.is_empty() {
                if has_shown || !selected.is_empty() {
                    ui.separator();
                }
                marked(ui, input, &warnings, commands);
            } else if !has_shown && selected.is_empty() {
                let text =
                    "Select messages in the table, or filter them, to pin, clear or drop them.";
                ui.add(Label::new(weak(ui, text)).wrap().halign(Align::Min));
            }
        });
}

/// Marks for everything that the filter shows; whether there are any.
fn shown(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    is_second: bool,
    commands: &mut Vec<Command>,
) -> bool {
    if input.view.filter.is_empty() || input.order.is_empty() {
        return false;
    }
    if is_second {
        ui.separator();
    }
    let n = wording::count(input.order.len(), "message");
    ui.label(small(ui, format!("What the filter shows: {n}")));
    for mark in Mark::ALL {
        let (set, _) = mark.verbs();
        let button = ui.button(format!("{set} all of them"));
        if button.on_hover_text(mark.help()).clicked() {
            let messages = input.order.iter().map(|m| *m as usize).collect();
            commands.push(Command::SetMark(messages, Some(mark)));
            ui.close();
        }
    }
    true
}

/// What there is to do with all marks, and what could not be done.
fn marked(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    warnings: &[(String, String)],
    commands: &mut Vec<Command>,
) {
    let mut is_marked = input.view.filter.is_marked;
    if ui
        .checkbox(&mut is_marked, "Show only marked messages")
        .changed()
    {
        let filter = Filter {
            is_marked,
            ..input.view.filter.clone()
        };
        commands.push(Command::SetFilter(filter));
    }
    if ui.button("Take all marks away").clicked() {
        commands.push(Command::ResetMarks);
        ui.close();
    }
    if !warnings.is_empty() {
        ui.separator();
        list(ui, warnings);
    }
}

/// What the runs say about marks that could not be made, each with the lanes that say so.
fn warnings(input: &PanelInput<'_>) -> Vec<(String, String)> {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, lane) in input.runs.labels.iter().zip(&input.runs.lanes) {
        let warnings = lane.outcome.warnings.iter();
        for warning in warnings.filter(|warning| is_about_marks(warning)) {
            match told.iter_mut().find(|(known, _)| known == warning) {
                Some((_, labels)) => labels.push(label),
                None => told.push((warning, vec![label])),
            }
        }
    }
    let n_lanes = input.runs.lanes.len();
    let lanes = |labels: Vec<&str>| match labels.len() {
        n if n == n_lanes && n > 1 => "Every lane".to_owned(),
        _ => labels.join(", "),
    };
    let told = told.into_iter();
    told.map(|(warning, labels)| (lanes(labels), safe_text::visible(warning).into_owned()))
        .collect()
}

fn list(ui: &mut Ui, warnings: &[(String, String)]) {
    // A menu's own layout would stretch the lines from edge to edge.
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        for (lanes, warning) in warnings.iter().take(MOST) {
            let text = format!("{lanes}: {}", wording::with_grouped(warning));
            let color = if is_told(warning) {
                palette(ui).warn
            } else {
                palette(ui).weak
            };
            ui.add(Label::new(RichText::new(text).color(color)).wrap());
        }
        if warnings.len() > MOST {
            let more = wording::grouped((warnings.len() - MOST) as u64);
            ui.label(weak(ui, format!("and {more} more, in Insights")));
        }
    });
}

/// Whether a warning wants to be seen: what is gone already need not be dropped.
fn is_told(warning: &str) -> bool {
    !warning.contains(": gone already")
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
