//! Actions offered after empty results.

use crate::screen::{COMPACTED, Window, click, copy_of, large, runs};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tempfile::TempDir;

/// Opens a window with a copy of a sample.
fn window(sample: &str) -> (TempDir, Window) {
    let (folder, copy) = copy_of(sample);
    (folder, large(copy))
}

fn policies(window: &Window) -> Vec<String> {
    let runs = runs(window);
    runs.lanes.iter().map(|l| l.policy.name.clone()).collect()
}

#[test]
fn without_events_the_last_context_can_be_compacted_anyway() {
    let (folder, mut window) = window("images-and-cjk.json");
    window.get_by_role_and_label(Role::Tab, "Events").click();
    window.run_ok();
    click(&mut window, "Compact anyway…");
    window.get_by_label("Compact now, regardless of the trigger");
    click(&mut window, "Export");
    window.get_by_label_contains("Last recorded context:");
    assert!(window.query_by_label("Compact anyway").is_none());
    assert!(folder.path().join("images-and-cjk-managed-1.json").exists());
}

#[test]
fn a_trigger_that_is_not_met_offers_to_compact_anyway() {
    let (folder, mut window) = window(COMPACTED);
    window.key_press_modifiers(Modifiers::COMMAND, Key::E);
    window.run_ok();
    window.get_by_label_contains("Compact now: the last recorded context").click();
    window.run_ok();
    click(&mut window, "Export");
    window.get_by_label_contains("is not met");
    click(&mut window, "Compact anyway");
    window.get_by_label_contains("Last recorded context:");
    assert!(folder.path().join("compacted-managed-1.jsonl").exists());
}

#[test]
fn without_a_working_setting_another_policy_is_offered() {
    let (_folder, mut window) = window("giant-tool-result.json");
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_ok();
    window.get_by_label_contains("None of the 300 settings tried works");
    window.get_by_label_contains("into files before a call reads them");
    let before = policies(&window);
    let offer = window.get_by_label_contains("Compare with ");
    let label = offer.accesskit_node().label().expect("a label");
    offer.click();
    window.run_ok();
    let after = policies(&window);
    assert_eq!(after[..before.len()], before[..]);
    let runs = runs(&window);
    let last = runs.lanes.last().expect("a lane");
    assert_eq!(label, format!("Compare with {}", last.policy.label));
    assert_eq!(last.outcome.overflows, 0);
    assert!(window.query_by_label(&label).is_none());
}
