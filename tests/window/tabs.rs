//! Several sessions as tabs.

use crate::screen::{
    COMPACTED, Window, click, drop_file, menu, open, options, paste, press, runs, sample, says,
    set_slider, wait,
};
use egui::accesskit::{Role, Toggled};
use egui::{Event, Key, Modifiers, PointerButton};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use plimsoll::app::state::model::background::latest_result::WorkMode;
use std::path::PathBuf;

const FIRST: &str = COMPACTED;
const SECOND: &str = "slow-growth.jsonl";

/// Opens the first session; the second one is listed under Recent.
fn window() -> Window {
    open(Options { paths: vec![sample(FIRST), sample(SECOND)], ..options(PathBuf::new()) })
}

/// Returns the names of the tabs, and the index of the shown one.
pub(crate) fn tabs(window: &Window) -> (Vec<String>, Option<usize>) {
    let nodes = window.query_all_by_role(Role::Tab).map(|node| {
        let node = node.accesskit_node();
        let is_shown = node.is_selected() == Some(true) || node.toggled() == Some(Toggled::True);
        (node.label().unwrap_or_default(), is_shown)
    });
    let named = nodes
        .filter_map(|(name, is_shown)| Some((name.strip_prefix("Session ")?.to_owned(), is_shown)));
    let named: Vec<_> = named.collect();
    let shown = named.iter().position(|(_, is_shown)| *is_shown);
    (named.into_iter().map(|(name, _)| name).collect(), shown)
}

fn calls(window: &Window) -> Option<usize> {
    Some(window.state().runs()?.case.session.calls.len())
}

/// Opens the second session in a tab.
fn two() -> Window {
    let mut window = window();
    press(&mut window, Modifiers::COMMAND, Key::T);
    click(&mut window, SECOND);
    window
}

#[test]
fn one_session_has_no_tabs() {
    let window = window();
    assert_eq!(tabs(&window), (vec![], None));
}

#[test]
fn a_new_tab_opens_another_session_beside_the_first() {
    let mut window = window();
    let first = calls(&window);
    press(&mut window, Modifiers::COMMAND, Key::T);
    assert_eq!(tabs(&window), (vec![FIRST.into(), "New tab".into()], Some(1)));
    // An empty tab is used for the next session.
    press(&mut window, Modifiers::COMMAND, Key::T);
    assert_eq!(tabs(&window).0.len(), 2);
    click(&mut window, SECOND);
    assert_eq!(tabs(&window), (vec![FIRST.into(), SECOND.into()], Some(1)));
    let second = calls(&window);
    assert_ne!(first, second);
    for (modifiers, key) in [
        (Modifiers::COMMAND, Key::Tab),
        (Modifiers::COMMAND, Key::PageDown),
        (Modifiers::COMMAND, Key::PageUp),
        (Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Tab),
    ] {
        let before = tabs(&window).1;
        press(&mut window, modifiers, key);
        let after = tabs(&window).1;
        assert_ne!(before, after, "{key:?}");
        assert_eq!(calls(&window), if after == Some(0) { first } else { second });
    }
    click(&mut window, &format!("Session {FIRST}"));
    assert_eq!((tabs(&window).1, calls(&window)), (Some(0), first));
}

#[test]
fn a_click_with_ctrl_or_the_middle_button_opens_a_tab() {
    let mut window = window();
    menu(&mut window, &["Recent"]);
    window.get_by_label(SECOND).click_modifiers(Modifiers::COMMAND);
    window.run_ok();
    assert_eq!(tabs(&window), (vec![FIRST.into(), SECOND.into()], Some(1)));
}

#[test]
fn each_tab_keeps_its_lanes_settings_undo_selection_and_zoom() {
    let mut window = two();
    click(&mut window, &format!("Session {FIRST}"));
    set_slider(&mut window, "compression_trigger", 0.30);
    window.get_by_label("timeline").focus();
    window.run_steps(2);
    press(&mut window, Modifiers::NONE, Key::W);
    press(&mut window, Modifiers::NONE, Key::Home);
    click(&mut window, "Cost");
    let state = |window: &Window| {
        let runs = runs(window);
        let timeline = window.get_by_label("timeline").accesskit_node().value();
        let overview = window.get_by_label("overview").accesskit_node().value();
        let trigger = runs.lanes[0].knobs.get("compression_trigger");
        (trigger, timeline, overview)
    };
    let changed = state(&window);
    assert_eq!(changed.0, Some(0.3));
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    let other = state(&window);
    assert_ne!(other.0, changed.0);
    assert_ne!(other.2, changed.2);
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    assert_eq!(state(&window), changed);
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(state(&window).0, other.0);
    press(&mut window, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert_eq!(state(&window).0, changed.0);
}

#[test]
fn a_session_that_is_open_in_a_tab_is_shown_instead_of_opened_twice() {
    let mut window = two();
    press(&mut window, Modifiers::COMMAND, Key::T);
    assert_eq!(tabs(&window).0.len(), 3);
    click(&mut window, FIRST);
    assert_eq!(tabs(&window), (vec![FIRST.into(), SECOND.into()], Some(0)));
}

#[test]
fn a_session_that_a_hidden_tab_still_loads_is_not_loaded_twice() {
    let mut window = open(Options { work: WorkMode::AsNeeded, ..options(sample(FIRST)) });
    press(&mut window, Modifiers::COMMAND, Key::T);
    assert_eq!(tabs(&window).0.len(), 2);
    // The tab receives its session once it is shown.
    drop_file(&mut window, sample(FIRST));
    assert_eq!(tabs(&window), (vec![], None));
    wait(&mut window, |window| calls(window).is_some());
}

#[test]
fn at_the_maximum_of_tabs_an_open_session_is_shown_by_ctrl_click() {
    const MAX: usize = 24;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = |n: usize| {
        let path = folder.path().join(format!("{n}.json"));
        std::fs::copy(sample("handoff.json"), &path).expect("a copy");
        path
    };
    let mut window = open(options(copy(0)));
    for n in 1..MAX {
        press(&mut window, Modifiers::COMMAND, Key::T);
        drop_file(&mut window, copy(n));
    }
    press(&mut window, Modifiers::COMMAND, Key::T);
    assert!(says(&window, "At most 24 tabs can be open"));
    let recent = format!("{}.json", MAX - 3);
    menu(&mut window, &["Recent"]);
    window.get_by_label(&recent).click_modifiers(Modifiers::COMMAND);
    window.run_ok();
    let (names, shown) = tabs(&window);
    assert_eq!(shown.map(|shown| names[shown].clone()), Some(recent));
}

#[test]
fn tabs_close_by_key_button_and_middle_button() {
    let mut window = two();
    let second = calls(&window);
    press(&mut window, Modifiers::COMMAND, Key::T);
    press(&mut window, Modifiers::COMMAND, Key::W);
    assert_eq!(tabs(&window), (vec![FIRST.into(), SECOND.into()], Some(1)));
    let name = format!("Session {FIRST}");
    window.get_by_label(&name).click_button(PointerButton::Middle);
    window.run_ok();
    // One session is left: there are no tabs.
    assert_eq!((tabs(&window).0.len(), calls(&window)), (0, second));
    press(&mut window, Modifiers::COMMAND, Key::W);
    assert_eq!(calls(&window), None);
    window.get_by_label("Open a file…");
    press(&mut window, Modifiers::COMMAND, Key::W);
    window.get_by_label("Open a file…");
}

#[test]
fn a_closed_tab_keeps_undo_when_it_is_opened_again() {
    let mut window = two();
    set_slider(&mut window, "compression_trigger", 0.30);
    click(&mut window, &format!("Close the tab {SECOND}"));
    assert_eq!(tabs(&window).0.len(), 0);
    menu(&mut window, &["Recent", SECOND]);
    let trigger = |window: &Window| {
        let runs = runs(window);
        runs.lanes[0].knobs.get("compression_trigger")
    };
    assert_eq!(trigger(&window), Some(0.3));
}

#[test]
fn work_of_a_hidden_tab_goes_on() {
    let mut window = open(Options {
        paths: vec![sample(FIRST), sample(SECOND)],
        work: WorkMode::AsNeeded,
        ..options(PathBuf::new())
    });
    // The first session is still being loaded when another tab is shown.
    press(&mut window, Modifiers::COMMAND, Key::T);
    click(&mut window, SECOND);
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    let wait = |window: &mut Window, n: usize| {
        for _ in 0..n {
            std::thread::sleep(std::time::Duration::from_millis(20));
            window.step();
            if window.state().runs().is_some() {
                return;
            }
        }
    };
    wait(&mut window, 500);
    let first = calls(&window);
    assert!(first.is_some());
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    wait(&mut window, 500);
    assert!(calls(&window).is_some() && calls(&window) != first);
}

#[test]
fn after_a_wrong_path_typing_goes_on_without_the_error() {
    let mut window = window();
    press(&mut window, Modifiers::COMMAND, Key::T);
    window.get_by_role_and_label(Role::TextInput, "Path").focus();
    window.run_steps(2);
    let typed = |window: &mut Window, text: &str| {
        let path = window.get_by_role_and_label(Role::TextInput, "Path");
        assert!(path.accesskit_node().is_focused(), "before {text}");
        path.type_text(text);
        window.run_ok();
    };
    typed(&mut window, "/nowhere");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("Dismiss");
    typed(&mut window, "/at-all");
    assert!(window.query_by_label("Dismiss").is_none());
}

#[test]
fn a_new_tab_takes_a_typed_path_and_a_pasted_conversation() {
    let mut window = window();
    press(&mut window, Modifiers::COMMAND, Key::T);
    let path = sample(SECOND);
    let typed = Event::Text(path.display().to_string());
    window.event(typed);
    window.run_ok();
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(tabs(&window), (vec![FIRST.into(), SECOND.into()], Some(1)));
    press(&mut window, Modifiers::COMMAND, Key::T);
    paste(&mut window, "/nowhere");
    let field = window.get_by_role_and_label(Role::TextInput, "Path");
    assert_eq!(field.accesskit_node().value().as_deref(), Some("/nowhere"));
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(says(&window, "/nowhere: no such file"));
    let conversation = r#"[{"role":"user","content":"Hello"}]"#;
    paste(&mut window, conversation);
    assert_eq!(tabs(&window).0[2], "Pasted");
}

#[test]
fn closed_tabs_are_reopened_the_last_one_first() {
    let mut window = two();
    let both = (vec![FIRST.to_owned(), SECOND.to_owned()], Some(1));
    for _ in 0..2 {
        press(&mut window, Modifiers::COMMAND, Key::W);
    }
    assert!(window.state().runs().is_none());
    for _ in 0..2 {
        press(&mut window, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::T);
        window.run_ok();
    }
    assert_eq!(tabs(&window), both);
    // There is no other one.
    press(&mut window, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::T);
    assert_eq!(tabs(&window), both);
}
