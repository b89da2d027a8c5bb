//! Properties of every preset: on tiny conversations, over time, when repeated, and when executed with real summaries.

use crate::conversation::{Talk, case, part, text};
use plimsoll_core::engine::{
    Answer, Case, EntryBody, Estimator, ExecutedContext, Outcome, PartStatus, Policy, Reply,
    Request, Schedule, WindowPlan, WindowSource, drive, simulate,
};
use plimsoll_core::formats::{self, Input};
use plimsoll_core::presets::native::Native;
use plimsoll_core::presets::{PRESETS, Preset};
use plimsoll_core::session::{
    Body, Draft, MediaKind, ModelVendor, Role, Session, SessionBuilder, Source,
};
use plimsoll_core::tokens::{Progress, TokenLedger, by_name};
use plimsoll_core::units::{Millis, Tokens};
use proptest::prelude::*;
use rayon::prelude::*;
use std::sync::{Arc, LazyLock};

fn session(drafts: &[Draft], compacted_before: Option<usize>) -> Session {
    let source =
        Source { name: "small".to_owned(), format: "openai_chat", bytes: Vec::new().into() };
    let mut builder = SessionBuilder::new(source);
    builder.default_vendor(ModelVendor::OpenAi);
    for (idx, draft) in drafts.iter().enumerate() {
        if compacted_before == Some(idx) {
            builder.compaction("auto", None, None, (0..idx).collect());
        }
        builder.message(draft.clone());
    }
    if compacted_before == Some(drafts.len()) {
        builder.compaction("auto", None, None, Vec::new());
    }
    builder.finish()
}

fn small_case(session: Session, window: u64) -> Case {
    let counter = by_name("chars/4").expect("it is one of ours");
    let ledger =
        TokenLedger::count(&session, counter, &Progress::default()).expect("nobody cancels");
    let n = session.calls.len();
    let windows = WindowPlan::constant(Tokens(window), n, WindowSource::User);
    Case::new(Arc::new(session), ledger, windows)
}

/// Returns every kind of message, some of them empty.
fn kinds() -> Vec<Draft> {
    let call = Body::ToolCall { call: "c".into(), tool: "read".into(), arguments: "{}".into() };
    let result = |text: &str| Body::ToolResult {
        call: "c".into(),
        tool: "read".into(),
        is_error: text.is_empty(),
        text: text.into(),
    };
    let picture = Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes: 0,
        pixels: None,
        detail: plimsoll_core::session::ImageDetail::Auto,
        within: None,
    };
    let thinking = Body::Thinking { text: "".into(), sealed_bytes: 900, reported: Some(0) };
    let of = |role, body| Draft::new(role, vec![part(body)]);
    let mut summary = Draft::new(Role::User, vec![text("What was said before.")]);
    (summary.is_summary, summary.in_history) = (true, false);
    vec![
        Draft::new(Role::User, Vec::new()),
        Draft::new(Role::System, vec![text("Rules.")]),
        Draft::new(Role::User, vec![text("Do it. ".repeat(400).trim())]),
        Draft::new(Role::Assistant, vec![text("")]),
        of(Role::Assistant, thinking),
        of(Role::Assistant, call.clone()),
        Draft::new(Role::Assistant, vec![part(call), text("I look.")]),
        of(Role::Tool, result(&"word ".repeat(900))),
        of(Role::User, result("")),
        of(Role::User, picture),
        summary,
    ]
}

/// Returns all conversations of at most two messages.
fn small_ones() -> Vec<Session> {
    let kinds = kinds();
    let mut found = vec![session(&[], None), session(&[], Some(0))];
    for first in &kinds {
        let one = std::slice::from_ref(first);
        found.extend([None, Some(0), Some(1)].map(|at| session(one, at)));
        for second in &kinds {
            let two = [first.clone(), second.clone()];
            found.extend([None, Some(1), Some(2)].map(|at| session(&two, at)));
        }
    }
    found
}

/// Answers with an empty summary, a failure, or the predicted text as if a model had written it.
struct Says(u8);

impl Answer for Says {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        match (self.0, Estimator.answer(case, request)) {
            (0, _) => Reply::Summary("".into()),
            (1, _) => Reply::Failed("the model is not there".to_owned()),
            (_, Reply::Predicted(text)) => Reply::Summary(text),
            (_, other) => other,
        }
    }
}

fn policies() -> &'static [(&'static Preset, Policy)] {
    static POLICIES: LazyLock<Vec<(&Preset, Policy)>> = LazyLock::new(|| {
        let parsed = |preset: &'static Preset| preset.policy().ok().map(|policy| (preset, policy));
        PRESETS.iter().filter_map(parsed).collect()
    });
    &POLICIES
}

#[test]
fn every_preset_handles_zero_one_and_two_messages() {
    let policies = policies();
    assert_eq!(policies.len(), PRESETS.len());
    small_ones().par_iter().enumerate().for_each(|(idx, session)| {
        let window = [1, 600, 200_000][idx % 3];
        let case = small_case(session.clone(), window);
        for (preset, policy) in policies {
            let values = policy.defaults();
            let whole = simulate(&case, policy, &values, None);
            let now = Schedule::Now { force: true };
            let forced = drive(&case, policy, &values, now, None, &mut Says(idx as u8 % 3));
            for outcome in [&whole, &forced] {
                let account = outcome.context.check(&case);
                assert_eq!(account, Ok(()), "{}: {:?}", preset.name, session.messages);
            }
            assert_eq!(whole.samples.len(), session.calls.len(), "{}", preset.name);
        }
    });
}

/// Checks that there is one sample per call and that samples and events are in order.
fn time_goes_on(case: &Case, preset: &Preset, outcome: &Outcome) -> Result<(), TestCaseError> {
    let calls = &case.session.calls;
    prop_assert_eq!(outcome.samples.len(), calls.len());
    for (idx, sample) in outcome.samples.iter().enumerate() {
        prop_assert_eq!((sample.call, sample.turn), (idx, calls[idx].turn), "{}", preset.name);
        prop_assert!(sample.unchanged <= sample.tokens, "{}: {:?}", preset.name, sample);
    }
    let of_events: Vec<_> = outcome.events.iter().map(|event| event.call).collect();
    prop_assert!(of_events.is_sorted(), "{}: {of_events:?}", preset.name);
    prop_assert!(of_events.iter().all(|call| *call < calls.len().max(1)));
    prop_assert!(outcome.overflows <= calls.len());
    Ok(())
}

/// Checks the weights of kept content: whole messages, parts of edited ones, and markers.
fn tokens_are_kept(case: &Case, preset: &Preset, outcome: &Outcome) -> Result<(), TestCaseError> {
    let context = &outcome.context;
    for entry in &context.entries {
        let expected = match &entry.body {
            EntryBody::Original(message) => case.ledger.message(*message as usize).0,
            EntryBody::Edited(edited) => {
                let parts = case.session.messages[edited.message as usize].parts.clone();
                let statuses = parts.zip(edited.parts.as_slice());
                let weights = statuses.map(|(part, status)| match status {
                    PartStatus::Kept => case.ledger.part(part).0,
                    PartStatus::Cleared { marker } => {
                        u64::from(context.markers[*marker as usize].tokens)
                    }
                    PartStatus::Removed { .. } => 0,
                });
                weights.sum()
            }
            EntryBody::Written(written) => {
                let texts = written.texts().into_iter().filter(|text| !text.is_empty());
                texts.map(|text| case.ledger.weigh(text).0).sum()
            }
        };
        let tokens = u64::from(entry.tokens);
        prop_assert_eq!(tokens, expected, "{}: {:?}", preset.name, entry);
    }
    Ok(())
}

/// Generates a conversation with times and results of different lengths.
fn talks() -> impl Strategy<Value = Talk> {
    prop::collection::vec((0..5_usize, 0..250_usize), 1..9).prop_map(|turns| {
        let mut talk = Talk::new();
        for (calls, words) in turns {
            talk.turn(calls, words);
        }
        talk
    })
}

/// Compacts now, exports the result and reads it again. Also returns whether it was compacted.
fn compacted(case: &Case, policy: &Policy, window: u64) -> Option<(Case, bool)> {
    let now = Schedule::Now { force: false };
    let outcome = drive(case, policy, &policy.defaults(), now, None, &mut Says(2));
    let is_changed = outcome.compactions > 0;
    let executed = ExecutedContext::new(outcome.context).ok()?;
    let format = formats::by_name("anthropic_messages")?;
    let managed = executed.managed(&case.session);
    let bytes = format.write(&case.session, &managed).ok()?;
    let input = Input { name: "again.json".to_owned(), bytes: bytes.into() };
    let session = formats::parse(&input).ok()?.sessions.pop()?;
    Some((small_case(session, window), is_changed))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn time_goes_on_and_tokens_are_kept_under_every_preset(talk in talks(), window in 300..6_000_u64) {
        let case = case(&talk, window);
        for (preset, policy) in policies() {
            let outcome = simulate(&case, policy, &policy.defaults(), None);
            time_goes_on(&case, preset, &outcome)?;
            tokens_are_kept(&case, preset, &outcome)?;
        }
    }

    #[test]
    fn an_execution_equals_its_simulation_for_every_preset(talk in talks(), window in 300..6_000_u64) {
        let case = case(&talk, window);
        for (preset, policy) in policies() {
            let values = policy.defaults();
            let simulated = simulate(&case, policy, &values, None);
            let executed = drive(&case, policy, &values, Schedule::Replay, None, &mut Says(2));
            prop_assert!(executed.samples == simulated.samples, "{}", preset.name);
            prop_assert!(executed.events == simulated.events, "{}", preset.name);
            prop_assert!(ExecutedContext::new(executed.context).is_ok(), "{}", preset.name);
        }
    }

    #[test]
    fn compacting_again_never_enlarges_the_context(talk in talks(), window in 40_000..90_000_u64, pad in 0..4_usize) {
        let mut talk = talk;
        talk.turn(12, 600 + 400 * pad);
        let (exact, window) = (talk.session(), window.min(45_000));
        let case = small_case(exact, window);
        for (preset, policy) in policies().iter().filter(|(preset, _)| Native::of(preset.name).is_none()) {
            let Some((once, _)) = compacted(&case, policy, window) else {
                return Err(TestCaseError::fail(format!("{} cannot be exported", preset.name)));
            };
            let Some((twice, is_changed)) = compacted(&once, policy, window) else {
                return Err(TestCaseError::fail(format!("{} cannot be exported again", preset.name)));
            };
            let weights = [&once, &twice].map(|case| case.ledger.total().0);
            prop_assert!(weights[1] <= weights[0], "{}: {weights:?}", preset.name);
            // A summary of a summary has another text, and a notice another number; cleared content stays cleared.
            if preset.name == "prune" {
                prop_assert!(!is_changed, "{}: {weights:?}", preset.name);
            }
        }
    }
}

#[test]
fn every_preset_handles_a_clock_that_goes_backwards() {
    let mut drafts = vec![Draft::new(Role::User, vec![text("Go on.")])];
    for (idx, time) in [9_000, 3, -5, i64::MAX, i64::MIN, 0].into_iter().enumerate() {
        let mut answer = Draft::new(Role::Assistant, vec![text(&format!("answer {idx}"))]);
        answer.time = Some(Millis(time));
        drafts.push(answer);
        drafts.push(Draft::new(Role::User, vec![text("Go on.")]));
    }
    let case = small_case(session(&drafts, None), 500);
    for (preset, policy) in policies() {
        let outcome = simulate(&case, policy, &policy.defaults(), None);
        assert_eq!(outcome.context.check(&case), Ok(()), "{}", preset.name);
        assert_eq!(outcome.samples.len(), 6, "{}", preset.name);
    }
}
