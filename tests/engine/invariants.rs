//! Invariants of every session, preset and setting, tested on random ones.

use crate::conversation::{Talk, case, pairs_are_whole, part};
use plimsoll_core::engine::{
    ActionKind, Answer, Case, Effect, EntryBody, ExecutedContext, KnobValues, ManualEdits,
    MessageStatus, Mutates, Outcome, Policy, PolicyKind, Repair, Reply, Request, Schedule, drive,
    simulate,
};
use plimsoll_core::presets::{PRESETS, Preset};
use plimsoll_core::session::{Body, MediaKind, Role};
use proptest::prelude::*;
use std::sync::LazyLock;

/// The next element of a random conversation.
#[derive(Clone, Debug)]
enum Move {
    Turn { calls: usize, words: usize },
    Parallel { calls: usize, words: usize },
    Instructions,
    Picture,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let a_move = prop_oneof![
        4 => (0..6_usize, 0..300_usize).prop_map(|(calls, words)| Move::Turn { calls, words }),
        2 => (2..5_usize, 0..200_usize).prop_map(|(calls, words)| Move::Parallel { calls, words }),
        1 => Just(Move::Instructions),
        1 => Just(Move::Picture),
    ];
    prop::collection::vec(a_move, 1..12)
}

fn talk(moves: &[Move]) -> Talk {
    let mut talk = Talk::new();
    for (number, a_move) in moves.iter().enumerate() {
        match a_move {
            Move::Turn { calls, words } => {
                talk.turn(*calls, *words);
            }
            Move::Parallel { calls, words } => parallel(&mut talk, number, *calls, *words),
            Move::Instructions => {
                talk.message(
                    Role::System,
                    vec![crate::conversation::text("New rules from here on.")],
                );
            }
            Move::Picture => {
                let (id, within) =
                    (format!("shot_{number}"), Some(format!("shot_{number}").into()));
                talk.message(Role::Assistant, vec![call(&id)]);
                let image = Body::Media {
                    media: MediaKind::Image,
                    mime: "image/png".into(),
                    bytes: 9_000,
                    pixels: Some((800, 600)),
                    detail: plimsoll_core::session::ImageDetail::Auto,
                    within,
                };
                talk.message(Role::User, vec![result(&id, 3), part(image)]);
            }
        }
    }
    talk
}

fn call(id: &str) -> plimsoll_core::session::Part {
    part(Body::ToolCall {
        call: id.into(),
        tool: "grep".into(),
        arguments: "{\"pattern\":\"fn\"}".into(),
    })
}

fn result(id: &str, words: usize) -> plimsoll_core::session::Part {
    let text = "match ".repeat(words).into();
    part(Body::ToolResult { call: id.into(), tool: "grep".into(), is_error: false, text })
}

/// Adds several calls in one message and their results in another, as in Anthropic's format.
fn parallel(talk: &mut Talk, number: usize, calls: usize, words: usize) {
    let ids: Vec<_> = (0..calls).map(|idx| format!("par_{number}_{idx}")).collect();
    talk.message(Role::Assistant, ids.iter().map(|id| call(id)).collect());
    talk.message(Role::User, ids.iter().map(|id| result(id, words)).collect());
}

/// Returns whether a policy keeps pairs whole.
fn keeps_pairs(policy: &Policy) -> bool {
    policy.stages.iter().all(|s| s.repair == Repair::Whole)
}

/// Returns values within each setting's range, mostly low ones, which cause more compactions.
fn values(policy: &Policy, dice: &[f64]) -> KnobValues {
    let mut values = policy.defaults();
    for (knob, dice) in policy.knobs.iter().zip(dice.iter().cycle()) {
        let [low, high] = knob.range;
        let value = low + (high - low) * dice.powi(4);
        let whole = if knob.step >= 1.0 { value.round() } else { value };
        policy.set(&mut values, &knob.name, whole.clamp(low, high)).expect("inside the range");
    }
    values
}

struct Digest;

impl Answer for Digest {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Summary(plimsoll_core::engine::digest(case, request).into())
    }
}

/// Returns the generic presets, or the system presets.
fn presets_of(ours: bool) -> impl Iterator<Item = &'static (&'static Preset, Policy)> {
    static PARSED: LazyLock<Vec<(&Preset, Policy)>> = LazyLock::new(|| {
        let parsed = |preset: &'static Preset| (preset, preset.policy().expect("bundled"));
        PRESETS.iter().map(parsed).collect()
    });
    PARSED.iter().filter(move |(_, policy)| (policy.kind == Some(PolicyKind::Strategy)) == ours)
}

/// Plays a preset twice, checks that both runs are equal, and checks the account of its context at every `nth` call.
/// Returns the outcome.
fn check_account(
    case: &Case,
    (preset, policy): &(&Preset, Policy),
    dice: &[f64],
    nth: usize,
) -> Result<Outcome, TestCaseError> {
    let failed = |what: String| TestCaseError::fail(format!("{}: {what}", preset.name));
    let values = values(policy, dice);
    let whole = simulate(case, policy, &values, None);
    let calls = case.session.calls.len();
    for until in (0..calls).step_by(nth).map(Some).chain([None]) {
        let outcome = simulate(case, policy, &values, until);
        outcome.context.check(case).map_err(failed)?;
        if keeps_pairs(policy) {
            pairs_are_whole(case, &outcome.context).map_err(failed)?;
        }
        if until.is_none() {
            prop_assert_eq!(&outcome.events, &whole.events);
            prop_assert_eq!(&outcome.samples, &whole.samples);
        }
        prop_assert!(outcome.samples.iter().zip(&whole.samples).all(|(a, b)| a == b));
    }
    for sample in &whole.samples {
        prop_assert_eq!(u64::from(sample.by_kind.iter().sum::<u32>()), sample.tokens.0);
    }
    let n_removing = whole
        .events
        .iter()
        .filter(|e| e.effect == Effect::Removed && e.action != ActionKind::Repair)
        .count();
    // A repair is no compaction. A view that is rebuilt for consecutive calls is one compaction.
    let views = policy.stages.iter().any(|s| s.mutates == Mutates::View);
    prop_assert!(
        whole.compactions == n_removing || views && whole.compactions < n_removing,
        "{}: {} compactions, {n_removing} events that removed content",
        preset.name,
        whole.compactions
    );
    Ok(whole)
}

/// Generates manual edits: some messages of each kind, at any position.
fn marks() -> impl Strategy<Value = [Vec<usize>; 3]> {
    let some = || prop::collection::vec(0..80_usize, 0..10);
    [some(), some(), some()]
}

fn with_marks(case: &Case, [pinned, cleared, dropped]: &[Vec<usize>; 3]) -> Case {
    // Sometimes a message that does not exist.
    let n = case.session.messages.len() + 1;
    let within = |marks: &[usize]| marks.iter().map(|mark| mark % n).collect();
    case.with_manual_edits(ManualEdits {
        pinned: within(pinned),
        cleared: within(cleared),
        dropped: within(dropped),
    })
}

/// Plays a preset over a conversation with manual edits and checks their result at every `nth` call.
fn marks_are_kept(
    case: &Case,
    (preset, policy): &(&Preset, Policy),
    dice: &[f64],
    nth: usize,
) -> Result<(), TestCaseError> {
    let failed = |what: String| TestCaseError::fail(format!("{}: {what}", preset.name));
    let values = values(policy, dice);
    let calls = case.session.calls.len();
    for until in (0..calls).step_by(nth).map(Some).chain([None]) {
        let outcome = simulate(case, policy, &values, until);
        outcome.context.check(case).map_err(failed)?;
        if keeps_pairs(policy) {
            pairs_are_whole(case, &outcome.context).map_err(failed)?;
        }
        let manual_events: Vec<_> = outcome.events.iter().filter(|e| e.is_manual()).collect();
        prop_assert!(manual_events.len() <= 2);
        prop_assert!(manual_events.iter().all(|e| e.orphans == 0 && e.n_messages() > 0));
        edits_are_applied_or_reported(case, &outcome, policy.kind == Some(PolicyKind::Strategy))
            .map_err(failed)?;
    }
    Ok(())
}

/// Checks that dropped messages are gone, cleared ones have no content and pinned ones are unchanged, or that a warning
/// gives the reason.
fn edits_are_applied_or_reported(case: &Case, outcome: &Outcome, ours: bool) -> Result<(), String> {
    let entry = |message: &usize| {
        let mut entries = outcome.context.entries.iter();
        entries.find(|e| e.message() == Some(*message as u32))
    };
    let warned = |what: &str| outcome.warnings.iter().any(|w| w.text.contains(what));
    let is_said_by = |message: &&usize| **message < outcome.context.messages_end;
    for message in case.manual_edits.dropped.iter().filter(is_said_by) {
        if entry(message).is_some() && !warned("not dropped manually") {
            return Err(format!("message {message} is not dropped"));
        }
    }
    for message in case.manual_edits.cleared.iter().filter(is_said_by) {
        let is_as_it_was = entry(message).is_some_and(|e| matches!(e.body, EntryBody::Original(_)));
        if is_as_it_was && !warned("not cleared manually") {
            return Err(format!("message {message} is not cleared"));
        }
    }
    for message in case.manual_edits.pinned.iter().filter(is_said_by) {
        let is_as_it_was = entry(message).is_some_and(|e| matches!(e.body, EntryBody::Original(_)));
        if !is_as_it_was && (ours || !warned("does not support pins")) {
            return Err(format!("message {message} is pinned and was touched"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_account_is_complete_and_pairs_stay_whole_at_every_call(
        moves in moves(), dice in prop::collection::vec(0.0..1.0_f64, 8), window in 200..20_000_u64,
    ) {
        let case = case(&talk(&moves), window);
        for preset in presets_of(true) {
            let outcome = check_account(&case, preset, &dice, 3)?;
            // A real system's compaction may increase the context; a generic strategy's may not.
            for event in outcome.events {
                // A failed attempt is logged and changes nothing.
                let is_logged = event.effect == Effect::Logged && event.messages.is_empty() && !event.log.is_empty();
                let shrinks = event.after < event.before && event.effect == Effect::Removed;
                prop_assert!(shrinks || (is_logged && event.after == event.before), "{:?}", event);
            }
        }
    }

    #[test]
    fn manual_edits_are_applied_or_reported_and_the_account_is_complete(
        moves in moves(), marks in marks(), dice in prop::collection::vec(0.0..1.0_f64, 8), window in 200..20_000_u64,
    ) {
        let case = with_marks(&case(&talk(&moves), window), &marks);
        for preset in presets_of(true) {
            marks_are_kept(&case, preset, &dice, 3)?;
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_events(moves in moves(), dice in prop::collection::vec(0.0..1.0_f64, 8)) {
        let case = case(&talk(&moves), 2_000);
        for (_, policy) in presets_of(true) {
            let values = values(policy, &dice);
            let [a, b] = [(); 2].map(|()| simulate(&case, policy, &values, None));
            prop_assert_eq!(a.events, b.events);
            prop_assert_eq!(a.samples, b.samples);
        }
    }

    #[test]
    fn an_executed_context_has_no_predicted_text_and_fits_its_cap(moves in moves(), cap in 64..512_u32) {
        let case = case(&talk(&moves), 2_000);
        let policy = plimsoll_core::presets::by_name("summarize").expect("bundled");
        let mut values = policy.defaults();
        policy.set(&mut values, "summary_max_tokens", f64::from(cap)).expect("inside the range");
        let outcome = drive(&case, &policy, &values, Schedule::Now { force: true }, None, &mut Digest);
        for (written, tokens) in outcome.context.written() {
            prop_assert!(!written.is_predicted && tokens.0 <= u64::from(cap));
        }
        let statuses = outcome.context.statuses(case.session.messages.len());
        prop_assert!(statuses.iter().all(|(status, _)| matches!(status, MessageStatus::Kept | MessageStatus::Summarized)));
        let executed = ExecutedContext::new(outcome.context).expect("nothing is predicted");
        prop_assert_eq!(executed.managed(&case.session).entries.len(), executed.context().entries.len());
    }

    #[test]
    fn no_text_makes_the_expression_parser_panic(text in "[a-z_0-9 ()+*/<>=!,.'-]{0,60}|\\PC{0,40}") {
        let vocabulary = plimsoll_core::engine::Vocabulary::default();
        if let Err(error) = plimsoll_core::engine::Expr::parse_any(&text, &vocabulary) {
            prop_assert!(error.column <= text.chars().count() + 1);
        }
    }
}

#[test]
fn results_that_the_harness_collapses_at_a_call_return_with_their_calls() {
    let mut talk = Talk::new();
    talk.turn(4, 190).turn(3, 270).turn(0, 0).turn(3, 141).turn(0, 0);
    let case = case(&talk, 12_818);
    let mut presets = presets_of(false);
    let preset = presets.find(|(preset, _)| preset.name == "agent-framework");
    let (_, policy) = preset.expect("bundled");
    let mut values = policy.defaults();
    let settings = [
        ("max_context_window_tokens", 10_100.0),
        ("max_output_tokens", 100.0),
        ("tool_eviction_threshold", 0.35),
        ("keep_tool_groups", 0.0),
    ];
    for (name, value) in settings {
        policy.set(&mut values, name, value).expect("inside the range");
    }
    for until in (0..case.session.calls.len()).map(Some).chain([None]) {
        let outcome = simulate(&case, policy, &values, until);
        pairs_are_whole(&case, &outcome.context).expect("whole pairs");
    }
}

proptest! {
    // There are many presets, and each processes whole messages.
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn real_systems_account_for_every_message_and_repeat_their_events(
        moves in moves(), dice in prop::collection::vec(0.0..1.0_f64, 8), window in 200..20_000_u64,
    ) {
        let case = case(&talk(&moves), window);
        for preset in presets_of(false) {
            check_account(&case, preset, &dice, 7)?;
        }
    }

    #[test]
    fn manual_edits_of_real_systems_are_applied_or_reported(
        moves in moves(), marks in marks(), dice in prop::collection::vec(0.0..1.0_f64, 8), window in 200..20_000_u64,
    ) {
        let case = with_marks(&case(&talk(&moves), window), &marks);
        for preset in presets_of(false) {
            marks_are_kept(&case, preset, &dice, 7)?;
        }
    }
}
