//! The command palette, and the keys for the next compaction, overflow and cache miss.

use crate::screen::{
    COMPACTED, Window, large, press, run_in_palette, runs, sample, type_in_palette,
};
use egui::accesskit::{Role, Toggled};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::engine::Effect;
use std::sync::Arc;

fn window() -> Window {
    large(sample(COMPACTED))
}

fn is_open(window: &Window) -> bool {
    let mut fields = window.query_all_by_label("Command palette");
    fields.next().is_some()
}

/// Returns the number of the selected call.
fn call(window: &Window) -> usize {
    let timeline = window.get_by_label("timeline").accesskit_node();
    let value = timeline.value().expect("the selected call");
    let mut numbers = value.split(|c: char| !c.is_ascii_digit());
    let number = numbers.find(|digits| !digits.is_empty());
    number.and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn a_call_a_message_and_a_tab_are_reached_by_typing() {
    let mut window = window();
    run_in_palette(&mut window, "call 34");
    assert!(!is_open(&window));
    assert_eq!(call(&window), 34);
    run_in_palette(&mut window, "mess 12");
    window.get_by_label("Message 12");
    run_in_palette(&mut window, "cost");
    let tab = window.get_by_role_and_label(Role::Tab, "Cost");
    assert_eq!(tab.accesskit_node().toggled(), Some(Toggled::True));
}

#[test]
fn a_preset_is_added_and_a_setting_is_changed() {
    let mut window = window();
    let before = runs(&window).lanes.len();
    run_in_palette(&mut window, "compare truncate");
    assert_eq!(runs(&window).lanes.len(), before + 1);
    let lane = runs(&window).lanes.last().expect("the new lane");
    let knob = lane.policy.knobs.iter().find(|knob| knob.choices.is_empty());
    let knob = knob.expect("a setting").clone();
    let value = knob.range[0] + knob.step;
    assert_ne!(lane.knobs.get(&knob.name), Some(value));
    // Enter on the setting asks for its value.
    run_in_palette(&mut window, &format!("set {}", knob.name));
    assert!(is_open(&window));
    type_in_palette(&mut window, &value.to_string());
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!is_open(&window));
    window.run_ok();
    let lane = runs(&window).lanes.last().expect("the new lane");
    let now = lane.knobs.get(&knob.name).expect("a value");
    assert!((now - value).abs() < 1e-9, "{} is {now}", knob.name);
}

#[test]
fn arrows_choose_an_entry_and_escape_closes() {
    let mut window = window();
    press(&mut window, Modifiers::COMMAND, Key::K);
    assert!(is_open(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
    // Another dialog keeps it closed.
    press(&mut window, Modifiers::NONE, Key::Questionmark);
    press(&mut window, Modifiers::COMMAND, Key::K);
    assert!(!is_open(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::COMMAND, Key::K);
    type_in_palette(&mut window, "theme");
    assert!(window.query_by_label("Dark theme").is_some());
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!is_open(&window));
    assert_eq!(window.ctx.theme(), egui::Theme::Light);
    // Letters are typed into the palette and are no shortcuts.
    press(&mut window, Modifiers::COMMAND, Key::K);
    let edits = Arc::clone(&runs(&window).config.manual_edits);
    for key in [Key::P, Key::X, Key::R] {
        press(&mut window, Modifiers::NONE, key);
    }
    assert_eq!(runs(&window).config.manual_edits, edits);
    type_in_palette(&mut window, "ledger");
    press(&mut window, Modifiers::NONE, Key::Enter);
    let field = window.get_by_role_and_label(Role::TextInput, "Filter messages");
    assert_eq!(field.accesskit_node().value().as_deref(), Some("ledger"));
}

#[test]
fn keys_go_to_the_next_and_previous_compaction_and_overflow() {
    let mut window = window();
    press(&mut window, Modifiers::NONE, Key::Num0);
    press(&mut window, Modifiers::NONE, Key::Home);
    let outcome = &runs(&window).recorded.outcome;
    let last = runs(&window).case.session.calls.len() - 1;
    let removals = outcome.events.iter().filter(|e| e.effect == Effect::Removed);
    let mut calls: Vec<usize> = removals.map(|e| e.call.min(last) + 1).collect();
    calls.dedup();
    assert!(!calls.is_empty());
    let calls: Vec<usize> = calls.into_iter().filter(|call| *call > 1).collect();
    for expected in &calls {
        press(&mut window, Modifiers::NONE, Key::N);
        assert_eq!(call(&window), *expected);
    }
    // There is no other one: the call stays.
    press(&mut window, Modifiers::NONE, Key::N);
    assert_eq!(call(&window), calls[calls.len() - 1]);
    window.get_by_label_contains("No later compaction");
    press(&mut window, Modifiers::NONE, Key::End);
    press(&mut window, Modifiers::SHIFT, Key::N);
    let before_end = calls.iter().rev().find(|call| **call < last + 1);
    assert_eq!(call(&window), *before_end.expect("one"));
    // A lane that overflows.
    let mut window = large(sample("giant-tool-result.json"));
    run_in_palette(&mut window, "compare none");
    let lane = runs(&window).lanes.last().expect("the new lane");
    let first = lane.outcome.samples.iter().find(|s| s.overflows);
    let first = first.expect("an overflow").call + 1;
    press(&mut window, Modifiers::NONE, Key::Home);
    press(&mut window, Modifiers::NONE, Key::O);
    assert_eq!(call(&window), first);
}
