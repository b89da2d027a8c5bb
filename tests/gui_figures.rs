//! Figures and lists of the window agree with each other and say what they are about.

#[path = "common/window.rs"]
mod window;

use egui::{Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::App;
use std::path::{Path, PathBuf};
use window::sized;

const COMPACTED: &str = "compacted.jsonl";

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample_sessions")
        .join(name)
}

/// A large window over a sample session.
fn window(name: &str) -> Harness<'static, App> {
    sized(vec![sample(name)], Vec2::new(1440.0, 900.0))
}

fn click(window: &mut Harness<'_, App>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(6);
}

/// Everything that the window shows as text.
fn texts(window: &Harness<'_, App>) -> Vec<String> {
    let nodes = window.query_all_by(|_| true);
    let texts = nodes.flat_map(|node| {
        let node = node.accesskit_node();
        [node.label(), node.value()]
    });
    texts.flatten().collect()
}

/// How many texts contain this one.
fn n_with(window: &Harness<'_, App>, part: &str) -> usize {
    let all = texts(window);
    all.iter().filter(|text| text.contains(part)).count()
}

#[test]
fn recorded_compactions_are_events_and_the_focused_lane_filters() {
    const RECORDED: &str = "recorded as auto";
    let mut window = window(COMPACTED);
    click(&mut window, "Events");
    let triggers = |window: &Harness<'_, App>| n_with(window, "compression_trigger 0.750 * usable");
    let all = triggers(&window);
    assert!(all >= 3, "{all} events of the lanes");
    assert_eq!(n_with(&window, RECORDED), 1, "and the recorded compaction");
    click(&mut window, "focused lane");
    assert_eq!(n_with(&window, RECORDED), 0, "Truncate is focused");
    let truncate = triggers(&window);
    assert!((1..all).contains(&truncate), "{truncate} of {all} events");
    window.key_press(Key::Num0);
    window.run_steps(6);
    assert_eq!(triggers(&window), 0, "what was recorded is focused");
    assert!(n_with(&window, RECORDED) >= 1);
    click(&mut window, RECORDED);
    assert!(
        texts(&window)
            .iter()
            .any(|text| text == "Recorded · call 35"),
        "the event in full: {:?}",
        texts(&window)
    );
}

#[test]
fn costs_by_call_name_the_lane() {
    let mut window = window(COMPACTED);
    click(&mut window, "Cost");
    click(&mut window, "Show cost: calls");
    let is_of =
        |window: &Harness<'_, App>, about: &str| n_with(window, &format!("48 calls, {about}"));
    assert_eq!(is_of(&window, "≈$"), 1, "a lane: {:?}", texts(&window));
    window.key_press(Key::Num0);
    window.run_steps(6);
    assert_eq!((is_of(&window, "≈$"), is_of(&window, "$")), (0, 1));
    assert_eq!(n_with(&window, "Recorded"), 1, "{:?}", texts(&window));
}

#[test]
fn what_a_provider_would_refuse_is_no_green_tick() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("handoff.json");
    std::fs::copy(sample("handoff.json"), &source).expect("the sample can be copied");
    let mut window = sized(vec![source], Vec2::new(1440.0, 900.0));
    click(&mut window, "Export…");
    click(&mut window, "Compact now, trigger met or not");
    window.get_by_label("Export").click();
    window.run_steps(20);
    assert!(
        n_with(&window, "a provider will refuse this") == 1,
        "{:?}",
        texts(&window)
    );
    assert_eq!(n_with(&window, "⚠"), 1);
    assert!(n_with(&window, "✔") >= 7);
}
