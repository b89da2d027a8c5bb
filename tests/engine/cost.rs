//! Costs of sessions and runs. Expected figures are not computed by the program.

use crate::conversation::text;
use plimsoll_core::analysis::cost::{
    Billing, Bills, Cause, Cost, CostSource, Lifetime, audit, break_even, price_lane,
    price_recorded,
};
use plimsoll_core::engine::{
    Case, Context, Entry, EntryBody, KnobValues, Policy, WindowPlan, WindowSource, recorded,
    simulate,
};
use plimsoll_core::formats::{self, Input};
use plimsoll_core::presets::{self, prices::Prices};
use plimsoll_core::session::{
    CallDraft, Draft, RecordedCompaction, Role, Session, SessionBuilder, Source, Usage,
};
use plimsoll_core::systems::REGISTRY;
use plimsoll_core::tokens::{Progress, TokenLedger, default_counter};
use plimsoll_core::units::{Millis, Tokens, Usd};
use std::sync::Arc;

/// A call as a file reports it: seconds, prompt, read, written, answer.
type Call = (i64, u64, u64, u64, u64);

const CLAUDE: &str = "claude-sonnet-4-5-20250929";

fn usage((_, input, read, write, output): Call) -> Usage {
    Usage {
        input: Tokens(input),
        cache_read: Some(Tokens(read)),
        cache_write: Some(Tokens(write)),
        output: Some(Tokens(output)),
        ..Usage::default()
    }
}

/// Returns a session with one question and one answer per call.
fn session(calls: &[Call], model: impl Fn(usize) -> &'static str) -> Session {
    let mut builder = SessionBuilder::new(Source {
        name: "talk".to_owned(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    });
    for (idx, call) in calls.iter().enumerate() {
        builder.message(Draft::new(Role::User, vec![text("Please go on.")]));
        builder.call(CallDraft {
            model: Some(model(idx).to_owned()),
            usage: Some(usage(*call)),
            time: Some(Millis(call.0 * 1_000)),
            ..CallDraft::default()
        });
        builder.message(Draft::new(Role::Assistant, vec![text("Done.")]));
    }
    builder.finish()
}

fn case(session: Session) -> Case {
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())
        .expect("nobody cancels");
    let windows = WindowPlan::constant(Tokens(200_000), session.calls.len(), WindowSource::User);
    Case::new(Arc::new(session), ledger, windows)
}

fn total(cost: &Cost) -> f64 {
    cost.total().expect("all prices are known").0
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn a_sessions_cost_follows_from_its_reported_counts() {
    // Sonnet 4.5: 3 input, 15 output, 0.30 read, 3.75 written.
    let calls = [(0, 10_000, 0, 9_000, 200), (60, 12_000, 9_000, 2_900, 300)];
    let case = case(session(&calls, |_| CLAUDE));
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let cost = price_recorded(&bills, &recorded(&case, Tokens(32_000), None));
    assert_eq!(cost.source, CostSource::Recorded);
    assert_eq!(cost.read.tokens, Tokens(9_000));
    close(cost.read.usd.0, 0.0027);
    close(cost.written.usd.0, 0.044_625);
    close(cost.uncached.usd.0, 0.0033);
    close(cost.output.usd.0, 0.0075);
    close(total(&cost), 0.058_125);
    close(cost.calls[0].usd.expect("known").0, 0.003 + 0.03375 + 0.003);
}

#[test]
fn the_cost_of_recorded_summaries_is_unknown() {
    let calls = [(0, 10_000, 0, 9_000, 200), (60, 12_000, 9_000, 2_900, 300)];
    let mut session = session(&calls, |_| CLAUDE);
    session.compactions.push(RecordedCompaction {
        before_message: session.messages.len(),
        call: session.calls.len(),
        trigger: "auto".to_owned(),
        tokens_before: None,
        tokens_after: None,
        request: None,
        kept: Vec::new(),
    });
    let case = case(session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let cost = price_recorded(&bills, &recorded(&case, Tokens(32_000), None));
    let note = "The file does not record the cost of the summaries of 1 recorded compaction: the total may lack it.";
    assert_eq!(cost.notes(), [note]);
    close(total(&cost), 0.058_125);
}

#[test]
fn one_hour_cache_writes_cost_twice_the_input_price() {
    let mut session = session(&[(0, 10_000, 0, 9_000, 0)], |_| CLAUDE);
    let usage = session.calls[0].usage.as_mut().expect("reported");
    usage.cache_write_hour = Some(Tokens(8_000));
    let case = case(session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    assert_eq!(bills.lifetime, Lifetime::Long);
    let cost = price_recorded(&bills, &recorded(&case, Tokens(32_000), None));
    close(cost.written.usd.0, 0.048 + 0.00375);
}

#[test]
fn the_modelled_cache_holds_the_previous_prompt_until_it_expires() {
    // The third call is 301 seconds after the second; the fourth uses another model.
    let calls = [
        (0, 10_000, 0, 0, 0),
        (300, 12_000, 0, 0, 0),
        (601, 15_000, 0, 0, 0),
        (610, 16_000, 0, 0, 0),
    ];
    let other = |idx: usize| if idx == 3 { "claude-opus-4-5" } else { CLAUDE };
    let case = case(session(&calls, other));
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let really = recorded(&case, Tokens(32_000), None);
    let cost = price_lane(&bills, &really);
    let reads: Vec<u64> = cost.calls.iter().map(|call| call.read.0).collect();
    assert_eq!(reads, [0, 10_000, 0, 0]);
    // 39,000 - 10,000 - 2,000 + ... written: 10,000 + 2,000 + 15,000 at 3.75 and 16,000 at 6.25.
    close(total(&cost), 0.003 + 27_000.0 * 3.75e-6 + 16_000.0 * 6.25e-6);
    let long = Billing { lifetime: Some(Lifetime::Long), ..Billing::at(Prices::bundled()) };
    let cost = price_lane(&Bills::new(&case, long), &really);
    let reads: Vec<u64> = cost.calls.iter().map(|call| call.read.0).collect();
    assert_eq!(reads, [0, 10_000, 12_000, 0]);
}

#[test]
fn reads_after_long_pauses_show_the_longer_lifetime() {
    let lifetime = |pauses: &[(i64, u64)]| {
        let mut time = 0;
        let mut calls = vec![(0, 20_000, 0, 0, 0)];
        for (pause, read) in pauses {
            time += pause;
            calls.push((time, 22_000, *read, 0, 0));
        }
        let case = case(session(&calls, |_| "gpt-5.4"));
        Bills::new(&case, Billing::at(Prices::bundled())).lifetime
    };
    let kept = [(1_000, 19_968), (60, 0), (2_000, 19_968), (3_000, 0)];
    assert_eq!(lifetime(&kept), Lifetime::Long);
    assert_eq!(lifetime(&kept[..2]), Lifetime::Long);
    assert_eq!(lifetime(&kept[1..2]), Lifetime::Usual);
    assert_eq!(lifetime(&kept[2..]), Lifetime::Usual);
    // Nothing remains after two days.
    assert_eq!(lifetime(&[(200_000, 19_968)]), Lifetime::Usual);
}

#[test]
fn openai_caches_in_steps_of_128_tokens_and_long_prompts_cost_more() {
    let calls = [(0, 1_023, 0, 0, 0), (1, 5_000, 0, 0, 0), (2, 300_000, 0, 0, 10)];
    let case = case(session(&calls, |_| "gpt-5.4"));
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let cost = price_lane(&bills, &recorded(&case, Tokens(32_000), None));
    // 1,023 is below the minimum; 5,000 is 39 steps of 128 and 8 more.
    let reads: Vec<u64> = cost.calls.iter().map(|call| call.read.0).collect();
    assert_eq!(reads, [0, 0, 4_992]);
    assert_eq!(cost.written.tokens, Tokens::ZERO);
    let last = 4_992.0 * 0.5e-6 + 295_008.0 * 5e-6 + 10.0 * 22.5e-6;
    close(cost.calls[2].usd.expect("known").0, last);
}

#[test]
fn an_unknown_model_has_no_cost() {
    let case = case(session(&[(0, 10_000, 0, 0, 0)], |_| "my-own-model"));
    let really = recorded(&case, Tokens(32_000), None);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let cost = price_recorded(&bills, &really);
    assert_eq!((cost.total(), cost.unpriced), (None, 1));
    let billing = Billing { model: Some(CLAUDE), ..Billing::at(Prices::bundled()) };
    let cost = price_recorded(&Bills::new(&case, billing), &really);
    close(total(&cost), 0.03);
}

#[test]
fn a_call_without_usage_among_calls_with_usage_is_estimated_in_every_lane() {
    let calls = [(0, 10_000, 0, 0, 0), (1, 0, 0, 0, 0), (2, 12_000, 9_000, 0, 0)];
    let mut session = session(&calls, |_| CLAUDE);
    session.calls[1].usage = None;
    let case = case(session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let calls: Vec<usize> = bills.calls.iter().map(|call| call.index).collect();
    assert_eq!(calls, [0, 1, 2]);
    let really = recorded(&case, Tokens(32_000), None);
    let cost = price_recorded(&bills, &really);
    assert_eq!((cost.source, cost.billed), (CostSource::Recorded, 3));
    assert_eq!(cost.estimated_calls, 1);
    let sentence = "1 of 3 calls records no usage: its tokens are counted from the recorded text and its cache is modelled.";
    assert_eq!(cost.notes(), [sentence]);
    // The other two cost what they report: 10,000 and 3,000 at 3, 9,000 at 0.30.
    let usd = |call: usize| cost.calls[call].usd.expect("known").0;
    close(usd(0), 0.03);
    close(usd(2), 0.009 + 0.0027);
    let estimated = cost.calls[1];
    assert_eq!(estimated.read + estimated.written + estimated.uncached, really.samples[1].tokens);
    let none = presets::by_name("none").expect("bundled");
    let outcome = simulate(&case, &none, &none.defaults(), None);
    let cost = price_lane(&bills, &outcome);
    assert_eq!(cost.calls.len(), 3);
}

#[test]
fn the_audit_finds_cache_misses_with_their_cause() {
    let mut calls: Vec<Call> = (0..6).map(|idx| (idx * 60, 50_000, 50_000, 0, 0)).collect();
    calls[0].2 = 0;
    // A pause of an hour, another model, and an unexplained miss within the same turn.
    for call in &mut calls[2..] {
        call.0 += 3_600;
    }
    calls[2].2 = 0;
    calls[4].2 = 20_000;
    calls[5].2 = 46_000;
    let mut session = session(&calls, |idx| if idx < 4 { CLAUDE } else { "claude-opus-4-5" });
    for call in &mut session.calls {
        call.turn = 1;
    }
    let case = case(session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let found = audit(&case, &bills, &recorded(&case, Tokens(32_000), None)).expect("counted");
    assert_eq!(found.calls.len(), 6);
    assert_eq!((found.predicted, found.recorded), (Tokens(150_000), Tokens(166_000)));
    let causes: Vec<_> =
        found.breaks.iter().map(|b| (b.cause, b.calls, b.first, b.tokens)).collect();
    assert_eq!(
        causes,
        [(Cause::Gap, 1, 2, Tokens(50_000)), (Cause::ModelChange, 1, 4, Tokens(30_000))]
    );
    // Sonnet: 50,000 x (3 - 0.30). The call reports that it wrote nothing to the cache, so it paid the input price.
    close(found.breaks[0].usd.expect("known").0, 0.135);
    assert!(found.calls[5].cause.is_none(), "4,000 tokens are no break");
}

#[test]
fn a_cache_miss_names_a_changed_effort_or_an_aborted_call() {
    let mut calls: Vec<Call> = (0..6).map(|idx| (idx * 60, 50_000, 50_000, 0, 0)).collect();
    for missed in [2, 3, 5] {
        calls[missed].2 = 0;
    }
    let mut session = session(&calls, |_| CLAUDE);
    for (idx, call) in session.calls.iter_mut().enumerate() {
        call.turn = 1;
        call.effort = (idx > 0).then(|| if idx < 2 { "low" } else { "high" }.into());
        call.is_after_abort = idx == 3;
    }
    let case = case(session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let found = audit(&case, &bills, &recorded(&case, Tokens(32_000), None)).expect("counted");
    let causes: Vec<_> = found.calls.iter().map(|call| call.cause).collect();
    assert_eq!(
        causes[2..],
        [Some(Cause::EffortChange), Some(Cause::Abort), None, Some(Cause::Unexplained)]
    );
}

#[test]
fn readers_note_efforts_and_aborted_calls() {
    let pi = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}
{"type":"thinking_level_change","id":"a","parentId":null,"thinkingLevel":"low"}
{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"Go on"}}
{"type":"message","id":"c","parentId":"b","message":{"role":"assistant","content":[],"stopReason":"aborted"}}
{"type":"thinking_level_change","id":"d","parentId":"c","thinkingLevel":"high"}
{"type":"message","id":"e","parentId":"d","message":{"role":"assistant","content":[{"type":"text","text":"Yes."}],"stopReason":"stop"}}
"#;
    let copilot = r#"{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent"},"id":"a","timestamp":"2026-01-02T00:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"Go on"},"id":"b","timestamp":"2026-01-02T00:00:01.000Z","parentId":"a"}
{"type":"abort","data":{"reason":"user initiated"},"id":"c","timestamp":"2026-01-02T00:00:02.000Z","parentId":"b"}
{"type":"assistant.message","data":{"messageId":"m","content":"Yes."},"id":"d","timestamp":"2026-01-02T00:00:03.000Z","parentId":"c"}
{"type":"user.message","data":{"content":"Thanks"},"id":"e","timestamp":"2026-01-02T00:00:04.000Z","parentId":"d"}
"#;
    for (format, text, effort) in [("pi", pi, Some("high")), ("copilot_cli", copilot, None)] {
        let input = Input { name: "s.jsonl".to_owned(), bytes: text.as_bytes().to_vec().into() };
        let session = formats::parse(&input).expect(format).sessions.remove(0);
        assert_eq!(session.source.format, format);
        let [call] = &session.calls[..] else {
            panic!("{format}: {:?}", session.calls);
        };
        assert_eq!((call.effort.as_deref(), call.is_after_abort), (effort, true), "{format}");
    }
}

/// Returns calls that read 3,000 words each: the `prune` preset acts in the middle.
fn long_case() -> Case {
    let mut talk = crate::conversation::Talk::new();
    talk.message(Role::User, vec![text(&"what to heed ".repeat(700))]);
    for _ in 0..6 {
        talk.turn(5, 3_000);
    }
    let mut case = crate::conversation::case(&talk, 90_000);
    let mut session = (*case.session).clone();
    session.models = vec![CLAUDE.to_owned()];
    for call in &mut session.calls {
        call.model = Some(0);
    }
    case.session = Arc::new(session);
    case
}

#[test]
fn a_compaction_costs_the_cache_miss_that_it_causes() {
    let case = long_case();
    let policy = presets::by_name("prune").expect("bundled");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let event = outcome.events.first().expect("it acts");
    let cost = price_lane(&Bills::new(&case, Billing::at(Prices::bundled())), &outcome);
    let (call, before) = (&cost.calls[event.call], &outcome.samples[event.call - 1]);
    // The prefix before the first cleared result is read from the cache; everything after it is written again.
    assert!(call.read > Tokens::ZERO && call.read < before.tokens, "{call:?}");
    assert_eq!(call.read + call.written, outcome.samples[event.call].tokens);
    let quiet = &cost.calls[event.call - 1];
    assert_eq!(quiet.read, outcome.samples[event.call - 2].tokens);
    let even = break_even(&Bills::new(&case, Billing::at(Prices::bundled())), &outcome);
    assert_eq!(even[0].call, event.call);
    assert_eq!(even[0].removed, event.before - event.after);
    assert_eq!(even[0].left, case.session.calls.len() - event.call);
    let rewritten = before.tokens - call.read - even[0].removed;
    assert_eq!(even[0].rewritten, rewritten);
    close(even[0].once.expect("known").0, rewritten.0 as f64 * 3.45e-6);
    close(even[0].per_call.expect("known").0, even[0].removed.0 as f64 * 0.3e-6);
}

#[test]
fn a_compaction_after_a_call_costs_at_the_next_call() {
    let case = long_case();
    let text = include_str!("../../src/core/assets/presets/truncate.toml");
    let text = text.replace("before_call", "after_call");
    let policy = Policy::parse(&text, &REGISTRY).expect("a policy");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let event = outcome.events.first().expect("it acts");
    assert!(event.is_after_request);
    let even = break_even(&Bills::new(&case, Billing::at(Prices::bundled())), &outcome);
    assert_eq!(even[0].call, event.call + 1);
    assert_eq!(even[0].removed, event.before - event.after);
}

/// Returns the entries of a context, each with a text that identifies it.
fn entries(context: &Context) -> Vec<(Option<u32>, u32, Option<&str>, u32)> {
    context
        .entries
        .iter()
        .map(|entry| (entry.message(), entry.tokens, written(entry), stand_in(entry)))
        .collect()
}

/// Distinguishes stand-ins for summaries, which have the same text, by their id; 0 for other entries.
fn stand_in(entry: &Entry) -> u32 {
    match &entry.body {
        EntryBody::Written(written) if written.is_predicted => entry.id,
        _ => 0,
    }
}

fn written(entry: &Entry) -> Option<&str> {
    match &entry.body {
        EntryBody::Written(written) => Some(&written.text),
        _ => None,
    }
}

fn shared(before: &Context, after: &Context) -> Tokens {
    let (was, is) = (entries(before), entries(after));
    let same = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let tokens = after.entries[..same].iter().map(|entry| Tokens::from(entry.tokens));
    after.overhead + tokens.sum()
}

#[test]
fn the_unchanged_prefix_is_the_common_prefix_of_two_contexts() {
    let case = long_case();
    let calls = case.session.calls.len();
    let mut broken = 0;
    for preset in presets::PRESETS {
        let policy = preset.policy().expect("bundled");
        let run = |until| simulate(&case, &policy, &policy.defaults(), until);
        let whole = run(None);
        let mut before = run(Some(0)).context;
        for call in 1..calls {
            let now = run(Some(call)).context;
            let (found, expected) = (whole.samples[call].unchanged, shared(&before, &now));
            broken += usize::from(expected < before.tokens());
            assert_eq!(found, expected, "{} at call {}", preset.name, call + 1);
            before = now;
        }
    }
    assert!(broken > 20, "policies changed a prompt only {broken} times");
}

#[test]
fn summaries_and_rejected_tries_are_priced_separately() {
    let case = long_case();
    let policy = presets::by_name("summarize").expect("bundled");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let billing = Billing::at(Prices::bundled());
    let cost = price_lane(&Bills::new(&case, billing), &outcome);
    let (sent, received) = (outcome.summaries.sent, outcome.summaries.received);
    assert!(outcome.summaries.requests > 0);
    assert_eq!(cost.summaries.tokens, sent + received);
    close(cost.summaries.usd.0, sent.0 as f64 * 3e-6 + received.0 as f64 * 15e-6);

    let none = presets::by_name("none").expect("bundled");
    let outcome = simulate(&case, &none, &none.defaults(), None);
    assert!(outcome.tokens_rejected > Tokens::ZERO);
    let free = price_lane(&Bills::new(&case, billing), &outcome);
    assert_eq!((free.rejected.tokens, free.rejected.usd), (outcome.tokens_rejected, Usd::ZERO));
    let billing = Billing { bills_rejected: true, ..billing };
    let billed = price_lane(&Bills::new(&case, billing), &outcome);
    close(billed.rejected.usd.0, outcome.tokens_rejected.0 as f64 * 3e-6);
}

#[test]
fn a_policy_that_waits_for_a_cold_cache_causes_no_cache_miss() {
    let policy = presets::by_name("prune").expect("bundled");
    let waiting = |minutes: f64| {
        let mut knobs = policy.defaults();
        // A small reserve, so that the context is below the window when the trigger is met.
        for (name, value) in [("cold_after", minutes), ("output_reserve", 8_000.0)] {
            policy.set(&mut knobs, name, value).expect("in range");
        }
        knobs
    };
    let (eager, patient) = (waiting(0.0), waiting(5.0));
    let mut case = long_case();
    let run = |case: &Case, knobs: &KnobValues| simulate(case, &policy, knobs, None);
    let first = run(&case, &eager).events[0].call;
    // The user pauses one call after the trigger is met.
    let mut session = (*case.session).clone();
    for (idx, (call, seconds)) in session.calls.iter_mut().zip((0..).step_by(20)).enumerate() {
        let lunch = if idx > first { 3_600 } else { 0 };
        call.time = Some(Millis((seconds + lunch) * 1_000));
    }
    case.session = Arc::new(session);
    let outcome = run(&case, &patient);
    assert_eq!(outcome.events[0].call, first + 1);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let even = &break_even(&bills, &outcome)[0];
    assert!(even.is_cold && even.rewritten == Tokens::ZERO, "{even:?}");
    assert_eq!(even.needed, Some(0));
    let [waited, at_once] =
        [&outcome, &run(&case, &eager)].map(|run| total(&price_lane(&bills, run)));
    assert!(waited < at_once, "{waited} is no less than {at_once}");
}

#[test]
fn a_recorded_cache_write_of_zero_stays_zero() {
    let calls = [(0, 10_000, 0, 0, 0), (9, 12_000, 9_000, 0, 0)];
    let case = case(session(&calls, |_| "gpt-5.6-luna"));
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let cost = price_recorded(&bills, &recorded(&case, Tokens(32_000), None));
    // Times from 1970 have the first price: 1 in, 1.25 written, 0.10 read. Codex records 0 for models with a price of
    // writes, and is billed for uncached input.
    assert_eq!(cost.written.tokens, Tokens::ZERO);
    close(total(&cost), 13_000.0 * 1e-6 + 9_000.0 * 0.1e-6);
}
