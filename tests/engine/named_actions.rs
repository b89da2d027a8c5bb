//! Named actions in a run: for every change of messages, the account of the context stays complete.

#![expect(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "all rules share one signature"
)]

use crate::conversation::{Talk, case};
use plimsoll_core::chat::{
    ChatMessage, PendingRequest, Replies, Shape, SummaryReply, SummaryRequest,
};
use plimsoll_core::engine::{
    ActionKind, Answer, Case, Effect, EntryBody, MakeRewrite, MessageEdit, MessageStatus,
    NamedAction, NamedMeter, Outcome, Policy, Poll, Registry, Reply, Request, Rewrite,
    RewriteInput, Rewritten, Run, Schedule, drive, simulate,
};
use plimsoll_core::units::Tokens;
use std::sync::Arc;

/// An action of these tests.
type Rule = fn(RewriteInput<'_>, &mut Replies<'_>) -> Result<Rewritten, PendingRequest>;

#[derive(Debug)]
struct ByRule(Rule);

impl Rewrite for ByRule {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        (self.0)(input, replies)
    }
}

const fn row(name: &'static str, shape: Shape, make: MakeRewrite) -> NamedAction {
    NamedAction::new(name, ActionKind::Drop, "", make).with_shape(shape).with_numbers(&["keep"])
}

static ACTIONS: [NamedAction; 9] = [
    row("drop_oldest", Shape::OpenAi, |_| Ok(Arc::new(ByRule(drop_oldest)))),
    row("drop_oldest_blocks", Shape::Anthropic, |_| Ok(Arc::new(ByRule(drop_oldest)))),
    row("cut_result", Shape::OpenAi, |_| Ok(Arc::new(ByRule(cut_result)))),
    row("empty_results", Shape::OpenAi, |_| Ok(Arc::new(ByRule(empty_results)))),
    row("thin_out", Shape::OpenAi, |_| Ok(Arc::new(ByRule(thin_out)))),
    row("thin_out_by_edits", Shape::OpenAi, |_| Ok(Arc::new(ByRule(thin_out_by_edits)))),
    row("two_summaries", Shape::OpenAi, |_| Ok(Arc::new(ByRule(two_summaries)))),
    row("note_to_newest", Shape::OpenAi, |_| Ok(Arc::new(ByRule(note_to_newest)))),
    row("count_and_give_up", Shape::OpenAi, |_| Ok(Arc::new(ByRule(count_and_give_up)))),
];

static METERS: [NamedMeter; 1] = [NamedMeter {
    name: "letters",
    help: "",
    shape: Shape::OpenAi,
    units: |message| message.text().map_or(0, |text| text.chars().count() as u64),
    tokens: |letters| letters / 4,
    tools: |_| 0,
}];

static REGISTRY: Registry = Registry { actions: &[&ACTIONS], meters: &[&METERS[0]], windows: &[] };

fn changed(messages: Vec<ChatMessage>) -> Rewritten {
    Rewritten { messages: Some(messages), fired: true, ..Rewritten::default() }
}

/// Keeps instructions and the newest messages; a notice replaces the rest.
fn drop_oldest(input: RewriteInput<'_>, _: &mut Replies<'_>) -> Result<Rewritten, PendingRequest> {
    let keep = input.count("keep");
    let n_gone = (input.messages.len() - 1).saturating_sub(keep);
    let mut messages = input.messages;
    messages.drain(1..=n_gone);
    messages.insert(1, ChatMessage::notice("user", format!("{n_gone} messages are gone")));
    Ok(changed(messages.into_vec()))
}

fn cut_result(input: RewriteInput<'_>, _: &mut Replies<'_>) -> Result<Rewritten, PendingRequest> {
    let keep = input.count("keep");
    let cut = |message: &ChatMessage| {
        let text = message.text().unwrap_or_default();
        let head: String = text.chars().take(keep).collect();
        message.with_text(format!("{head}…"))
    };
    let is_long = |m: &ChatMessage| m.is("tool") && m.text().is_some_and(|t| t.len() > keep);
    if !input.messages.iter().any(is_long) {
        return Ok(Rewritten::default());
    }
    Ok(changed(
        input.messages.iter().map(|m| if is_long(m) { cut(m) } else { m.clone() }).collect(),
    ))
}

fn empty_results(
    input: RewriteInput<'_>,
    _: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let empty = |m: &ChatMessage| {
        if m.is("tool") { m.with_text("[gone]") } else { m.clone() }
    };
    Ok(changed(input.messages.iter().map(empty).collect()))
}

/// Removes some messages and clears results, except in the newest messages.
fn thin_out_by_edits(
    input: RewriteInput<'_>,
    _: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let n_old = input.messages.len().saturating_sub(input.count("keep"));
    let old = input.messages[..n_old].iter().enumerate().skip(1);
    let edit = |(at, message): (usize, &ChatMessage)| match at % 5 {
        3 => Some(MessageEdit { at, now: None }),
        _ if message.is("tool") => Some(MessageEdit { at, now: Some(message.with_text("[gone]")) }),
        _ => None,
    };
    Ok(Rewritten { edits: old.filter_map(edit).collect(), fired: true, ..Rewritten::default() })
}

/// Returns the same changes as a whole conversation.
fn thin_out(
    input: RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let messages = input.messages.clone();
    let done = thin_out_by_edits(input, replies)?;
    Ok(Rewritten { messages: done.after(&messages), edits: Vec::new().into(), ..done })
}

/// Makes two requests and replaces everything except the newest messages by both answers.
fn two_summaries(
    input: RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let keep = input.count("keep");
    if input.messages.len() < keep + 3 {
        return Ok(Rewritten::default());
    }
    let old = input.messages[1..input.messages.len() - keep].to_vec();
    let halves = old.split_at(old.len() / 2);
    let mut texts = Vec::new();
    for half in [halves.0, halves.1] {
        let request =
            SummaryRequest { messages: half.to_vec(), with_tools: false, max_tokens: Some(50) };
        match replies.reply_to(request)? {
            SummaryReply::Text(text) => texts.push(text.to_string()),
            _ => return Ok(Rewritten::default()),
        }
    }
    let mut messages = vec![input.messages[0].clone()];
    messages.push(ChatMessage::summary("user", texts.join(" / ")));
    messages.extend_from_slice(&input.messages[input.messages.len() - keep..]);
    Ok(changed(messages))
}

fn note_to_newest(
    input: RewriteInput<'_>,
    _: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let mut messages = input.messages;
    let newest = messages.iter_mut().rev().find(|m| m.is("user"));
    if let Some(message) = newest {
        let text = message.text().unwrap_or_default();
        *message = message.with_text(format!("{text}\n\n[note]"));
    }
    Ok(changed(messages.into_vec()))
}

/// Counts its calls in memory and halts at the third.
fn count_and_give_up(
    input: RewriteInput<'_>,
    _: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let count = input.memory["count"].as_u64().unwrap_or(0) + 1;
    Ok(Rewritten {
        fired: true,
        terms: vec![("count".to_owned(), count as f64)],
        halt: (count == 3).then(|| "enough".to_owned()),
        memory: plimsoll_core::json::json!({ "count": count }).into(),
        ..Rewritten::default()
    })
}

fn policy(stage: &str, rest: &str) -> Policy {
    let text = format!(
        "name = \"test\"\nlabel = \"Test\"\nhelp = \"\"\n[meter]\nname = \"letters\"\nbelieved_fill = \"used / 100\"\n[[stage]]\nid = \"it\"\n{stage}\n{rest}"
    );
    Policy::parse(&text, &REGISTRY).expect("a policy")
}

fn long_talk() -> Case {
    let mut talk = Talk::new();
    talk.turn(3, 100).turn(3, 100).turn(3, 100);
    case(&talk, 100_000)
}

fn run(case: &Case, policy: &Policy) -> Outcome {
    let outcome = simulate(case, policy, &policy.defaults(), None);
    outcome.context.check(case).expect("the account is complete");
    outcome
}

#[test]
fn a_notice_covers_removed_messages_in_both_shapes() {
    let case = long_talk();
    for action in ["drop_oldest", "drop_oldest_blocks"] {
        let stage = format!(
            "at = \"before_call\"\nwhen = \"msgs > 8\"\ndo = {{ named = \"{action}\", keep = 4 }}"
        );
        let outcome = run(&case, &policy(&stage, ""));
        assert!(outcome.compactions > 1, "{action}");
        let (written, _) = outcome.context.written().next().expect("a notice");
        assert!(written.text.ends_with("messages are gone"));
        let statuses = outcome.context.statuses(case.session.messages.len());
        assert_eq!(statuses[0].0, MessageStatus::Kept, "instructions stay");
        assert_eq!(statuses[1].0, MessageStatus::Dropped);
    }
}

#[test]
fn a_result_is_cut_before_it_is_added() {
    let case = long_talk();
    let stage =
        "at = \"tool_result\"\nwhen = \"used >= 0\"\ndo = { named = \"cut_result\", keep = 20 }";
    let outcome = run(&case, &policy(stage, ""));
    let untouched = run(
        &case,
        &policy(
            "at = \"manual\"\nwhen = \"used > 0\"\ndo = { named = \"cut_result\", keep = 20 }",
            "",
        ),
    );
    assert_eq!(outcome.events.len(), 9);
    assert!(outcome.samples[3].tokens < untouched.samples[3].tokens - Tokens(200));
    let cut = outcome.context.statuses(case.session.messages.len());
    assert_eq!(cut.iter().filter(|(status, _)| *status == MessageStatus::Cut).count(), 9);
}

#[test]
fn a_view_changes_only_its_call() {
    let case = long_talk();
    let at = |when: &str| {
        let stage = format!(
            "at = \"before_call\"\nwhen = \"{when}\"\ndo = {{ named = \"empty_results\", keep = 0 }}\nmutates = \"view\""
        );
        run(&case, &policy(&stage, ""))
    };
    let (never, once) = (at("used < 0"), at("call == 6"));
    assert_eq!(once.compactions, 1);
    for (without, with) in never.samples.iter().zip(&once.samples) {
        let is_managed = with.tokens < without.tokens;
        assert_eq!(is_managed, with.call == 5, "call {}", with.call + 1);
    }
    let originals = once.context.entries.iter();
    assert!(originals.clone().all(|e| matches!(e.body, EntryBody::Original(_))));
    assert_eq!(once.end, never.end);
}

#[test]
fn a_view_with_another_notice_shares_only_the_instructions_with_the_last_one() {
    let case = long_talk();
    let stage = "at = \"before_call\"\nwhen = \"true\"\ndo = { named = \"drop_oldest\", keep = 4 }\nmutates = \"view\"";
    let outcome = run(&case, &policy(stage, ""));
    let entries = &outcome.context.entries;
    assert!(matches!(entries[1].body, EntryBody::Written(_)));
    let instructions = outcome.context.overhead + Tokens::from(entries[0].tokens);
    for sample in outcome.samples.iter().skip(4) {
        assert_eq!(sample.unchanged, instructions, "call {}", sample.call + 1);
    }
}

#[test]
fn a_view_of_the_last_call_that_is_updated_equals_a_new_one() {
    let mut talk = Talk::new();
    for turn in 0..40 {
        talk.turn(turn % 5, 20 + 70 * (turn % 3));
    }
    let case = case(&talk, 100_000);
    let views: [(&str, &[(&str, f64)]); 4] = [
        ("adk", &[("num_invocations_to_keep", 3.0)]),
        ("ai-sdk", &[]),
        ("swe-agent", &[]),
        (
            "agent-framework",
            &[("max_context_window_tokens", 3_000.0), ("max_output_tokens", 500.0)],
        ),
    ];
    for (preset, settings) in views {
        let policy = plimsoll_core::presets::by_name(preset).expect("bundled");
        let mut knobs = policy.defaults();
        for (name, value) in settings {
            policy.set(&mut knobs, name, *value).expect("a setting");
        }
        let updated = simulate(&case, &policy, &knobs, None);
        let mut n_changed = 0;
        for call in 0..case.session.calls.len() {
            let mut run = Run::new(&case, &policy, &knobs, Schedule::Replay, Some(call));
            run = run.acting_from(call);
            let Poll::Done(new) = run.poll() else {
                panic!("{preset} needs no summary");
            };
            let (one, other) = (&updated.samples[call], &new.samples[call]);
            assert_eq!(one.by_kind, other.by_kind, "{preset}, call {}", call + 1);
            assert_eq!(one.metered, other.metered, "{preset}, call {}", call + 1);
            n_changed += usize::from(new.compactions > 0);
        }
        assert!(n_changed > 20, "{preset} changes {n_changed} calls");
    }
}

#[test]
fn edits_equal_a_rewrite_of_the_whole_conversation() {
    let cut = "[[stage]]\nid = \"cut\"\nat = \"tool_result\"\nwhen = \"call < 6\"\ndo = { named = \"cut_result\", keep = 20 }";
    let more = "[[stage]]\nid = \"more\"\nat = \"before_call\"\nwhen = \"call > 6 and call < 10\"\ndo = { named = \"drop_oldest\", keep = 4 }";
    let later = format!("{more}\nmutates = \"view\"");
    let late = "[[stage]]\nid = \"late\"\nat = \"overflow_error\"\nwhen = \"call > 8\"\ndo = { named = \"empty_results\", keep = 0 }";
    for (rest, window) in
        [("", 100_000), (cut, 100_000), (more, 100_000), (&later, 100_000), (late, 400)]
    {
        for mutates in ["store", "view"] {
            let of = |action: &str| {
                let stage = format!(
                    "at = \"before_call\"\nwhen = \"used > 0\"\ndo = {{ named = \"{action}\", keep = 3 }}\nmutates = \"{mutates}\""
                );
                policy(&stage, rest)
            };
            same_at_each_call(&of("thin_out"), &of("thin_out_by_edits"), window);
        }
    }
}

/// Checks that two policies give equal runs.
fn same_at_each_call(one: &Policy, other: &Policy, window: u64) {
    let mut talk = Talk::new();
    talk.turn(4, 60).turn(2, 100).turn(5, 60).turn(3, 40);
    let case = case(&talk, window);
    for until in (0..case.session.calls.len()).map(Some).chain([None]) {
        let summary_of = |policy: &Policy| {
            let outcome = simulate(&case, policy, &policy.defaults(), until);
            outcome.context.check(&case).expect("the account is complete");
            let Outcome { samples, events, context, .. } = &outcome;
            assert!(!events.is_empty() || until == Some(0));
            format!("{samples:#?}\n{events:#?}\n{context:#?}")
        };
        assert_eq!(summary_of(one), summary_of(other), "until {until:?}");
    }
}

#[test]
fn an_action_is_applied_after_all_its_answers() {
    struct Numbered(u32);
    impl Answer for Numbered {
        fn answer(&mut self, _: &Case, request: &Request) -> Reply {
            assert!(!request.messages.is_empty() && request.input > Tokens::ZERO);
            self.0 += 1;
            Reply::Summary(format!("answer {}", self.0).into())
        }
    }
    let case = long_talk();
    let stage =
        "at = \"before_call\"\nwhen = \"call == 9\"\ndo = { named = \"two_summaries\", keep = 4 }";
    let policy = policy(stage, "");
    let mut answers = Numbered(0);
    let outcome = drive(&case, &policy, &policy.defaults(), Schedule::Replay, None, &mut answers);
    outcome.context.check(&case).expect("the account is complete");
    assert_eq!(outcome.summaries.requests, 2);
    let (written, _) = outcome.context.written().next().expect("a summary");
    assert_eq!(&*written.text, "answer 1 / answer 2");
    assert!(outcome.events[0].request.is_some() && !written.is_predicted);
    let statuses = outcome.context.statuses(case.session.messages.len());
    assert_eq!(statuses[2].0, MessageStatus::Summarized);
    let predicted = run(&case, &policy);
    assert!(predicted.context.written().all(|(w, _)| w.is_predicted));
}

#[test]
fn background_results_are_applied_before_newer_messages() {
    let case = long_talk();
    let stage = "at = \"before_call\"\nwhen = \"call == 5\"\ndo = { named = \"two_summaries\", keep = 2 }\ndelay = \"3\"";
    let outcome = run(&case, &policy(stage, ""));
    assert_eq!(outcome.events.len(), 1);
    assert_eq!(outcome.events[0].call, 7, "three calls after the fifth call");
    let at_once = run(&case, &policy(&stage.replace('3', "0"), ""));
    assert_eq!(outcome.context.tokens(), at_once.context.tokens());
}

#[test]
fn a_message_with_an_added_note_counts_as_kept() {
    let case = long_talk();
    let stage =
        "at = \"before_call\"\nwhen = \"call == 1\"\ndo = { named = \"note_to_newest\", keep = 0 }";
    let outcome = run(&case, &policy(stage, ""));
    assert_eq!((outcome.compactions, outcome.events[0].effect), (0, Effect::Changed));
    assert!(outcome.events[0].after > outcome.events[0].before);
    assert_eq!(outcome.context.statuses(case.session.messages.len())[1].0, MessageStatus::Kept);
}

#[test]
fn memory_lasts_for_a_run_and_halts_are_recorded() {
    let case = long_talk();
    let stage = "at = \"turn_start\"\nwhen = \"used >= 0\"\ndo = { named = \"count_and_give_up\", keep = 0 }";
    let outcome = run(&case, &policy(stage, ""));
    let counted: Vec<f64> = outcome.events.iter().map(|e| e.cause.terms[1].1).collect();
    assert_eq!(counted, [1.0, 2.0, 3.0]);
    let effects: Vec<Effect> = outcome.events.iter().map(|e| e.effect).collect();
    assert_eq!(effects, [Effect::Nothing, Effect::Nothing, Effect::Logged]);
    assert_eq!((outcome.halts.len(), &*outcome.halts[0].why), (1, "enough"));
}

#[test]
fn a_named_meter_rounds_the_total_and_gives_the_believed_fill() {
    let case = long_talk();
    let outcome = run(
        &case,
        &policy(
            "at = \"manual\"\nwhen = \"used > 0\"\ndo = { named = \"cut_result\", keep = 1 }",
            "",
        ),
    );
    let texts = case.session.parts.iter().map(|p| p.body.clone());
    let letters: usize = texts
        .filter(|body| !matches!(body, plimsoll_core::session::Body::ToolCall { .. }))
        .map(|body| body.text().chars().count())
        .sum();
    let last = outcome.samples.last().expect("a call");
    let answer = "That is done.".len();
    assert_eq!(last.metered.0, (letters - answer) as u64 / 4);
    assert_eq!(last.believed.expect("a belief").0, last.metered.as_f64() / 100.0);
}

#[test]
fn a_preset_with_an_unknown_name_is_rejected() {
    let refused = |text: &str| {
        let text = format!(
            "name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n[[stage]]\nid = \"it\"\nat = \"manual\"\nwhen = \"used > 0\"\n{text}"
        );
        Policy::parse(&text, &REGISTRY).expect_err("a mistake").to_string()
    };
    assert!(refused("do = { named = \"fly\", keep = 1 }").contains("unknown action `fly`"));
    assert!(refused("do = { named = \"drop_oldest\" }").contains("needs the number `keep`"));
}
