//! The menu of conversations in a file: the main conversation, sub-agents and abandoned branches.

use crate::analysis::usage::{TreeUsage, UsageRow};
use crate::app::state::command::Commands;
use crate::app::state::model::document::Document;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::{theme, widgets};
use crate::figure::{usd, whole_percent};
use crate::report::{has_tracks, track};
use crate::safe_text;
use crate::session::{Conversation, Start, Track};
use egui::{
    Align, Color32, Galley, Layout, Popup, Rect, Response, RichText, Role, ScrollArea, Sense,
    TextStyle, TextWrapMode, Ui, UiBuilder, WidgetInfo, WidgetText, pos2, vec2,
};
use std::sync::Arc;

/// Width and maximum height of the list, in points.
const WIDTH: f32 = 520.0;
/// Additional width if it shows what the conversations used, in points.
const USED_WIDTH: f32 = 200.0;
/// Widths of the columns of used tokens, cost and peak, in points.
const USED_COLUMNS: [f32; 3] = [56.0, 64.0, 60.0];
const HEIGHT: f32 = 416.0;
/// Height of a row, in points.
const ROW: f32 = 26.0;
/// Width of the number column, in points.
const NUMBER: f32 = 28.0;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Heading(&'static str),
    /// Index of a conversation.
    Conversation(usize),
}

/// The figures of a row.
#[derive(Clone, Copy)]
enum Used<'a> {
    /// No conversation has any.
    Hidden,
    /// Its file cannot be read.
    Unknown,
    Known(&'a UsageRow),
}

/// Returns a short label of the open conversation, such as `sub-agent, 2 of 3`. `None` if it is the only one.
pub(crate) fn open_label(document: &Document) -> Option<String> {
    let all = &document.loaded.conversations;
    let open = all.get(document.conversation).filter(|_| all.len() > 1)?;
    let track = match &open.track {
        _ if !has_tracks(all) => "",
        Track::Main => "main, ",
        Track::SubAgent(_) => "sub-agent, ",
        Track::Branch => "branch, ",
    };
    let number = wording::number(document.conversation);
    let n = wording::grouped(all.len() as u64);
    Some(format!("{track}{number} of {n}"))
}

/// Returns the hover text for the open conversation.
pub(crate) fn help(document: &Document) -> String {
    let all = &document.loaded.conversations;
    let open = all.get(document.conversation).filter(|_| has_tracks(all));
    let what = open.map_or_else(String::new, |open| {
        let title = safe_text::one_line(&open.title, 120);
        format!("{title}\n{}\n\n", wording::capitalized(&track(open)))
    });
    format!("{what}Click to choose another conversation of this file.")
}

/// Shows the list below the chip that opens it. `usage` is what the conversations used, if known.
pub(crate) fn menu(
    chip: &Response,
    document: &Document,
    usage: Option<&TreeUsage>,
    commands: &mut Commands,
) {
    Popup::menu(chip).show(|ui| {
        ui.set_width(WIDTH + usage.map_or(0.0, |_| USED_WIDTH));
        ui.spacing_mut().item_spacing.y = 0.0;
        let all = &document.loaded.conversations;
        let rows = rows(all, document.conversation);
        ScrollArea::vertical().max_height(HEIGHT).show_rows(ui, ROW, rows.len(), |ui, range| {
            for (nth, row) in range.clone().zip(&rows[range]) {
                match row {
                    Row::Heading(title) => heading(ui, title, usage.is_some() && nth == 0),
                    Row::Conversation(at) => {
                        let is_open = *at == document.conversation;
                        let row = usage.and_then(|usage| usage.rows.get(*at)?.as_ref());
                        let used = match row {
                            Some(row) => Used::Known(row),
                            None if usage.is_some() => Used::Unknown,
                            None => Used::Hidden,
                        };
                        if line(ui, &all[*at], *at, is_open, used).clicked() {
                            commands.push(OpenCommand::Conversation(*at));
                        }
                    }
                }
            }
        });
        if let Some(usage) = usage {
            total(ui, usage);
        }
    });
}

/// Shows what all conversations used, and which of them sent more than the window.
fn total(ui: &mut Ui, usage: &TreeUsage) {
    ui.separator();
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let name = format!("All conversations: {}", used_text(&usage.total));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    let right = used_columns(ui, rect, Some(&usage.total));
    let (left, palette) = (rect.left() + 20.0 + NUMBER + space::S, palette(ui));
    let calls = wording::count(usage.total.calls, "call");
    let calls = galley(ui, &calls, TextStyle::Small, palette.weak, f32::INFINITY);
    let room = right - calls.size().x - space::M - left;
    let title = galley(ui, "All, each call once", theme::strong(), palette.text, room);
    let middle = |galley: &Galley| rect.center().y - galley.size().y / 2.0;
    ui.painter().galley(pos2(left, middle(&title)), title, palette.text);
    ui.painter().galley(pos2(right - calls.size().x, middle(&calls)), calls, palette.weak);
    response.on_hover_text(used_text(&usage.total));
    ui.horizontal_wrapped(|ui| {
        ui.add_space(20.0 + NUMBER + space::S);
        let ink = if usage.total.overflows > 0 { palette.bad } else { palette.weak };
        ui.label(RichText::new(usage.overflow_sentence()).small().color(ink));
    });
    ui.add_space(space::S);
}

/// Returns what a conversation used as a sentence.
fn used_text(row: &UsageRow) -> String {
    let cost = row.cost().map_or_else(|| "cost unknown".to_owned(), usd);
    let without = match row.unpriced {
        n if n > 0 && row.cost().is_some() => {
            format!(" without {} of unknown price", wording::count(n, "call"))
        }
        _ => String::new(),
    };
    format!(
        "{}, {} tokens of prompts, {} of answers, {cost}{without}, peak {} of the usable window, {} above the window",
        wording::count(row.calls, "call"),
        row.input.short(),
        row.output.short(),
        whole_percent(row.peak),
        wording::count(row.overflows, "call")
    )
}

/// Paints used tokens, cost and peak at the right of a line; dashes if unknown. Returns the left side of the columns.
fn used_columns(ui: &Ui, rect: Rect, row: Option<&UsageRow>) -> f32 {
    let palette = palette(ui);
    let texts = row.map_or_else(
        || ["–", "–", "–"].map(str::to_owned),
        |row| {
            let star = if row.unpriced > 0 { "*" } else { "" };
            let cost = row.cost().map(|cost| format!("{}{star}", usd(cost)));
            let cost = cost.unwrap_or_else(|| "–".to_owned());
            [row.input.short(), cost, whole_percent(row.peak)]
        },
    );
    let exceeds = row.is_some_and(|row| row.overflows > 0);
    let inks = [palette.weak, palette.weak, if exceeds { palette.bad } else { palette.weak }];
    columns(ui, rect, &texts, inks)
}

/// Paints small texts at the right of a line, aligned to the right. Returns the left side of the columns.
fn columns(ui: &Ui, rect: Rect, texts: &[String; 3], inks: [Color32; 3]) -> f32 {
    let mut right = rect.right() - space::S;
    for ((text, ink), width) in texts.iter().zip(inks).zip(USED_COLUMNS).rev() {
        let text = galley(ui, text, TextStyle::Small, ink, width);
        let at = pos2(right - text.size().x, rect.center().y - text.size().y / 2.0);
        ui.painter().galley(at, text, ink);
        right -= width;
    }
    right
}

fn galley(ui: &Ui, text: &str, style: TextStyle, ink: Color32, width: f32) -> Arc<Galley> {
    let text = RichText::new(text).text_style(style).color(ink);
    WidgetText::from(text).into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body)
}

/// Groups the conversations by kind under headings. If there are several main conversations, lists sub-agents below
/// their parents instead.
fn rows(all: &[Conversation], open: usize) -> Vec<Row> {
    type Is = fn(&Track) -> bool;
    if all.iter().filter(|c| c.track == Track::Main).count() > 1 {
        return families(all, open);
    }
    let main = if has_tracks(all) { "Main conversation" } else { "Conversations in this file" };
    let groups: [(&str, Is); 3] = [
        (main, |track| *track == Track::Main),
        ("Sub-agents", |track| matches!(track, Track::SubAgent(_))),
        ("Abandoned branches", |track| *track == Track::Branch),
    ];
    let mut rows = Vec::with_capacity(all.len() + groups.len());
    for (heading, is_in) in groups {
        let mut members = (0..all.len()).filter(|at| is_in(&all[*at].track)).peekable();
        if members.peek().is_some() {
            rows.push(Row::Heading(heading));
            rows.extend(members.map(Row::Conversation));
        }
    }
    rows
}

/// Lists each conversation, followed by its sub-agents.
fn families(all: &[Conversation], open: usize) -> Vec<Row> {
    let parent = |conversation: &Conversation| match conversation.start {
        Some(Start::Of(parent)) => Some(parent),
        Some(Start::StartedAt(_) | Start::After(_)) => Some(open),
        None => None,
    };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut next: Vec<usize> = Vec::new();
    for (at, conversation) in all.iter().enumerate().rev() {
        match parent(conversation).filter(|parent| *parent < all.len()) {
            Some(parent) => children[parent].push(at),
            None => next.push(at),
        }
    }
    let mut rows = vec![Row::Heading("Conversations in this file")];
    let mut is_listed = vec![false; all.len()];
    while let Some(at) = next.pop() {
        is_listed[at] = true;
        rows.push(Row::Conversation(at));
        next.append(&mut children[at]);
    }
    // Conversations whose parents form a cycle have no root.
    let left = (0..all.len()).filter(|at| !is_listed[*at]);
    rows.extend(left.map(Row::Conversation));
    rows
}

/// Shows a heading. The first one has the heads of the columns if there are figures.
fn heading(ui: &mut Ui, title: &str, has_heads: bool) {
    let size = vec2(ui.available_width(), ROW);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    if has_heads {
        columns(ui, rect, &["input", "cost", "peak"].map(str::to_owned), [palette(ui).weak; 3]);
    }
    let rect = rect.shrink2(vec2(space::S, 4.0));
    let layout = Layout::left_to_right(Align::Max);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    widgets::section(&mut inner, title);
}

/// Shows a conversation: its number and title, and at the right its start and length, and what it used.
fn line(
    ui: &mut Ui,
    conversation: &Conversation,
    at: usize,
    is_open: bool,
    used: Used<'_>,
) -> Response {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let title = safe_text::one_line(&conversation.title, 200);
    let name = format!("{}  {title}", wording::number(at));
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_open, &name));
    if ui.is_rect_visible(rect) {
        paint(
            ui,
            rect,
            &response,
            is_open,
            &[wording::number(at), title, description(conversation)],
            used,
        );
    }
    response.on_hover_ui(|ui| {
        ui.label(hint(conversation));
        if let Used::Known(row) = used {
            ui.label(used_text(row));
        }
    })
}

fn paint(
    ui: &Ui,
    rect: Rect,
    response: &Response,
    is_open: bool,
    words: &[String; 3],
    used: Used<'_>,
) {
    let palette = palette(ui);
    let painter = ui.painter();
    if response.hovered() {
        painter.rect_filled(rect, f32::from(space::RADIUS), palette.hover);
    }
    let middle = rect.center().y;
    if is_open {
        painter.circle_filled(pos2(rect.left() + 12.0, middle), 3.5, palette.accent);
    }
    let [number, title, about] = words;
    let number = galley(ui, number, TextStyle::Body, palette.weak, NUMBER);
    let about = galley(ui, about, TextStyle::Small, palette.weak, f32::INFINITY);
    let right = match used {
        Used::Hidden => rect.right() - space::S,
        Used::Unknown => used_columns(ui, rect, None),
        Used::Known(row) => used_columns(ui, rect, Some(row)),
    };
    let left = rect.left() + 20.0 + NUMBER;
    let room = right - about.size().x - space::M - left - space::S;
    let style = if is_open { theme::strong() } else { TextStyle::Body };
    let title = galley(ui, title, style, palette.text, room);
    let put = |galley: Arc<Galley>, x: f32| {
        let at = pos2(x, middle - galley.size().y / 2.0);
        painter.galley(at, galley, palette.text);
    };
    let (number_width, about_width) = (number.size().x, about.size().x);
    put(number, left - number_width);
    put(title, left + space::S);
    put(about, right - about_width);
}

/// Returns the kind of agent, the start and the length of a conversation.
fn description(conversation: &Conversation) -> String {
    let kind = match &conversation.track {
        Track::SubAgent(agent) => agent.kind.as_deref(),
        _ => None,
    };
    let kind = kind.map(|kind| safe_text::one_line(kind, 24));
    let start = conversation.start.map(|start| match start {
        Start::StartedAt(call) => format!("from call {}", wording::number(call)),
        Start::Of(number) => format!("sub-agent of {}", wording::number(number)),
        Start::After(0) => "from the beginning".to_owned(),
        Start::After(messages) => format!("after message {}", wording::grouped(messages as u64)),
    });
    let calls = conversation.size.map(|size| wording::count(size.calls, "call"));
    let all = [kind, start, calls].into_iter().flatten();
    all.collect::<Vec<_>>().join(" · ")
}

fn hint(conversation: &Conversation) -> String {
    let title = safe_text::one_line(&conversation.title, 400);
    let size = conversation.size.map_or_else(
        || "The file is read when you choose it.".to_owned(),
        |size| {
            let messages = wording::count(size.messages, "message");
            format!("{messages}, {}", wording::count(size.calls, "call"))
        },
    );
    format!("{title}\n{}\n{size}", wording::capitalized(&track(conversation)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_conversations_by_kind_and_keeps_their_numbers() {
        let of =
            |track: Track| Conversation { title: String::new(), track, start: None, size: None };
        let agent = || Track::SubAgent(crate::session::SubAgent::default());
        let all = [of(Track::Main), of(agent()), of(Track::Branch), of(agent())];
        let expected = [
            Row::Heading("Main conversation"),
            Row::Conversation(0),
            Row::Heading("Sub-agents"),
            Row::Conversation(1),
            Row::Conversation(3),
            Row::Heading("Abandoned branches"),
            Row::Conversation(2),
        ];
        assert_eq!(rows(&all, 0), expected);
        let plain = [of(Track::Main), of(Track::Main)];
        assert_eq!(rows(&plain, 0)[0], Row::Heading("Conversations in this file"));
    }

    #[test]
    fn lists_sub_agents_below_their_parents_if_there_are_several_main_conversations() {
        let main = || Conversation::unread(String::new());
        let of = |start: Start| Conversation {
            track: Track::SubAgent(crate::session::SubAgent::default()),
            start: Some(start),
            ..main()
        };
        let numbers = |all: &[Conversation], open: usize| -> Vec<usize> {
            let number = |row: &Row| match row {
                Row::Conversation(at) => Some(*at),
                Row::Heading(_) => None,
            };
            rows(all, open).iter().filter_map(number).collect()
        };
        let (asked, under) = (of(Start::StartedAt(7)), |at| of(Start::Of(at)));
        let all = [main(), main(), asked, under(0), under(3), under(0)];
        assert_eq!(numbers(&all, 1), [0, 3, 4, 5, 1, 2]);
        let ring = [main(), main(), under(3), under(2), under(9)];
        assert_eq!(numbers(&ring, 0), [0, 1, 4, 2, 3]);
    }
}
