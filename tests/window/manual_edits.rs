//! Manual edits in the window: set and removed by keys and mouse, replayed in every lane and exported; and the changes of
//! a message in a lane.

use crate::screen::{
    MANY_RESULTS, Window, copied, copy_of, drop_file, go_to, open, options, press, runs, sample,
    secondary_click, texts_with,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::Options;
use plimsoll::app::state::model::marks::RequestedMarks;
use plimsoll::engine::{ManualEdits, MessageStatus};
use plimsoll::session::{Body, Part};
use std::path::PathBuf;
use std::sync::Arc;

/// Opens a window that is large enough to show a summary next to the messages it replaces.
fn window(path: PathBuf, marks: Option<RequestedMarks>) -> Window {
    open(Options { size: Vec2::new(2200.0, 1800.0), marks, ..options(path) })
}

/// Marks for a session of any size.
#[expect(clippy::unnecessary_wraps, reason = "the window takes optional marks")]
fn requested(edits: ManualEdits) -> Option<RequestedMarks> {
    Some(RequestedMarks(Arc::new(move |_| Ok(edits.clone()))))
}

fn marks(window: &Window) -> ManualEdits {
    let runs = runs(window);
    (*runs.config.manual_edits).clone()
}

/// Returns the status of a message at the end of each lane's run.
fn statuses(window: &Window, message: usize) -> Vec<MessageStatus> {
    let runs = runs(window);
    let n_messages = runs.case.session.messages.len();
    let status = |lane: &Arc<plimsoll::app::state::model::runs::replays::LaneRun>| {
        lane.outcome.context.statuses(n_messages)[message].0
    };
    runs.lanes.iter().map(status).collect()
}

/// Returns the number of manual edits in each lane.
fn edits(window: &Window) -> Vec<usize> {
    let runs = runs(window);
    let n_manual = |lane: &Arc<plimsoll::app::state::model::runs::replays::LaneRun>| {
        let events = lane.outcome.events.iter();
        events.filter(|event| event.is_manual()).count()
    };
    runs.lanes.iter().map(n_manual).collect()
}

/// Returns the last message that every lane keeps unchanged.
fn kept_by_all(window: &Window) -> usize {
    let runs = runs(window);
    let n_messages = runs.case.session.messages.len();
    let is_kept = |m: &usize| statuses(window, *m).iter().all(|fate| *fate == MessageStatus::Kept);
    (0..n_messages).rfind(is_kept).expect("some message is kept")
}

#[test]
fn a_key_drops_the_selected_message_in_every_lane_and_restores_it() {
    let mut window = window(sample(MANY_RESULTS), None);
    let message = kept_by_all(&window);
    go_to(&mut window, message + 1);
    press(&mut window, Modifiers::NONE, Key::X);
    assert_eq!(marks(&window).dropped, [message]);
    assert_eq!(edits(&window), [1, 1, 1]);
    assert_eq!(statuses(&window, message), [MessageStatus::Dropped; 3]);
    window.get_by_label("Manual edits: 1 dropped");
    assert!(!texts_with(&window, "Dropped manually.").is_empty(), "its row says so");
    press(&mut window, Modifiers::NONE, Key::X);
    assert!(marks(&window).is_empty());
    assert_eq!(statuses(&window, message), [MessageStatus::Kept; 3]);
}

#[test]
fn marks_are_undone_and_redone_like_knobs() {
    let mut window = window(sample(MANY_RESULTS), None);
    go_to(&mut window, 9);
    press(&mut window, Modifiers::NONE, Key::P);
    press(&mut window, Modifiers::NONE, Key::C);
    let cleared = marks(&window);
    assert_eq!((cleared.pinned.len(), &*cleared.cleared), (0, &[8][..]));
    window.get_by_label("Undo").click();
    window.run_ok();
    assert_eq!(marks(&window).pinned, [8]);
    window.get_by_label("Undo").click();
    window.run_ok();
    assert!(marks(&window).is_empty());
    for _ in 0..2 {
        window.get_by_label("Redo").click();
        window.run_ok();
    }
    assert_eq!(marks(&window), cleared);
}

#[test]
fn a_range_of_rows_is_marked_at_once_and_the_filter_shows_marked_messages() {
    let mut window = window(sample(MANY_RESULTS), None);
    go_to(&mut window, 20);
    for _ in 0..3 {
        window.key_press_modifiers(Modifiers::SHIFT, Key::J);
        window.run_ok();
    }
    window.get_by_label("Message 23");
    press(&mut window, Modifiers::NONE, Key::P);
    assert_eq!(marks(&window).pinned, [19, 20, 21, 22]);
    window.get_by_label("Manual edits: 4 pinned").click();
    window.run_ok();
    window.get_by_label("Show only edited messages").click();
    window.run_ok();
    let all = runs(&window).case.session.messages.len();
    window.get_by_label(&format!("4 of {all}"));
    window.get_by_label("Remove all manual edits").click();
    window.run_ok();
    assert!(marks(&window).is_empty());
    window.get_by_label(&format!("{all} of {all}"));
}

#[test]
fn the_menu_of_a_row_marks_its_message() {
    let mut window = window(sample(MANY_RESULTS), None);
    go_to(&mut window, 12);
    let preview = {
        let cells = window.query_all_by_label("12");
        let rect = cells.map(|cell| cell.rect()).next();
        rect.expect("the number in the table")
    };
    for (entry, expected) in [("Pin", vec![11]), ("Unpin", vec![])] {
        secondary_click(&mut window, preview.center());
        window.get_by_role_and_label(Role::Button, entry).click();
        window.run_ok();
        assert_eq!(marks(&window).pinned, expected);
    }
}

#[test]
fn ineffective_marks_are_reported_as_warnings() {
    let mut window = window(sample(MANY_RESULTS), None);
    go_to(&mut window, 1);
    press(&mut window, Modifiers::NONE, Key::X);
    let runs = runs(&window);
    let warning = "message 1 is not dropped manually: instructions stay";
    assert!(
        runs.lanes
            .iter()
            .all(|lane| { lane.outcome.warnings.iter().any(|w| w.to_string() == warning) })
    );
    assert!(!texts_with(&window, "Marked as dropped, but not applied in Truncate.").is_empty());
    window.get_by_label("Manual edits: 1 dropped").click();
    window.run_ok();
    window.get_by_label(&format!("Every lane: {warning}"));
    press(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Insights").click();
    window.run_ok();
    assert!(!texts_with(&window, warning).is_empty());
}

#[test]
fn marks_of_the_command_line_apply_to_the_first_session_only() {
    let asked = ManualEdits { pinned: vec![4], cleared: vec![9], dropped: vec![9, 20] };
    let mut window = window(sample(MANY_RESULTS), requested(asked));
    let made = marks(&window);
    assert_eq!((&*made.pinned, &*made.cleared, &*made.dropped), (&[4][..], &[][..], &[9, 20][..]));
    let path = sample("handoff.json");
    drop_file(&mut window, path);
    assert!(marks(&window).is_empty(), "marks belong to their session");
}

#[test]
fn an_export_lists_and_applies_manual_edits() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(source, None);
    let message = kept_by_all(&window);
    let text = {
        let session = &runs(&window).case.session;
        let parts = session.parts_of(&session.messages[message]);
        parts[0].body.text().trim().to_owned()
    };
    go_to(&mut window, message + 1);
    press(&mut window, Modifiers::NONE, Key::X);
    window.key_press_modifiers(Modifiers::COMMAND, Key::E);
    window.run_ok();
    window.get_by_label("edits");
    window.get_by_label("1 dropped");
    window.get_by_label("Export").click();
    window.run_ok();
    window.get_by_label("Written to");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name));
    let manifest = read("many-tool-results-managed-1.manifest.json").expect("it was written");
    let manifest: plimsoll::json::Value = serde_json::from_str(&manifest).expect("it is JSON");
    assert_eq!(manifest["manual_edits"]["dropped"], plimsoll::json::json!([message + 1]));
    let removed = read("many-tool-results-managed-1.removed.jsonl").expect("it was written");
    assert!(removed.contains("manually"), "the sidecar has what was dropped");
    assert!(text.len() > 3, "the message says something: {text}");
}

#[test]
fn a_cleared_message_is_shown_next_to_the_original_in_each_lane() {
    let mut window = window(sample(MANY_RESULTS), None);
    let runs = runs(&window);
    let n_messages = runs.case.session.messages.len();
    let prune = runs.labels.iter().position(|l| l == "Prune").expect("a lane");
    let fates_of = |lane: usize| runs.lanes[lane].outcome.context.statuses(n_messages);
    let cleared = fates_of(prune).iter().position(|(fate, _)| *fate == MessageStatus::Cleared);
    let cleared = cleared.expect("pruning clears results");
    press(&mut window, Modifiers::NONE, [Key::Num1, Key::Num2, Key::Num3][prune]);
    go_to(&mut window, cleared + 1);
    window.get_by_label("Changes").click();
    window.run_ok();
    assert!(!texts_with(&window, "Cleared by ").is_empty());
    let lines = |side: &str| window.query_all_by_label(side).count();
    assert!(lines("removed") > 1, "what was there");
    assert_eq!(lines("added"), 1, "what is there now");
    window.get_by_label("Why").click();
    window.run_ok();
    window.get_by_label("RESULT");
}

#[test]
fn a_summary_is_shown_next_to_the_messages_it_replaces() {
    let mut window = window(sample(MANY_RESULTS), None);
    let runs = runs(&window);
    let lane = runs.labels.iter().position(|l| l == "Summarize").expect("a lane");
    let context = &runs.lanes[lane].outcome.context;
    let (written, _) = context.written().next().expect("it summarized");
    let first = written.covers[0].start as usize;
    press(&mut window, Modifiers::NONE, [Key::Num1, Key::Num2, Key::Num3][lane]);
    go_to(&mut window, first + 1);
    window.get_by_label("Changes").click();
    window.run_ok();
    assert!(!texts_with(&window, "Summarized by ").is_empty());
    window.get_by_label_contains("original · ");
    window.get_by_label_contains("replaced by: a summary");
    window.get_by_label_contains("Preview from the offline digest");
    let link = window.get_by_label_contains("replaces ");
    link.click();
    window.run_ok();
    window.get_by_label("Written by Summarize");
    window.get_by_label_contains("original: ");
    window.get_by_label(&format!("message {}", first + 1)).click();
    window.run_ok();
    window.get_by_label(&format!("Message {}", first + 1));
}

#[test]
fn messages_dropped_with_a_marked_message_name_the_reason() {
    let mut window = window(sample(MANY_RESULTS), None);
    let runs = runs(&window);
    let session = &runs.case.session;
    let result = (0..session.messages.len()).rfind(|m| {
        let parts = session.parts_of(&session.messages[*m]);
        let is_result = |p: &Part| matches!(p.body, Body::ToolResult { .. });
        parts.iter().any(is_result) && statuses(&window, *m)[0] == MessageStatus::Kept
    });
    let result = result.expect("the newest results are kept");
    go_to(&mut window, result + 1);
    press(&mut window, Modifiers::NONE, Key::X);
    window.get_by_label_contains("called in ").click();
    window.run_ok();
    window.get_by_label("Changes").click();
    window.run_ok();
    window.get_by_label_contains("Dropped with its call or result");
    assert!(!texts_with(&window, "Also changed in the focused lane").is_empty());
}

#[test]
fn a_lane_is_compared_at_the_selected_call() {
    let mut window = window(sample(MANY_RESULTS), None);
    press(&mut window, Modifiers::NONE, Key::Home);
    go_to(&mut window, 4);
    window.get_by_label("Changes").click();
    window.run_ok();
    window.get_by_label("Truncate keeps it unchanged.");
    press(&mut window, Modifiers::NONE, Key::X);
    window.get_by_label_contains("Dropped manually. Nothing replaces it.");
    press(&mut window, Modifiers::NONE, Key::End);
    go_to(&mut window, 4);
    window.get_by_label_contains("Dropped by truncate at call ");
}

#[test]
fn an_unchanged_message_has_no_changes() {
    let mut window = window(sample(MANY_RESULTS), None);
    let message = kept_by_all(&window);
    go_to(&mut window, message + 1);
    window.get_by_label("Changes").click();
    window.run_ok();
    window.get_by_label("Truncate keeps it unchanged.");
    press(&mut window, Modifiers::NONE, Key::Num0);
    window.get_by_label_contains("Focus a lane to see");
}

#[test]
fn the_copied_command_contains_the_marks() {
    let asked = ManualEdits { pinned: vec![2], cleared: vec![30], dropped: vec![40, 41, 42] };
    let mut window = window(sample(MANY_RESULTS), requested(asked));
    let copied = copied(&mut window, "Copy as command");
    assert!(copied.contains(" --pin 3 --clear 31 --drop 41-43"), "{copied}");
}
