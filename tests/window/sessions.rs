//! The list of sessions: opening, returning, and actions of an empty list.

use crate::screen::{COMPACTED, MANY_RESULTS, Window, click, sample, sized};
use egui::{Key, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::fs;
use tempfile::TempDir;

const SIZE: Vec2 = vec2(1280.0, 720.0);

/// Opens a window with a folder of these samples.
fn listed(samples: &[&str]) -> (TempDir, Window) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in samples {
        fs::copy(sample(name), folder.path().join(name)).expect("a copy");
    }
    let mut window = sized(folder.path().to_owned(), SIZE);
    window.run_ok();
    (folder, window)
}

fn is_listed(window: &Window) -> bool {
    window.query_by_label("2 sessions").is_some()
}

/// Opens the first session of the list.
fn open_one(window: &mut Window) {
    click(window, "Claude Code session");
}

#[test]
fn a_session_returns_to_its_unchanged_list() {
    let (_folder, mut window) = listed(&[COMPACTED, "handoff.json"]);
    assert!(is_listed(&window));
    open_one(&mut window);
    assert!(!is_listed(&window));
    window.get_by_label("Editing: Truncate");
    click(&mut window, "Back to the sessions");
    assert!(is_listed(&window));
    // Esc returns to the session, and the back button stays.
    window.key_press(Key::Escape);
    window.run_ok();
    assert!(!is_listed(&window));
    window.get_by_label("Editing: Truncate");
    click(&mut window, "Back to the sessions");
    assert!(is_listed(&window));
    open_one(&mut window);
    click(&mut window, "Menu");
    click(&mut window, "Close this session");
    assert!(window.query_by_label("Back to the sessions").is_none());
}

#[test]
fn a_session_opened_by_path_lists_its_folder() {
    let (folder, _) = listed(&[COMPACTED, "handoff.json"]);
    let path = folder.path().join("handoff.json");
    let mut window = sized(path, SIZE);
    assert!(window.query_by_label("Back to the sessions").is_none());
    click(&mut window, "Menu");
    click(&mut window, "Sessions in this file's folder…");
    assert!(is_listed(&window));
    window.key_press(Key::Escape);
    window.run_ok();
    window.get_by_label("Back to the sessions");
}

#[test]
fn a_folder_without_sessions_offers_to_choose_another() {
    let (_folder, window) = listed(&[]);
    window.get_by_label("Choose folder…");
    window.get_by_label("Sessions on this machine…");
}

#[test]
fn arrow_keys_highlight_a_session_and_enter_opens_it() {
    let samples = [COMPACTED, "handoff.json", MANY_RESULTS];
    let (_folder, mut window) = listed(&samples);
    let press = |window: &mut Window, key| {
        window.key_press(key);
        window.run_ok();
    };
    let chosen = |window: &Window| {
        let list = window.get_by_label("Sessions found");
        list.accesskit_node().value()
    };
    // Without a highlighted row, Enter does nothing.
    press(&mut window, Key::Enter);
    assert!(window.query_by_label("3 sessions").is_some());
    assert_eq!(chosen(&window), None);
    let mut titles = Vec::new();
    for _ in 0..4 {
        press(&mut window, Key::ArrowDown);
        titles.push(chosen(&window).expect("a highlighted row"));
    }
    assert!(titles[0] != titles[1] && titles[1] != titles[2] && titles[0] != titles[2]);
    assert_eq!(titles[2], titles[3], "the last row stays highlighted");
    press(&mut window, Key::ArrowUp);
    assert_eq!(chosen(&window).as_ref(), Some(&titles[1]));
    // Also from the filter.
    window.get_by_label("Filter sessions").focus();
    window.run_steps(2);
    window.get_by_label("Filter sessions").type_text("handoff");
    window.run_ok();
    press(&mut window, Key::ArrowDown);
    press(&mut window, Key::Enter);
    window.run_ok();
    assert!(window.query_by_label("Sessions found").is_none());
    let document = window.get_all_by_label_contains("handoff.json").next();
    assert!(document.is_some(), "the highlighted session is open");
}

#[test]
fn the_focus_ring_of_a_column_header_fits_into_its_row() {
    let (_folder, window) = listed(&[COMPACTED]);
    for name in ["Sort by last call", "Sort by title", "Sort by size"] {
        let head = window.get_by_label(name).rect();
        assert!(head.height() + 4.0 < 24.0, "{name} {head:?}");
    }
}
