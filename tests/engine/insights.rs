//! Insights: each is reported only where it applies, with the expected figures.

use crate::conversation::{Talk, case, case_of, part, text};
use plimsoll_core::analysis::cost::{Billing, Bills, audit, break_even};
use plimsoll_core::analysis::insight::{
    Certainty, Insight, InsightInput, InsightKind, Lane, Level, card, insights, lane_insights,
};
use plimsoll_core::analysis::resent::{growth, resent, share_of_largest};
use plimsoll_core::analysis::{LastUses, findings};
use plimsoll_core::engine::{Case, recorded, simulate};
use plimsoll_core::presets::{self, prices::Prices};
use plimsoll_core::session::{
    Body, MediaKind, RecordedCompaction, Role, Usage, remove_implausible_usage,
};
use plimsoll_core::units::{Share, Tokens};
use std::sync::Arc;

const RESERVE: Tokens = Tokens(32_000);
const TRIGGER: Share = Share(0.75);

fn found(case: &Case) -> Vec<Insight> {
    let really = recorded(case, RESERVE, None);
    let bills = Bills::new(case, Billing::at(Prices::bundled()));
    let audit = audit(case, &bills, &really);
    insights(&InsightInput::new(case, &really, RESERVE, TRIGGER, audit.as_ref()))
}

fn of(found: &[Insight], kind: InsightKind) -> Option<&Insight> {
    found.iter().find(|insight| insight.kind == kind)
}

/// Returns the insights of a preset's run.
fn of_lane(case: &Case, preset: &str, knobs: &[(&str, f64)]) -> Vec<Insight> {
    let policy = presets::by_name(preset).expect("bundled");
    let mut values = policy.defaults();
    for (name, value) in knobs {
        policy.set(&mut values, name, *value).expect("a knob");
    }
    let outcome = simulate(case, &policy, &values, None);
    let bills = Bills::new(case, Billing::at(Prices::bundled()));
    lane_insights(
        case,
        Lane {
            name: preset,
            policy: &policy,
            knobs: &values,
            outcome: &outcome,
            findings: &findings(case, &policy, &values, &outcome),
            break_even: &break_even(&bills, &outcome),
        },
    )
}

/// Adds a tool call with its result.
fn tool(talk: &mut Talk, id: &str, (name, arguments): (&str, &str), result: &str) {
    let call = Body::ToolCall { call: id.into(), tool: name.into(), arguments: arguments.into() };
    let result = Body::ToolResult {
        call: id.into(),
        tool: name.into(),
        is_error: false,
        text: result.into(),
    };
    talk.message(Role::Assistant, vec![part(call)]);
    talk.message(Role::Tool, vec![part(result)]);
}

/// Returns lines with one unique name each, from `first` on.
fn listing(first: usize, lines: usize) -> String {
    let line = |n: usize| format!("the module crate_{n:05} does something\n");
    (first..first + lines).map(line).collect()
}

#[test]
fn a_quiet_session_has_no_insights() {
    let case = case(&Talk::turns(3, 2, 40), 200_000);
    assert_eq!(found(&case), []);
    for preset in ["none", "truncate", "prune", "summarize"] {
        assert_eq!(of_lane(&case, preset, &[]), [], "{preset}");
    }
}

#[test]
fn a_message_is_resent_until_a_compaction_removes_it() {
    // Messages 0 to 4: system, request, call, result, answer; then a compaction that keeps only its summary.
    let mut talk = Talk::new();
    talk.turn(1, 100).turn(1, 100);
    talk.compact_before(5, "What was done.");
    let case = case(&talk, 200_000);
    let resent = resent(&case, &recorded(&case, RESERVE, None));
    // Calls at 2, 4 | 7, 9: message 5 is the summary of the recorded compaction.
    let calls: Vec<usize> = resent.messages.iter().map(|message| message.calls).collect();
    assert_eq!(calls, [2, 2, 1, 1, 0, 2, 2, 1, 1, 0]);
    let last: Vec<_> = resent.messages.iter().map(|message| message.last).collect();
    assert_eq!(last[..6], [Some(1), Some(1), Some(1), Some(1), None, Some(3)]);
    let result = resent.messages[3];
    assert_eq!(result.cumulative(), result.tokens);
    let heaviest = resent.heaviest(&case.session, 10);
    let all: u64 = heaviest.iter().map(|message| message.cumulative().0).sum();
    assert_eq!(resent.share(&heaviest), Share(all as f64 / resent.sent.0 as f64));
    let instructions: u64 = [0].iter().map(|m| resent.messages[*m].cumulative().0).sum();
    assert_eq!(resent.sent, Tokens(all + instructions));
}

#[test]
fn growth_is_attributed_to_the_largest_message() {
    let mut talk = Talk::new();
    talk.turn(0, 0).call("small", 20).call("large", 4_000);
    talk.message(Role::Assistant, vec![text("Done.")]);
    let case = case(&talk, 200_000);
    let grown = growth(&case, &recorded(&case, RESERVE, None));
    let largest = grown.iter().max_by_key(|grown| grown.grown).expect("it grows");
    // system 0, request 1, answer 2, call 3, result 4, call 5, result 6
    assert_eq!(largest.message, Some(6));
    let all: u64 = grown.iter().map(|grown| grown.grown.0).sum();
    assert_eq!(share_of_largest(&grown, Share(0.05)), Share(largest.grown.0 as f64 / all as f64));
}

#[test]
fn a_large_result_without_later_references_is_unused() {
    let build = |names_it: bool| {
        let mut talk = Talk::new();
        talk.turn(0, 0);
        tool(&mut talk, "a", ("list", "{}"), &listing(10_000, 300));
        for idx in 0..20 {
            talk.call(&format!("step_{idx:02}"), 5);
        }
        let last = if names_it { "crate_10077 is wrong." } else { "All is well." };
        talk.message(Role::Assistant, vec![text(last)]);
        case(&talk, 200_000)
    };
    let dead = build(false);
    let all = found(&dead);
    let insight = of(&all, InsightKind::DeadResults).expect("dead");
    assert_eq!((insight.certainty, insight.message), (Certainty::Inferred, Some(4)));
    // The result is message 4 and is resent with 20 more calls and the last answer.
    assert_eq!(insight.stake, Tokens(dead.ledger.message(4).0 * 21));
    assert!(of(&found(&build(true)), InsightKind::DeadResults).is_none());
}

#[test]
fn common_names_are_ignored_and_escapes_are_decoded() {
    let mut talk = Talk::new();
    talk.turn(0, 0);
    tool(&mut talk, "a", ("read", "{}"), "fn parse_amount and common_name");
    for _ in 0..20 {
        talk.message(Role::User, vec![text("common_name again")]);
    }
    tool(&mut talk, "b", ("edit", r#"{"old":"\tparse_amount\n"}"#), "ok");
    talk.message(Role::Assistant, vec![text("common_name")]);
    let case = case(&talk, 200_000);
    // system, request, answer, call, result (4), twenty, call (25)
    assert_eq!(LastUses::new(&case.session).of_message(4), Some(25));
}

#[test]
fn a_repeated_result_is_reported_while_the_first_is_in_the_context() {
    let build = |compacts: bool| {
        let mut talk = Talk::new();
        talk.turn(0, 0);
        let content = listing(20_000, 200);
        tool(&mut talk, "a", ("read", r#"{"path":"a.rs"}"#), &content);
        tool(&mut talk, "b", ("read", r#"{"path":"a.rs"}"#), &content);
        for idx in 0..6 {
            talk.call(&format!("later_{idx:02}"), 5);
        }
        if compacts {
            talk.compact_before(5, "The file was read.");
        }
        case(&talk, 200_000)
    };
    let twice = build(false);
    let all = found(&twice);
    let insight = of(&all, InsightKind::DuplicateResults).expect("twice");
    assert_eq!((insight.certainty, insight.message), (Certainty::Certain, Some(6)));
    // Resent with the six calls after it.
    assert_eq!(insight.stake, Tokens(twice.ledger.part(6).0 * 6));
    assert!(of(&found(&build(true)), InsightKind::DuplicateResults).is_none());
}

#[test]
fn a_whole_file_used_for_one_line_is_too_broad() {
    let build = |arguments: &str| {
        let mut talk = Talk::new();
        talk.turn(0, 0);
        tool(&mut talk, "a", ("read", arguments), &listing(30_000, 500));
        for idx in 0..8 {
            talk.call(&format!("later_{idx:02}"), 5);
        }
        talk.message(Role::Assistant, vec![text("crate_30001 it is.")]);
        case(&talk, 200_000)
    };
    let all = found(&build(r#"{"path":"a.rs"}"#));
    let insight = of(&all, InsightKind::BroadResults).expect("broad");
    assert!(insight.text.starts_with("1 whole-file read of which"), "{}", insight.text);
    let narrow = found(&build(r#"{"path":"a.rs","offset":1,"limit":500}"#));
    assert!(of(&narrow, InsightKind::BroadResults).is_none(), "{narrow:?}");
}

#[test]
fn an_image_resent_with_every_call_is_reported() {
    let mut talk = Talk::new();
    let picture = Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes: 100_000,
        pixels: Some((1_000, 1_000)),
        detail: plimsoll_core::session::ImageDetail::Auto,
        within: None,
    };
    talk.message(Role::User, vec![text("Look at this."), part(picture)]);
    for idx in 0..6 {
        talk.call(&format!("later_{idx:02}"), 5);
    }
    let all = found(&case(&talk, 200_000));
    let insight = of(&all, InsightKind::ImagesResent).expect("a picture");
    assert!(insight.text.starts_with("1 image or document resent with"), "{}", insight.text);
}

#[test]
fn a_call_that_passes_trigger_and_limit_at_once_is_reported() {
    let mut talk = Talk::new();
    talk.turn(2, 500).call("huge", 40_000);
    talk.message(Role::Assistant, vec![text("Done.")]);
    let all = found(&case(&talk, 64_000));
    let insight = of(&all, InsightKind::ThresholdSkipped).expect("skipped");
    assert_eq!((insight.level, insight.message), (Level::Bad, Some(8)));
    // Equal growth in small steps passes the trigger first.
    let slow = found(&case(&Talk::tool_calls(90, 450), 64_000));
    assert!(of(&slow, InsightKind::ThresholdSkipped).is_none(), "{slow:?}");
}

#[test]
fn a_trigger_inside_the_assumed_reserve_is_not_skipped() {
    // Usable are 32,000 of 64,000 tokens, and the program compacts by itself above that.
    let mut session = Talk::tool_calls(75, 450).session();
    session.compactions.push(RecordedCompaction {
        before_message: session.messages.len(),
        call: session.calls.len(),
        trigger: "auto".to_owned(),
        tokens_before: Some(Tokens(50_000)),
        tokens_after: None,
        request: None,
        kept: Vec::new(),
    });
    let case = case_of(session, 64_000);
    let really = recorded(&case, RESERVE, None);
    let most = really.samples.iter().map(|sample| sample.tokens).max();
    assert!(most > Some(Tokens(33_000)) && most < Some(Tokens(50_000)), "{most:?}");
    let all = found(&case);
    assert!(of(&all, InsightKind::ThresholdSkipped).is_none(), "{all:?}");
}

#[test]
fn many_calls_near_the_trigger_are_reported() {
    // Usable 32,000, trigger 24,000: 15,000 to begin with and 125 a call are 21,600 after 53 calls or so.
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text(&"what to heed ".repeat(5_000))]);
    talk.turn(100, 100);
    let all = found(&case(&talk, 64_000));
    let insight = of(&all, InsightKind::Hovering).expect("hovering");
    assert!(insight.stake > Tokens(40 * 21_600), "{insight:?}");
}

#[test]
fn a_policy_that_keeps_more_than_its_trigger_is_reported_without_a_run() {
    // About 230 tokens a pair: 160 messages are some 18,000, half of usable 32,000 is 16,000.
    let case = case(&Talk::tool_calls(150, 200), 64_000);
    let knobs = [("compression_trigger", 0.5), ("keep_recent", 160.0)];
    let all = of_lane(&case, "truncate", &knobs);
    let proof = of(&all, InsightKind::CannotGetBelow).expect("proven");
    assert_eq!((proof.level, proof.lane.as_deref()), (Level::Bad, Some("truncate")));
    let policy = presets::by_name("truncate").expect("bundled");
    let mut values = policy.defaults();
    for (name, value) in knobs {
        policy.set(&mut values, name, value).expect("a knob");
    }
    let outcome = simulate(&case, &policy, &values, None);
    let call = proof.call.expect("a call");
    let after = outcome.samples[call..].iter();
    assert!(after.clone().count() > 3);
    for sample in after {
        assert!(sample.tokens >= Tokens(16_000), "call {} is below", sample.call + 1);
    }
    let fewer = of_lane(&case, "truncate", &[("compression_trigger", 0.5)]);
    assert!(of(&fewer, InsightKind::CannotGetBelow).is_none(), "{fewer:?}");
}

#[test]
fn a_trigger_that_is_always_met_is_a_note_if_a_minimum_decides() {
    let case = case(&Talk::tool_calls(150, 200), 64_000);
    let all = of_lane(&case, "prune", &[("compression_trigger", 0.05)]);
    let proof = of(&all, InsightKind::CannotGetBelow).expect("proven");
    assert_eq!(proof.level, Level::Note, "{proof:?}");
    assert!(proof.text.contains("always met"), "{proof:?}");
}

#[test]
fn usage_that_doubles_for_one_call_is_implausible() {
    let mut case = case(&Talk::tool_calls(12, 40), 200_000);
    let mut session = (*case.session).clone();
    for (idx, call) in session.calls.iter_mut().enumerate() {
        let input = if idx == 6 { 82_000 } else { 40_000 + 100 * idx as u64 };
        call.usage = Some(Usage { input: Tokens(input), ..Usage::default() });
    }
    remove_implausible_usage(&mut session);
    assert_eq!(session.calls[6].usage, None);
    case.session = Arc::new(session);
    let all = found(&case);
    let insight = of(&all, InsightKind::ImpossibleUsage).expect("a spike");
    assert!(insight.text.contains("2.0 times"), "{}", insight.text);
    assert_eq!((insight.call, insight.certainty), (Some(6), Certainty::Likely));
}

#[test]
fn the_breakdown_lists_the_kinds_that_fill_the_context() {
    let mut talk = Talk::new();
    talk.turn(0, 0).call("large", 4_000);
    for idx in 0..20 {
        talk.call(&format!("later_{idx:02}"), 5);
    }
    let case = case(&talk, 200_000);
    let really = recorded(&case, RESERVE, None);
    let input = InsightInput::new(&case, &really, RESERVE, TRIGGER, None);
    let card_text: String = card(&input).iter().map(|clause| clause.text.as_str()).collect();
    assert!(card_text.contains("10 messages account for "), "{card_text}");
}
