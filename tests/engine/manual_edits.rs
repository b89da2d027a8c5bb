//! Manual edits: pins that policies respect, and messages cleared or dropped at the end of a run.

use crate::conversation::{Talk, case, event_words, pairs_are_whole, part, text};
use plimsoll_core::analysis::findings;
use plimsoll_core::engine::{
    ActionKind, Case, EntryBody, Event, ExecutedContext, KnobValues, ManualEdits, MessageStatus,
    Outcome, PartStatus, Policy, Schedule, drive, simulate,
};
use plimsoll_core::presets;
use plimsoll_core::session::{Body, ManagedEntry, MediaKind, Part, Role};

fn policy(name: &str) -> Policy {
    presets::by_name(name).expect("a bundled preset")
}

fn knobs(policy: &Policy, pairs: &[(&str, f64)]) -> KnobValues {
    let mut values = policy.defaults();
    for (name, value) in [("output_reserve", 0.0)].iter().chain(pairs) {
        if policy.knob(name).is_some() {
            policy.set(&mut values, name, *value).expect("in range");
        }
    }
    values
}

fn played(case: &Case, name: &str, pairs: &[(&str, f64)]) -> Outcome {
    let policy = policy(name);
    let outcome = simulate(case, &policy, &knobs(&policy, pairs), None);
    outcome.context.check(case).expect("the account is complete");
    pairs_are_whole(case, &outcome.context).expect("whole pairs");
    outcome
}

fn pinned(messages: &[usize]) -> ManualEdits {
    ManualEdits { pinned: messages.to_vec(), ..ManualEdits::default() }
}

fn cleared(messages: &[usize]) -> ManualEdits {
    ManualEdits { cleared: messages.to_vec(), ..ManualEdits::default() }
}

fn dropped(messages: &[usize]) -> ManualEdits {
    ManualEdits { dropped: messages.to_vec(), ..ManualEdits::default() }
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    outcome.warnings.iter().map(ToString::to_string).collect()
}

fn status(case: &Case, outcome: &Outcome, message: usize) -> MessageStatus {
    outcome.context.statuses(case.session.messages.len())[message].0
}

/// Returns the state of the parts of a message in the context.
fn parts_of(outcome: &Outcome, message: u32) -> Vec<PartStatus> {
    let entry = outcome.context.entries.iter().find(|e| e.message() == Some(message));
    match &entry.expect("it is in the context").body {
        EntryBody::Edited(edited) => edited.parts.as_slice().to_vec(),
        _ => vec![PartStatus::Kept],
    }
}

fn manual_events(outcome: &Outcome) -> Vec<&Event> {
    outcome.events.iter().filter(|e| e.is_manual()).collect()
}

fn call(id: &str) -> Part {
    part(Body::ToolCall { call: id.into(), tool: "grep".into(), arguments: "{}".into() })
}

fn result(id: &str, words: usize) -> Part {
    part(Body::ToolResult {
        call: id.into(),
        tool: "grep".into(),
        is_error: false,
        text: "match ".repeat(words).into(),
    })
}

fn picture(within: Option<&str>) -> Part {
    part(Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes: 9_000,
        pixels: Some((800, 600)),
        detail: plimsoll_core::session::ImageDetail::Auto,
        within: within.map(Into::into),
    })
}

fn thought(sealed_bytes: u32) -> Part {
    part(Body::Thinking {
        text: "Let me think about that for a while.".into(),
        sealed_bytes,
        reported: None,
    })
}

/// Returns a session with two calls in one message (2) and their results in two (3 and 4).
fn two_calls_in_one() -> Talk {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Look for both.")]);
    talk.message(Role::Assistant, vec![text("I look."), call("a"), call("b")]);
    talk.message(Role::Tool, vec![result("a", 50)]);
    talk.message(Role::Tool, vec![result("b", 50)]);
    talk.message(Role::Assistant, vec![text("Both are there.")]);
    talk
}

#[test]
fn truncate_keeps_a_pinned_result_and_its_call() {
    // 0 is the system prompt, 1 the request, followed by alternating calls and results.
    let case = case(&Talk::tool_calls(30, 100), 2_000);
    let pins = case.with_manual_edits(pinned(&[5]));
    let knobs = [("keep_recent", 3.0)];
    let outcome = played(&pins, "truncate", &knobs);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    assert_eq!([4, 5].map(|m| status(&pins, &outcome, m)), [MessageStatus::Kept; 2]);
    assert_eq!([3, 6].map(|m| status(&pins, &outcome, m)), [MessageStatus::Dropped; 2]);
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    let without = played(&case, "truncate", &knobs);
    assert_eq!(status(&case, &without, 5), MessageStatus::Dropped);
}

#[test]
fn a_pinned_call_keeps_all_results_of_its_message() {
    let mut talk = two_calls_in_one();
    for n in 0..30 {
        talk.call(&format!("later_{n}"), 100);
    }
    let case = case(&talk, 2_000).with_manual_edits(pinned(&[4]));
    let outcome = played(&case, "truncate", &[("keep_recent", 3.0)]);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    // The result of `b` needs message 2, which also calls `a`.
    assert_eq!([2, 3, 4].map(|m| status(&case, &outcome, m)), [MessageStatus::Kept; 3]);
}

#[test]
fn prune_skips_a_pinned_result_and_counts_only_cleared_results() {
    let knobs = [("prune_protect", 500.0), ("prune_minimum", 300.0), ("compression_trigger", 0.5)];
    let case = case(&Talk::turns(6, 5, 200), 8_000);
    let without = played(&case, "prune", &knobs);
    // The two oldest results.
    let pins = case.with_manual_edits(pinned(&[3, 5]));
    let outcome = played(&pins, "prune", &knobs);
    assert!(outcome.compactions >= 1);
    assert_eq!([3, 5].map(|m| status(&pins, &outcome, m)), [MessageStatus::Kept; 2]);
    let after = without.events[0].after;
    assert_eq!(status(&pins, &outcome, 7), MessageStatus::Cleared);
    assert!(outcome.events[0].after > after);
    for event in &outcome.events {
        assert!(event.after < event.before);
        assert!(event.messages.iter().all(|r| !r.contains(&3) && !r.contains(&5)));
    }
}

#[test]
fn a_result_whose_call_is_pinned_may_be_cleared_since_the_pair_stays() {
    let case = case(&Talk::turns(6, 5, 200), 8_000).with_manual_edits(pinned(&[2]));
    let knobs = [("prune_protect", 500.0), ("prune_minimum", 300.0), ("compression_trigger", 0.5)];
    let outcome = played(&case, "prune", &knobs);
    assert_eq!(status(&case, &outcome, 2), MessageStatus::Kept);
    assert_eq!(status(&case, &outcome, 3), MessageStatus::Cleared);
}

#[test]
fn prune_does_nothing_if_all_results_are_pinned() {
    let case = case(&Talk::turns(3, 5, 200), 4_000);
    let all: Vec<usize> = (0..case.session.messages.len()).collect();
    for name in ["prune", "truncate", "summarize"] {
        let outcome = played(&case.with_manual_edits(pinned(&all)), name, &[]);
        assert_eq!(outcome.compactions, 0, "{name}: {}", event_words(&outcome));
    }
}

#[test]
fn a_summary_covers_the_messages_around_a_pin() {
    let case = case(&Talk::tool_calls(30, 100), 1_500).with_manual_edits(pinned(&[1, 9]));
    let outcome = played(&case, "summarize", &[("keep_recent", 4.0), ("summary_max_tokens", 64.0)]);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    assert_eq!([1, 8, 9].map(|m| status(&case, &outcome, m)), [MessageStatus::Kept; 3]);
    assert_eq!([2, 7, 10].map(|m| status(&case, &outcome, m)), [MessageStatus::Summarized; 3]);
}

#[test]
fn a_real_system_that_removes_a_pinned_message_gives_one_warning() {
    let mut talk = Talk::turns(12, 4, 300);
    talk.turn(1, 20);
    let case = case(&talk, 6_000).with_manual_edits(pinned(&[3, 5]));
    let policy = policy("picoclaw");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let statuses = [3, 5].map(|m| status(&case, &outcome, m));
    assert!(statuses.iter().any(|f| *f != MessageStatus::Kept), "{}", event_words(&outcome));
    let mut warned = warnings(&outcome);
    warned.retain(|warning| warning.contains("pinned"));
    let [warning] = &warned[..] else {
        panic!("{warned:?}");
    };
    let event =
        outcome.events.iter().find(|e| e.messages.iter().any(|r| r.contains(&3) || r.contains(&5)));
    let event = event.expect("an event took them");
    assert!(
        warning.starts_with(&format!("call {}: {}: message", event.call + 1, event.stage))
            && warning.contains("pinned, and picoclaw does not support pins"),
        "{warning}"
    );
}

#[test]
fn a_dropped_message_drops_its_call_and_changes_no_sample() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let marked = case.with_manual_edits(dropped(&[5]));
    let (plain, outcome) = (played(&case, "none", &[]), played(&marked, "none", &[]));
    assert_eq!(outcome.samples, plain.samples);
    assert_eq!(outcome.compactions, 0, "manual edits are none");
    assert!(outcome.removes());
    let [event] = manual_events(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.stage.as_str(), event.action), ("manually", ActionKind::Drop));
    assert_eq!((event.messages.clone(), event.orphans), (one(4..6), 0));
    assert_eq!(event.log, ["message 5 is changed too: a call and its results go together"]);
    assert_eq!(event.before, plain.context.tokens());
    assert_eq!(event.after, outcome.context.tokens());
    assert_eq!(event.call, case.session.calls.len() - 1);
    assert_eq!([4, 5].map(|m| status(&marked, &outcome, m)), [MessageStatus::Dropped; 2]);
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
}

#[test]
fn a_dropped_result_drops_only_its_own_call() {
    let case = case(&two_calls_in_one(), 100_000).with_manual_edits(dropped(&[3]));
    let outcome = played(&case, "none", &[]);
    assert_eq!(status(&case, &outcome, 3), MessageStatus::Dropped);
    assert_eq!(status(&case, &outcome, 4), MessageStatus::Kept);
    let removed = PartStatus::Removed { event: 0 };
    assert_eq!(parts_of(&outcome, 2), [PartStatus::Kept, removed, PartStatus::Kept]);
}

#[test]
fn a_message_left_empty_is_dropped_with_its_pair() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Look.")]);
    talk.message(Role::Assistant, vec![thought(64), text(" "), call("a")]);
    talk.message(Role::User, vec![result("a", 20), picture(Some("a"))]);
    talk.message(Role::Assistant, vec![text("There it is.")]);
    let case = case(&talk, 100_000);
    for message in [2, 3] {
        let case = case.with_manual_edits(dropped(&[message]));
        let outcome = played(&case, "none", &[]);
        assert_eq!([2, 3].map(|m| status(&case, &outcome, m)), [MessageStatus::Dropped; 2]);
        assert_eq!(outcome.context.entries.len(), 3);
    }
}

#[test]
fn clearing_keeps_calls_and_encrypted_reasoning() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("What is this?"), picture(None), text("Look well.")]);
    talk.message(Role::Assistant, vec![thought(64), text("I look."), call("a")]);
    talk.message(Role::User, vec![result("a", 60), picture(Some("a"))]);
    talk.message(Role::Assistant, vec![thought(64), text("A boat.")]);
    talk.message(Role::User, vec![picture(None), picture(None)]);
    talk.message(Role::Assistant, vec![text("Two boats.")]);
    let case = case(&talk, 100_000).with_manual_edits(cleared(&[1, 2, 3, 4, 5]));
    let outcome = played(&case, "none", &[]);
    let (cleared_part, removed) =
        (PartStatus::Cleared { marker: 0 }, PartStatus::Removed { event: 0 });
    let kept = PartStatus::Kept;
    assert_eq!(parts_of(&outcome, 1), [cleared_part.clone(), removed.clone(), removed.clone()]);
    assert_eq!(parts_of(&outcome, 2), [kept.clone(), cleared_part.clone(), kept]);
    assert_eq!(parts_of(&outcome, 3), [cleared_part.clone(), removed.clone()]);
    assert_eq!(parts_of(&outcome, 4), [removed.clone(), cleared_part.clone()]);
    assert_eq!(parts_of(&outcome, 5), [cleared_part, removed]);
    let [event] = manual_events(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.action, event.messages.clone()), (ActionKind::Clear, one(1..6)));
    assert_eq!(&*outcome.context.markers[0].text, "[cleared manually]");
    let managed = ExecutedContext::new(outcome.context).unwrap().managed(&case.session);
    let edited = managed.entries.iter().filter(|e| matches!(e, ManagedEntry::Edited { .. }));
    assert_eq!(edited.count(), 5);
}

#[test]
fn impossible_manual_edits_are_reported_and_the_others_applied() {
    let mut talk = Talk::new();
    talk.turn(2, 20).message(Role::Assistant, vec![thought(64)]);
    talk.turn(2, 20);
    // 1 is the request; 2, 3 and 4, 5 are pairs; 6 is an answer, 7 only reasoning.
    let case = case(&talk, 100_000).with_manual_edits(ManualEdits {
        pinned: vec![5, 6],
        cleared: vec![0, 2, 6, 7, 1],
        dropped: vec![0, 3, 4, 6],
    });
    let outcome = played(&case, "none", &[]);
    let mut warnings = warnings(&outcome);
    warnings.sort_unstable();
    assert_eq!(
        warnings,
        [
            "message 1 is not cleared manually: instructions stay",
            "message 1 is not dropped manually: instructions stay",
            "message 5 is not dropped manually: a pinned message needs its call or result",
            "message 7 is not cleared manually: pinned",
            "message 7 is not dropped manually: pinned",
            "message 8 is not cleared manually: nothing there can be cleared, only dropped",
        ]
    );
    // Message 3 was dropped with its result, so clearing it needs no warning.
    assert_eq!([2, 3].map(|m| status(&case, &outcome, m)), [MessageStatus::Dropped; 2]);
    assert_eq!(status(&case, &outcome, 1), MessageStatus::Cleared);
    assert_eq!(manual_events(&outcome).len(), 2);
}

#[test]
fn a_manual_edit_of_a_removed_message_names_the_removing_stage() {
    let case = case(&Talk::tool_calls(30, 100), 2_000);
    let marked = case.with_manual_edits(ManualEdits {
        dropped: vec![2, 3, 4],
        cleared: vec![61],
        ..ManualEdits::default()
    });
    let outcome = played(&marked, "truncate", &[("keep_recent", 3.0)]);
    let event = &outcome.events[0];
    let taken = format!(
        "messages 3\u{2013}5 are not dropped manually: gone already, by {} before call",
        event.stage
    );
    let [warning] = &warnings(&outcome)[..] else {
        panic!("{:?}", outcome.warnings);
    };
    assert!(warning.starts_with(&taken), "{warning}");
    assert_eq!(status(&marked, &outcome, 61), MessageStatus::Cleared);
}

#[test]
fn a_cleared_result_is_not_cleared_again() {
    let case = case(&Talk::turns(6, 5, 200), 8_000).with_manual_edits(cleared(&[3]));
    let knobs = [("prune_protect", 500.0), ("prune_minimum", 300.0), ("compression_trigger", 0.5)];
    let outcome = played(&case, "prune", &knobs);
    assert!(manual_events(&outcome).is_empty());
    assert_eq!(warnings(&outcome), ["message 4 is not cleared manually: cleared already"]);
}

#[test]
fn marks_of_later_messages_have_no_effect() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let marked = case.with_manual_edits(ManualEdits {
        pinned: vec![11],
        cleared: vec![12, 3],
        dropped: vec![9, 1_000],
    });
    let policy = policy("none");
    // Before the third call the context has only messages 0 to 5.
    let outcome = simulate(&marked, &policy, &policy.defaults(), Some(2));
    let [event] = manual_events(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.call, event.messages.clone()), (2, one(3..4)));
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    outcome.context.check(&marked).expect("the account is complete");
}

#[test]
fn a_pin_on_a_message_that_the_source_compacted_is_reported() {
    let mut talk = Talk::tool_calls(8, 100);
    talk.compact_before(10, "So far: five files were read.");
    // The summary is message 10.
    let case = case(&talk, 100_000).with_manual_edits(ManualEdits {
        pinned: vec![3],
        dropped: vec![4, 10, 14],
        ..ManualEdits::default()
    });
    let policy = policy("none");
    let now = Schedule::Now { force: false };
    let mut estimator = plimsoll_core::engine::Estimator;
    let outcome = drive(&case, &policy, &policy.defaults(), now, None, &mut estimator);
    outcome.context.check(&case).expect("the account is complete");
    assert_eq!(
        warnings(&outcome),
        [
            "message 5 is not dropped manually: gone already, by the source's own compaction",
            "message 4 is pinned without effect: gone already, by the source's own compaction",
        ]
    );
    assert_eq!(outcome.compactions, 0, "manual edits are none");
    assert!(outcome.removes());
    let replayed = simulate(&case, &policy, &policy.defaults(), None);
    let nowhere = "message 11 is not dropped manually: written by the source's own compaction";
    assert!(warnings(&replayed).iter().any(|w| w.starts_with(nowhere)), "{:?}", replayed.warnings);
}

#[test]
fn manual_edits_cause_no_findings() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let all: Vec<usize> = (1..case.session.messages.len()).collect();
    let policy = policy("truncate");
    let knobs = policy.defaults();
    let found = |case: &Case| {
        let outcome = simulate(case, &policy, &knobs, None);
        findings(case, &policy, &knobs, &outcome)
    };
    assert_eq!(found(&case.with_manual_edits(dropped(&all))), found(&case));
    // A marker may weigh more than a short text.
    assert_eq!(found(&case.with_manual_edits(cleared(&[1]))), found(&case));
}

#[test]
fn marks_are_sorted_and_counted_once() {
    let case = case(&Talk::tool_calls(3, 10), 100_000).with_manual_edits(cleared(&[5, 1, 5, 3]));
    assert_eq!(case.manual_edits.cleared, [1, 3, 5]);
}

/// Returns a list of one range of messages.
fn one(range: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    std::iter::once(range).collect()
}
