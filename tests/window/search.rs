//! The search in all sessions, its index, and snippets in the message table.

use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, click, drop_file, open, options, press, runs, sample, sized,
};
use crate::tabs::tabs;
use egui::accesskit::Role;
use egui::{Key, Modifiers, Shape, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::analysis::query::Query;
use plimsoll::app::Options;
use plimsoll::app::ui::theme;
use plimsoll::exec::IndexFolder;
use plimsoll::exec::search::{SearchOptions, SearchResult, search};
use plimsoll::exec::stores::find_in;
use plimsoll::progress::Progress;
use plimsoll::tokens::default_counter;
use std::fs;
use tempfile::TempDir;

const SAMPLES: [&str; 3] = [COMPACTED, "handoff.json", MANY_RESULTS];

/// Opens a window with a folder of samples. The index is in another folder and off.
fn listed() -> (TempDir, IndexFolder, Window) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sessions = folder.path().join("sessions");
    fs::create_dir(&sessions).expect("a folder");
    for name in SAMPLES {
        fs::copy(sample(name), sessions.join(name)).expect("a copy");
    }
    let index = IndexFolder::in_folder(folder.path().join("index"));
    let options = Options { index: index.clone(), size: vec2(1280.0, 720.0), ..options(sessions) };
    let window = open(options);
    (folder, index, window)
}

fn field(window: &Window) -> egui_kittest::Node<'_> {
    window.get_by_role_and_label(Role::TextInput, "Search in all sessions")
}

fn typed(window: &mut Window, text: &str) {
    field(window).focus();
    window.run_steps(2);
    field(window).type_text(text);
    window.run_ok();
}

/// Searches the same files without a window.
fn result(folder: &TempDir, query: &str) -> SearchResult {
    let files = find_in(&folder.path().join("sessions"), &Progress::default());
    let options = SearchOptions {
        query: Query::parse(query).expect("a query"),
        counter: default_counter(),
        most: 20,
        snippet: 110,
    };
    let index = IndexFolder::default();
    let files = files.expect("files").files;
    search(&files, &options, &index, &Progress::default(), |_| {}).expect("a result")
}

/// Returns the count that the window shows.
fn counted(result: &SearchResult) -> String {
    let sum = |of: fn(&plimsoll::exec::search::FoundSession) -> usize| -> usize {
        result.sessions.iter().map(of).sum()
    };
    let (hits, messages) = (sum(|s| s.n_hits), sum(|s| s.n_messages));
    let s = if result.sessions.len() == 1 { "" } else { "s" };
    let n = result.sessions.len();
    format!("{hits} matches in {messages} messages of {n} session{s}")
}

#[test]
fn all_sessions_are_searched_and_enter_opens_a_session_at_its_message() {
    let (folder, index, mut window) = listed();
    typed(&mut window, "ledger kind:result");
    window.get_by_label("Press Enter to search.");
    press(&mut window, Modifiers::NONE, Key::Enter);
    let result = result(&folder, "ledger kind:result");
    window.get_by_label(&counted(&result));
    assert!(!index.is_on(), "a search does not switch the index on");
    // The first row is a session, the next ones are its messages.
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    let second = &result.sessions[0].messages[1];
    let list = window.get_by_label("Messages found");
    let value = list.accesskit_node().value().expect("a highlighted row");
    let number = second.hit.message + 1;
    assert!(value.starts_with(&format!("Message {number}: ")), "{value}");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.run_ok();
    window.get_by_label(&format!("Message {number}"));
    let filter = window.get_by_role_and_label(Role::TextInput, "Filter messages");
    let filter = filter.accesskit_node().value();
    assert_eq!(filter.as_deref(), Some("ledger kind:result"));
    window.get_by_label_contains(&format!(" of {}", result.sessions[0].n_hits));
    // The results are still there.
    window.get_by_label("Back to the sessions").click();
    window.run_ok();
    window.get_by_label(&counted(&result));
    press(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("3 sessions");
    assert_eq!(field(&window).accesskit_node().value().as_deref(), Some(""));
}

#[test]
fn a_result_in_a_session_of_another_tab_is_shown_there() {
    let (folder, _index, mut window) = listed();
    let query = "ledger kind:result";
    let result = result(&folder, query);
    let found = &result.sessions[0];
    // The first tab shows the session, then its list in front of it.
    drop_file(&mut window, found.found.path.clone());
    click(&mut window, "Back to the sessions");
    press(&mut window, Modifiers::COMMAND, Key::T);
    drop_file(&mut window, folder.path().join("sessions"));
    typed(&mut window, query);
    press(&mut window, Modifiers::NONE, Key::Enter);
    for _ in 0..3 {
        press(&mut window, Modifiers::NONE, Key::ArrowDown);
    }
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.run_ok();
    assert_eq!((tabs(&window).0.len(), tabs(&window).1), (2, Some(0)));
    let number = found.messages[1].hit.message + 1;
    window.get_by_label(&format!("Message {number}"));
    let filter = window.get_by_role_and_label(Role::TextInput, "Filter messages");
    assert_eq!(filter.accesskit_node().value().as_deref(), Some(query));
    // The results are still in the other tab.
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    window.get_by_label(&counted(&result));
}

#[test]
fn errors_are_explained_while_typing_and_an_empty_result_says_what_was_searched() {
    let (_folder, _index, mut window) = listed();
    typed(&mut window, "kind:resul");
    window.get_by_label_contains("character 6: unknown kind `resul`");
    typed(&mut window, "t xyzzyx");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("No match in 3 sessions.");
    window.get_by_label("Clear the search").click();
    window.run_ok();
    window.get_by_label("3 sessions");
}

#[test]
fn the_index_is_switched_on_and_off_and_then_answers_while_typing() {
    let (folder, index, mut window) = listed();
    let click = |window: &mut Window, label: &str| {
        window.get_by_label(label).click();
        window.run_ok();
    };
    click(&mut window, "Search index");
    window.get_by_label_contains("It stores the text of your sessions in this file");
    click(&mut window, "Switch on the index");
    assert_eq!(index.open().expect("it is on").n_sessions().ok(), Some(3));
    typed(&mut window, "ledger");
    window.get_by_label(&counted(&result(&folder, "ledger")));
    press(&mut window, Modifiers::NONE, Key::Escape);
    click(&mut window, "Search index");
    click(&mut window, "Remove the index and switch it off");
    assert!(!index.is_on() && !folder.path().join("index").exists());
}

/// Returns how many snippets with a match are drawn, and of how many the match is in view.
fn highlighted(window: &Window) -> (usize, usize) {
    let selection = theme::of(true).selection;
    let shapes = window.output().shapes.iter();
    let shown = shapes.filter_map(|shape| {
        let Shape::Text(text) = &shape.shape else {
            return None;
        };
        let galley = &text.galley;
        let mut sections = galley.job.sections.iter();
        let found = sections.find(|section| section.format.background == selection)?;
        let before = &galley.job.text[..found.byte_range.end.0];
        let n_drawn: usize = galley.rows.iter().map(|row| row.glyphs.len()).sum();
        Some(before.chars().count() <= n_drawn - usize::from(galley.elided))
    });
    let shown: Vec<bool> = shown.collect();
    (shown.len(), shown.iter().filter(|is_whole| **is_whole).count())
}

#[test]
fn the_message_table_shows_the_text_around_each_match() {
    for size in [vec2(1280.0, 720.0), vec2(1440.0, 900.0)] {
        for (name, text) in [(COMPACTED, "ledger"), ("images-and-cjk.json", "の")] {
            let mut window = sized(sample(name), size);
            window.key_press_modifiers(Modifiers::COMMAND, Key::F);
            window.run_ok();
            assert_eq!(highlighted(&window).0, 0);
            let filter = window.get_by_role_and_label(Role::TextInput, "Filter messages");
            filter.type_text(text);
            window.run_ok();
            let (n, n_whole) = highlighted(&window);
            assert!(n > 2, "{text}: {n}");
            assert_eq!(n_whole, n, "{text} at {size}");
        }
    }
}

#[test]
fn a_hit_opens_in_a_new_tab_with_ctrl_and_the_list_stays() {
    let (folder, _index, mut window) = listed();
    let result = result(&folder, "ledger kind:result");
    drop_file(&mut window, result.sessions[1].found.path.clone());
    click(&mut window, "Back to the sessions");
    typed(&mut window, "ledger kind:result");
    press(&mut window, Modifiers::NONE, Key::Enter);
    let number = result.sessions[0].messages[0].hit.message + 1;
    let label = format!("Message {number}: ");
    let rows = window.query_all_by_label_contains(&label);
    rows.into_iter().next().expect("a row").click_modifiers(Modifiers::COMMAND);
    window.run_ok();
    assert_eq!((tabs(&window).0.len(), tabs(&window).1), (2, Some(1)));
    window.get_by_label(&format!("Message {number}"));
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    window.get_by_label(&counted(&result));
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::Escape);
    let open = runs(&window).case.session.title.clone();
    assert_eq!(open, result.sessions[1].title, "the session of the first tab stays");
}

#[test]
fn results_of_another_query_are_not_shown_and_a_deleted_file_is_not_counted() {
    let (folder, _index, mut window) = listed();
    typed(&mut window, "ledger");
    press(&mut window, Modifiers::NONE, Key::Enter);
    let found = counted(&result(&folder, "ledger"));
    window.get_by_label(&found);
    let n_rows = |window: &Window| window.query_all_by_label_contains("Message ").count();
    assert!(n_rows(&window) > 5);
    typed(&mut window, " kind:resul");
    window.get_by_label_contains("unknown kind `resul`");
    assert_eq!((n_rows(&window), window.query_by_label(&found).is_some()), (0, false));
    typed(&mut window, "t");
    window.get_by_label("Press Enter to search.");
    assert_eq!(n_rows(&window), 0);
    window.get_by_label("3 sessions");
    fs::remove_file(folder.path().join("sessions").join(SAMPLES[1])).expect("it is removed");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("2 sessions");
    window.get_by_label(&counted(&result(&folder, "ledger kind:result")));
}
