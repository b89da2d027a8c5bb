//! Writing unchanged and edited conversations.

use super::{
    all_kept, anthropic_request, export, export_own, line, lines, openai_request, read, session,
};
use crate::dice::Dice;
use crate::real_sessions;
use plimsoll::session::{
    Body, Managed, ManagedEntry, ManagedPart, Role, Session, WrittenKind, issues,
};
use plimsoll::units::Tokens;

/// Returns documents with a single conversation and unusual bytes.
fn odd_documents() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![
        openai_request().into_bytes(),
        anthropic_request().into_bytes(),
        b"\xef\xbb\xbf [ {\"role\":\"user\",\"content\":\"hi \\ud83d there\"} ,\n\n\t{\"role\" : \"assistant\", \"content\":\"\", \"content\":\"twice\",\"n\":1e400, \"big\":123456789012345678901234567890}\r\n] \n\n".to_vec(),
        b"{\"title\":\"T\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"exit\",\"content\":\"b\"}],\"info\":[]}".to_vec(),
        b"{\"role\":\"user\",\"content\":\"a\"}\r\n\r\n{\"role\":\"assistant\",\"content\":\"b\"}\r\nbroken\r\n{\"role\":\"user\",\"content\":\"c\"}{\"role\":\"assistant\",\"content\":\"d\"}\r\n{\"role\":\"us".to_vec(),
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}], \"response\": {\"model\":\"m\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"b\"}}],\"usage\":{\"prompt_tokens\":9}}}\n".to_vec(),
        b"{\"request\":{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}, \"response\": {\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"b\"}],\"usage\":{\"input_tokens\":9}}}".to_vec(),
    ];
    let one_line: String = anthropic_request().lines().map(str::trim).collect();
    all.push(one_line.into_bytes());
    all
}

#[test]
fn unchanged_conversations_are_written_byte_for_byte() {
    for document in odd_documents() {
        let session = session(&document);
        let out = export_own(&session, &all_kept(&session));
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&document));
        assert_eq!(out, document);
    }
}

/// Returns a random edit of a session and the lines expected after reading it again.
fn random_edit(session: &Session, dice: &mut Dice) -> (Managed, Vec<String>) {
    let (mut managed, mut expected) = (Managed::default(), Vec::new());
    for (idx, message) in session.messages.iter().enumerate() {
        if dice.roll(8) == 0 && !message.raw.is_empty() {
            let text = format!("written {idx}");
            expected.push(line(Role::User, &Body::Text(text.as_str().into())));
            let written = ManagedEntry::Written {
                role: Role::User,
                text,
                kind: WrittenKind::Notice,
                joins_next: false,
                answers: None,
                before_message: idx,
            };
            managed.entries.push(written);
        }
        let mut parts = Vec::new();
        let mut left = Vec::new();
        let change = dice.roll(4);
        for (part, body) in
            message.parts.clone().zip(session.parts_of(message).iter().map(|p| &p.body))
        {
            let is_result = matches!(body, Body::ToolResult { .. });
            let is_within = matches!(body, Body::Media { within: Some(_), .. });
            match (if change > 1 { 0 } else { dice.roll(3) }, body) {
                (1, Body::Text(_) | Body::ToolResult { .. }) => {
                    parts.push(ManagedPart::Replaced { part, text: format!("new {part}") });
                    left.push(replaced(body, &format!("new {part}")));
                }
                // An image of a result is not kept without it. Nothing else is removed from a message with results.
                (2, _) if !is_result && (change == 1 || is_within) => {}
                _ => {
                    parts.push(ManagedPart::Kept { part });
                    left.push(body.clone());
                }
            }
        }
        match change {
            0 if !message.raw.is_empty() => continue,
            3 => managed.entries.push(ManagedEntry::Kept { message: idx }),
            _ => managed.entries.push(ManagedEntry::Edited { message: idx, parts }),
        }
        expected.extend(left.iter().map(|body| line(message.role, body)));
    }
    (managed, expected)
}

fn replaced(body: &Body, new: &str) -> Body {
    match body.clone() {
        Body::ToolResult { call, tool, is_error, .. } => {
            Body::ToolResult { call, tool, is_error, text: new.into() }
        }
        _ => Body::Text(new.into()),
    }
}

/// Removes the tool of results, which is unknown without their call.
fn without_tools(lines: Vec<String>) -> Vec<String> {
    let short = |line: String| match line.split_once(" answers ") {
        Some((role, rest)) => {
            let words: Vec<&str> = rest.splitn(3, ' ').collect();
            format!("{role} answers {} {}", words[0], words[2])
        }
        None => line,
    };
    lines.into_iter().map(short).collect()
}

#[test]
fn edited_conversations_read_as_their_remaining_parts() {
    let mut dice = Dice(7);
    let mut n_read = 0;
    for document in odd_documents() {
        let session = session(&document);
        for _ in 0..300 {
            let (managed, expected) = random_edit(&session, &mut dice);
            let out = export_own(&session, &managed);
            let Ok(parsed) = read(&out) else {
                // Instructions alone are not a conversation.
                assert!(expected.iter().all(|l| l.starts_with("system")), "{expected:?}");
                continue;
            };
            let text = String::from_utf8_lossy(&out);
            assert_eq!(
                without_tools(lines(&parsed.sessions[0])),
                without_tools(expected),
                "{text}"
            );
            n_read += 1;
        }
    }
    assert!(n_read > 1500, "{n_read}");
}

#[test]
fn untouched_messages_keep_their_bytes() {
    let text = openai_request();
    let session = session(text.as_bytes());
    let mut managed = all_kept(&session);
    managed.entries[4] = ManagedEntry::Edited {
        message: 4,
        parts: vec![ManagedPart::Replaced {
            part: session.messages[4].parts.start,
            text: "[cleared]".to_owned(),
        }],
    };
    managed.entries.remove(6);
    let out = export(&session, "openai_chat", &managed);
    let expected = text
        .replace(
            r#"[{"type": "text", "text": "first"}, {"type": "text", "text": "second"}]"#,
            r#""[cleared]""#,
        )
        .replace("  {\"role\": \"assistant\", \"content\": \"A cat.\", \"tool_calls\": []},\n", "");
    assert_eq!(out, expected);
}

#[test]
fn a_cleared_result_can_lose_its_images_and_keeps_its_call() {
    let session = session(anthropic_request().as_bytes());
    let mut managed = all_kept(&session);
    let parts = session.messages[4].parts.clone();
    managed.entries[4] = ManagedEntry::Edited {
        message: 4,
        parts: vec![
            ManagedPart::Replaced { part: parts.start, text: "[cleared]".to_owned() },
            ManagedPart::Kept { part: parts.start + 3 },
            ManagedPart::Kept { part: parts.start + 4 },
        ],
    };
    let out = export(&session, "anthropic_messages", &managed);
    assert!(
        out.contains(r#"{"type": "tool_result", "tool_use_id": "t1", "content": "[cleared]"}"#),
        "{out}"
    );
    let again = self::session(out.as_bytes());
    assert_eq!(issues(&again), []);
}

#[test]
fn a_logged_answer_is_the_last_message() {
    let pair = |last: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}{last}],"response":{{"model":"m","choices":[{{"message":{{"role":"assistant","content":"b"}}}}],"usage":{{"prompt_tokens":7}}}}}}"#
        )
    };
    for last in ["", r#",{"role":"assistant","content":"b"}"#] {
        assert_eq!(lines(&session(pair(last).as_bytes())), ["user \"a\"", "assistant \"b\""]);
    }
    let session = session(pair("").as_bytes());
    assert_eq!(session.largest_reported(), Some(Tokens(7)));
    // After a change, the answer is in the list.
    let managed =
        Managed { entries: vec![ManagedEntry::Kept { message: 1 }], ..Managed::default() };
    assert_eq!(
        export(&session, "openai_chat", &managed),
        r#"{"messages":[{"role":"assistant","content":"b"}]}"#
    );
}

fn shared(path: &str) -> Option<Vec<u8>> {
    let folder = real_sessions::folder()?;
    let found = std::fs::read(folder.join(path)).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not in {}", folder.display());
    }
    found
}

#[test]
fn real_conversations_are_read_and_written_byte_for_byte() {
    let files = [
        ("openai_chat/holmes-001-compaction-334k.json", 88, 38, None),
        ("openai_chat/holmes-93-datadog.json", 30, 14, None),
        ("mini_swe_agent_traj/mswe-fixture-github-issue.traj.json", 22, 10, None),
        ("mini_swe_agent_traj/mswe-sqlfluff-1733-1.2MB.traj.json", 315, 157, Some(100_403)),
        ("mini_swe_agent_traj/mswe-reasoner-sqlfluff-1517.traj.json", 216, 107, Some(62_326)),
        ("litellm_log/oh-litellm-log-sonnet4.json", 14, 6, Some(6_729)),
    ];
    for (path, messages, calls, peak) in files {
        let Some(bytes) = shared(path) else { continue };
        let session = session(&bytes);
        let found =
            (session.messages.len(), session.calls.len(), session.largest_reported().map(|t| t.0));
        assert_eq!(found, (messages, calls, peak), "{path}");
        assert!(export_own(&session, &all_kept(&session)) == bytes, "{path}");
        let there =
            self::session(export(&session, "anthropic_messages", &all_kept(&session)).as_bytes());
        let calls = |s: &Session| {
            s.parts.iter().filter(|p| matches!(p.body, Body::ToolCall { .. })).count()
        };
        assert_eq!((calls(&there), issues(&there)), (calls(&session), Vec::new()), "{path}");
    }
}

#[test]
fn messages_with_unknown_roles_are_removed_after_a_change() {
    let list = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"exit\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]}";
    let source = session(list.as_bytes());
    assert_eq!(export(&source, "openai_chat", &all_kept(&source)), list);
    let without_last =
        Managed { entries: vec![ManagedEntry::Kept { message: 0 }], ..Managed::default() };
    assert_eq!(
        export(&source, "openai_chat", &without_last),
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}"
    );
}

#[test]
fn usage_recorded_before_a_change_is_ignored() {
    let answer = |n: u64| {
        format!(
            "{{\"role\":\"assistant\",\"content\":\"b\",\"reasoning\":\"t\",\"extra\":{{\"response\":{{\"model\":\"m\",\"usage\":{{\"prompt_tokens\":{n},\"completion_tokens_details\":{{\"reasoning_tokens\":4}}}}}}}}}}"
        )
    };
    let user = "{\"role\":\"user\",\"content\":\"a\"}";
    let list = format!("{user},{},{user},{}", answer(10), answer(20));
    let source = session(format!("{{\"messages\":[{list}]}}").as_bytes());
    let mut fewer = all_kept(&source);
    fewer.entries.remove(1);
    let out = export(&source, "openai_chat", &fewer);
    let mark = "\"plimsoll\": {\"managed\":true,\"messages\":3}";
    assert_eq!(out, format!("{{{mark}, \"messages\":[{user},{user},{}]}}", answer(20)));
    let again = session(out.as_bytes());
    assert_eq!((again.largest_reported(), &again.models), (None, &source.models));
    assert_eq!(lines(&again)[2..], lines(&source)[4..], "thoughts keep their size");
    assert_eq!(again.parts[2], source.parts[4]);

    let longer = out.replace("]}", &format!(",{user},{}]}}", answer(30)));
    let longer = longer.replace("]},", "],");
    let continued = session(longer.as_bytes());
    assert_eq!(continued.largest_reported(), Some(Tokens(30)));
    let mut fewer = all_kept(&continued);
    fewer.entries.remove(0);
    let out = export(&continued, "openai_chat", &fewer);
    assert!(out.starts_with("{\"plimsoll\": {\"managed\":true,\"messages\":4}, "), "{out}");
    assert_eq!(session(out.as_bytes()).largest_reported(), None);

    // A bare list has no place for the mark, and a request without usage needs none.
    for text in [format!("[{list}]"), format!("{{\"messages\":[{user},{user}]}}")] {
        let source = session(text.as_bytes());
        let mut fewer = all_kept(&source);
        fewer.entries.remove(0);
        assert!(!export(&source, "openai_chat", &fewer).contains("plimsoll"));
    }
}
