//! Verdicts about small sessions.

use super::culprit::LARGE_SHARE;
use super::*;
use crate::analysis::largest_parts;
use crate::analysis::tools::tokens_by_tool;
use crate::engine::{Budget, WindowPlan, WindowSource};
use crate::session::{
    Body, CallDraft, Draft, Kind, ModelVendor, Part, Role, SessionBuilder, Source, Usage,
};
use crate::tokens::{Progress, TokenLedger};
use crate::units::Share;
use std::sync::Arc;

pub(super) const RESERVE: Tokens = Tokens(200);
const WINDOW: Tokens = Tokens(1_000);

fn part(body: Body) -> Part {
    Part { body, record: 0, block: 0 }
}

fn text(words: &str) -> Vec<Part> {
    vec![part(Body::Text(words.into()))]
}

fn builder() -> SessionBuilder {
    let mut builder = SessionBuilder::new(Source {
        name: "test".to_owned(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    });
    builder.default_vendor(ModelVendor::OpenAi);
    builder
}

fn tool_call(id: &str, tool: &str, arguments: &str) -> Vec<Part> {
    vec![part(Body::ToolCall { call: id.into(), tool: tool.into(), arguments: arguments.into() })]
}

fn result(id: &str, words: &str) -> Vec<Part> {
    vec![part(Body::ToolResult {
        call: id.into(),
        tool: "".into(),
        is_error: false,
        text: words.into(),
    })]
}

fn model_call(builder: &mut SessionBuilder, input: u64) {
    let usage = Some(Usage { input: Tokens(input), ..Usage::default() });
    builder.call(CallDraft { usage, ..CallDraft::default() });
}

/// A session in which the model reads a large file.
pub(super) fn reading_session(second_call: u64) -> Case {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("What does main do?")));
    model_call(&mut builder, 100);
    builder.message(Draft::new(
        Role::Assistant,
        tool_call("c1", "read", r#"{"path":"/home/me/src/main.ts"}"#),
    ));
    builder.message(Draft::new(Role::Tool, result("c1", &"let x = 1;\n".repeat(90))));
    model_call(&mut builder, second_call);
    builder.message(Draft::new(Role::Assistant, text("It sets x.")));
    case(builder)
}

fn case(builder: SessionBuilder) -> Case {
    let session = builder.finish();
    let counter = crate::tokens::by_name("chars/4").expect("a counter of ours");
    let ledger =
        TokenLedger::count(&session, counter, &Progress::default()).expect("it is not cancelled");
    let windows = WindowPlan::constant(WINDOW, session.calls.len(), WindowSource::User);
    Case::new(Arc::new(session), ledger, windows)
}

/// Returns the recorded run with reported tokens.
pub(super) fn recorded(case: &Case) -> Outcome {
    let budget = Budget { window: WINDOW, output_reserve: RESERVE };
    let sample = |(call, recorded): (usize, &crate::session::Call)| {
        let tokens = recorded.usage.map_or(Tokens::ZERO, |u| u.input);
        Sample {
            call,
            turn: recorded.turn,
            window: WINDOW,
            metered: tokens,
            tokens,
            believed: None,
            pressure: budget.pressure(tokens),
            overflows: false,
            is_rejected: false,
            rejected: Tokens::ZERO,
            unchanged: Tokens::ZERO,
            by_kind: [0; Kind::ALL.len()],
        }
    };
    Outcome {
        samples: case.session.calls.iter().enumerate().map(sample).collect(),
        ..Outcome::default()
    }
}

fn sentence(case: &Case) -> Verdict {
    verdict(case, &recorded(case), RESERVE, &Share(0.75).into())
}

/// Returns the links in order.
fn links(verdict: &Verdict) -> Vec<(&str, Link)> {
    let linked = |c: &'_ Clause| c.link.is_some();
    let clauses = verdict.clauses.iter().filter(|c| linked(c));
    clauses.filter_map(|c| Some((c.text.as_str(), c.link?))).collect()
}

#[test]
fn a_session_that_stays_low_says_that_it_never_reached_the_trigger() {
    let verdict = sentence(&reading_session(420));
    assert_eq!(
        verdict.text(),
        "Peaked at 42 % of the 1k window (420) at call 2. Never reached the trigger (600)."
    );
    assert_eq!(verdict.severity, Severity::Ok);
}

#[test]
fn the_message_that_crossed_the_trigger_is_named_and_linked() {
    let case = reading_session(640);
    let verdict = sentence(&case);
    assert_eq!(
        links(&verdict),
        [
            ("64 % of the 1k window", Link::Call(1)),
            ("call 2", Link::Call(1)),
            ("read main.ts", Link::Message(2)),
        ],
        "only nouns are links"
    );
    let weight = case.ledger.message(2).short();
    let text = verdict.text();
    let named = format!("at call 2: read main.ts (message 3, +{weight}).");
    assert!(text.ends_with(&named), "{text}");
    assert_eq!(verdict.severity, Severity::Warning);
}

#[test]
fn the_culprit_weighs_what_its_whole_message_weighs() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Go.")));
    model_call(&mut builder, 100);
    let mut parts = tool_call("c1", "read", r#"{"path":"a.rs"}"#);
    parts.extend(text("Let me see, and see again, what it is that a.rs does."));
    builder.message(Draft::new(Role::Assistant, parts));
    model_call(&mut builder, 640);
    builder.message(Draft::new(Role::Assistant, text("Done.")));
    let case = case(builder);
    let shown = sentence(&case).text();
    let weight = case.ledger.message(1).short();
    assert!(shown.contains(&format!("(+{weight}).")), "{shown}: {weight}");
}

#[test]
fn a_first_call_above_the_trigger_blames_what_it_began_with_and_no_small_message() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Hello.")));
    model_call(&mut builder, 700);
    builder.message(Draft::new(Role::Assistant, text("Hello.")));
    let case = case(builder);
    let mut run = recorded(&case);
    run.samples[0].by_kind[Kind::System.index()] = 690;
    let shown = verdict(&case, &run, RESERVE, &Share(0.75).into()).text();
    assert!(shown.ends_with("at call 1: system prompt and tools alone are 690."), "{shown}");
    run.samples[0].by_kind[Kind::System.index()] = 0;
    let shown = verdict(&case, &run, RESERVE, &Share(0.75).into()).text();
    let is_blameless = case.ledger.message(0).share_of(Tokens(700)).0 < LARGE_SHARE;
    assert_eq!(shown.ends_with("at call 1, which began with 1 message."), is_blameless, "{shown}");
}

#[test]
fn reaching_the_trigger_exactly_counts_as_crossing_it() {
    assert!(sentence(&reading_session(600)).text().contains("Crossed the trigger"));
    assert!(sentence(&reading_session(599)).text().contains("Never reached the trigger"));
}

#[test]
fn a_call_within_the_output_reserve_is_distinguished_from_one_above_the_window() {
    let tight = sentence(&reading_session(900)).text();
    assert!(tight.contains("Reached into the output reserve (usable 800) at call 2."), "{tight}");
    let over = sentence(&reading_session(1_200)).text();
    assert!(over.contains("Crossed the trigger (600) and the window (1k) at call 2:"), "{over}");
    assert!(!over.contains("output reserve"), "{over}");
    for (input, severity) in [(900, Severity::Warning), (1_200, Severity::Bad)] {
        assert_eq!(sentence(&reading_session(input)).severity, severity, "{input}");
    }
}

#[test]
fn a_reserve_without_usable_tokens_is_reported_instead_of_a_trigger_of_zero() {
    let case = reading_session(1_200);
    let reserved = verdict(&case, &recorded(&case), WINDOW, &Share(0.75).into());
    assert_eq!(reserved.severity, Severity::Bad);
    let text = reserved.text();
    let expected = "(1.2k) at call 2. The output reserve (1k) leaves no usable tokens in the window (1k) at call 1: \
                    lower the reserve or enlarge the window. Crossed the window (1k) at call 2: read main.ts (message 3, ";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("trigger"), "{text}");
}

#[test]
fn recorded_compactions_are_counted() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Begin.")));
    model_call(&mut builder, 700);
    builder.message(Draft::new(Role::Assistant, text("Begun.")));
    builder.compaction("auto", Some(Tokens(700)), None, Vec::new());
    builder.message(Draft::new(Role::User, text("Go on.")));
    model_call(&mut builder, 90);
    builder.message(Draft::new(Role::Assistant, text("Done.")));
    let verdict = sentence(&case(builder));
    assert_eq!(links(&verdict).last(), Some(&("1 compaction", Link::Call(1))));
    assert!(verdict.text().ends_with(" 1 compaction recorded."));
}

#[test]
fn messages_after_the_last_call_that_would_overflow_are_reported() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Run it.")));
    builder.message(Draft::new(
        Role::Assistant,
        tool_call("c1", "bash", r#"{"command":"make test"}"#),
    ));
    builder.message(Draft::new(Role::Tool, result("c1", &"ok\n".repeat(2_000))));
    let case = case(builder);
    let run = crate::engine::recorded(&case, RESERVE, None);
    let verdict = verdict(&case, &run, RESERVE, &Share(0.75).into());
    assert_eq!(verdict.severity, Severity::Bad);
    let text = verdict.text();
    assert!(text.contains("Never reached the trigger"), "{text}");
    assert!(
        text.contains("The file ends before the next call, which would need ≈1.52k, "),
        "{text}"
    );
    let end = "152 % of the 1k window: bash make test (message 3, ≈+1.5k).";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_context_that_is_largest_at_the_end_peaks_there() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Tell me all.")));
    builder.message(Draft::new(Role::Assistant, text(&"and more ".repeat(200))));
    let case = case(builder);
    let run = crate::engine::recorded(&case, RESERVE, None);
    let end = run.context.tokens();
    assert!(run.samples[0].tokens < end);
    let text = verdict(&case, &run, RESERVE, &Share(0.5).into()).text();
    let peak =
        format!("(≈{}) at the end. Never reached the trigger (400) before the end.", end.short());
    assert!(text.starts_with("Peaked at ") && text.contains(&peak), "{text}");
}

#[test]
fn a_file_without_model_calls_says_so() {
    let mut builder = builder();
    builder.message(Draft::new(Role::User, text("Anybody there?")));
    let text = sentence(&case(builder)).text();
    assert!(text.starts_with("No model call in this file; it has ≈"), "{text}");
}

#[test]
fn a_result_without_a_tools_name_is_counted_with_the_tool_of_its_call() {
    let case = reading_session(420);
    let tools = tokens_by_tool(&case);
    assert_eq!(tools.iter().map(|(tool, _)| tool.as_str()).collect::<Vec<_>>(), ["read"]);
    let largest = largest_parts(&case, 1);
    assert_eq!(
        (largest[0].message, largest[0].kind, largest[0].tool.as_deref()),
        (2, Kind::ToolResult, Some("read"))
    );
    assert_eq!(largest_parts(&case, 99).len(), 4);
    let sum: Tokens =
        largest_parts(&case, 99).iter().filter(|p| p.tool.is_some()).map(|p| p.tokens).sum();
    assert_eq!(tools[0].1, sum);
}

#[test]
fn a_small_part_of_a_first_call_is_not_the_cause() {
    let mut builder = builder();
    for _ in 0..12 {
        builder.message(Draft::new(Role::User, text(&"and more ".repeat(20))));
    }
    model_call(&mut builder, 700);
    builder.message(Draft::new(Role::Assistant, text("Done.")));
    let case = case(builder);
    let mut outcome = recorded(&case);
    let text_of = |outcome: &Outcome| verdict(&case, outcome, RESERVE, &Share(0.75).into()).text();
    outcome.samples[0].by_kind[Kind::System.index()] = 100;
    let shown = text_of(&outcome);
    assert!(shown.contains("call 1, which began with 12 messages."), "{shown}");
    outcome.samples[0].by_kind[Kind::System.index()] = 400;
    let shown = text_of(&outcome);
    assert!(shown.contains("system prompt and tools alone are"), "{shown}");
}
