//! Forks and compactions.

use super::{
    OLDER_TURN, OWN, YOUNGER_TURN, call, compacted, event, inputs, line, message, meta, output,
    session, started, texts, tokens, two_calls, user_message,
};
use plimsoll::json::json;
use plimsoll::session::Body;
use plimsoll::units::Tokens;

#[test]
fn the_copy_in_a_fork_is_history_without_calls() {
    let fork = json!({"id": OWN, "forked_from_id": OLDER_TURN, "base_instructions": {"text": "You are a fork."}});
    let mut lines = vec![line("session_meta", &fork)];
    lines.extend(two_calls());
    lines.extend([
        compacted(&json!([{"type": "message", "role": "user", "content": "Kept of the parent"}])),
        message("assistant", "After the compaction"),
        tokens(300, 5, 2565),
        started(YOUNGER_TURN),
    ]);
    lines.extend(user_message("Review it"));
    // Codex repeats the parent's last token count when the fork begins.
    lines.extend([tokens(300, 5, 2565), message("assistant", "Fine."), tokens(310, 5, 2880)]);
    let session = session(&lines);
    assert_eq!(inputs(&session), [Some(310)]);
    assert_eq!(session.title, "Review it");
    let [compaction] = &session.compactions[..] else { panic!("{:?}", session.compactions) };
    assert_eq!((compaction.call, compaction.tokens_before), (0, Some(Tokens(1210))));
    assert_eq!(texts(&session, &compaction.kept), ["You are a fork.", "Kept of the parent"]);
    let since: Vec<_> = (compaction.before_message..session.calls[0].context_end).collect();
    assert_eq!(texts(&session, &since), ["After the compaction", "Review it"]);
    assert_eq!(session.messages.iter().filter(|m| m.call.is_some()).count(), 1);
}

#[test]
fn a_pause_ends_the_copy_in_a_fork_whose_turns_have_no_ids() {
    let later = |text: &String| text.replace("20:00:00.000Z", "20:00:02.000Z");
    let mut lines = vec![
        line("session_meta", &json!({"id": "f", "forked_from_id": "p"})),
        message("user", "Old"),
    ];
    lines.extend([message("assistant", "Old answer"), tokens(100, 5, 105)]);
    lines.extend(user_message("New").iter().map(later));
    lines.extend([later(&message("assistant", "New answer")), later(&tokens(130, 5, 240))]);
    assert_eq!(inputs(&session(&lines)), [Some(130)]);
}

#[test]
fn a_resumed_session_is_not_a_fork() {
    let mut lines = two_calls();
    lines.push(meta());
    lines.extend(user_message("Go on"));
    lines.extend([message("assistant", "Yes."), tokens(1300, 5, 3565)]);
    let session = session(&lines);
    assert_eq!(inputs(&session), [Some(1000), Some(1200), Some(1300)]);
    assert_eq!(session.messages.iter().filter(|m| m.turn == 0).count(), 3);
}

#[test]
fn a_compaction_keeps_the_recorded_items_and_repeated_instructions() {
    let mut lines = two_calls();
    lines.extend([
        started(YOUNGER_TURN),
        compacted(&json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files"}]},
            {"type": "compaction", "encrypted_content": "c2VhbGVkIHN1bW1hcnk="},
        ])),
        event(&json!({"type": "context_compacted"})),
        message("developer", "<permissions instructions>"),
        message("user", "<environment_context>"),
    ]);
    lines.extend(user_message("Next"));
    lines.extend([message("assistant", "Done."), tokens(400, 5, 2665)]);
    let session = session(&lines);
    let [compaction] = &session.compactions[..] else { panic!("{:?}", session.compactions) };
    assert_eq!((&*compaction.trigger, compaction.call), ("auto", 2));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(Tokens(1210)), None));
    let expected = [
        "You are Codex.",
        "List the files",
        "",
        "<permissions instructions>",
        "<environment_context>",
    ];
    assert_eq!(texts(&session, &compaction.kept), expected);
    let kept: Vec<_> = compaction.kept.iter().map(|idx| &session.messages[*idx]).collect();
    assert_eq!(
        kept.iter().map(|m| m.in_history).collect::<Vec<_>>(),
        [true, true, false, false, false]
    );
    assert_eq!(
        kept.iter().map(|m| m.is_summary).collect::<Vec<_>>(),
        [false, false, true, false, false]
    );
    let summary = &session.parts_of(kept[2])[0].body;
    assert!(
        matches!(summary, Body::Thinking { sealed_bytes: 20, reported: None, .. }),
        "{summary:?}"
    );
    assert_eq!(texts(&session, &[compaction.before_message]), ["Next"]);
    assert_eq!(session.turns, 2);
}

#[test]
fn distinguishes_manual_from_automatic_compactions() {
    let ended = || event(&json!({"type": "task_complete"}));
    let history = json!([{"type": "message", "role": "user", "content": "Kept"}]);
    let mut lines = two_calls();
    lines.push(ended());
    lines.extend([started(YOUNGER_TURN), compacted(&history), ended(), started(YOUNGER_TURN)]);
    lines.extend(user_message("Next"));
    lines.extend([call("c3"), tokens(400, 5, 2665), output("c3", "x"), compacted(&history)]);
    lines.extend([message("assistant", "Done."), tokens(300, 5, 2970)]);
    let triggers: Vec<_> = session(&lines).compactions.into_iter().map(|c| c.trigger).collect();
    assert_eq!(triggers, ["manual", "auto"]);
}

#[test]
fn the_trigger_of_a_compaction_is_unknown_without_turns() {
    let mut lines = vec![meta(), message("user", "Hello"), message("assistant", "Hi")];
    lines.push(compacted(&json!([])));
    let compactions = session(&lines).compactions;
    assert_eq!(compactions.iter().map(|c| &*c.trigger).collect::<Vec<_>>(), [""]);
    assert_eq!(compactions[0].kept, [0]);
}

#[test]
fn a_compaction_with_a_summary_only_keeps_the_user_messages() {
    let mut lines = two_calls();
    lines.push(line("compacted", &json!({"message": "A summary."})));
    lines.extend(user_message("Next"));
    let session = session(&lines);
    let kept = texts(&session, &session.compactions[0].kept);
    let setup = ["You are Codex.", "<permissions instructions>", "<environment_context>"];
    assert_eq!(kept, [&setup[..], &["List the files", "A summary."]].concat());
    assert_eq!(session.messages.iter().filter(|m| m.is_summary).count(), 1);
}
