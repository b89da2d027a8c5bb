//! The query field of the tab Messages: find, filter, completion and errors.

use crate::screen::{COMPACTED, Window, large, press, runs, sample};
use egui::accesskit::Role;
use egui::text::CCursor;
use egui::{Key, Modifiers, Pos2, Rect, Shape};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::analysis::query::{Hit, Query};
use plimsoll::app::ui::theme;

fn window() -> Window {
    large(sample(COMPACTED))
}

fn field(window: &Window) -> egui_kittest::Node<'_> {
    window.get_by_role_and_label(Role::TextInput, "Filter messages")
}

fn typed(window: &mut Window, text: &str) {
    press(window, Modifiers::COMMAND, Key::F);
    field(window).type_text(text);
    window.run_ok();
}

/// Returns the matches of a query and the number of messages with one.
fn matches(window: &Window, query: &str) -> (Vec<Hit>, usize) {
    let case = &runs(window).case;
    let query = Query::parse(query).expect("a query");
    let messages = query.matching(&case.session, &case.ledger);
    let hits = query.hits(&case.session, &messages, usize::MAX - 1);
    (hits.list, messages.len())
}

/// Returns the place of the emphasized match, and whether it is in view.
fn emphasized(window: &Window) -> Option<(Rect, bool)> {
    let accent = theme::of(true).accent;
    window.output().shapes.iter().find_map(|shape| {
        let Shape::Text(text) = &shape.shape else {
            return None;
        };
        let mut sections = text.galley.job.sections.iter();
        let section = sections.find(|section| section.format.background == accent)?;
        let before = &text.galley.job.text[..section.byte_range.start.0];
        let at = CCursor::new(before.chars().count());
        let place = text.galley.pos_from_cursor(at).translate(text.pos.to_vec2());
        Some((place, shape.clip_rect.contains(place.center())))
    })
}

#[test]
fn matches_are_counted_visited_and_scrolled_into_view() {
    let mut window = window();
    window.get_by_role_and_label(Role::Tab, "Cost").click();
    window.run_ok();
    typed(&mut window, "ledger");
    let (hits, _) = matches(&window, "ledger");
    assert!(hits.len() > 20, "{}", hits.len());
    window.get_by_label(&format!("{} matches", hits.len()));
    let mut places: Vec<Pos2> = Vec::new();
    for nth in 1..=12 {
        press(&mut window, Modifiers::NONE, Key::Enter);
        window.get_by_label(&format!("{nth} of {}", hits.len()));
        window.get_by_label(&format!("Message {}", hits[nth - 1].message + 1));
        let (place, is_in_view) = emphasized(&window).expect("a match");
        assert!(is_in_view, "match {nth} at {place}");
        places.push(place.min);
    }
    places.dedup();
    assert!(places.len() > 6, "{places:?}");
    // Typing goes on where it was.
    assert!(field(&window).accesskit_node().is_focused());
    press(&mut window, Modifiers::SHIFT, Key::Enter);
    window.get_by_label(&format!("11 of {}", hits.len()));
    press(&mut window, Modifiers::NONE, Key::F3);
    press(&mut window, Modifiers::NONE, Key::F3);
    window.get_by_label(&format!("13 of {}", hits.len()));
    press(&mut window, Modifiers::SHIFT, Key::F3);
    window.get_by_label("Previous match").click();
    window.run_ok();
    window.get_by_label(&format!("11 of {}", hits.len()));
    // Another message is selected by hand: the next match is counted from there.
    let next = hits.iter().position(|hit| hit.message >= 100).expect("one");
    press(&mut window, Modifiers::NONE, Key::Escape);
    typed(&mut window, "message:100");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("Message 100");
    typed(&mut window, "ledger");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label(&format!("{} of {}", next + 1, hits.len()));
}

#[test]
fn the_last_match_is_followed_by_the_first() {
    let mut window = window();
    typed(&mut window, "role:user -is:summary");
    let (hits, n) = matches(&window, "role:user -is:summary");
    assert!(n > 1 && hits.len() == n);
    press(&mut window, Modifiers::SHIFT, Key::Enter);
    window.get_by_label(&format!("{n} of {n}"));
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label(&format!("1 of {n}"));
    assert_eq!(emphasized(&window), None, "no text was searched");
}

#[test]
fn an_error_is_explained_while_typing_and_matches_nothing() {
    let mut window = window();
    typed(&mut window, "role:user");
    let (_, n) = matches(&window, "role:user");
    let counted = format!("{n} matches");
    window.get_by_label(&counted);
    field(&window).type_text(" call:9-3");
    window.run_ok();
    window.get_by_label("character 16: the range `9-3` is empty");
    assert!(window.query_by_label(&counted).is_none());
    window.get_by_label("The query is invalid.");
    for arrow in ["Next match", "Previous match"] {
        let arrow = window.get_by_label(arrow);
        assert!(arrow.accesskit_node().is_disabled());
    }
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.query_by_label_contains("character 16").is_none());
    window.get_by_label("137 of 137");
}

#[test]
fn the_tab_key_completes_keys_and_values() {
    let mut window = window();
    typed(&mut window, "kin");
    let query = |window: &Window| field(window).accesskit_node().value().unwrap_or_default();
    for (text, completed) in [("", "kind:"), ("res", "kind:result"), (" to", "kind:result tool:")] {
        field(&window).type_text(text);
        window.run_ok();
        press(&mut window, Modifiers::NONE, Key::Tab);
        assert_eq!(query(&window), completed);
        assert!(field(&window).accesskit_node().is_focused());
    }
    // The names of the session's tools follow.
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::Tab);
    let query = query(&window);
    let (_, n) = matches(&window, &query);
    assert!(n > 1, "{query}");
    window.get_by_label(&format!("{n} matches"));
}
