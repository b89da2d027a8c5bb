//! The workspace of a session: kept with the file, saved as a file, and undo after another file.

use crate::screen::{
    self, MANY_RESULTS, Window, add_lane, copy_of, go_to, menu, runs, set_slider, started_with,
    wait, with_lanes,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use plimsoll::app::state::model::background::latest_result::WorkMode;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const SAMPLE: &str = MANY_RESULTS;

/// A folder with a copy of the sample.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let (folder, _) = copy_of(SAMPLE);
        Self(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn options(&self, name: &str) -> Options {
        started_with([self.at(name)], &self.at("kept"))
    }

    fn open(&self, name: &str) -> Window {
        screen::open(self.options(name))
    }

    fn kept(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.at("kept")).into_iter().flatten();
        files.map(|file| file.expect("readable").path()).collect()
    }
}

/// Changes a shared setting, adds a lane, pins message 3, and shows the tab Cost.
fn change(window: &mut Window) {
    add_lane(window);
    set_slider(window, "compression_trigger", 0.30);
    go_to(window, 3);
    window.get_by_label("timeline").focus();
    window.run_steps(2);
    window.key_press(Key::P);
    window.run_ok();
    window.get_by_label("Cost").click();
    window.run_ok();
}

type Shown = (Vec<(String, Option<f64>)>, Vec<usize>);

/// Returns the policies with their triggers, and the pinned messages.
fn shown(window: &Window) -> Shown {
    let runs = runs(window);
    let lanes = runs.lanes.iter();
    let lanes = lanes.map(|lane| {
        let trigger = lane.knobs.get("compression_trigger");
        (lane.policy.name.clone(), trigger)
    });
    (lanes.collect(), runs.config.manual_edits.pinned.clone())
}

fn changed() -> Shown {
    let lanes = ["truncate", "prune", "summarize"].map(|name| (name.to_owned(), Some(0.3)));
    let added = ("none".to_owned(), None);
    (lanes.into_iter().chain([added]).collect(), vec![2])
}

fn shows_tab_cost(window: &Window) -> bool {
    // Without the tab Messages there is no jump field.
    window.query_by_role_and_label(Role::TextInput, "Go to message").is_none()
}

#[test]
fn the_workspace_of_a_file_returns_when_it_is_opened_again() {
    let place = Place::new();
    let mut first = place.open(SAMPLE);
    let untouched = shown(&first);
    assert!(place.kept().is_empty(), "nothing has changed");
    change(&mut first);
    assert_eq!(shown(&first), changed());
    assert_ne!(untouched, changed());
    drop(first);
    assert_eq!(place.kept().len(), 1);
    let text = fs::read_to_string(&place.kept()[0]).expect("readable");
    assert!(!text.contains("ledger"), "no text of the session: {text}");

    let again = place.open(SAMPLE);
    assert_eq!(shown(&again), changed());
    assert!(shows_tab_cost(&again));
    drop(again);
    fs::rename(place.at(SAMPLE), place.at("moved.jsonl")).expect("it can be moved");
    assert_eq!(shown(&place.open("moved.jsonl")), changed());
}

#[test]
fn a_window_saves_the_workspace_in_the_background_while_it_stays_open() {
    let place = Place::new();
    let options = || Options { work: WorkMode::AsNeeded, ..place.options(SAMPLE) };
    let is_replayed = |window: &Window| window.state().runs().is_some();
    let mut first = screen::open(options());
    wait(&mut first, is_replayed);
    let edges = |window: &Window| {
        let edges = window.query_all_by_role_and_label(Role::Slider, "Resize panel");
        let sizes = edges.map(|edge| edge.accesskit_node().numeric_value());
        sizes.collect::<Vec<_>>()
    };
    let before = edges(&first);
    let drawer = first.query_all_by_role_and_label(Role::Slider, "Resize panel");
    let drawer = drawer.min_by(|a, b| f32::total_cmp(&b.rect().top(), &a.rect().top()));
    drawer.expect("an edge").set_value_accesskit(320.0);
    first.run_ok();
    let chosen = edges(&first);
    assert_ne!(before, chosen);
    // The window saves a second after the last change.
    wait(&mut first, |_| !place.kept().is_empty());
    let kept = fs::read_to_string(&place.kept()[0]).expect("readable");
    assert!(kept.contains("320"), "{kept}");

    let mut again = screen::open(options());
    wait(&mut again, is_replayed);
    again.run_ok();
    assert_eq!(edges(&again), chosen, "the sizes of panels return");
}

#[test]
fn a_file_that_grew_keeps_its_workspace_and_a_replaced_one_does_not() {
    let place = Place::new();
    let bytes = fs::read_to_string(place.at(SAMPLE)).expect("readable");
    let lines: Vec<&str> = bytes.lines().collect();
    let start = lines[..lines.len() - 4].join("\n") + "\n";
    fs::write(place.at(SAMPLE), start).expect("writable");
    let mut window = place.open(SAMPLE);
    let untouched = shown(&window);
    change(&mut window);
    drop(window);
    fs::write(place.at(SAMPLE), &bytes).expect("writable");
    assert_eq!(shown(&place.open(SAMPLE)), changed());
    let rest = lines[..2].join("\n") + "\n" + &lines[6..].join("\n") + "\n";
    fs::write(place.at(SAMPLE), rest).expect("writable");
    assert_eq!(shown(&place.open(SAMPLE)), untouched);
}

#[test]
fn options_of_the_command_line_replace_the_workspace_and_do_not_change_it() {
    let place = Place::new();
    let mut first = place.open(SAMPLE);
    change(&mut first);
    drop(first);
    let before = fs::read(&place.kept()[0]).expect("readable");
    let options = with_lanes(place.options(SAMPLE), &["none"], &[]);
    let mut given = screen::open(options);
    let (lanes, pinned) = shown(&given);
    assert_eq!((lanes.len(), &*lanes[0].0, pinned.len()), (1, "none", 0));
    given.get_by_label("Cost").click();
    given.run_ok();
    drop(given);
    assert_eq!(fs::read(&place.kept()[0]).expect("readable"), before);
}

#[test]
fn a_damaged_or_newer_workspace_is_ignored_with_a_note() {
    let place = Place::new();
    let mut first = place.open(SAMPLE);
    let untouched = shown(&first);
    change(&mut first);
    drop(first);
    let path = place.kept().remove(0);
    let text = fs::read_to_string(&path).expect("readable");
    let newer = text.replacen("\"plimsoll_workspace\":1", "\"plimsoll_workspace\":9", 1);
    let no_lanes = text.replacen("\"lanes\":[", "\"lanes\":7,\"x\":[", 1);
    let garbage = "\u{0}garbage".to_owned();
    let huge = format!("{{\"x\":\"{}\"}}", "x".repeat(10_000_000));
    for (damaged, note) in [
        (newer, "newer version"),
        (no_lanes, "damaged"),
        (garbage, "cannot be read"),
        (huge, "cannot be read"),
    ] {
        assert_ne!(damaged, text);
        fs::write(&path, &damaged).expect("writable");
        let window = place.open(SAMPLE);
        assert_eq!(shown(&window), untouched, "{note}");
        assert!(window.query_all_by_label_contains(note).next().is_some(), "{note}");
    }
    let beyond = text.replacen("\"pinned\":[2]", "\"pinned\":[2,888888888]", 1);
    assert_ne!(beyond, text);
    fs::write(&path, beyond).expect("writable");
    assert_eq!(shown(&place.open(SAMPLE)), changed());
}

#[test]
fn a_saved_workspace_opens_with_the_session_beside_it() {
    let place = Place::new();
    let mut first = place.open(SAMPLE);
    change(&mut first);
    first.get_by_label("Menu").click();
    first.run_ok();
    first.get_by_label("Save workspace…").click();
    first.run_ok();
    drop(first);
    let name = "many-tool-results-workspace.json";
    let other = Place::new();
    fs::copy(place.at(name), other.at(name)).expect("it was saved");
    assert_eq!(shown(&other.open(name)), changed());
    assert!(shows_tab_cost(&other.open(name)));

    fs::write(other.at(SAMPLE), "{\"role\":\"user\",\"content\":\"other\"}\n").expect("writable");
    let differs = other.open(name);
    assert!(differs.state().runs().is_none());
    let error = differs.query_all_by_label_contains("another content").next();
    assert!(error.is_some());
    fs::remove_file(other.at(SAMPLE)).expect("removable");
    let missing = other.open(name);
    let error = missing.query_all_by_label_contains("needs its session").next();
    assert!(error.is_some());
}

#[test]
fn undo_survives_another_file() {
    let place = Place::new();
    let mut window = place.open(SAMPLE);
    let untouched = shown(&window);
    change(&mut window);
    let open = |window: &mut Window, label: &str| {
        let level = if label == SAMPLE { "Recent" } else { "Examples" };
        menu(window, &[level, label]);
    };
    open(&mut window, "Many medium tool results, which pruning is for");
    assert!(shown(&window).1.is_empty(), "another session has no marks");
    open(&mut window, SAMPLE);
    assert_eq!(shown(&window), changed());
    for _ in 0..3 {
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run_ok();
    }
    assert_eq!(shown(&window), untouched);
}
