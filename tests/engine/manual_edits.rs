//! What a person marks by hand: pins that strategies respect, and messages cleared or dropped where a run ends.

use crate::conversation::{Talk, case, event_words, pairs_are_whole, part, text};
use plimsoll::analysis::findings;
use plimsoll::engine::{
    ByHand, Case, EntryBody, Event, ExecutedContext, Fate, KnobValues, Outcome, PartFate, Policy,
    Schedule, drive, simulate,
};
use plimsoll::presets;
use plimsoll::session::{Body, ManagedEntry, MediaKind, Part, Role};

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
    outcome.context.check(case).expect("the books balance");
    pairs_are_whole(case, &outcome.context).expect("whole pairs");
    outcome
}

fn pinned(messages: &[usize]) -> ByHand {
    ByHand {
        pinned: messages.to_vec(),
        ..ByHand::default()
    }
}

fn cleared(messages: &[usize]) -> ByHand {
    ByHand {
        cleared: messages.to_vec(),
        ..ByHand::default()
    }
}

fn dropped(messages: &[usize]) -> ByHand {
    ByHand {
        dropped: messages.to_vec(),
        ..ByHand::default()
    }
}

fn fate(case: &Case, outcome: &Outcome, message: usize) -> Fate {
    outcome.context.fates(case.session.messages.len())[message].0
}

/// The parts of a message that are in the context, and what became of them.
fn parts_of(outcome: &Outcome, message: u32) -> Vec<PartFate> {
    let entry = outcome
        .context
        .entries
        .iter()
        .find(|e| e.message() == Some(message));
    match &entry.expect("it is in the context").body {
        EntryBody::Edited(edited) => edited.parts.as_slice().to_vec(),
        _ => vec![PartFate::Kept],
    }
}

fn by_hand(outcome: &Outcome) -> Vec<&Event> {
    outcome.events.iter().filter(|e| e.is_by_hand()).collect()
}

fn call(id: &str) -> Part {
    part(Body::ToolCall {
        call: id.into(),
        tool: "grep".into(),
        arguments: "{}".into(),
    })
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

/// Two calls in one message, with their results in two: messages 2, 3 and 4.
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
fn truncate_leaves_a_pinned_result_and_its_call_where_they_are() {
    // 0 is the system prompt, 1 the request, then call and result in turn.
    let case = case(&Talk::tool_calls(30, 100), 2_000);
    let pins = case.with_by_hand(pinned(&[5]));
    let knobs = [("keep_recent", 3.0)];
    let outcome = played(&pins, "truncate", &knobs);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    assert_eq!([4, 5].map(|m| fate(&pins, &outcome, m)), [Fate::Kept; 2]);
    assert_eq!([3, 6].map(|m| fate(&pins, &outcome, m)), [Fate::Dropped; 2]);
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    let without = played(&case, "truncate", &knobs);
    assert_eq!(fate(&case, &without, 5), Fate::Dropped);
}

#[test]
fn a_pinned_call_keeps_all_that_its_message_called() {
    let mut talk = two_calls_in_one();
    for n in 0..30 {
        talk.call(&format!("later_{n}"), 100);
    }
    let case = case(&talk, 2_000).with_by_hand(pinned(&[4]));
    let outcome = played(&case, "truncate", &[("keep_recent", 3.0)]);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    // The result of `b` needs message 2, and that still calls `a`.
    assert_eq!([2, 3, 4].map(|m| fate(&case, &outcome, m)), [Fate::Kept; 3]);
}

#[test]
fn prune_clears_around_a_pinned_result_and_weighs_only_what_it_clears() {
    let knobs = [
        ("prune_protect", 500.0),
        ("prune_minimum", 300.0),
        ("compression_trigger", 0.5),
    ];
    let case = case(&Talk::turns(6, 5, 200), 8_000);
    let without = played(&case, "prune", &knobs);
    // The two oldest results.
    let pins = case.with_by_hand(pinned(&[3, 5]));
    let outcome = played(&pins, "prune", &knobs);
    assert!(outcome.compactions >= 1);
    assert_eq!([3, 5].map(|m| fate(&pins, &outcome, m)), [Fate::Kept; 2]);
    let after = without.events[0].after;
    assert_eq!(fate(&pins, &outcome, 7), Fate::Cleared);
    assert!(outcome.events[0].after > after);
    for event in &outcome.events {
        assert!(event.after < event.before);
        assert!(
            event
                .messages
                .iter()
                .all(|r| !r.contains(&3) && !r.contains(&5))
        );
    }
}

#[test]
fn a_result_whose_call_is_pinned_may_be_cleared_since_the_pair_stays() {
    let case = case(&Talk::turns(6, 5, 200), 8_000).with_by_hand(pinned(&[2]));
    let knobs = [
        ("prune_protect", 500.0),
        ("prune_minimum", 300.0),
        ("compression_trigger", 0.5),
    ];
    let outcome = played(&case, "prune", &knobs);
    assert_eq!(fate(&case, &outcome, 2), Fate::Kept);
    assert_eq!(fate(&case, &outcome, 3), Fate::Cleared);
}

#[test]
fn where_all_results_are_pinned_there_is_nothing_to_prune() {
    let case = case(&Talk::turns(3, 5, 200), 4_000);
    let all: Vec<usize> = (0..case.session.messages.len()).collect();
    for name in ["prune", "truncate", "summarize"] {
        let outcome = played(&case.with_by_hand(pinned(&all)), name, &[]);
        assert_eq!(outcome.compactions, 0, "{name}: {}", event_words(&outcome));
    }
}

#[test]
fn a_summary_stands_for_what_is_around_a_pin_and_not_for_the_pin() {
    let case = case(&Talk::tool_calls(30, 100), 1_500).with_by_hand(pinned(&[1, 9]));
    let outcome = played(
        &case,
        "summarize",
        &[("keep_recent", 4.0), ("summary_max_tokens", 64.0)],
    );
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    assert_eq!([1, 8, 9].map(|m| fate(&case, &outcome, m)), [Fate::Kept; 3]);
    assert_eq!(
        [2, 7, 10].map(|m| fate(&case, &outcome, m)),
        [Fate::Summarized; 3]
    );
}

#[test]
fn a_real_system_that_takes_a_pinned_message_is_warned_of_once() {
    let mut talk = Talk::turns(12, 4, 300);
    talk.turn(1, 20);
    let case = case(&talk, 6_000).with_by_hand(pinned(&[3, 5]));
    let policy = policy("picoclaw");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let fates = [3, 5].map(|m| fate(&case, &outcome, m));
    assert!(
        fates.iter().any(|f| *f != Fate::Kept),
        "{}",
        event_words(&outcome)
    );
    let warned: Vec<_> = outcome
        .warnings
        .iter()
        .filter(|w| w.contains("pinned"))
        .collect();
    let [warning] = warned[..] else {
        panic!("{warned:?}");
    };
    let event = outcome
        .events
        .iter()
        .find(|e| e.messages.iter().any(|r| r.contains(&3) || r.contains(&5)));
    let event = event.expect("an event took them");
    assert!(
        warning.starts_with(&format!(
            "call {}: {}: message",
            event.step + 1,
            event.stage
        )) && warning.contains("pinned, and picoclaw does not support pins"),
        "{warning}"
    );
}

#[test]
fn a_dropped_message_takes_its_call_along_and_leaves_the_curve_alone() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let marked = case.with_by_hand(dropped(&[5]));
    let (plain, outcome) = (played(&case, "none", &[]), played(&marked, "none", &[]));
    assert_eq!(outcome.samples, plain.samples);
    assert_eq!(outcome.compactions, 0, "manual edits are none");
    assert!(outcome.removes());
    let [event] = by_hand(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.stage.as_str(), event.action), ("by hand", "drop"));
    assert_eq!((event.messages.clone(), event.orphans), (one(4..6), 0));
    assert_eq!(
        event.log,
        ["message 5 is changed too: a call and its results go together"]
    );
    assert_eq!(event.before, plain.context.tokens());
    assert_eq!(event.after, outcome.context.tokens());
    assert_eq!(event.step, case.session.calls.len() - 1);
    assert_eq!(
        [4, 5].map(|m| fate(&marked, &outcome, m)),
        [Fate::Dropped; 2]
    );
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
}

#[test]
fn of_two_calls_in_a_message_only_the_one_goes_whose_result_is_dropped() {
    let case = case(&two_calls_in_one(), 100_000).with_by_hand(dropped(&[3]));
    let outcome = played(&case, "none", &[]);
    assert_eq!(fate(&case, &outcome, 3), Fate::Dropped);
    assert_eq!(fate(&case, &outcome, 4), Fate::Kept);
    let removed = PartFate::Removed { event: 0 };
    assert_eq!(
        parts_of(&outcome, 2),
        [PartFate::Kept, removed, PartFate::Kept]
    );
}

#[test]
fn a_message_that_says_nothing_any_more_goes_with_its_pair() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Look.")]);
    talk.message(Role::Assistant, vec![thought(64), text(" "), call("a")]);
    talk.message(Role::User, vec![result("a", 20), picture(Some("a"))]);
    talk.message(Role::Assistant, vec![text("There it is.")]);
    let case = case(&talk, 100_000);
    for message in [2, 3] {
        let case = case.with_by_hand(dropped(&[message]));
        let outcome = played(&case, "none", &[]);
        assert_eq!([2, 3].map(|m| fate(&case, &outcome, m)), [Fate::Dropped; 2]);
        assert_eq!(outcome.context.entries.len(), 3);
    }
}

#[test]
fn clearing_keeps_calls_and_seals_and_puts_one_marker_for_texts_and_one_a_result() {
    let mut talk = Talk::new();
    talk.message(
        Role::User,
        vec![text("What is this?"), picture(None), text("Look well.")],
    );
    talk.message(
        Role::Assistant,
        vec![thought(64), text("I look."), call("a")],
    );
    talk.message(Role::User, vec![result("a", 60), picture(Some("a"))]);
    talk.message(Role::Assistant, vec![thought(64), text("A boat.")]);
    talk.message(Role::User, vec![picture(None), picture(None)]);
    talk.message(Role::Assistant, vec![text("Two boats.")]);
    let case = case(&talk, 100_000).with_by_hand(cleared(&[1, 2, 3, 4, 5]));
    let outcome = played(&case, "none", &[]);
    let (put, gone) = (
        PartFate::Cleared { marker: 0 },
        PartFate::Removed { event: 0 },
    );
    let kept = PartFate::Kept;
    assert_eq!(
        parts_of(&outcome, 1),
        [put.clone(), gone.clone(), gone.clone()]
    );
    assert_eq!(parts_of(&outcome, 2), [kept.clone(), put.clone(), kept]);
    assert_eq!(parts_of(&outcome, 3), [put.clone(), gone.clone()]);
    assert_eq!(parts_of(&outcome, 4), [gone.clone(), put.clone()]);
    assert_eq!(parts_of(&outcome, 5), [put, gone]);
    let [event] = by_hand(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.action, event.messages.clone()), ("clear", one(1..6)));
    assert_eq!(&*outcome.context.markers[0].text, "[cleared by hand]");
    let managed = ExecutedContext::new(outcome.context)
        .unwrap()
        .managed(&case.session);
    let edited = managed
        .entries
        .iter()
        .filter(|e| matches!(e, ManagedEntry::Edited { .. }));
    assert_eq!(edited.count(), 5);
}

#[test]
fn what_cannot_be_done_by_hand_is_said_and_the_rest_is_done() {
    let mut talk = Talk::new();
    talk.turn(2, 20).message(Role::Assistant, vec![thought(64)]);
    talk.turn(2, 20);
    // 1 is the request; 2, 3 and 4, 5 are pairs; 6 an answer, 7 a thought alone.
    let case = case(&talk, 100_000).with_by_hand(ByHand {
        pinned: vec![5, 6],
        cleared: vec![0, 2, 6, 7, 1],
        dropped: vec![0, 3, 4, 6],
    });
    let outcome = played(&case, "none", &[]);
    let mut warnings = outcome.warnings.clone();
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
    // Message 3 went with its result: that it was to be cleared, too, needs no word.
    assert_eq!([2, 3].map(|m| fate(&case, &outcome, m)), [Fate::Dropped; 2]);
    assert_eq!(fate(&case, &outcome, 1), Fate::Cleared);
    assert_eq!(by_hand(&outcome).len(), 2);
}

#[test]
fn what_the_policy_took_before_is_named_with_the_stage_that_did() {
    let case = case(&Talk::tool_calls(30, 100), 2_000);
    let marked = case.with_by_hand(ByHand {
        dropped: vec![2, 3, 4],
        cleared: vec![61],
        ..ByHand::default()
    });
    let outcome = played(&marked, "truncate", &[("keep_recent", 3.0)]);
    let event = &outcome.events[0];
    let taken = format!(
        "messages 3\u{2013}5 are not dropped manually: gone already, by {} before call",
        event.stage
    );
    let [warning] = &outcome.warnings[..] else {
        panic!("{:?}", outcome.warnings);
    };
    assert!(warning.starts_with(&taken), "{warning}");
    assert_eq!(fate(&marked, &outcome, 61), Fate::Cleared);
}

#[test]
fn what_is_cleared_already_is_cleared_once() {
    let case = case(&Talk::turns(6, 5, 200), 8_000).with_by_hand(cleared(&[3]));
    let knobs = [
        ("prune_protect", 500.0),
        ("prune_minimum", 300.0),
        ("compression_trigger", 0.5),
    ];
    let outcome = played(&case, "prune", &knobs);
    assert!(by_hand(&outcome).is_empty());
    assert_eq!(
        outcome.warnings,
        ["message 4 is not cleared manually: cleared already"]
    );
}

#[test]
fn marks_of_messages_that_come_later_mean_nothing_at_an_earlier_call() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let marked = case.with_by_hand(ByHand {
        pinned: vec![11],
        cleared: vec![12, 3],
        dropped: vec![9, 1_000],
    });
    let policy = policy("none");
    // Before the third call only messages 0 to 5 are there.
    let outcome = simulate(&marked, &policy, &policy.defaults(), Some(2));
    let [event] = by_hand(&outcome)[..] else {
        panic!("{}", event_words(&outcome));
    };
    assert_eq!((event.step, event.messages.clone()), (2, one(3..4)));
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    outcome.context.check(&marked).expect("the books balance");
}

#[test]
fn a_pin_on_what_the_source_itself_compacted_is_said_to_be_in_vain() {
    let mut talk = Talk::tool_calls(8, 100);
    talk.compact_before(10, "So far: five files were read.");
    // The summary is message 10.
    let case = case(&talk, 100_000).with_by_hand(ByHand {
        pinned: vec![3],
        dropped: vec![4, 10, 14],
        ..ByHand::default()
    });
    let policy = policy("none");
    let now = Schedule::Now { force: false };
    let mut estimator = plimsoll::engine::Estimator;
    let outcome = drive(
        &case,
        &policy,
        &policy.defaults(),
        now,
        None,
        &mut estimator,
    );
    outcome.context.check(&case).expect("the books balance");
    assert_eq!(
        outcome.warnings,
        [
            "message 5 is not dropped manually: gone already, by the source's own compaction",
            "message 4 is pinned without effect: gone already, by the source's own compaction",
        ]
    );
    assert_eq!(outcome.compactions, 0, "manual edits are none");
    assert!(outcome.removes());
    let replayed = simulate(&case, &policy, &policy.defaults(), None);
    let nowhere = "message 11 is not dropped manually: written by the source's own compaction";
    assert!(
        replayed.warnings.iter().any(|w| w.starts_with(nowhere)),
        "{:?}",
        replayed.warnings
    );
}

#[test]
fn what_a_person_does_by_hand_is_no_finding_about_the_policy() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let all: Vec<usize> = (1..case.session.messages.len()).collect();
    let policy = policy("truncate");
    let knobs = policy.defaults();
    let found = |case: &Case| {
        let outcome = simulate(case, &policy, &knobs, None);
        findings(case, &policy, &knobs, &outcome)
    };
    assert_eq!(found(&case.with_by_hand(dropped(&all))), found(&case));
    // A marker may weigh more than a short text.
    assert_eq!(found(&case.with_by_hand(cleared(&[1]))), found(&case));
}

#[test]
fn marks_are_sorted_and_counted_once() {
    let case = case(&Talk::tool_calls(3, 10), 100_000).with_by_hand(cleared(&[5, 1, 5, 3]));
    assert_eq!(case.by_hand.cleared, [1, 3, 5]);
}

/// One range of messages.
fn one(range: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    std::iter::once(range).collect()
}
