//! The choice among the conversations of a file: the main one, those of sub-agents, branches that a person went back from.

use super::small;
use crate::app::command::Command;
use crate::app::document::Document;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::wording;
use crate::report::{has_tracks, track};
use crate::safe_text;
use crate::session::{Conversation, Start, Track};
use egui::{Align, Label, Layout, Popup, Response, ScrollArea, Ui};

/// Width and greatest height of the list.
const WIDTH: f32 = 460.0;
const HEIGHT: f32 = 400.0;
/// Height of a row.
const ROW: f32 = 24.0;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Heading(&'static str),
    /// Index of a conversation.
    Conversation(usize),
}

/// The words by which the open conversation is told among the others, short; none where it is the only one.
pub(super) fn place(document: &Document) -> Option<String> {
    let all = &document.loaded.conversations;
    let open = all.get(document.conversation).filter(|_| all.len() > 1)?;
    let what = match &open.track {
        _ if !has_tracks(all) => "",
        Track::Main => "main, ",
        Track::SubAgent(_) => "sub-agent, ",
        Track::Branch => "branch, ",
    };
    let number = wording::number(document.conversation);
    let n = wording::grouped(all.len() as u64);
    Some(format!("{what}{number} of {n}"))
}

/// Which conversation is open, for a tooltip.
pub(super) fn help(document: &Document) -> String {
    let all = &document.loaded.conversations;
    let open = all.get(document.conversation).filter(|_| has_tracks(all));
    let what = open.map_or_else(String::new, |open| {
        let title = safe_text::one_line(&open.title, 120);
        format!("{title}\n{}\n\n", capital(&track(open)))
    });
    format!("{what}Click to choose another conversation of this file.")
}

/// The list, below what opens it.
pub(super) fn menu(chip: &Response, document: &Document, commands: &mut Vec<Command>) {
    Popup::menu(chip).show(|ui| {
        ui.set_width(WIDTH);
        let all = &document.loaded.conversations;
        let rows = rows(all);
        let height = ROW - ui.spacing().item_spacing.y;
        ScrollArea::vertical()
            .max_height(HEIGHT)
            .show_rows(ui, height, rows.len(), |ui, range| {
                for row in &rows[range] {
                    ui.allocate_ui(egui::vec2(ui.available_width(), height), |ui| match row {
                        Row::Heading(title) => {
                            widgets::section(ui, title);
                        }
                        Row::Conversation(at) => {
                            if line(ui, all, *at, *at == document.conversation) {
                                commands.push(Command::OpenConversation(*at));
                            }
                        }
                    });
                }
            });
    });
}

/// The conversations by what they are, each group under a heading.
fn rows(all: &[Conversation]) -> Vec<Row> {
    type Is = fn(&Track) -> bool;
    let main = if has_tracks(all) {
        "Main conversation"
    } else {
        "Conversations in this file"
    };
    let groups: [(&str, Is); 3] = [
        (main, |track| *track == Track::Main),
        ("Sub-agents", |track| matches!(track, Track::SubAgent(_))),
        ("Branches that were left", |track| *track == Track::Branch),
    ];
    let mut rows = Vec::with_capacity(all.len() + groups.len());
    for (heading, is_in) in groups {
        let its = (0..all.len()).filter(|at| is_in(&all[*at].track));
        rows.push(Row::Heading(heading));
        rows.extend(its.map(Row::Conversation));
        if rows.last() == Some(&Row::Heading(heading)) {
            rows.pop();
        }
    }
    rows
}

/// One conversation; true where it was chosen.
fn line(ui: &mut Ui, all: &[Conversation], at: usize, is_open: bool) -> bool {
    let conversation = &all[at];
    let title = safe_text::one_line(&conversation.title, 200);
    let name = format!("{}  {title}", wording::number(at));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(small(ui, about(conversation)));
        ui.add_space(space::S);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let radio = ui.radio(is_open, "").accessible_name(&name);
            let label = Label::new(name.as_str())
                .truncate()
                .sense(egui::Sense::click());
            let label = ui.add(label).on_hover_text(hint(conversation));
            radio.clicked() || label.clicked()
        })
        .inner
    })
    .inner
}

/// Where it begins and how long it is.
fn about(conversation: &Conversation) -> String {
    let calls = conversation
        .size
        .map(|size| wording::count(size.calls, "call"));
    let start = match &conversation.start {
        Some(Start::AskedAt(step)) => Some(format!("from call {}", wording::number(*step))),
        Some(Start::After(messages)) => Some(format!(
            "after message {}",
            wording::grouped(*messages as u64)
        )),
        None => None,
    };
    start
        .into_iter()
        .chain(calls)
        .collect::<Vec<_>>()
        .join(" · ")
}

fn hint(conversation: &Conversation) -> String {
    let title = safe_text::one_line(&conversation.title, 400);
    let size = conversation.size.map_or_else(
        || "Its file is read when you choose it.".to_owned(),
        |size| {
            let messages = wording::count(size.messages, "message");
            format!("{messages}, {}", wording::count(size.calls, "call"))
        },
    );
    format!("{title}\n{}\n{size}", capital(&track(conversation)))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_grouped_by_what_they_are_and_keep_their_numbers() {
        let of = |track: Track| Conversation {
            title: String::new(),
            track,
            start: None,
            size: None,
        };
        let agent = || Track::SubAgent(crate::session::SubAgent::default());
        let all = [of(Track::Main), of(agent()), of(Track::Branch), of(agent())];
        let expected = [
            Row::Heading("Main conversation"),
            Row::Conversation(0),
            Row::Heading("Sub-agents"),
            Row::Conversation(1),
            Row::Conversation(3),
            Row::Heading("Branches that were left"),
            Row::Conversation(2),
        ];
        assert_eq!(rows(&all), expected);
        let plain = [of(Track::Main), of(Track::Main)];
        assert_eq!(rows(&plain)[0], Row::Heading("Conversations in this file"));
    }
}
