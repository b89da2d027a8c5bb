//! The chips of the bar: the open session, its context window, the accuracy of its counts, and whether the file grows.

use crate::app::state::command::Commands;
use crate::app::state::model::document::Document;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::tab::Tab;
use crate::app::state::open::followed_file::FollowedState;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::bar::detail::Detail;
use crate::app::ui::bar::input::BarInput;
use crate::app::ui::bar::model;
use crate::app::ui::parts::conversations;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::ChipText;
use crate::safe_text;
use crate::tokens::{Accuracy, COUNTERS};
use egui::{Popup, Ui};

/// Shows the chips with as much detail as fits.
pub(crate) fn show(
    ui: &mut Ui,
    input: &BarInput<'_>,
    document: &Document,
    runs: &Runs,
    commands: &mut Commands,
) {
    let conversation = match conversations::open_label(document) {
        Some(label) => vec![ChipText::plain(label), ChipText::plain(" ⏷")],
        None => Vec::new(),
    };
    // Details that do not fit are omitted rather than cut off; the hover texts contain everything.
    let chips = |detail: Detail| {
        [
            file_texts(document, detail),
            model::texts(input, document, runs, detail),
            vec![ChipText::plain(wording::accuracy(&runs.case.ledger))],
            conversation.clone(),
        ]
    };
    let fitting =
        Detail::ALL.into_iter().map(chips).find(|chips| width(ui, chips) <= ui.available_width());
    let [file, window, ..] = fitting.unwrap_or_else(|| chips(Detail::Minimum));
    let session = document.session();
    let hint = format!(
        "{}\n{}\n\nClick to see how the file was read.",
        safe_text::one_line(&session.title, 200),
        document.source_text()
    );
    if widgets::chip(ui, None, &file).on_hover_text(safe_text::visible(&hint)).clicked() {
        commands.push(ShellCommand::ShowTab(Tab::IMPORT));
    }
    if !conversation.is_empty() {
        let chip =
            widgets::chip(ui, None, &conversation).on_hover_text(conversations::help(document));
        conversations::menu(&chip, document, input.conversation_usage, commands);
    }
    if ui.available_width() > width(ui, std::slice::from_ref(&window)) {
        model::show(ui, input, document, runs, &window, commands);
    }
    accuracy(ui, runs, commands);
}

fn file_texts(document: &Document, detail: Detail) -> Vec<ChipText> {
    let name = &document.session().source.name;
    let longest = match detail {
        Detail::Minimum => 18,
        Detail::Calls => 28,
        _ => 60,
    };
    let mut texts = vec![ChipText::strong(safe_text::one_line(name, longest))];
    if let Some(source) = document.managed_from.as_ref().filter(|_| detail <= Detail::ModelName) {
        let source = safe_text::one_line(source, longest);
        texts.push(ChipText::plain(format!(" · managed from {source}")));
    }
    if detail <= Detail::FileFormat {
        let format = document.format_label();
        texts.push(ChipText::plain(format!(" · {format}")));
    }
    if detail <= Detail::Calls {
        let calls = wording::count(document.session().calls.len(), "call");
        texts.push(ChipText::plain(format!(" · {calls}")));
    }
    texts
}

/// Returns the width of chips side by side, in points.
fn width(ui: &Ui, chips: &[Vec<ChipText>]) -> f32 {
    let text = |part: &ChipText| {
        let font = part.style().resolve(ui.style());
        let galley = ui.painter().layout_no_wrap(part.text.clone(), font, palette(ui).text);
        galley.size().x
    };
    // The padding of the chip and the space to the next chip; one chip has a dot.
    chips
        .iter()
        .filter(|words| !words.is_empty())
        .map(|words| words.iter().map(text).sum::<f32>() + 2.0 * space::S + space::S)
        .sum::<f32>()
        + 16.0
}

/// Shows the accuracy of the counts, with a menu of tokenizers.
fn accuracy(ui: &mut Ui, runs: &Runs, commands: &mut Commands) {
    let ledger = &runs.case.ledger;
    let dot = match ledger.accuracy {
        Accuracy::Reported | Accuracy::Exact | Accuracy::Calibrated(_) => palette(ui).ok,
        Accuracy::Estimated => palette(ui).warn,
    };
    let full_text = wording::accuracy(ledger);
    // In a narrow bar only the accuracy sign is shown; the hover text contains the rest.
    let texts = [full_text.as_str(), wording::accuracy_sign(ledger)];
    let available = ui.available_width();
    let fits = |text: &&str| width(ui, &[vec![ChipText::plain(*text)]]) <= available;
    let Some(text) = texts.into_iter().find(fits) else {
        return;
    };
    let chip = widgets::chip(ui, Some(dot), &[ChipText::plain(text)]);
    let chip = chip.on_hover_text(format!(
        "{}\n\n{}\n\nClick to choose another tokenizer.",
        full_text,
        wording::accuracy_help(ledger)
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

/// Hover text for a file that is still being written.
const LIVE: &str = "This file is still being written and is read again as it grows. The view follows the last call. \
    Token counts are recalibrated as new calls report usage, so figures and compactions of earlier calls can shift \
    slightly.";

/// Shows that the file is still being written.
pub(crate) fn live(ui: &mut Ui, state: FollowedState<'_>) {
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
    widgets::chip(ui, Some(dot), &[ChipText::plain(word)]).on_hover_text(text);
}
