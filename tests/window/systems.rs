//! Lanes with system presets: believed fill, events without effect, findings, restarts and provider errors.

use crate::screen::{
    COMPACTED, LARGE, MANY_RESULTS, Window, click, copied, open, options, runs, sample, set_slider,
    texts_with, with_lanes,
};
use egui::Vec2;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use plimsoll::app::state::events;
use plimsoll::engine::Effect;
use plimsoll::presets;
use plimsoll::presets::forms::{Form, Tuned};

/// Opens a window with these presets, or policies with these texts, as lanes.
fn window(name: &str, policies: &[&str]) -> Window {
    of_size(name, policies, LARGE)
}

fn of_size(name: &str, policies: &[&str], size: Vec2) -> Window {
    let options = Options { size, ..options(sample(name)) };
    open(with_lanes(options, policies, &[]))
}

/// A policy with a setting of each kind and a stage for restarts.
const OWN: &str = r#"
name = "own"
label = "Own"
help = "A policy with a setting of each kind."
documentation_differences = ["Document: it summarizes. Code: it drops. For you: what is gone is gone.", "Nothing else."]
differences = ["The system retries. The replay does not."]
sources = ["a file"]

[meter]
count = "true"
believed_fill = "used / (2 * window)"

[settings.mode]
value = 0
range = [0, 2]
step = 1
unit = "choice"
help = "What it does."
choices = ["off", "drop", "drop all"]
key = "own.mode"

[settings.compression_trigger]
role = "compression_trigger"
value = 0.75
range = [0.05, 1.0]
step = 0.01
unit = "share of usable"
help = "Acts above this share."

[settings.unread]
value = 5
range = [0, 10]
step = 1
unit = "messages"
help = "Nothing reads it."
ignored = "The constant 5 stands in the code."

[[stage]]
id = "resume"
at = "resume"
when = "true"
take = { what = "messages", keep = ["last_messages(4)"] }
do = { drop = {} }

[[stage]]
id = "drop"
at = "before_call"
when = "mode > 0 and used >= compression_trigger * window"
take = { what = "messages", keep = ["last_messages(4)"] }
do = { drop = {} }
"#;

#[test]
fn a_lane_shows_believed_and_actual_fill() {
    let window = window(MANY_RESULTS, &[OWN, "truncate"]);
    let said = texts_with(&window, "believed: ");
    let said: Vec<_> = said.iter().filter(|s| !s.contains("believed: –")).collect();
    assert_eq!(said.len(), 1, "only one of them has an estimate: {said:?}");
    let runs = runs(&window);
    let last = runs.lanes[0].outcome.samples.last().expect("a call");
    let believed = last.believed.expect("it says so");
    assert!(believed.0 < last.pressure.0, "half of it");
    assert!(said[0].contains("(actual "), "{said:?}");
}

#[test]
fn a_named_choice_changes_its_lane() {
    let mut window = window(MANY_RESULTS, &[OWN]);
    let compactions = |window: &Window| {
        let runs = runs(window);
        runs.lanes[0].outcome.compactions
    };
    assert_eq!(compactions(&window), 0, "it is off");
    window.get_by_role_and_label(Role::ComboBox, "mode").click();
    window.run_ok();
    window.get_by_label("drop all").click();
    window.run_ok();
    set_slider(&mut window, "compression_trigger", 0.2);
    assert!(compactions(&window) > 0, "it is on");
    window.get_by_label("The shipped code ignores this setting.");
}

#[test]
fn a_restart_mark_is_placed_removed_and_replayed() {
    let mut window = window(MANY_RESULTS, &[OWN]);
    window.key_press(egui::Key::Home);
    window.run_ok();
    for _ in 0..3 {
        window.key_press(egui::Key::ArrowRight);
        window.run_ok();
    }
    window.key_press(egui::Key::R);
    window.run_ok();
    let events = |window: &Window| -> Vec<usize> {
        let runs = runs(window);
        let events = runs.lanes[0].outcome.events.iter();
        events.map(|event| event.call).collect()
    };
    assert_eq!(events(&window), [3], "it is started again before call 4");
    window.get_by_label("Restart at call 4");
    window.get_by_label("Undo").click();
    window.run_ok();
    assert!(events(&window).is_empty());
    window.get_by_label("Add a restart at call 4").click();
    window.run_ok();
    assert_eq!(events(&window), [3]);
    window.get_by_label("Remove the restart at call 4").click();
    window.run_ok();
    assert!(window.query_by_label("Restart at call 4").is_none());
}

#[test]
fn a_restart_mark_without_effect_is_reported() {
    let mut window = window(MANY_RESULTS, &["truncate"]);
    assert!(window.query_by_label_contains("Mark a restart").is_none());
    window.key_press(egui::Key::R);
    window.run_ok();
    // In the settings and in a notice.
    let told = window.get_all_by_label_contains("No lane's policy reacts to a restart");
    assert_eq!(told.count(), 2);
}

#[test]
fn events_are_filtered_and_shown_term_by_term() {
    let mut window = window(MANY_RESULTS, &["picoclaw-before", "truncate"]);
    window.get_by_label("Events").click();
    window.run_ok();
    let runs = runs(&window);
    let changes = runs.lanes.iter().flat_map(|lane| &lane.outcome.events);
    let changes = changes.filter(|e| matches!(e.effect, Effect::Removed | Effect::Changed));
    let changes = changes.count();
    assert!(changes > 0);
    window.get_by_label("Show changes").click();
    window.run_ok();
    // The first row is an event: selecting it selects its call in all panels.
    window.get_by_label("focused lane").click();
    window.run_ok();
    // The list follows the selected call.
    window.key_press(egui::Key::Home);
    window.run_ok();
    let lane = &self::runs(&window).lanes[0];
    let is_change = |effect: Effect| matches!(effect, Effect::Removed | Effect::Changed);
    let mut events = lane.outcome.events.iter();
    let first = events.find(|e| is_change(e.effect)).expect("it changed something");
    let (why, stage) = (events::text::why(first, &lane.outcome), first.stage.clone());
    let terms = first.cause.terms.clone();
    let row = window.get_all_by_label(&why).next().expect("its row");
    row.click();
    window.run_ok();
    window.get_by_label("RESULT");
    assert!(window.query_all_by_label(&stage).next().is_some(), "{stage}");
    for (name, _) in terms {
        assert!(window.query_all_by_label(&name).next().is_some(), "{name}");
    }
}

#[test]
fn problems_of_a_lane_link_to_their_call() {
    let mut window = window(MANY_RESULTS, &["truncate", "picoclaw-before"]);
    let runs = runs(&window);
    let findings = &runs.lanes[1].findings;
    let calls: Vec<usize> = findings.iter().map(|finding| finding.call).collect();
    assert!(!calls.is_empty(), "something is wrong with it");
    let badge = window.get_by_label_contains("about lane 2");
    badge.click();
    window.run_ok();
    window.get_by_label("advice");
    let link = window.get_by_label_contains("Show call ");
    let said = link.accesskit_node().label().expect("it has a name");
    let call: usize = said["Show call ".len()..].parse().expect("a number");
    assert!(calls.contains(&(call - 1)), "call {call} of {calls:?}");
    link.click();
    window.run_ok();
    let heads = texts_with(&window, &format!("call {call}"));
    assert!(heads.len() >= 2, "the lanes are at call {call}: {heads:?}");
}

#[test]
fn the_tab_about_describes_the_policy() {
    let mut window = window(MANY_RESULTS, &[OWN]);
    window.get_by_label("About").click();
    window.run_ok();
    for text in [
        "It summarizes.",
        "It drops.",
        "What is gone is gone.",
        "Nothing else.",
        "DIFFERENCES OF THE REPLAY FROM THE SYSTEM",
        "The system retries. The replay does not.",
        "a file",
    ] {
        window.get_by_label(text);
    }
}

#[test]
fn a_policy_is_copied_in_every_form_that_runs_it() {
    let mut window = of_size(COMPACTED, &["codex"], Vec2::new(1440.0, 1000.0));
    for form in Form::ALL {
        click(&mut window, "Copy config");
        let copied = copied(&mut window, form.label());
        let runs = runs(&window);
        let (policy, knobs) = (&runs.lanes[0].policy, &runs.lanes[0].knobs);
        let preset = presets::PRESETS.iter().find(|preset| preset.name == "codex");
        let toml = preset.expect("bundled").toml;
        let window = runs.lanes[0].outcome.samples.last().map(|sample| sample.window.0);
        let tuned = Tuned { policy, toml, knobs, window };
        assert_eq!(copied, form.write(tuned).expect("codex has every form").text);
    }
}

#[test]
fn six_systems_in_a_small_window_keep_every_control() {
    let policies = ["baseagent", "picoclaw-before", "picoclaw", "cowagent", "truncate", "prune"];
    let size = Vec2::new(1100.0, 700.0);
    let window = of_size(MANY_RESULTS, &policies, size);
    let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
    for name in
        ["Copy as command", "Copy config", "Reset all", "Events", "Insights", "Cost", "About"]
    {
        let rect = window.get_by_label(name).rect();
        assert!(screen.contains_rect(rect), "{name} at {rect:?}");
    }
}

#[test]
fn provider_errors_are_set_from_the_menu_or_as_text() {
    let mut window = of_size(MANY_RESULTS, &["picoclaw"], Vec2::new(1440.0, 1800.0));
    click(&mut window, "Add an error at call 56");
    click(&mut window, "rate limit");
    assert!(window.query_by_label("Error text").is_none(), "what was chosen closes the menu");
    window.get_by_label("Error at call 56: rate limit");
    click(&mut window, "Remove the error at call 56");
    assert!(window.query_by_label_contains("Error at call 56").is_none());
    click(&mut window, "Add an error at call 56");
    // A click into the field leaves the menu open.
    click(&mut window, "Error text");
    let field = window.get_by_role_and_label(Role::TextInput, "Error text");
    field.type_text("the prompt is too long");
    window.run_ok();
    window.key_press(egui::Key::Enter);
    window.run_ok();
    window.get_by_label("Error at call 56: custom text");
    assert!(window.query_by_label("Error text").is_none());
}
