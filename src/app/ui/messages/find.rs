//! The field that filters and finds messages with a query, and the count of its matches.

use crate::analysis::query::{Direction, Hit, Query, QuerySubject, SnippetPiece, complete};
use crate::app::state::command::Commands;
use crate::app::state::messages::state::{HitPlace, MessagesCommand};
use crate::app::state::messages::text::MessageText;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::cache::FramePublisher;
use egui::text::{CCursor, CCursorRange};
use egui::{Button, CompletionPopup, Id, Key, Margin, Suggestion, TextEdit, Ui, vec2};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Shows the field. Enter selects the next match, Shift+Enter the previous one.
pub(crate) fn field(ui: &mut Ui, input: &OpenSession<'_>, width: f32, commands: &mut Commands) {
    let filter = &input.view.messages().filter;
    let mut text = filter.text.clone();
    let mut edit = TextEdit::singleline(&mut text)
        .hint_text("Find…  Ctrl+F")
        .desired_width(width)
        .margin(Margin::symmetric(6, 3));
    if filter.error.is_some() {
        edit = edit.text_color(palette(ui).bad);
    }
    let popup = CompletionPopup::new(Id::unique("message filter")).accept_keys([Key::Tab]);
    let output = popup.show(ui, edit, |query| {
        // The names are collected only where they are suggested.
        let tools = if query.word.contains("tool:") { input.document.tools() } else { Vec::new() };
        let words = complete(query.word, &tools);
        words.into_iter().map(Suggestion::new).collect()
    });
    let response = output.text_edit.response.response.clone();
    let response = response.accessible_name("Filter messages");
    if input.once.focuses_filter {
        response.request_focus();
        // Typing replaces the last query.
        let mut state = output.text_edit.state;
        let all = CCursorRange::two(CCursor::default(), CCursor::new(text.chars().count()));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), response.id);
    }
    if response.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape)) {
        text.clear();
    }
    let is_query = !text.trim().is_empty();
    if text != filter.text {
        let mut filter = filter.clone();
        filter.set_text(text);
        commands.push(MessagesCommand::Filter(filter));
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    if is_entered && is_query {
        let direction =
            if ui.input(|i| i.modifiers.shift) { Direction::Previous } else { Direction::Next };
        commands.push(MessagesCommand::Find(direction));
        response.request_focus();
    }
    if !output.is_open {
        let purpose = "Show and find messages";
        widgets::explain_query(ui, response, filter.error.as_ref(), purpose);
    }
}

/// Width of a button that finds a match, and of both with the space between them, in points.
const BUTTON: f32 = 22.0;
pub(crate) const BUTTONS: f32 = 2.0 * BUTTON + space::XS + space::S;

/// Shows the number of matches, and buttons for the next and the previous one.
pub(crate) fn count(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(hits) = input.derived.hits() else {
        return;
    };
    let is_invalid = input.view.messages().filter.error.is_some();
    let n = if is_invalid { 0 } else { hits.list.len() };
    let spacing = ui.spacing().clone();
    ui.spacing_mut().button_padding.x = space::XS;
    ui.spacing_mut().item_spacing.x = space::XS;
    // From right to left.
    for (sign, name, keys, direction) in [
        ("↓", "Next match", "F3", Direction::Next),
        ("↑", "Previous match", "Shift+F3", Direction::Previous),
    ] {
        let button = Button::new(sign).min_size(vec2(BUTTON, BUTTON));
        let button = ui.add_enabled(n > 0, button).accessible_name(name);
        if button.on_hover_text(format!("{name} ({keys})")).clicked() {
            commands.push(MessagesCommand::Find(direction));
        }
    }
    *ui.spacing_mut() = spacing;
    if is_invalid {
        return;
    }
    let all = wording::grouped(n as u64);
    let at = input
        .view
        .messages()
        .found
        .and_then(|found| hits.list.iter().position(|hit| *hit == found.hit));
    let text = match (at, hits.is_cut) {
        (Some(at), false) => format!("{} of {all}", wording::number(at)),
        (Some(at), true) => format!("{} of over {all}", wording::number(at)),
        (None, true) => format!("over {all} matches"),
        (None, false) => wording::count(n, "match"),
    };
    let listed = wording::count(input.derived.order().len(), "message");
    let text = small(ui, text);
    ui.label(text).on_hover_text(format!("Matches of the query in {listed}"));
}

/// Returns the place of a match in the text of its message.
pub(crate) fn place(hit: Hit, text: &MessageText, query: &Query) -> HitPlace {
    let section = hit.part as usize;
    let shown = text.sections.get(section);
    let found = shown.and_then(|shown| {
        // The text may be formatted and then has fewer occurrences than the part.
        let all = query.occurrences(&shown.text);
        let nth = (hit.nth as usize).min(all.len().checked_sub(1)?);
        let page = shown.page_of(all[nth].start);
        let same_page = all[..nth].iter().rev();
        let same_page = same_page.take_while(|range| shown.page_of(range.start) == page);
        Some((page, same_page.count()))
    });
    HitPlace { section, page: found.map_or(0, |(page, _)| page), nth: found.map(|(_, nth)| nth) }
}

/// Number of characters of a snippet.
const SNIPPET_CHARS: RangeInclusive<usize> = 24..=120;
/// Mean width of a character, in points.
const CHARACTER: f32 = 6.5;

/// Snippets of the previous frame, by message, query and match.
type Snippets = FramePublisher<Id, Arc<Vec<SnippetPiece>>>;

/// Returns the text around a match of the query in a message: around the match that was found last, else around the first.
/// `None` if the query searches no text.
pub(crate) fn snippet(
    ui: &Ui,
    input: &OpenSession<'_>,
    message: usize,
) -> Option<Arc<Vec<SnippetPiece>>> {
    let query = &input.view.messages().filter.query;
    query.needles().next()?;
    let found = input.view.messages().found.map(|found| found.hit);
    let hit = found.filter(|hit| hit.message as usize == message);
    let nth = hit.map(|hit| (hit.part, hit.nth));
    let chars = (ui.available_width() / CHARACTER) as usize;
    let chars = chars.clamp(*SNIPPET_CHARS.start(), *SNIPPET_CHARS.end());
    let text = &input.view.messages().filter.text;
    let id = Id::unique((input.document.id, message, nth, text, chars));
    let known = ui.memory_mut(|memory| memory.caches.cache::<Snippets>().get(&id).cloned());
    let snippet = known.or_else(|| {
        let subject = QuerySubject::new(input.document.session(), None, message);
        let hit = hit.or_else(|| query.first_hit(&subject))?;
        Some(Arc::new(query.snippet(&subject, hit, chars)))
    })?;
    ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<Snippets>();
        cache.set(id, Arc::clone(&snippet));
    });
    Some(snippet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::messages::text::Section;

    #[test]
    fn a_match_is_placed_on_its_page() {
        let filler = "é ".repeat(20_000);
        let section = Section {
            title: String::new(),
            kind: None,
            tokens: None,
            text: format!("word {filler} word Word {filler} word"),
        };
        let text = MessageText { sections: vec![section] };
        let query = Query::parse("word").unwrap();
        let at = |nth| {
            let hit = Hit { message: 0, part: 0, nth };
            let place = place(hit, &text, &query);
            (place.page, place.nth)
        };
        assert_eq!(at(0), (0, Some(0)));
        assert_eq!(at(1), (1, Some(0)));
        assert_eq!(at(2), (1, Some(1)));
        assert_eq!(at(3), (2, Some(0)));
        // The part has more occurrences than the formatted text.
        assert_eq!(at(9), (2, Some(0)));
        for nth in 0..4 {
            let (page, on_page) = at(nth);
            let shown = text.sections[0].page(page).unwrap();
            assert!(query.occurrences(shown).len() > on_page.unwrap());
        }
    }
}
