//! First steps in the window: open, select, change settings, export; and errors.

use crate::screen::{
    MANY_RESULTS, Window, add_lane, copy_of, empty, go_to, large, sample, set_slider, sized,
};
use egui::accesskit::Role;
use egui::{Event, Key, Vec2};
use egui_kittest::kittest::Queryable as _;

#[test]
fn the_empty_window_offers_ways_to_open_a_session() {
    let window = empty();
    window.get_by_label("Open a file…");
    window.get_by_role_and_label(Role::TextInput, "Path");
    window.get_by_label("All data stays on this machine. Files are never changed.");
    assert!(window.query_by_label("Export…").is_none(), "nothing can be exported yet");
}

#[test]
fn an_example_opens_with_three_lanes_and_a_verdict() {
    let mut window = empty();
    window.get_by_label("Many medium tool results, which pruning is for").click();
    window.run_ok();
    for lane in ["Focus lane 1: Truncate", "Focus lane 2: Prune", "Focus lane 3: Summarize"] {
        window.get_by_label_contains(lane);
    }
    window.get_by_label_contains("Peaked at");
    window.get_by_label("Export…");
}

#[test]
fn a_missing_file_is_reported_by_name() {
    let mut window = empty();
    let path = window.get_by_role_and_label(Role::TextInput, "Path");
    path.focus();
    path.type_text("/nowhere/at-all.jsonl");
    window.run_steps(2);
    window.get_by_label("Load").click();
    window.run_ok();
    window.get_by_label_contains("/nowhere/at-all.jsonl");
    window.get_by_label("Open a file…");
}

#[test]
fn a_lower_trigger_compacts_more_and_undo_restores_the_lanes() {
    let mut window = large(sample(MANY_RESULTS));
    let before = lanes(&window);
    set_slider(&mut window, "compression_trigger", 0.30);
    let after = lanes(&window);
    assert_ne!(before, after, "the lanes follow the slider");
    window.get_by_label("Undo").click();
    window.run_ok();
    assert_eq!(lanes(&window), before);
    window.get_by_label("Redo").click();
    window.run_ok();
    assert_eq!(lanes(&window), after);
}

#[test]
fn a_table_row_selects_its_message_in_all_panels() {
    let mut window = large(sample(MANY_RESULTS));
    window.key_press(egui::Key::J);
    window.run_ok();
    window.get_by_label("Message 1");
    window.get_by_label("Record").click();
    window.run_ok();
    window.get_by_label_contains("at byte");
}

#[test]
fn typing_in_the_filter_triggers_no_shortcut() {
    let mut window = large(sample(MANY_RESULTS));
    window.key_press(egui::Key::Slash);
    window.run_ok();
    window
        .get_by_role_and_label(Role::TextInput, "Filter messages")
        .type_text("zzz-no-such-text-j1");
    window.run_ok();
    window.get_by_label("No message matches the filter.");
    assert!(window.query_by_label("Message 1").is_none(), "`j` was typed, not pressed");
}

#[test]
fn an_export_is_written_and_checked() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let bytes = std::fs::read(&source).expect("the copy can be read");
    let mut window = large(source.clone());
    window.get_by_label("Export…").click();
    window.run_ok();
    window.get_by_label("Export").click();
    window.run_ok();
    window.get_by_label("Written to");
    let mut files: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder is there")
        .filter_map(|f| Some(f.ok()?.file_name()))
        .collect();
    files.sort();
    assert_eq!(files.len(), 4, "the export and its two sidecars were written: {files:?}");
    assert_eq!(
        std::fs::read(&source).expect("the source is there"),
        bytes,
        "the source is unchanged"
    );
}

#[test]
fn lanes_are_switched_added_and_removed() {
    let mut window = large(sample(MANY_RESULTS));
    add_lane(&mut window);
    window.get_by_label_contains("Focus lane 4: No management");
    window.get_by_label("Policy of lane 4").click();
    window.run_ok();
    window.get_by_label("Remove this lane").click();
    window.run_ok();
    assert!(window.query_by_label_contains("Focus lane 4").is_none());
}

#[test]
fn a_policy_is_found_by_words_and_chosen_with_enter() {
    let mut window = large(sample(MANY_RESULTS));
    window.get_by_label("Policy of lane 1").click();
    window.run_ok();
    window.event(Event::Text("coding gemini".to_owned()));
    window.run_ok();
    assert!(window.query_by_label("Gemini CLI").is_some());
    assert!(window.query_by_label("Codex CLI").is_none());
    window.key_press(Key::Enter);
    window.run_ok();
    window.get_by_label_contains("Focus lane 1: Gemini CLI");
    assert!(window.query_by_label("Find a policy").is_none(), "closed");
}

#[test]
fn setting_the_trigger_on_the_timeline_changes_the_lanes() {
    let mut window = large(sample(MANY_RESULTS));
    let before = lanes(&window);
    set_slider(&mut window, "trigger", 45_000.0);
    assert_ne!(lanes(&window), before, "the lanes follow the handle");
}

#[test]
fn a_lane_with_its_own_knobs_changes_alone() {
    let mut window = large(sample(MANY_RESULTS));
    let before = lanes(&window);
    window.get_by_label("own settings").click();
    window.run_ok();
    set_slider(&mut window, "compression_trigger", 0.30);
    let after = lanes(&window);
    assert_ne!(before[0], after[0], "the lane changes");
    assert_eq!(before[1..], after[1..], "the other lanes stay");
    window.get_by_label("shared settings").click();
    window.run_ok();
    assert_eq!(lanes(&window), before, "the shared settings apply again");
}

#[test]
fn selecting_a_call_selects_its_largest_message_and_vice_versa() {
    use egui_kittest::kittest::NodeT as _;
    let mut window = large(sample(MANY_RESULTS));
    window.key_press(egui::Key::Home);
    window.run_ok();
    assert!(window.query_all_by_label("call 1").next().is_some(), "the lanes are at call 1");
    let selected = window.query_all_by_label_contains("Message ");
    let is_title =
        |text: String| text.strip_prefix("Message ").is_some_and(|n| n.parse::<usize>().is_ok());
    assert!(
        selected.filter_map(|node| node.accesskit_node().value()).any(is_title),
        "the detail shows a message"
    );
    go_to(&mut window, 40);
    window.get_by_label("Message 40");
    assert!(
        window.query_all_by_label("call 1").next().is_none(),
        "message 40 comes after call 1, so the lanes show a later call"
    );
}

#[test]
fn six_lanes_in_a_small_window_keep_their_figures() {
    let size = Vec2::new(1100.0, 700.0);
    let mut window = sized(sample(MANY_RESULTS), size);
    for _ in 0..3 {
        // Scrolls it into view.
        window.key_press(egui::Key::Num1);
        window.run_ok();
        add_lane(&mut window);
    }
    assert_eq!(lanes(&window).len(), 6);
    // Labels and values are on one line each, at equal heights in every lane.
    for label in ["peak", "cost"] {
        let rects: Vec<_> = window.get_all_by_label(label).map(|n| n.rect()).collect();
        assert_eq!(rects.len(), 7, "{label}, with the recorded lane");
        assert!(rects.iter().all(|r| r.height() < 20.0), "{label}: {rects:?}");
    }
}

#[test]
fn a_second_export_takes_the_next_free_name() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = large(source);
    window.get_by_label("Export…").click();
    window.run_ok();
    let primary = window.get_by_role_and_label(Role::Button, "Export");
    assert!(primary.is_focused(), "the primary button has the focus");
    for _ in 0..2 {
        window.get_by_label("Export").click();
        window.run_ok();
        window.get_by_label("Written to");
        window.get_by_label("Another export").click();
        window.run_ok();
    }
    let files = std::fs::read_dir(folder.path()).expect("the folder is there");
    assert_eq!(files.count(), 7, "the source and two exports of three files each");
}

#[test]
fn a_small_window_shows_every_control() {
    let window = sized(sample(MANY_RESULTS), Vec2::new(1100.0, 700.0));
    let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, Vec2::new(1100.0, 700.0));
    for name in ["Export…", "Open…", "Undo", "Copy as command", "Policy of lane 3"] {
        let rect = window.get_by_label(name).rect();
        assert!(screen.contains_rect(rect), "{name} at {rect:?}");
    }
}

/// Returns the figures of the lane heads: policy, peak, compactions, overflows.
fn lanes(window: &Window) -> Vec<String> {
    use egui_kittest::kittest::NodeT as _;
    let heads = window.get_all_by_label_contains("Focus lane ");
    heads.filter_map(|head| head.accesskit_node().label()).collect()
}
