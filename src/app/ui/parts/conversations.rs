//! The menu of conversations in a file: the main conversation, sub-agents and abandoned branches.

use crate::app::state::command::Commands;
use crate::app::state::model::document::Document;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::{theme, widgets};
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

/// Shows the list below the chip that opens it.
pub(crate) fn menu(chip: &Response, document: &Document, commands: &mut Commands) {
    Popup::menu(chip).show(|ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 0.0;
        let all = &document.loaded.conversations;
        let rows = rows(all, document.conversation);
        ScrollArea::vertical().max_height(HEIGHT).show_rows(ui, ROW, rows.len(), |ui, range| {
            for row in &rows[range] {
                match row {
                    Row::Heading(title) => heading(ui, title),
                    Row::Conversation(at) => {
                        let is_open = *at == document.conversation;
                        if line(ui, &all[*at], *at, is_open).clicked() {
                            commands.push(OpenCommand::Conversation(*at));
                        }
                    }
                }
            }
        });
    });
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

fn heading(ui: &mut Ui, title: &str) {
    let size = vec2(ui.available_width(), ROW);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let rect = rect.shrink2(vec2(space::S, 4.0));
    let layout = Layout::left_to_right(Align::Max);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    widgets::section(&mut inner, title);
}

/// Shows a conversation: its number and title, and at the right its start and length.
fn line(ui: &mut Ui, conversation: &Conversation, at: usize, is_open: bool) -> Response {
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
        );
    }
    response.on_hover_ui(|ui| {
        ui.label(hint(conversation));
    })
}

fn paint(ui: &Ui, rect: Rect, response: &Response, is_open: bool, words: &[String; 3]) {
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
    let galley = |text: &str, style: TextStyle, ink: Color32, width: f32| {
        let text = RichText::new(text).text_style(style).color(ink);
        WidgetText::from(text).into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body)
    };
    let number = galley(number, TextStyle::Body, palette.weak, NUMBER);
    let about = galley(about, TextStyle::Small, palette.weak, f32::INFINITY);
    let (left, right) = (rect.left() + 20.0 + NUMBER, rect.right() - space::S);
    let room = right - about.size().x - space::M - left - space::S;
    let style = if is_open { theme::strong() } else { TextStyle::Body };
    let title = galley(title, style, palette.text, room);
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
