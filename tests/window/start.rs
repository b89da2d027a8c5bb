//! Windows that are started with arguments and started again: what a person did is there, and only what was asked for is
//! done.

use crate::screen::{
    self, MANY_RESULTS, Window, add_lane, click, copy_of, drop_file, go_to, menu, press,
    press_at_once, runs, sample, says, secondary_click, set_slider, started_with, type_into,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::state::model::config::Config;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NOTE: &str = "ask the acquirer again";

/// A folder with a sample session, and with the workspaces that the windows keep.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(copy_of(MANY_RESULTS).0)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn kept(&self) -> Vec<String> {
        let files = fs::read_dir(self.at("kept")).into_iter().flatten();
        let read = |path: PathBuf| fs::read_to_string(path).expect("readable");
        files.map(|file| read(file.expect("a file").path())).collect()
    }

    /// Starts a window with a file of the folder and further arguments.
    fn start(&self, name: &str, arguments: &[&str]) -> Window {
        let path = OsString::from(self.at(name));
        let others = arguments.iter().map(OsString::from);
        screen::open(started_with([path].into_iter().chain(others), &self.at("kept")))
    }
}

/// Changes everything that a workspace keeps about lanes, settings and messages.
fn work(window: &mut Window) {
    add_lane(window);
    set_slider(window, "compression_trigger", 0.30);
    set_slider(window, "context_window", 150_000.0);
    for (message, key) in [(3, Key::P), (4, Key::C), (5, Key::X)] {
        go_to(window, message);
        window.get_by_label("timeline").focus();
        window.run_steps(2);
        press(window, Modifiers::NONE, key);
    }
    press(window, Modifiers::NONE, Key::R);
    let row = window.get_by_label("Sort by kind").rect().left_bottom() + Vec2::new(8.0, 12.0);
    secondary_click(window, row);
    click(window, "Add note…");
    let field = (Role::TextInput, "Note");
    type_into(window, field, NOTE);
    click(window, "Save");
    press(window, Modifiers::NONE, Key::Num2);
    click(window, "own settings");
    set_slider(window, "keep_recent", 25.0);
}

/// Returns the configuration of the runs, and the notes that the window shows.
fn state(window: &mut Window) -> (Config, bool) {
    window.get_by_label("timeline").focus();
    window.run_steps(2);
    go_to(window, 1);
    let config = runs(window).config.clone();
    (config, says(window, &format!("Note: {NOTE}")))
}

#[test]
fn lanes_settings_marks_and_notes_are_there_when_the_window_is_started_again() {
    let place = Place::new();
    let mut first = place.start(MANY_RESULTS, &[]);
    assert!(place.kept().is_empty(), "nothing has changed");
    let untouched = state(&mut first);
    work(&mut first);
    let (config, has_note) = state(&mut first);
    let edits = &config.manual_edits;
    assert_eq!((&*edits.pinned, &*edits.cleared, &*edits.dropped), (&[2][..], &[3][..], &[4][..]));
    assert_eq!((config.lanes.len(), config.restarts.len(), has_note), (4, 1, true));
    assert!(config.window.is_some() && config.lanes[1].own.is_some() && !config.knobs.is_empty());
    drop(first);
    assert_eq!(place.kept().len(), 1);

    let mut again = place.start(MANY_RESULTS, &[]);
    assert_eq!(state(&mut again), (config.clone(), true));
    drop(again);
    // Without the program's own files there is nothing to restore.
    let mut stateless = place.start(MANY_RESULTS, &["--no-state"]);
    assert_eq!(state(&mut stateless), untouched);
}

#[test]
fn a_saved_workspace_that_is_given_as_an_argument_is_applied() {
    let place = Place::new();
    let mut first = place.start(MANY_RESULTS, &[]);
    work(&mut first);
    let before = state(&mut first);
    menu(&mut first, &["Save workspace…"]);
    drop(first);
    let name = "many-tool-results-workspace.json";
    let other = Place::new();
    fs::copy(place.at(name), other.at(name)).expect("it was saved");
    assert_eq!(state(&mut other.start(name, &[])), before);
}

#[test]
fn every_option_about_lanes_replaces_the_workspace_and_leaves_it_unchanged() {
    let place = Place::new();
    let mut first = place.start(MANY_RESULTS, &[]);
    work(&mut first);
    drop(first);
    let before = place.kept();
    for (arguments, n_lanes) in [
        (&["--policy", "prune"][..], 1),
        (&["--set", "compression_trigger=0.5"], 3),
        (&["--window", "100k"], 3),
        (&["--output-reserve", "8k"], 3),
        (&["--counter", "chars/4"], 3),
        (&["--restart", "2"], 3),
        (&["--pin", "2"], 3),
    ] {
        let mut given = place.start(MANY_RESULTS, arguments);
        let (config, has_note) = state(&mut given);
        assert_eq!((config.lanes.len(), has_note), (n_lanes, false), "{arguments:?}");
        assert!(config.manual_edits.dropped.is_empty(), "{arguments:?}");
        click(&mut given, "Cost");
        drop(given);
        assert_eq!(place.kept(), before, "{arguments:?}");
    }
}

/// A key with Ctrl.
const fn ctrl(key: Key) -> (Modifiers, Key, &'static str) {
    (Modifiers::COMMAND, key, "")
}

const fn plain(key: Key, text: &'static str) -> (Modifiers, Key, &'static str) {
    (Modifiers::NONE, key, text)
}

/// Letters that edit or move something while no field has the focus.
const LETTERS: [(Modifiers, Key, &str); 6] = [
    plain(Key::X, "x"),
    plain(Key::P, "p"),
    plain(Key::C, "c"),
    plain(Key::R, "r"),
    plain(Key::J, "j"),
    plain(Key::W, "w"),
];

fn value(window: &Window, field: &str) -> Option<String> {
    let mut fields = window.query_all_by_role_and_label(Role::TextInput, field);
    fields.next().and_then(|field| field.accesskit_node().value())
}

#[test]
fn keys_in_the_frame_of_a_key_that_opens_a_field_are_typed_into_the_field() {
    for (opener, field) in [
        (ctrl(Key::K), "Command palette"),
        (ctrl(Key::F), "Filter messages"),
        (plain(Key::Slash, "/"), "Filter messages"),
        (ctrl(Key::T), "Path"),
    ] {
        let place = Place::new();
        let mut window = place.start(MANY_RESULTS, &[]);
        go_to(&mut window, 4);
        window.get_by_label("timeline").focus();
        window.run_steps(2);
        let before = runs(&window).config.clone();
        let zoom = |window: &Window| window.get_by_label("overview").accesskit_node().value();
        let zoomed = zoom(&window);
        let keys: Vec<_> = [opener].into_iter().chain(LETTERS).collect();
        press_at_once(&mut window, &keys);
        assert_eq!(value(&window, field).as_deref(), Some("xpcrjw"), "{opener:?}");
        if field != "Path" {
            assert_eq!(runs(&window).config, before, "{opener:?}");
            assert_eq!(zoom(&window), zoomed, "{opener:?}");
            assert!(says(&window, "Message 4"), "{opener:?}");
        }
    }
}

#[test]
fn a_command_typed_with_enter_in_one_frame_is_the_one_that_runs() {
    let place = Place::new();
    let mut window = place.start(MANY_RESULTS, &[]);
    let typed = [
        ctrl(Key::K),
        plain(Key::M, "m"),
        plain(Key::E, "essage "),
        plain(Key::Num7, "7"),
        plain(Key::Enter, ""),
    ];
    press_at_once(&mut window, &typed);
    assert!(value(&window, "Command palette").is_none());
    window.get_by_label("Message 7");
    // A query typed with Enter finds its own first match; no message is selected, after which it would search.
    let elsewhere = Place::new();
    let mut window = elsewhere.start(MANY_RESULTS, &[]);
    let typed = [ctrl(Key::F), plain(Key::L, "ledger"), plain(Key::Enter, "")];
    press_at_once(&mut window, &typed);
    assert!(says(&window, "1 of "), "the first match is selected");
}

#[test]
fn keys_of_one_frame_act_in_the_order_in_which_they_were_pressed() {
    let dropped = |keys: &[(Modifiers, Key, &str)]| {
        let place = Place::new();
        let mut window = place.start(MANY_RESULTS, &[]);
        go_to(&mut window, 4);
        window.get_by_label("timeline").focus();
        window.run_steps(2);
        press_at_once(&mut window, keys);
        runs(&window).config.manual_edits.dropped.clone()
    };
    let (down, drop) = (plain(Key::J, "j"), plain(Key::X, "x"));
    assert_eq!(dropped(&[drop, down]), [3]);
    assert_eq!(dropped(&[down, drop]), [4]);
    // The sheet of shortcuts takes the keys that follow it.
    assert_eq!(dropped(&[plain(Key::Questionmark, "?"), drop]), [0; 0]);
}

#[test]
fn every_edit_by_one_letter_is_reported_and_its_notice_undoes_it() {
    let place = Place::new();
    let mut window = place.start(MANY_RESULTS, &[]);
    let untouched = runs(&window).config.clone();
    for (key, report) in [
        (Key::P, "Message 4 is pinned."),
        (Key::C, "Message 4 is cleared."),
        (Key::X, "Message 4 is dropped."),
        (Key::R, "Restart mark placed before call "),
    ] {
        go_to(&mut window, 4);
        window.get_by_label("timeline").focus();
        window.run_steps(2);
        press(&mut window, Modifiers::NONE, key);
        assert!(says(&window, report), "{report}");
        assert_ne!(runs(&window).config, untouched);
        click(&mut window, "Undo this change");
        assert_eq!(runs(&window).config, untouched, "{report}");
        assert!(!says(&window, report), "the notice is gone");
    }
}

#[test]
fn a_new_file_starts_with_defaults_or_with_the_lanes_of_the_command_line() {
    let place = Place::new();
    let trigger = |window: &Window| runs(window).lanes[0].knobs.get("compression_trigger");
    for (arguments, n_lanes, usual) in
        [(&[][..], 3, 0.75), (&["--policy", "prune", "--set", "compression_trigger=0.5"], 1, 0.5)]
    {
        let mut window = place.start(MANY_RESULTS, arguments);
        add_lane(&mut window);
        set_slider(&mut window, "compression_trigger", 0.30);
        drop_file(&mut window, sample("handoff.json"));
        assert_eq!((runs(&window).lanes.len(), trigger(&window)), (n_lanes, Some(usual)));
        press(&mut window, Modifiers::COMMAND, Key::T);
        drop_file(&mut window, place.at(MANY_RESULTS));
        assert_eq!((runs(&window).lanes.len(), trigger(&window)), (n_lanes + 1, Some(0.3)));
    }
}

#[test]
fn shared_settings_name_their_lanes_and_a_setting_shows_its_help_on_focus() {
    let place = Place::new();
    let mut window = place.start(MANY_RESULTS, &[]);
    let n_shared = |window: &Window| window.query_all_by_label("all lanes").count();
    let all = n_shared(&window);
    assert!(all > 3, "{all}");
    click(&mut window, "own settings");
    let rest = n_shared(&window);
    assert!(rest >= 1 && rest < all, "{rest} of {all}: the context window stays shared");
    let help = "The newest messages to keep";
    assert!(!says(&window, help));
    window.get_by_role_and_label(Role::Slider, "keep_recent").focus();
    window.run_ok();
    assert!(says(&window, help));
}

#[test]
fn the_find_field_keeps_its_width_and_its_last_query() {
    let place = Place::new();
    let mut window = place.start(MANY_RESULTS, &[]);
    let field = |window: &Window| {
        let field = window.get_by_role_and_label(Role::TextInput, "Filter messages");
        field.rect()
    };
    let empty = field(&window);
    press_at_once(&mut window, &[ctrl(Key::F), plain(Key::L, "ledger"), plain(Key::Enter, "")]);
    assert_eq!(field(&window), empty);
    assert!(says(&window, "1 of "));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(value(&window, "Filter messages").as_deref(), Some(""));
    press(&mut window, Modifiers::NONE, Key::F3);
    assert_eq!(value(&window, "Filter messages").as_deref(), Some("ledger"));
    assert!(says(&window, "1 of ") || says(&window, "2 of "));
}

#[test]
fn the_start_screen_lists_recent_files_above_the_examples() {
    let place = Place::new();
    let second = sample("handoff.json");
    let mut window = place.start(MANY_RESULTS, &[&*second.to_string_lossy()]);
    press(&mut window, Modifiers::COMMAND, Key::W);
    let top = |label: &str| window.get_by_label(label).rect().top();
    assert!(top("handoff.json") < top("One large tool result overflows the window"));
}

#[test]
fn a_managed_conversation_opens_in_a_tab_and_names_its_source() {
    let place = Place::new();
    let managed = place.at("managed.jsonl");
    let written = managed.to_string_lossy();
    let source = place.at(MANY_RESULTS);
    let source = source.to_string_lossy();
    let compact = ["compact", &source, "--policy", "truncate", "--force", "-o", &written];
    screen::plimsoll(Path::new("."), &compact);
    let window = place.start("managed.jsonl", &[]);
    assert!(says(&window, &format!("managed from {MANY_RESULTS}")));
}

#[test]
fn the_first_screen_names_a_preset_that_works_and_one_click_adds_it() {
    let place = Place::new();
    let name = "giant-tool-result.json";
    fs::copy(sample(name), place.at(name)).expect("a copy");
    let mut window = place.start(name, &[]);
    assert!(says(&window, "No lane keeps the context within the window; "));
    let before = runs(&window).lanes.len();
    click(&mut window, "compare");
    let lanes = &runs(&window).lanes;
    assert_eq!(lanes.len(), before + 1);
    assert_eq!(lanes.last().expect("the new lane").outcome.overflows, 0);
    assert!(!says(&window, "No lane keeps the context"));
}
