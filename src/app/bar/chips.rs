//! The chips of the bar: the open session, its context window, the accuracy of its counts, and whether the file grows.

use super::input::BarInput;
use super::model;
use crate::app::command::Commands;
use crate::app::open::conversations;
use crate::app::open::document::Document;
use crate::app::open::followed_file::FollowedState;
use crate::app::runs::replays::Runs;
use crate::app::settings_panel::command::SettingsCommand;
use crate::app::shell::command::ShellCommand;
use crate::app::theme::{self, palette, space};
use crate::app::view::Tab;
use crate::app::{widgets, wording};
use crate::safe_text;
use crate::tokens::{Basis, COUNTERS};
use egui::{Popup, TextStyle, Ui};

/// Amount of detail in the chips, from most to least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::app) enum Detail {
    WindowSource,
    FileFormat,
    ModelName,
    WholeName,
    Least,
}

const DETAILS: [Detail; 5] = [
    Detail::WindowSource,
    Detail::FileFormat,
    Detail::ModelName,
    Detail::WholeName,
    Detail::Least,
];

/// Words of a chip, each with a flag for strong text.
pub(super) type Words = Vec<(String, bool)>;

/// Shows the chips with as much detail as fits.
pub(super) fn show(
    ui: &mut Ui,
    input: &BarInput<'_>,
    (document, runs): (&Document, &Runs),
    commands: &mut Commands,
) {
    let place: Words = match conversations::place(document) {
        Some(place) => vec![(place, false), (" ⏷".to_owned(), false)],
        None => Words::new(),
    };
    // Details that do not fit are omitted rather than cut off; the hover texts contain everything.
    let words = |least: Detail| {
        [
            file_words(document, least),
            model::words(input, document, runs, least),
            vec![(wording::basis(&runs.case.ledger), false)],
            place.clone(),
        ]
    };
    let fitting = DETAILS
        .into_iter()
        .map(words)
        .find(|chips| width(ui, chips) <= ui.available_width());
    let [file, window, ..] = fitting.unwrap_or_else(|| words(Detail::Least));
    let session = document.session();
    let hint = format!(
        "{}\n{}\n\nClick to see how the file was read.",
        safe_text::one_line(&session.title, 200),
        document.place()
    );
    if chip(ui, &file)
        .on_hover_text(safe_text::visible(&hint))
        .clicked()
    {
        commands.push(ShellCommand::ShowTab(Tab::Import));
    }
    if !place.is_empty() {
        let place = chip(ui, &place).on_hover_text(conversations::help(document));
        conversations::menu(&place, document, commands);
    }
    if ui.available_width() > width(ui, std::slice::from_ref(&window)) {
        model::show(ui, input, document, runs, &window, commands);
    }
    basis(ui, runs, commands);
}

fn file_words(document: &Document, detail: Detail) -> Words {
    let name = &document.session().source.name;
    let longest = match detail {
        Detail::Least => 18,
        Detail::WholeName => 28,
        _ => 60,
    };
    let mut words = vec![(safe_text::one_line(name, longest), true)];
    if detail <= Detail::FileFormat {
        words.push((format!(" · {}", document.format_label()), false));
    }
    if detail <= Detail::WholeName {
        words.push((
            format!(
                " · {}",
                wording::count(document.session().calls.len(), "call")
            ),
            false,
        ));
    }
    words
}

pub(super) fn chip(ui: &mut Ui, words: &Words) -> egui::Response {
    let words: Vec<_> = words
        .iter()
        .map(|(word, is_strong)| (word.as_str(), *is_strong))
        .collect();
    widgets::chip(ui, None, &words)
}

/// Returns the width of chips side by side, in points.
fn width(ui: &Ui, chips: &[Words]) -> f32 {
    let text = |(word, is_strong): &(String, bool)| {
        let style = if *is_strong {
            theme::strong()
        } else {
            TextStyle::Body
        };
        ui.painter()
            .layout_no_wrap(word.clone(), style.resolve(ui.style()), palette(ui).text)
            .size()
            .x
    };
    // The padding of the chip and the space to the next chip; one chip has a dot.
    chips
        .iter()
        .filter(|words| !words.is_empty())
        .map(|words| words.iter().map(text).sum::<f32>() + 2.0 * space::S + space::S)
        .sum::<f32>()
        + 16.0
}

fn basis(ui: &mut Ui, runs: &Runs, commands: &mut Commands) {
    let ledger = &runs.case.ledger;
    let dot = match ledger.basis {
        Basis::Reported | Basis::Exact | Basis::Calibrated(_) => palette(ui).ok,
        Basis::Estimated => palette(ui).warn,
    };
    let whole = wording::basis(ledger);
    // In a narrow bar only the accuracy sign is shown; the hover text contains the rest.
    let words = [whole.as_str(), wording::basis_sign(ledger)];
    let room = ui.available_width();
    let has_room = |words: &&str| width(ui, &[vec![((*words).to_owned(), false)]]) <= room;
    let Some(words) = words.into_iter().find(has_room) else {
        return;
    };
    let chip = widgets::chip(ui, Some(dot), &[(words, false)]);
    let chip = chip.on_hover_text(format!(
        "{}\n\n{}\n\nClick to choose another tokenizer.",
        whole,
        wording::basis_help(ledger)
    ));
    Popup::menu(&chip).show(|ui| {
        ui.set_min_width(260.0);
        widgets::section(ui, "Tokenizer");
        for counter in COUNTERS {
            if ui
                .radio(ledger.counter.name == counter.name, counter.name)
                .on_hover_text(counter.help)
                .clicked()
            {
                commands.push(SettingsCommand::SetTokenizer(counter.name));
            }
        }
    });
}

/// Hover text for a file that grows.
const LIVE: &str = "This file is still being written and is read again as it grows. The view follows the last call. \
    Token counts are recalibrated as new calls report usage, so figures and compactions of earlier calls can shift \
    slightly.";

/// Shows that the file is still being written.
pub(super) fn live(ui: &mut Ui, state: FollowedState<'_>) {
    let (dot, word, text) = match state {
        FollowedState::Gone => (
            palette(ui).bad,
            "missing",
            "The file no longer exists. The loaded content stays; the file is read again if it reappears.".to_owned(),
        ),
        FollowedState::Followed => (
            palette(ui).ok,
            "live",
            LIVE.to_owned(),
        ),
        FollowedState::Unread(why) => (
            palette(ui).warn,
            "unread",
            format!("The file has changed but cannot be read: {why}"),
        ),
    };
    widgets::chip(ui, Some(dot), &[(word, false)]).on_hover_text(text);
}
