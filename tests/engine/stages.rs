//! Keywords of stages that several agents need, each on a small session.

use crate::conversation::{Talk, case, event_words, pairs_are_whole};
use plimsoll_core::engine::{
    ActionKind, Case, Edited, Entry, EntryBody, MessageStatus, Outcome, PartStatus, simulate,
};
use plimsoll_core::presets;
use plimsoll_core::session::Role;
use plimsoll_core::units::{Millis, Tokens};
use std::sync::Arc;

/// Plays a policy of one stage.
fn play(case: &Case, stage: &str) -> Outcome {
    play_until(case, stage, None)
}

fn play_until(case: &Case, stage: &str, until: Option<usize>) -> Outcome {
    let toml = format!("name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n{stage}");
    let policy = presets::parse(&toml).unwrap_or_else(|why| panic!("{why}"));
    let outcome = simulate(case, &policy, &policy.defaults(), until);
    outcome.context.check(case).expect("the account is complete");
    pairs_are_whole(case, &outcome.context).expect("whole pairs");
    outcome
}

fn refusal(stage: &str) -> String {
    let toml = format!("name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n{stage}");
    presets::parse(&toml).expect_err("a mistake").to_string()
}

fn left(outcome: &Outcome) -> Vec<u32> {
    let entries = outcome.context.entries.iter();
    entries.filter_map(Entry::message).collect()
}

fn statuses(case: &Case, outcome: &Outcome) -> Vec<MessageStatus> {
    let statuses = outcome.context.statuses(case.session.messages.len());
    statuses.into_iter().map(|(status, _)| status).collect()
}

/// Returns a stage that drops before one call only.
fn drop_at(call: usize, take: &str) -> String {
    format!(
        "[[stage]]\nid = \"d\"\nat = \"before_call\"\nwhen = \"call == {call}\"\ntake = {{ what = \"messages\", {take} }}\ndo = {{ drop = {{}} }}"
    )
}

#[test]
fn first_messages_are_kept_with_the_results_of_their_calls() {
    // 0 system, 1 user, 2 call, 3 result, 4 call, 5 result, …
    let case = case(&Talk::tool_calls(6, 10), 100_000);
    let take = "keep = [\"system\", \"first_messages(2)\", \"last_messages(2)\"]";
    let outcome = play_until(&case, &drop_at(6, take), Some(5));
    assert_eq!(left(&outcome), [0, 1, 2, 3, 10, 11], "{}", event_words(&outcome));
}

#[test]
fn oldest_limits_the_taken_messages_and_keeps_pairs_whole() {
    let case = case(&Talk::tool_calls(6, 10), 100_000);
    let even = play_until(&case, &drop_at(6, "keep = [\"system\"], oldest = \"3\""), Some(5));
    assert_eq!(left(&even), [0, 4, 5, 6, 7, 8, 9, 10, 11]);
    let odd = play_until(&case, &drop_at(6, "keep = [\"system\"], oldest = \"4\""), Some(5));
    assert_eq!(left(&odd), left(&even));
}

#[test]
fn every_expression_of_a_stage_may_use_the_idle_time() {
    let mut case = case(&Talk::tool_calls(6, 10), 100_000);
    let mut session = (*case.session).clone();
    // The user pauses for an hour before the sixth call.
    for (idx, (call, seconds)) in session.calls.iter_mut().zip((0..).step_by(20)).enumerate() {
        let pause = if idx >= 5 { 3_600 } else { 0 };
        call.time = Some(Millis((seconds + pause) * 1_000));
    }
    case.session = Arc::new(session);
    let oldest = |minutes: u32| {
        let take = format!("keep = [\"system\"], oldest = \"if(idle > {minutes}, 3, 0)\"");
        left(&play_until(&case, &drop_at(6, &take), Some(5)))
    };
    assert_eq!(oldest(5), [0, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(oldest(90).len(), 12);
}

#[test]
fn user_tokens_keeps_the_newest_user_messages() {
    let case = case(&Talk::turns(4, 1, 10), 100_000);
    let users: Vec<u32> = (0..case.session.messages.len() as u32)
        .filter(|m| case.session.messages[*m as usize].role == Role::User)
        .collect();
    let call = case.session.calls.len() - 1;
    let weight = case.ledger.truth.per_message[users[3] as usize];
    let take = format!("keep = [\"system\", \"user_tokens({})\"]", 2 * weight);
    let outcome = play_until(&case, &drop_at(call + 1, &take), Some(call));
    assert_eq!(left(&outcome), [0, users[2], users[3]]);
    let outcome = play_until(&case, &drop_at(call + 1, "keep = [\"last_user\"]"), Some(call));
    assert_eq!(left(&outcome), [users[3]]);
}

#[test]
fn a_cut_at_the_next_turn_keeps_less_than_requested() {
    let case = case(&Talk::turns(3, 1, 50), 100_000);
    let call = case.session.calls.len() - 1;
    let opens: Vec<u32> = (0..case.session.messages.len() as u32)
        .filter(|m| case.index.opens_turn[*m as usize])
        .collect();
    let take =
        |n: usize| format!("keep = [\"system\", \"last_messages({n})\"], boundary = \"next_turn\"");
    let newest = |outcome: &Outcome| left(outcome)[1];
    // Five messages begin inside the second turn: the cut moves to the start of the third.
    let outcome = play_until(&case, &drop_at(call + 1, &take(5)), Some(call));
    assert_eq!(newest(&outcome), opens[2]);
    // The newest message opens no turn: the cut moves back.
    let outcome = play_until(&case, &drop_at(call + 1, &take(1)), Some(call));
    assert_eq!(newest(&outcome), opens[2]);
    let outcome = play_until(&case, &drop_at(call + 1, &take(0)), Some(call));
    assert_eq!(newest(&outcome), opens[2]);
}

fn clear(take: &str) -> String {
    let comma = if take.is_empty() { "" } else { "," };
    format!(
        "[[stage]]\nid = \"c\"\nat = \"before_call\"\nwhen = \"true\"\ntake = {{ what = \"tool_results\"{comma} {take} }}\ndo = {{ clear = {{ marker = \"[gone]\" }} }}"
    )
}

#[test]
fn all_but_the_newest_results_are_cleared() {
    let case = case(&Talk::tool_calls(5, 50), 100_000);
    let outcome = play(&case, &clear("keep = [\"last_results(2)\"]"));
    let cleared: Vec<_> = (0..)
        .zip(statuses(&case, &outcome))
        .filter(|(_, f)| *f == MessageStatus::Cleared)
        .map(|(m, _)| m)
        .collect();
    assert_eq!(cleared, [3, 5, 7]);
}

#[test]
fn results_of_other_tools_are_neither_cleared_nor_counted() {
    let mut talk = Talk::tool_calls(3, 50);
    let call = plimsoll_core::session::Body::ToolCall {
        call: "w".into(),
        tool: "write_file".into(),
        arguments: "{}".into(),
    };
    let result = plimsoll_core::session::Body::ToolResult {
        call: "w".into(),
        tool: "write_file".into(),
        is_error: false,
        text: "line ".repeat(50).into(),
    };
    talk.message(Role::Assistant, vec![crate::conversation::part(call)]);
    talk.message(Role::Tool, vec![crate::conversation::part(result)]);
    talk.message(Role::Assistant, vec![crate::conversation::text("Written.")]);
    let case = case(&talk, 100_000);
    let cleared = |take: &str| -> Vec<usize> {
        let outcome = play(&case, &clear(take));
        let statuses = statuses(&case, &outcome);
        (0..statuses.len()).filter(|m| statuses[*m] == MessageStatus::Cleared).collect()
    };
    // 3, 5 and 7 are results of read, 10 of write_file.
    assert_eq!(cleared("keep = [\"last_results(1)\"], only = [\"read\"]"), [3, 5]);
    assert_eq!(cleared("keep = [\"last_results(1)\"], except = [\"read\"]"), Vec::<usize>::new());
    assert_eq!(cleared("only = [\"write*\"]"), [10]);
}

#[test]
fn only_results_of_repeated_calls_are_cleared() {
    let mut talk = Talk::new();
    talk.turn(1, 50);
    for id in ["again", "other", "again_2"] {
        let path = if id == "other" { "b" } else { "a" };
        let call = plimsoll_core::session::Body::ToolCall {
            call: id.into(),
            tool: "read".into(),
            arguments: format!("{{\"path\":\"{path}\"}}").into(),
        };
        let result = plimsoll_core::session::Body::ToolResult {
            call: id.into(),
            tool: "read".into(),
            is_error: false,
            text: "line ".repeat(50).into(),
        };
        talk.message(Role::Assistant, vec![crate::conversation::part(call)]);
        talk.message(Role::Tool, vec![crate::conversation::part(result)]);
    }
    talk.message(Role::Assistant, vec![crate::conversation::text("Read.")]);
    let case = case(&talk, 100_000);
    let outcome = play(&case, &clear("repeated = true"));
    let statuses = statuses(&case, &outcome);
    let cleared: Vec<_> =
        (0..statuses.len()).filter(|m| statuses[*m] == MessageStatus::Cleared).collect();
    assert_eq!(cleared, [6], "the first of the two reads of a");
    assert_eq!(outcome.events.len(), 1);
    assert_eq!(outcome.events[0].call, case.session.calls.len() - 1, "once it was read again");
}

/// Returns a session with these calls of one tool: id, arguments and result.
fn reads(calls: &[(&str, &str, &str)]) -> Case {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![crate::conversation::text("Read them.")]);
    for (id, path, text) in calls {
        let call = plimsoll_core::session::Body::ToolCall {
            call: (*id).into(),
            tool: "read".into(),
            arguments: format!("{{\"path\":\"{path}\"}}").into(),
        };
        let result = plimsoll_core::session::Body::ToolResult {
            call: (*id).into(),
            tool: "read".into(),
            is_error: false,
            text: (*text).into(),
        };
        talk.message(Role::Assistant, vec![crate::conversation::part(call)]);
        talk.message(Role::Tool, vec![crate::conversation::part(result)]);
    }
    talk.message(Role::Assistant, vec![crate::conversation::text("Read.")]);
    case(&talk, 100_000)
}

fn dedupe(take: &str) -> String {
    clear(take).replace(
        "clear = { marker = \"[gone]\" }",
        "dedupe = { pointer = \"[as {call} of {tool}]\" }",
    )
}

/// Returns the texts that replace results, by message.
fn pointers(outcome: &Outcome) -> Vec<(u32, String)> {
    let entries = outcome.context.entries.iter();
    let edited = entries.filter_map(|entry| match &entry.body {
        EntryBody::Edited(edited) => Some(edited),
        _ => None,
    });
    let text = |edited: &Edited| match edited.parts.as_slice() {
        [PartStatus::Cleared { marker }] => {
            outcome.context.markers[*marker as usize].text.to_string()
        }
        other => panic!("{other:?}"),
    };
    edited.map(|edited| (edited.message, text(edited))).collect()
}

#[test]
fn repeated_results_point_to_the_newest_copy_and_never_to_a_pointer() {
    let long = "line ".repeat(50);
    let other = "other ".repeat(50);
    let calls = [
        ("1", "a", &*long),
        ("2", "b", &long),
        ("3", "a", &long),
        ("4", "a", &other),
        ("5", "a", &long),
        ("6", "c", "ok"),
        ("7", "c", "ok"),
    ];
    let case = reads(&calls);
    // Message 3 became a pointer to call 3 before that became one to call 5. The same text of another call and a short text
    // stay.
    let outcome = play(&case, &dedupe(""));
    let expected = [(3, "[as 5 of read]"), (7, "[as 5 of read]")];
    assert_eq!(pointers(&outcome), expected.map(|(message, text)| (message, text.to_owned())));
    assert_eq!(outcome.events.len(), 2);
    assert!(outcome.events.iter().all(|event| event.action == ActionKind::Dedupe));
    let kept = play(&case, &dedupe("keep = [\"last_results(5)\"]"));
    assert_eq!(pointers(&kept), [(3, "[as 5 of read]".to_owned())]);
}

#[test]
fn a_pointer_is_cleared_before_the_copy_that_it_names() {
    let long = "line ".repeat(50);
    let case = reads(&[("1", "a", &long), ("2", "a", &long), ("3", "b", &long)]);
    let stages = format!(
        "{}\n{}",
        dedupe(""),
        clear("keep = [\"last_results(2)\"]").replace("\"c\"", "\"d\"")
    );
    assert_eq!(pointers(&play(&case, &stages)), [(3, "[gone]".to_owned())]);
}

#[test]
fn a_pointer_of_the_file_follows_its_copy() {
    let long = "line ".repeat(50);
    let case = reads(&[("1", "a", "[as 2 of read]"), ("2", "a", &long), ("3", "a", &long)]);
    let expected = [(3, "[as 3 of read]"), (5, "[as 3 of read]")];
    let expected = expected.map(|(message, text)| (message, text.to_owned()));
    assert_eq!(pointers(&play(&case, &dedupe(""))), expected);
}

const CUT: &str = "[[stage]]\nid = \"cut\"\nat = \"tool_result\"\nwhen = \"true\"\ndo = { cut = { unit = \"chars\", over = \"100\", keep = \"40\", head = 0.5, marker = \"…\" } }\n";

#[test]
fn a_cut_result_can_be_cleared_and_has_its_remaining_weight() {
    let case = case(&Talk::tool_calls(4, 100), 100_000);
    let cut = play(&case, CUT);
    assert_eq!(cut.events.len(), 4);
    assert!(statuses(&case, &cut).contains(&MessageStatus::Cut));
    let both = format!("{CUT}{}", clear("keep = [\"last_results(1)\"]"));
    let outcome = play(&case, &both);
    let statuses = statuses(&case, &outcome);
    assert_eq!(
        [statuses[3], statuses[5], statuses[7], statuses[9]],
        [
            MessageStatus::Cleared,
            MessageStatus::Cleared,
            MessageStatus::Cleared,
            MessageStatus::Cut
        ]
    );
    let whole = format!("{CUT}{}", clear("keep = [\"last_tool_tokens(1000)\"]"));
    assert_eq!(play(&case, &whole).events.len(), 4, "what is left of all four fits");
}

#[test]
fn a_pinned_result_is_not_cut() {
    let case = case(&Talk::tool_calls(3, 100), 100_000);
    let pins = plimsoll_core::engine::ManualEdits {
        pinned: vec![5],
        ..plimsoll_core::engine::ManualEdits::default()
    };
    let outcome = play(&case.with_manual_edits(pins), CUT);
    let statuses = statuses(&case, &outcome);
    assert_eq!(
        [statuses[3], statuses[5], statuses[7]],
        [MessageStatus::Cut, MessageStatus::Kept, MessageStatus::Cut]
    );
}

#[test]
fn old_results_are_cut_once_and_written_to_files() {
    let case = case(&Talk::tool_calls(4, 100), 100_000);
    let stage = "[[stage]]\nid = \"mask\"\nat = \"before_call\"\nwhen = \"true\"\ntake = { what = \"tool_results\", keep = [\"last_results(1)\"] }\ndo = { cut = { unit = \"chars\", over = \"200\", keep = \"40\", head = 0.5, marker = \"… {path} …\", spill = true } }\n";
    let outcome = play(&case, stage);
    let touched: Vec<_> =
        outcome.events.iter().map(plimsoll_core::engine::Event::n_messages).collect();
    assert_eq!(touched, [1, 1, 1]);
    assert_eq!(outcome.events[0].action, ActionKind::Spill);
    assert_eq!(outcome.events[0].files[0].n_bytes(), Some(500));
}

#[test]
fn last_input_shrinks_with_the_context_and_sent_does_not() {
    let case = case(&Talk::tool_calls(6, 100), 100_000);
    let log = "[[stage]]\nid = \"log\"\nat = \"before_call\"\nwhen = \"true\"\ndo = { log = \"{last_input} {last_total} {used} {sent}\" }\n";
    let clear = "[[stage]]\nid = \"c\"\nat = \"after_tools\"\nwhen = \"call == 5\"\ntake = { what = \"tool_results\" }\ndo = { clear = { marker = \"[gone]\" } }\n";
    let outcome = play(&case, &format!("{clear}{log}"));
    let lines: Vec<Vec<u64>> = outcome
        .events
        .iter()
        .filter(|e| e.stage == "log")
        .map(|e| e.log[0].split(' ').map(|n| n.parse().expect("a number")).collect())
        .collect();
    let samples: Vec<u64> = outcome.samples.iter().map(|s| s.metered.0).collect();
    assert_eq!(lines[0][..2], [0, 0]);
    for call in 1..4 {
        assert_eq!(lines[call][0], samples[call - 1]);
        assert!(lines[call][0] < lines[call][1] && lines[call][1] < lines[call][2]);
        assert_eq!(lines[call][2], lines[call][3]);
    }
    let event = outcome.events.iter().find(|e| e.stage == "c").expect("it acts");
    let saved = event.before.0 - event.after.0;
    assert_eq!(lines[4][3] - lines[4][2], saved);
    assert_eq!(lines[4][..2], [lines[4][2]; 2]);
}

#[test]
fn keywords_without_effect_are_rejected() {
    let no_effect = refusal(&clear("keep = [\"first_messages(2)\"]"));
    assert!(no_effect.contains("no effect"), "{no_effect}");
    let no_effect = refusal(&drop_at(1, "keep = [\"last_results(2)\"]"));
    assert!(no_effect.contains("no effect"), "{no_effect}");
    let tools = refusal(&drop_at(1, "only = [\"read\"]"));
    assert!(tools.contains("select tool results"), "{tools}");
    let oldest = refusal(&clear("oldest = \"2\""));
    assert!(oldest.contains("selects messages"), "{oldest}");
    let hook = refusal(&clear("").replace("before_call", "tool_result"));
    assert!(hook.contains("only `cut` and named"), "{hook}");
    let lines = refusal(&CUT.replace("head = 0.5", "head = 0.5, lines = \"3\""));
    assert!(lines.contains("1 if `lines` is set"), "{lines}");
}

#[test]
fn invalid_log_lines_are_rejected() {
    let error = |line: &str| {
        refusal(&format!(
            "[[stage]]\nid = \"l\"\nat = \"before_call\"\nwhen = \"true\"\ndo = {{ log = \"{line}\" }}"
        ))
    };
    let open = error("{used} of {window");
    assert_eq!(open, "stage 'l': `{window` has no closing brace");
    for line in ["{used:.x}", "{used:.70000}"] {
        assert!(error(line).contains("decimals are a number"), "{line}");
    }
    assert!(error("{usd}").contains("unknown name `usd`"));
}

#[test]
fn a_meter_with_its_own_unit_rejects_stages_that_count_tokens() {
    let error = |stage: &str| refusal(&format!("[meter]\nname = \"cowagent\"\n{stage}"));
    let stages = [
        (drop_at(1, "keep = [\"last_tokens(9)\"]"), "last_tokens"),
        (drop_at(1, "keep = [\"system\"]") + "\nguard = { min_saved = \"9\" }", "min_saved"),
        (clear(""), "clear"),
    ];
    for (stage, keyword) in stages {
        let error = error(&stage);
        let expected = format!("`{keyword}` counts tokens, but the meter `cowagent`");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn only_a_linear_believed_fill_has_a_trigger() {
    let case = case(&Talk::tool_calls(1, 10), 100_000);
    let trigger = |fill: &str| {
        let toml = format!(
            "name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n[meter]\ncount = \"true\"\nbelieved_fill = \"{fill}\""
        );
        let policy = presets::parse(&toml).unwrap_or_else(|why| panic!("{why}"));
        let trigger = policy.trigger(&policy.defaults(), &case, 0);
        trigger.map(|trigger| trigger.tokens.0)
    };
    assert_eq!(trigger("(used + 500) / (0.8 * window)"), Some(80_000));
    for fill in [
        "min(1, used / window)",
        "if(used > 60000, used / window, 0)",
        "used * used / window",
        "0.5",
    ] {
        assert_eq!(trigger(fill), None, "{fill}");
    }
}

#[test]
fn idle_time_is_counted_in_minutes() {
    // Without recorded times a call is assumed to take 15 seconds.
    let case = case(&Talk::tool_calls(2, 10), 100_000);
    let log = "[[stage]]\nid = \"log\"\nat = \"before_call\"\nwhen = \"idle > 0.2\"\ndo = { log = \"{idle:.2}\" }\n";
    let outcome = play(&case, log);
    let lines: Vec<_> = outcome.events.iter().map(|e| (e.call, &*e.log[0])).collect();
    assert_eq!(lines, [(1, "0.25"), (2, "0.25")]);
}

#[test]
fn the_end_is_the_context_of_the_last_call_and_the_messages_since() {
    let case = case(&Talk::tool_calls(8, 500), 100_000);
    for mutates in ["view", "store"] {
        let stage = clear("keep = [\"last_results(2)\"]")
            .replace("[[stage]]", &format!("[[stage]]\nmutates = \"{mutates}\""));
        let outcome = play(&case, &stage);
        let last = outcome.samples.last().expect("a call");
        let since = case.session.calls.last().expect("a call").context_end..;
        let said: Tokens = (since.start..case.session.messages.len())
            .map(|message| case.ledger.message(message))
            .sum();
        assert_eq!(outcome.end, last.tokens + said, "{mutates}");
        assert_eq!(outcome.context.tokens(), outcome.end, "{mutates}");
    }
}
