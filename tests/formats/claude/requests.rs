//! Requests and reminders that newer versions record.

use super::writing::{export, whole_context};
use super::{parse, summaries};
use plimsoll::formats::Parsed;
use plimsoll::json::{Value, json};
use plimsoll::session::{ManagedEntry, ManagedPart, Role, Session, WrittenKind};
use std::fs;

fn fixture(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/fixtures/claude_code/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("it is a file");
    text.lines().map(|line| plimsoll::json::from_str(line).expect("JSON")).collect()
}

fn read(records: &[Value]) -> Parsed {
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    parse(&lines.join("\n"))
}

fn is(record: &Value, kind: &str) -> bool {
    record["type"] == kind
}

/// Returns the texts that each call received.
fn contexts(session: &Session) -> Vec<Vec<String>> {
    let texts = |end: usize| {
        let messages = session.real_context(end);
        let parts = messages.iter().flat_map(|idx| session.parts_of(&session.messages[*idx]));
        parts.map(|part| part.body.text().trim_end().to_owned()).collect()
    };
    session.calls.iter().map(|call| texts(call.context_end)).collect()
}

fn verified(parsed: &Parsed) -> usize {
    parsed.report.records.get("api-request (verified)").map_or(0, |n| n.count)
}

fn warnings(parsed: &Parsed) -> Vec<String> {
    parsed.warnings.iter().map(ToString::to_string).collect()
}

/// Warning about the result that the program cleared in the fixture.
const CLEARED: &str = "before call 3, the program changed messages that it had sent before; the context has what it sent";

#[test]
fn the_context_has_what_was_sent_if_the_records_lack_it() {
    let all = fixture("requests.jsonl");
    let expected = read(&all);
    assert_eq!((verified(&expected), warnings(&expected)), (5, vec![CLEARED.to_owned()]));
    let expected = contexts(&expected.sessions[0]);
    assert!(expected[2].contains(&"[cleared]".to_owned()), "{expected:?}");
    assert!(!expected[1].contains(&"[cleared]".to_owned()), "{expected:?}");
    let mut without = all.clone();
    without.retain(|record| record.get("rendered").is_none());
    let found = read(&without);
    assert_eq!(verified(&found), 5);
    assert_eq!(contexts(&found.sessions[0]), expected);
    // The records of the conversation have other results than the requests.
    let mut changed = all;
    for record in changed.iter_mut().filter(|record| is(record, "user")) {
        if let Some(block) =
            record["message"]["content"].as_array_mut().and_then(|it| it.first_mut())
        {
            block["content"] = "…".into();
        }
    }
    let found = read(&changed);
    assert_eq!(contexts(&found.sessions[0]), expected);
    assert_eq!(warnings(&found), [CLEARED]);
    let session = &found.sessions[0];
    let (_, again) = export(session, whole_context(session));
    assert_eq!(contexts(&again).last(), contexts(session).last());
}

#[test]
fn without_requests_the_records_have_what_was_sent() {
    let mut all = fixture("requests.jsonl");
    let expected = contexts(&read(&all).sessions[0]);
    all.retain(|record| !record["type"].as_str().unwrap_or_default().starts_with("api-request"));
    let found = read(&all);
    assert_eq!(warnings(&found), [""; 0]);
    let found = contexts(&found.sessions[0]);
    assert_eq!(found[..2], expected[..2]);
    // The tool that was added is in no other record.
    assert_eq!(found[3][1..], expected[3][2..]);
}

#[test]
fn a_request_with_another_hash_causes_a_warning() {
    let mut all = fixture("requests.jsonl");
    let expected = contexts(&read(&all).sessions[0]);
    let at = all.iter().position(|record| is(record, "api-request")).expect("it has requests");
    all[at]["params"]["max_tokens"] = 1.into();
    let found = read(&all);
    assert_eq!(verified(&found), 4);
    let line = at + 1;
    let text = format!("line {line}: 1 of 5 recorded requests does not match its hash");
    assert_eq!(warnings(&found), [text, CLEARED.to_owned()]);
    assert_eq!(contexts(&found.sessions[0]), expected);
}

#[test]
fn messages_that_are_not_recorded_are_those_of_the_conversation() {
    let mut all = fixture("requests.jsonl");
    let expected = contexts(&read(&all).sessions[0]);
    for record in all.iter_mut().filter(|record| is(record, "api-request-blob")) {
        record["message"]["content"] = "damaged".into();
    }
    let found = read(&all);
    assert_eq!(verified(&found), 0);
    assert_eq!(contexts(&found.sessions[0])[..2], expected[..2]);
}

#[test]
fn requests_before_the_mark_of_a_managed_conversation_are_ignored() {
    let mut all = fixture("requests.jsonl");
    let mut answers = all.iter().filter(|record| is(record, "assistant"));
    let first = answers.clone().next().cloned().expect("it has answers");
    let last = answers.next_back().cloned().expect("it has answers");
    let row = |parent: &Value, id: &str, fields: Value| {
        let mut record = last.clone();
        for key in ["message", "requestRef"] {
            record.as_object_mut().expect("an object").shift_remove(key);
        }
        record["parentUuid"] = parent.clone();
        record["uuid"] = id.into();
        for (key, value) in fields.as_object().expect("an object") {
            record[key] = value.clone();
        }
        record
    };
    let mark =
        json!({"type": "system", "subtype": "plimsoll_managed", "content": "", "isMeta": true});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "More"}});
    let mut answer = last["message"].clone();
    answer["id"] = "msg_new".into();
    let answer = json!({"type": "assistant", "message": answer, "requestRef": first["requestRef"]});
    all.push(row(&last["uuid"], "a", mark));
    all.push(row(&"a".into(), "b", prompt));
    all.push(row(&"b".into(), "c", answer));
    let found = read(&all);
    let session = &found.sessions[0];
    assert_eq!((verified(&found), session.revisions.len()), (0, 0));
    let context = contexts(session).pop().expect("it has calls");
    assert_eq!(context.last().map(String::as_str), Some("More"));
}

/// Returns the messages of the context at the end.
fn last_texts(session: &Session) -> Vec<String> {
    let texts = summaries(session);
    let kept = session.real_context(session.messages.len());
    let texts = kept.into_iter().map(|idx| texts[idx].clone());
    texts.map(|text| text.replace(['!', '~'], "")).collect()
}

#[test]
fn an_untouched_context_is_written_with_its_reminders_and_instructions() {
    for name in ["requests.jsonl", "rendered.jsonl"] {
        let session = read(&fixture(name)).sessions.remove(0);
        let (text, again) = export(&session, whole_context(&session));
        assert_eq!(last_texts(&again), last_texts(&session), "{name}: {text}");
        assert_eq!(export(&session, whole_context(&session)).0, text);
    }
}

#[test]
fn reminders_keep_their_position_if_an_answer_is_removed() {
    let session = read(&fixture("rendered.jsonl")).sessions.remove(0);
    let kept = |message| ManagedEntry::Kept { message };
    let written = ManagedEntry::Written {
        role: Role::User,
        text: "Left out".into(),
        kind: WrittenKind::Notice,
        joins_next: false,
        answers: None,
        before_message: 4,
    };
    // Both runs of prompts become one, of which the program would send all reminders first.
    let entries = vec![kept(0), kept(1), kept(2), kept(4), written, kept(12), kept(15), kept(16)];
    let (text, again) = export(&session, entries);
    let texts: Vec<String> = last_texts(&again).into_iter().skip(2).collect();
    let expected = [
        "user: <system-reminder>\nMill on the river\n</system-reminder>",
        "user: Grind the wheat",
        "user: Left out",
        "user: <system-reminder>\nMill on the river\n</system-reminder>",
        "user: Go on",
        "assistant: On.",
    ];
    assert_eq!(texts, expected, "{text}");
}

#[test]
fn a_changed_result_loses_the_reminders_in_it() {
    let session = read(&fixture("rendered.jsonl")).sessions.remove(0);
    let part = session.messages[7].parts.start;
    let edited = |change| {
        let mut entries: Vec<_> = (0..10).map(|message| ManagedEntry::Kept { message }).collect();
        entries[7] = ManagedEntry::Edited { message: 7, parts: vec![change] };
        last_texts(&export(&session, entries).1)[7].clone()
    };
    let replaced = ManagedPart::Replaced { part, text: "[cleared]".into() };
    assert_eq!(edited(replaced), "user: Bash=[cleared]");
    let reminder = "user: Bash=<system-reminder>\n900 left\n</system-reminder>";
    assert_eq!(edited(ManagedPart::Kept { part }), reminder);
}

#[test]
fn instructions_without_tools_are_written_as_a_new_record() {
    let session = read(&fixture("rendered.jsonl")).sessions.remove(0);
    let entries: Vec<_> = (1..10).map(|message| ManagedEntry::Kept { message }).collect();
    let (text, again) = export(&session, entries);
    assert!(text.starts_with("{\"type\":\"api-request-shape\""), "{text}");
    assert_eq!(last_texts(&again)[0], "system: You are a miller. | Be calm.");
    assert_eq!(last_texts(&again).len(), 9, "{text}");
}

#[test]
fn requests_that_refer_to_anything_do_no_harm() {
    let all = fixture("requests.jsonl");
    let requests: Vec<usize> = (0..all.len()).filter(|at| is(&all[*at], "api-request")).collect();
    let id = |at: usize| all[at]["id"].clone();
    let changes = [
        ("base", id(requests[2])),
        ("base", id(requests[0])),
        ("base", "nobody".into()),
        ("base", 3.into()),
        ("keep", u64::MAX.into()),
        ("keep", (-1).into()),
        ("keep", 1.5.into()),
        ("tail", json!(["zz", 1, null])),
        ("tail", json!(["é".repeat(32)])),
        ("tail", Value::Null),
        ("cacheControl", json!([{"path": ["messages", 99, "content"], "value": 1}, {"path": 3}])),
        ("cacheControl", Value::Array(vec![json!({"path": [], "value": {}}); 100])),
        ("params", json!([])),
        ("shapeHash", "nothing".into()),
        ("cut", json!([1])),
        ("requestDigest", Value::Null),
    ];
    for (key, value) in changes {
        for at in &requests {
            let mut edited = all.clone();
            edited[*at][key] = value.clone();
            let found = read(&edited);
            assert_eq!(found.sessions[0].calls.len(), 4, "{key} {value}");
        }
    }
}

#[test]
fn requests_that_alternate_between_long_contexts_do_not_take_long() {
    let mut all = fixture("requests.jsonl");
    let requests = all.iter().filter(|record| is(record, "api-request"));
    let tails: Vec<Value> = requests.clone().map(|record| record["tail"][0].clone()).collect();
    let request = requests.clone().next().cloned().expect("it has requests");
    for n in 0..1_000 {
        let mut more = request.clone();
        more["id"] = format!("request-{n}").into();
        if n < 2 {
            let tail = tails.get(n).cloned().expect("two requests");
            more["tail"] = Value::Array(vec![tail; 1_000]);
        } else {
            more["base"] = format!("request-{}", n % 2).into();
            more["keep"] = 1_000.into();
        }
        all.push(more);
    }
    assert_eq!(read(&all).sessions[0].calls.len(), 4);
}
