//! Writing unchanged and edited conversations.

use super::{File, call, compacted, parse, result, summaries, summary_of, text, user_record};
use crate::real_sessions;
use plimsoll::formats::{self, Input};
use plimsoll::json::{Value, json};
use plimsoll::session::{
    Body, Managed, ManagedEntry, ManagedPart, Message, Role, Session, WrittenKind,
};
use std::collections::HashSet;

/// Returns the entries that keep the whole context at the end of the session.
pub(super) fn whole_context(session: &Session) -> Vec<ManagedEntry> {
    let messages = session.real_context(session.messages.len()).into_iter();
    messages.map(|message| ManagedEntry::Kept { message }).collect()
}

/// Returns the written file and the session that is read from it.
pub(super) fn export(session: &Session, entries: Vec<ManagedEntry>) -> (String, Session) {
    let format = formats::by_name(session.source.format).expect("it was read by it");
    let bytes = format
        .write(session, &Managed { entries, ..Managed::default() })
        .expect("it is a session of this format");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let input = Input { name: "export.jsonl".into(), bytes: bytes.into() };
    (text, formats::parse(&input).expect("it reads again").sessions.remove(0))
}

/// Returns the roles and bodies of a session's last context.
fn last_context(session: &Session) -> Vec<(Role, bool, bool, Vec<Body>)> {
    let bodies =
        |message: &Message| session.parts_of(message).iter().map(|p| p.body.clone()).collect();
    whole_context(session)
        .iter()
        .filter_map(|entry| {
            if let ManagedEntry::Kept { message } = entry {
                Some(&session.messages[*message])
            } else {
                None
            }
        })
        .map(|message| (message.role, message.is_injected, message.is_summary, bodies(message)))
        .collect()
}

/// Checks that every parent named by a record is an earlier record.
fn has_whole_chain(text: &str) -> bool {
    let mut seen = HashSet::new();
    text.lines().all(|line| {
        let record: Value = serde_json::from_str(line).expect("our lines are JSON");
        let has_parent = record["parentUuid"].as_str().is_none_or(|parent| seen.contains(parent));
        seen.insert(record["uuid"].as_str().unwrap_or_default().to_owned());
        has_parent
    })
}

#[test]
fn an_untouched_context_is_written_byte_for_byte() {
    let file = compacted();
    let session = file.parse().sessions.remove(0);
    let (text, again) = export(&session, whole_context(&session));
    let expected: Vec<&str> = [5, 3, 7, 8].iter().map(|idx| file.lines[*idx].as_str()).collect();
    let written: Vec<_> = text.lines().filter(|line| expected.contains(line)).collect();
    assert_eq!(written, expected);
    // The kept messages are now between these two records, so the second one has a new parent.
    let adopted = file.lines[6].replacen("\"parentUuid\":\"id-5\"", "\"parentUuid\":\"id-3\"", 1);
    assert!(text.lines().any(|line| line == adopted), "{text}");
    assert_eq!(last_context(&again), last_context(&session));
    assert!(has_whole_chain(&text), "{text}");
    assert_eq!(export(&session, whole_context(&session)).0, text);
}

/// Returns a file with an image in a result and a copy of the image in the record.
fn with_picture() -> File {
    let mut file = File::default();
    file.user("go");
    file.assistant("m1", &text("look"), 1);
    file.assistant("m1", &call("a"), 1);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let mut seen = user_record(result("a", &json!([text("long"), image])));
    seen["toolUseResult"] = json!("long");
    file.add("user", &seen);
    file.assistant("m2", &text("done"), 1);
    file
}

#[test]
fn a_cleared_result_loses_its_text_and_images_and_keeps_its_call() {
    let file = with_picture();
    let session = file.parse().sessions.remove(0);
    let mut entries = whole_context(&session);
    let part = session.messages[2].parts.start;
    entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![ManagedPart::Replaced { part, text: "[cleared]".into() }],
    };
    let (text, again) = export(&session, entries);
    assert_eq!(summaries(&again)[2], "user: Read=[cleared]");
    assert!(!text.contains("AAAA") && !text.contains("long"), "{text}");
    assert_eq!(text.lines().count(), 6, "the last line is our mark");
    assert_eq!(text.lines().nth(2), Some(file.lines[2].as_str()));
    let keys = |line: &str| {
        plimsoll::json::from_str(line)
            .expect("JSON")
            .as_object()
            .expect("object")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut expected = keys(&file.lines[3]);
    expected.retain(|key| key != "toolUseResult");
    assert_eq!(keys(text.lines().nth(3).expect("the edited line")), expected);
}

#[test]
fn parts_that_are_not_listed_are_removed() {
    let session = with_picture().parse().sessions.remove(0);
    let mut entries = whole_context(&session);
    let calls = session.messages[1].parts.start + 1;
    let result = session.messages[2].parts.start;
    entries[1] =
        ManagedEntry::Edited { message: 1, parts: vec![ManagedPart::Kept { part: calls }] };
    entries[2] =
        ManagedEntry::Edited { message: 2, parts: vec![ManagedPart::Kept { part: result }] };
    let (text, again) = export(&session, entries);
    assert_eq!(summaries(&again)[1..3], ["assistant: Read{\"path\":\"a\"}", "user: Read=long"]);
    assert!(has_whole_chain(&text), "{text}");
}

#[test]
fn notices_and_summaries_are_written_at_their_positions() {
    let file = compacted();
    let session = file.parse().sessions.remove(0);
    let written = |kind, text: &str| ManagedEntry::Written {
        role: Role::User,
        text: text.into(),
        kind,
        joins_next: false,
        answers: None,
        before_message: 6,
    };
    let kept = |message| ManagedEntry::Kept { message };
    let notice = vec![kept(0), written(WrittenKind::Notice, "3 left out"), kept(6), kept(7)];
    let (text, again) = export(&session, notice);
    assert_eq!(
        summaries(&again),
        ["user: go", "user~: 3 left out", "user: and now", "assistant: three"]
    );
    assert!(has_whole_chain(&text), "{text}");
    assert_eq!(text.lines().count(), 5, "the notice is the parent that the next record looks for");
    let record: Value =
        serde_json::from_str(text.lines().nth(1).expect("the notice")).expect("JSON");
    assert_eq!(
        [&record["sessionId"], &record["timestamp"], &record["isMeta"]],
        [&json!("s"), &json!("2026-01-02T03:04:05.000Z"), &json!(true)]
    );

    for first in [vec![], vec![kept(0)]] {
        let n_before = first.len();
        let entries =
            [first, vec![written(WrittenKind::Summary, "so far"), kept(6), kept(7)]].concat();
        let (text, again) = export(&session, entries);
        assert_eq!(
            summaries(&again)[n_before..],
            ["userΣ: so far", "user: and now", "assistant: three"]
        );
        assert_eq!(last_context(&again).len(), n_before + 3);
        assert!(has_whole_chain(&text), "{text}");
        assert!(
            text.lines().next().is_some_and(|line| line.contains("compact_boundary")),
            "{text}"
        );
    }
}

#[test]
fn usage_recorded_before_an_export_is_ignored_and_later_usage_counts() {
    let session = with_picture().parse().sessions.remove(0);
    let is_reported = |session: &Session| {
        let reported = session.calls.iter().map(|call| call.usage.is_some());
        reported.collect::<Vec<_>>()
    };
    let (whole, again) = export(&session, whole_context(&session));
    assert_eq!(is_reported(&again), [true, true], "nothing changed: {whole}");

    let mut entries = whole_context(&session);
    entries.remove(0);
    let (text, again) = export(&session, entries.clone());
    assert_eq!(is_reported(&again), [false, false], "{text}");
    assert_eq!(again.models, session.models);

    let mut later = File { last: Some("id-4".into()), ..File::default() };
    later.user("and now");
    later.assistant("m9", &self::text("later"), 7);
    let later = later.lines.join("\n");
    let later = later.replace("\"id-0\"", "\"new-0\"").replace("\"id-1\"", "\"new-1\"");
    let continued = parse(&format!("{text}{later}")).sessions.remove(0);
    assert_eq!(is_reported(&continued), [false, false, true], "{text}{later}");
    let (_, again) = export(&continued, whole_context(&continued)[1..].to_vec());
    assert_eq!(is_reported(&again), [false, false]);
}

/// Returns entries that clear, remove and add messages.
fn managed_entries(session: &Session) -> Vec<ManagedEntry> {
    let entries = whole_context(session);
    let half = entries.len() / 2;
    let prune = |entry: &ManagedEntry| {
        let ManagedEntry::Kept { message } = entry else {
            return entry.clone();
        };
        let is_result = |part: &usize| matches!(session.parts[*part].body, Body::ToolResult { .. });
        let range = session.messages[*message].parts.clone();
        match range.clone().find(is_result) {
            Some(part) => {
                let others = range.filter(|p| {
                    !is_result(p) && !matches!(session.parts[*p].body, Body::Media { .. })
                });
                let cleared = ManagedPart::Replaced { part, text: "[cleared]".into() };
                let parts = std::iter::once(cleared)
                    .chain(others.map(|part| ManagedPart::Kept { part }))
                    .collect();
                ManagedEntry::Edited { message: *message, parts }
            }
            None => entry.clone(),
        }
    };
    let written = |kind| ManagedEntry::Written {
        role: Role::User,
        text: "ours".into(),
        kind,
        joins_next: false,
        answers: None,
        before_message: 0,
    };
    let mut managed =
        vec![entries[0].clone(), written(WrittenKind::Summary), written(WrittenKind::Notice)];
    managed.extend(entries[half.max(1)..].iter().map(prune));
    managed
}

#[test]
fn real_sessions_are_read_and_can_be_written_and_read_again() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("an index");
    for row in index.lines().filter(|row| row.starts_with("claude_code/")) {
        let columns: Vec<_> = row.split('\t').collect();
        let bytes =
            std::fs::read(folder.join(columns[0])).expect("a file of the index can be read");
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let session = parse(&source).sessions.remove(0);
        assert_eq!(
            session.largest_reported().map(|peak| peak.0.to_string()).as_deref(),
            Some(columns[10]),
            "{row}"
        );
        let boundaries = source.matches("\"subtype\":\"compact_boundary\"").count();
        assert_eq!(session.compactions.len(), boundaries, "{row}");

        let (_, again) = export(&session, whole_context(&session));
        assert_eq!(last_context(&again), last_context(&session), "{row}");

        let managed = managed_entries(&session);
        let (text, again) = export(&session, managed.clone());
        let n_messages = managed.len();
        assert_eq!(last_context(&again).len(), n_messages, "{row}");
        for (entry, message) in managed.iter().zip(&again.messages) {
            let user_record = summary_of(&again, message);
            match entry {
                ManagedEntry::Kept { message } => {
                    let message = &session.messages[*message];
                    let is_whole = message
                        .raw
                        .iter()
                        .all(|span| text.contains(&*String::from_utf8_lossy(&session.raw(span))));
                    assert!(is_whole, "{row}: {user_record}");
                }
                ManagedEntry::Edited { .. } => {
                    assert!(user_record.contains("=[cleared]"), "{row}: {user_record}");
                }
                ManagedEntry::Written { .. } => {
                    assert!(user_record.ends_with(": ours"), "{row}: {user_record}");
                }
            }
        }
    }
}
