//! OpenAI Chat and Anthropic Messages: what is read, and that what is written is the same conversation.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]
#![expect(clippy::unwrap_used, reason = "a test may stop")]

use plimsoll::formats::{self, Input, Parsed, Refused};
use plimsoll::session::{
    Body, Draft, Managed, ManagedEntry, ManagedPart, MediaKind, Message, Part, Role, Session,
    SessionBuilder, Source, StepsFrom, WrittenKind, issues,
};
use plimsoll::units::Tokens;
use std::path::PathBuf;

fn read(text: &[u8]) -> Result<Parsed, Refused> {
    formats::parse(&Input {
        name: "test.json".to_owned(),
        bytes: text.to_vec().into(),
    })
}

fn session(text: &[u8]) -> Session {
    let mut parsed = read(text).unwrap();
    assert_eq!(parsed.sessions.len(), 1);
    parsed.sessions.remove(0)
}

fn all_kept(session: &Session) -> Managed {
    Managed {
        entries: (0..session.messages.len())
            .map(|message| ManagedEntry::Kept { message })
            .collect(),
        ..Managed::default()
    }
}

fn export(session: &Session, format: &str, managed: &Managed) -> String {
    let bytes = (formats::by_name(format).unwrap().export.unwrap())(session, managed).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn export_own(session: &Session, managed: &Managed) -> Vec<u8> {
    (formats::by_name(session.source.format)
        .unwrap()
        .export
        .unwrap())(session, managed)
    .unwrap()
}

/// A part in a line.
fn line(role: Role, body: &Body) -> String {
    let what = match body {
        Body::Text(text) => format!("{text:?}"),
        Body::Thinking {
            text, sealed_bytes, ..
        } => format!("thinks {text:?} sealed {sealed_bytes}"),
        Body::ToolDefinition { tool, .. } => format!("has {tool}"),
        Body::ToolCall {
            call,
            tool,
            arguments,
        } => format!("calls {call} {tool} {arguments}"),
        Body::ToolResult {
            call,
            tool,
            is_error,
            text,
        } => format!("answers {call} {tool} {is_error} {text:?}"),
        Body::Media {
            media,
            mime,
            bytes,
            pixels,
            within,
        } => {
            format!("shows {media:?} {mime} {bytes} {pixels:?} in {within:?}")
        }
        Body::Opaque { name, json } => format!("{name} {json}"),
    };
    format!("{} {what}", role.name())
}

fn lines(session: &Session) -> Vec<String> {
    let of = |m: &Message| {
        let parts = session.parts_of(m).iter();
        parts
            .map(|part| line(m.role, &part.body))
            .collect::<Vec<_>>()
    };
    session.messages.iter().flat_map(of).collect()
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAC6s0uz";

/// A request with everything that OpenAI's messages can hold.
fn openai_request() -> String {
    r#"{"model": "gpt-x", "temperature": 0.10, "tools": [
  {"type": "function", "function": {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}},
  {"type": "function", "function": {"name": "run"}}
 ], "messages": [
  {"role": "system", "content": "Be brief."},
  {"role": "user", "content": [{"type": "text", "text": "What is this? 這是什麼"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,PNG", "detail": "low"}}]},
  {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"it\"}"}},
    {"id": "c2", "type": "function", "function": {"name": "run", "arguments": "{not json"}}]},
  {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}]},
  {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "a cat", "my_own": {"n": 12345678901234567890123}},
  {"role": "assistant", "content": "A cat.", "tool_calls": []},
  {"role": "user", "content": "Sure?"},
  {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, {"type": "refusal", "refusal": "But no more."}]}
], "stream": false}
"#
    .replace("PNG", PNG)
}

/// A request with everything that Anthropic's messages can hold.
fn anthropic_request() -> String {
    r#"{
  "model": "claude-x", "max_tokens": 1024,
  "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
  "tools": [{"name": "look", "description": "Looks", "input_schema": {"type": "object"}}, {"type": "bash_20250124", "name": "bash"}],
  "messages": [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"},
      {"type": "redacted_thinking", "data": "AAAA"},
      {"type": "text", "text": "I look."},
      {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "it", "n": 1.50}},
      {"type": "tool_use", "id": "t2", "name": "bash", "input": {}}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "t1", "content": [
        {"type": "text", "text": "a cat"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "PNG"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/b.png"}}]},
      {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": "no such command"},
      {"type": "text", "text": "And now?"},
      {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}, "title": "d"}]},
    {"role": "assistant", "content": [
      {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "cats"}},
      {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
      {"type": "text", "text": "Done."}]}
  ]
}
"#
    .replace("PNG", PNG)
}

#[test]
fn an_openai_request_is_read_with_its_tools_images_thoughts_and_calls() {
    let session = session(openai_request().as_bytes());
    assert_eq!(session.source.format, "openai_chat");
    assert_eq!(
        lines(&session),
        [
            "system has look",
            "system has run",
            "system \"Be brief.\"",
            "user \"What is this? 這是什麼\"",
            "user shows Image image/png 33 Some((640, 480)) in None",
            "assistant thinks \"Hm.\" sealed 0",
            "assistant calls c1 look {\"at\": \"it\"}",
            "assistant calls c2 run {not json",
            "tool answers c2 run false \"first\\nsecond\"",
            "tool answers c1 look false \"a cat\"",
            "assistant \"A cat.\"",
            "user \"Sure?\"",
            "assistant \"Yes.\"",
            "assistant \"But no more.\"",
        ]
    );
    assert_eq!(
        (session.turns, session.steps.len(), session.steps_from),
        (2, 3, StepsFrom::AssistantMessages)
    );
    assert_eq!(session.models, ["gpt-x"]);
    assert!(session.messages[0].raw.is_empty());
    let raw = session.raw(&session.messages[6].raw[0]);
    assert_eq!(
        *raw,
        *br#"{"role": "assistant", "content": "A cat.", "tool_calls": []}"#
    );
}

#[test]
fn an_anthropic_request_is_read_with_its_system_tools_and_blocks() {
    let session = session(anthropic_request().as_bytes());
    assert_eq!(session.source.format, "anthropic_messages");
    assert_eq!(
        lines(&session),
        [
            "system has look",
            "system has bash",
            "system \"Be brief.\"",
            "system \"Be kind.\"",
            "user \"Hello\"",
            "assistant thinks \"Hm.\" sealed 12",
            "assistant thinks \"\" sealed 4",
            "assistant \"I look.\"",
            "assistant calls t1 look {\"at\":\"it\",\"n\":1.50}",
            "assistant calls t2 bash {}",
            "user answers t1 look false \"a cat\"",
            "user shows Image image/png 33 Some((640, 480)) in Some(\"t1\")",
            "user shows Image image/* 0 None in Some(\"t1\")",
            "user answers t2 bash true \"no such command\"",
            "user \"And now?\"",
            "user shows Document application/pdf 4 None in None",
            "assistant server_tool_use {\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{\"query\":\"cats\"}}",
            "assistant web_search_tool_result {\"type\":\"web_search_tool_result\",\"tool_use_id\":\"s1\",\"content\":[]}",
            "assistant \"Done.\"",
        ]
    );
    assert_eq!((session.turns, session.steps.len()), (2, 2));
}

/// Documents of one conversation whose bytes are easily lost.
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
fn a_conversation_with_nothing_changed_is_written_byte_for_byte() {
    for document in odd_documents() {
        let session = session(&document);
        let out = export_own(&session, &all_kept(&session));
        assert_eq!(
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&document)
        );
        assert_eq!(out, document);
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A random edit of a session, and the lines it should read as.
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
                before_message: idx,
            };
            managed.entries.push(written);
        }
        let mut parts = Vec::new();
        let mut said = Vec::new();
        let fate = dice.roll(4);
        for (part, body) in message
            .parts
            .clone()
            .zip(session.parts_of(message).iter().map(|p| &p.body))
        {
            let is_result = matches!(body, Body::ToolResult { .. });
            let is_within = matches!(
                body,
                Body::Media {
                    within: Some(_),
                    ..
                }
            );
            match (if fate > 1 { 0 } else { dice.roll(3) }, body) {
                (1, Body::Text(_) | Body::ToolResult { .. }) => {
                    parts.push(ManagedPart::Replaced {
                        part,
                        text: format!("new {part}"),
                    });
                    said.push(replaced(body, &format!("new {part}")));
                }
                // A result's image does not stay without it; nothing else is left out of a message of results.
                (2, _) if !is_result && (fate == 1 || is_within) => {}
                _ => {
                    parts.push(ManagedPart::Kept { part });
                    said.push(body.clone());
                }
            }
        }
        match fate {
            0 if !message.raw.is_empty() => continue,
            3 => managed.entries.push(ManagedEntry::Kept { message: idx }),
            _ => managed.entries.push(ManagedEntry::Edited {
                message: idx,
                parts,
            }),
        }
        expected.extend(said.iter().map(|body| line(message.role, body)));
    }
    (managed, expected)
}

fn replaced(body: &Body, new: &str) -> Body {
    match body.clone() {
        Body::ToolResult {
            call,
            tool,
            is_error,
            ..
        } => Body::ToolResult {
            call,
            tool,
            is_error,
            text: new.into(),
        },
        _ => Body::Text(new.into()),
    }
}

/// Results that lost their calls cannot name their tool any more.
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
fn a_conversation_with_anything_changed_reads_as_what_was_left() {
    let mut dice = Dice(7);
    let mut n_read = 0;
    for document in odd_documents() {
        let session = session(&document);
        for _ in 0..300 {
            let (managed, expected) = random_edit(&session, &mut dice);
            let out = export_own(&session, &managed);
            let Ok(parsed) = read(&out) else {
                // Instructions alone are no conversation.
                assert!(
                    expected.iter().all(|l| l.starts_with("system")),
                    "{expected:?}"
                );
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
fn what_was_not_touched_keeps_its_bytes_beside_what_was() {
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
        .replace(
            "  {\"role\": \"assistant\", \"content\": \"A cat.\", \"tool_calls\": []},\n",
            "",
        );
    assert_eq!(out, expected);
}

#[test]
fn a_cleared_result_may_lose_its_images_and_keeps_its_pair() {
    let session = session(anthropic_request().as_bytes());
    let mut managed = all_kept(&session);
    let parts = session.messages[4].parts.clone();
    managed.entries[4] = ManagedEntry::Edited {
        message: 4,
        parts: vec![
            ManagedPart::Replaced {
                part: parts.start,
                text: "[cleared]".to_owned(),
            },
            ManagedPart::Kept {
                part: parts.start + 3,
            },
            ManagedPart::Kept {
                part: parts.start + 4,
            },
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
fn openai_written_as_anthropic_is_the_same_conversation_and_back() {
    let source = session(openai_request().as_bytes());
    let text = export(&source, "anthropic_messages", &all_kept(&source));
    let there = session(text.as_bytes());
    assert_eq!(there.source.format, "anthropic_messages");
    assert_eq!(
        lines(&there),
        [
            "system has look",
            "system has run",
            "system \"Be brief.\"",
            "user \"What is this? 這是什麼\"",
            "user shows Image image/png 33 Some((640, 480)) in None",
            "assistant calls c1 look {\"at\":\"it\"}",
            "assistant calls c2 run {\"_raw\":\"{not json\"}",
            "user answers c2 run false \"first\\nsecond\"",
            "user answers c1 look false \"a cat\"",
            "assistant \"A cat.\"",
            "user \"Sure?\"",
            "assistant \"Yes.\"",
            "assistant \"But no more.\"",
        ]
    );
    let back = session(export(&there, "openai_chat", &all_kept(&there)).as_bytes());
    let is_same = |line: &String| !line.contains("thinks") && !line.contains("calls");
    let expected: Vec<String> = lines(&source).into_iter().filter(is_same).collect();
    assert_eq!(
        lines(&back).into_iter().filter(is_same).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(issues(&back), []);
}

#[test]
fn anthropic_written_as_openai_moves_images_of_results_behind_them() {
    let source = session(anthropic_request().as_bytes());
    let text = export(&source, "openai_chat", &all_kept(&source));
    let there = session(text.as_bytes());
    assert_eq!(there.source.format, "openai_chat");
    assert_eq!(
        lines(&there)[..15],
        [
            "system has look",
            "system has bash",
            "system \"Be brief.\"",
            "system \"Be kind.\"",
            "user \"Hello\"",
            "assistant \"I look.\"",
            "assistant calls t1 look {\"at\":\"it\",\"n\":1.50}",
            "assistant calls t2 bash {}",
            "tool answers t1 look false \"a cat\"",
            "tool answers t2 bash false \"no such command\"",
            "user shows Image image/png 33 Some((640, 480)) in None",
            "user shows Image image/* 0 None in None",
            "user \"And now?\"",
            "user shows Document application/pdf 4 None in None",
            "assistant \"{\\\"type\\\":\\\"server_tool_use\\\",\\\"id\\\":\\\"s1\\\",\\\"name\\\":\\\"web_search\\\",\\\"input\\\":{\\\"query\\\":\\\"cats\\\"}}\"",
        ]
    );
    assert_eq!(issues(&there), []);
}

#[test]
fn instructions_in_the_middle_become_a_persons_words_for_anthropic() {
    let text = br#"[{"role":"system","content":"A"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},
        {"role":"developer","content":"D"},{"role":"assistant","content":""},{"role":"user","content":"e"}]"#;
    let source = session(text);
    let out = export(&source, "anthropic_messages", &all_kept(&source));
    let there = session(out.as_bytes());
    assert_eq!(
        lines(&there),
        [
            "system \"A\"",
            "user \"b\"",
            "assistant \"c\"",
            "user \"D\"",
            "user \"e\""
        ]
    );
    assert_eq!(
        there.messages.len(),
        4,
        "consecutive words of one role are one message"
    );
}

#[test]
fn late_results_and_repeated_ids_are_put_in_order_for_another_format() {
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
        )
    };
    let result = |id: &str, text: &str| {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
    };
    let parts = [
        r#"{"role":"user","content":"go"}"#.to_owned(),
        call("x"),
        r#"{"role":"user","content":"wait"}"#.to_owned(),
        call("y"),
        result("y", "2"),
        result("x", "1"),
        call("x"),
        result("x", "3"),
    ];
    let source = session(format!("[{}]", parts.join(",")).as_bytes());
    for format in ["anthropic_messages", "openai_chat"] {
        // Written by the other format first, so that neither is the session's own.
        let other = if format == "openai_chat" {
            "anthropic_messages"
        } else {
            "openai_chat"
        };
        let managed = all_kept(&source);
        let first = session(export(&source, "anthropic_messages", &managed).as_bytes());
        let there = session(export(&first, format, &all_kept(&first)).as_bytes());
        let asked: Vec<_> = lines(&there)
            .into_iter()
            .filter(|l| l.contains(" calls ") || l.contains("answers"))
            .collect();
        let role = if other == "openai_chat" {
            "user"
        } else {
            "tool"
        };
        let expected = [
            "assistant calls x f {}".to_owned(),
            format!("{role} answers x f false \"1\""),
            "assistant calls y f {}".to_owned(),
            format!("{role} answers y f false \"2\""),
            "assistant calls x-2 f {}".to_owned(),
            format!("{role} answers x-2 f false \"3\""),
        ];
        assert_eq!(asked, expected);
    }
}

#[test]
fn recorded_usage_makes_every_answer_a_recorded_call() {
    let text = br#"{"model":"m0","context_window":1000,"messages":[
        {"role":"user","content":"a"},
        {"role":"assistant","content":"b","reasoning_content":"t","extra":{"response":{"model":"m1","usage":
          {"prompt_tokens":100,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":4},"prompt_cache_hit_tokens":64}}}},
        {"role":"user","content":"c"},
        {"role":"assistant","content":"d"}]}"#;
    let session = session(text);
    assert_eq!(session.steps_from, StepsFrom::Recorded);
    let ends: Vec<_> = session.steps.iter().map(|s| s.context_end).collect();
    assert_eq!(ends, [1, 3]);
    assert_eq!(
        (session.messages[1].step, session.messages[3].step),
        (Some(0), Some(1))
    );
    let usage = session.steps[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output),
        (Tokens(100), Some(Tokens(64)), Some(Tokens(9)))
    );
    assert_eq!(
        (session.steps[0].window, session.steps[1].usage),
        (Some(Tokens(1000)), None)
    );
    assert!(lines(&session)[1].contains("thinks"));
    assert!(matches!(
        session.parts[1].body,
        Body::Thinking {
            reported: Some(4),
            ..
        }
    ));
}

#[test]
fn a_logged_answer_is_the_last_message_once() {
    let pair = |last: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}{last}],"response":{{"model":"m","choices":[{{"message":{{"role":"assistant","content":"b"}}}}],"usage":{{"prompt_tokens":7}}}}}}"#
        )
    };
    for last in ["", r#",{"role":"assistant","content":"b"}"#] {
        assert_eq!(
            lines(&session(pair(last).as_bytes())),
            ["user \"a\"", "assistant \"b\""]
        );
    }
    let session = session(pair("").as_bytes());
    assert_eq!(session.largest_reported(), Some(Tokens(7)));
    // Anything changed: the answer moves into the list.
    let managed = Managed {
        entries: vec![ManagedEntry::Kept { message: 1 }],
        ..Managed::default()
    };
    assert_eq!(
        export(&session, "openai_chat", &managed),
        r#"{"messages":[{"role":"assistant","content":"b"}]}"#
    );
}

#[test]
fn json_lines_hold_a_conversation_or_a_message_each() {
    let many = b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"weight\":1}\n\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"assistant\",\"content\":\"c\"}]}\n{\"note\":1}\n";
    let none = read(many).unwrap_err();
    assert!(none.to_string().contains("Supported are"), "{none}");
    let many = &many[..many.len() - 11];
    let parsed = read(many).unwrap();
    let names: Vec<_> = parsed.sessions.iter().map(|s| s.title.as_str()).collect();
    assert_eq!(names, ["test.json #1", "test.json #2"]);
    let second = &parsed.sessions[1];
    let line = "{\"messages\":[{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"assistant\",\"content\":\"c\"}]}\n";
    assert_eq!(export(second, "openai_chat", &all_kept(second)), line);
    let kept_last = Managed {
        entries: vec![ManagedEntry::Kept { message: 1 }],
        ..Managed::default()
    };
    assert_eq!(
        export(second, "openai_chat", &kept_last),
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"c\"}]}\n"
    );

    let lines_file = b"{\"role\":\"user\",\"content\":\"a\"}\nbad\n{\"role\":\"assistant\",\"content\":\"b\"}\n{\"role\":\"x\",\"content\":\"b\"}\n{\"role\":\"user\"";
    let refused = read(lines_file);
    assert!(refused.is_err(), "an unknown role is no evidence");
    let lines_file = b"{\"role\":\"user\",\"content\":\"a\"}\nbad\n{\"role\":\"assistant\",\"content\":\"b\"}\n{\"role\":\"user\",\"content\":\"c\"}\n{\"role\":\"user\",\"content\":\"d\"}\n{\"role\":\"user\"";
    let parsed = read(lines_file).unwrap();
    assert_eq!(parsed.sessions[0].messages.len(), 4);
    assert_eq!(
        parsed.warnings.iter().map(|w| w.line).collect::<Vec<_>>(),
        [Some(2), Some(6)]
    );
}

#[test]
fn unknown_roles_are_warned_of_by_line() {
    let text = b"{\"messages\":[\n{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"exit\",\"content\":\"b\"}\n]}";
    let parsed = read(text).unwrap();
    assert_eq!(parsed.sessions[0].messages.len(), 1);
    let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["line 3: a message with the unknown role `exit` is kept, but not sent to the model"]
    );
    let count = parsed.report.records["exit"];
    assert_eq!((count.count, count.in_context), (1, 0));
}

#[test]
fn only_evidence_makes_messages_anthropics() {
    let format = |text: &str| session(text.as_bytes()).source.format;
    assert_eq!(
        format(r#"[{"role":"user","content":[{"type":"text","text":"a"}]}]"#),
        "openai_chat"
    );
    assert_eq!(
        format(
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"b"}]}]"#
        ),
        "anthropic_messages"
    );
    assert_eq!(
        format(r#"{"system":"s","messages":[{"role":"user","content":"a"}]}"#),
        "anthropic_messages"
    );
    assert_eq!(
        format(
            r#"{"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"a"}]}"#
        ),
        "openai_chat"
    );
}

#[test]
fn what_is_no_conversation_is_refused() {
    for text in [
        "[]",
        "{\"messages\":[]}",
        "[{\"role\":\"button\",\"content\":\"x\"}]",
        "[{\"role\":\"user\"}]",
        "[{\"role\":\"user\",\"content\":\"a\"},{\"name\":\"b\"}]",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}",
    ] {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn hostile_documents_do_not_stop_the_reader() {
    let deep = format!(
        "[{{\"role\":\"user\",\"content\":{}{}}},{{\"role\":\"user\",\"content\":\"a\"}}]",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let _ = read(deep.as_bytes());
    let text = anthropic_request();
    for end in (0..text.len())
        .step_by(37)
        .filter(|end| text.is_char_boundary(*end))
    {
        let _ = read(&text.as_bytes()[..end]);
    }
    let _ = read(b"[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]");
}

fn shared(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("PLIMSOLL_SESSIONS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/sessions"),
        PathBuf::from,
    );
    let found = std::fs::read(folder.join(path)).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not in {}", folder.display());
    }
    found
}

#[test]
fn real_conversations_read_and_are_written_back_byte_for_byte() {
    let files = [
        ("openai_chat/holmes-001-compaction-334k.json", 88, 38, None),
        ("openai_chat/holmes-93-datadog.json", 30, 14, None),
        (
            "mini_swe_agent_traj/mswe-fixture-github-issue.traj.json",
            22,
            10,
            None,
        ),
        (
            "mini_swe_agent_traj/mswe-sqlfluff-1733-1.2MB.traj.json",
            315,
            157,
            Some(100_403),
        ),
        (
            "mini_swe_agent_traj/mswe-reasoner-sqlfluff-1517.traj.json",
            216,
            107,
            Some(62_326),
        ),
        (
            "litellm_log/oh-litellm-log-sonnet4.json",
            14,
            6,
            Some(6_729),
        ),
    ];
    for (path, messages, steps, peak) in files {
        let Some(bytes) = shared(path) else { continue };
        let session = session(&bytes);
        let found = (
            session.messages.len(),
            session.steps.len(),
            session.largest_reported().map(|t| t.0),
        );
        assert_eq!(found, (messages, steps, peak), "{path}");
        assert!(export_own(&session, &all_kept(&session)) == bytes, "{path}");
        let there =
            self::session(export(&session, "anthropic_messages", &all_kept(&session)).as_bytes());
        let calls = |s: &Session| {
            s.parts
                .iter()
                .filter(|p| matches!(p.body, Body::ToolCall { .. }))
                .count()
        };
        assert_eq!(
            (calls(&there), issues(&there)),
            (calls(&session), Vec::new()),
            "{path}"
        );
    }
}

#[test]
fn functions_of_the_old_kind_are_tools_and_calls() {
    let text = r#"{"functions": [{"name": "f", "parameters": {"type": "object"}}], "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
        {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "g", "arguments": {"a": 1.0}}}]},
        {"role": "tool", "content": "also done"}]}"#;
    let source = session(text.as_bytes());
    let expected = [
        "system has f",
        "user \"go\"",
        "assistant calls f f {}",
        "tool answers f f false \"done\"",
        "assistant calls call-2 g {\"a\":1.0}",
        "tool answers call-2 g false \"also done\"",
    ];
    assert_eq!(lines(&source), expected);
    assert_eq!(issues(&source), []);
    let mut managed = all_kept(&source);
    managed.entries[0] = ManagedEntry::Edited {
        message: 0,
        parts: Vec::new(),
    };
    let part = source.messages[2].parts.start;
    let new = ManagedPart::Replaced {
        part,
        text: "{\"cut\":1}".to_owned(),
    };
    managed.entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![new],
    };
    let out = export(&source, "openai_chat", &managed);
    let expected = text
        .replace(
            r#""functions": [{"name": "f", "parameters": {"type": "object"}}], "#,
            "",
        )
        .replace(r#""arguments": "{}""#, r#""arguments": "{\"cut\":1}""#);
    assert_eq!(out, expected);
}

#[test]
fn sounds_and_files_are_media() {
    let text = r#"[{"role": "user", "content": [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"filename": "a.PDF", "file_data": "JVBERg=="}},
        {"type": "file", "file": {"file_id": "f1"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}]"#;
    let source = session(text.as_bytes());
    let expected = [
        "user shows Audio audio/wav 3 None in None",
        "user shows Document application/pdf 4 None in None",
        "user shows Document  0 None in None",
        "user shows Image image/* 0 None in None",
    ];
    assert_eq!(lines(&source), expected);
    let out = export(&source, "anthropic_messages", &all_kept(&source));
    let there = lines(&session(out.as_bytes()));
    assert_eq!(
        there[0],
        "user \"[audio: cannot be written in this format]\""
    );
    assert_eq!(there[1..], expected[1..]);
}

#[test]
fn the_preferred_answer_of_a_pair_belongs_to_the_conversation() {
    let text = br#"{"input": {"messages": [{"role": "user", "content": "a"}]},
        "preferred_output": [{"role": "assistant", "content": "b"}], "non_preferred_output": [{"role": "assistant", "content": "c"}]}"#;
    assert_eq!(lines(&session(text)), ["user \"a\"", "assistant \"b\""]);
}

#[test]
fn a_data_set_with_values_is_none_of_openais() {
    let text =
        b"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"value\":\"a\"}]}]}";
    assert_eq!(session(text).source.format, "llama_factory");
}

/// A session of another format with these records, each a message.
fn foreign(format: &'static str, records: &[(Role, &str, Vec<Body>)]) -> Session {
    let texts: Vec<&str> = records.iter().map(|(_, record, _)| *record).collect();
    let file = texts.join("\n");
    let source = Source {
        name: "x".to_owned(),
        format,
        bytes: file.as_bytes().to_vec().into(),
    };
    let mut builder = SessionBuilder::new(source);
    let mut at = 0;
    for (role, record, bodies) in records {
        let parts = (0..).zip(bodies).map(|(block, body)| Part {
            body: body.clone(),
            record: 0,
            block,
        });
        let mut draft = Draft::new(*role, parts.collect());
        draft.raw.push(at..at + record.len());
        builder.message(draft);
        at += record.len() + 1;
    }
    builder.finish()
}

fn image(within: Option<&str>) -> Body {
    Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes: 33,
        pixels: Some((640, 480)),
        within: within.map(Into::into),
    }
}

#[test]
fn images_of_codex_are_written_with_their_payload() {
    let record = format!(
        r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"see"}},{{"type":"input_image","image_url":"data:image/png;base64,{PNG}"}}]}}}}"#
    );
    let source = foreign(
        "codex_rollout",
        &[(
            Role::User,
            &record,
            vec![Body::Text("see".into()), image(None)],
        )],
    );
    for format in ["openai_chat", "anthropic_messages"] {
        let there = session(export(&source, format, &all_kept(&source)).as_bytes());
        assert_eq!(lines(&there), lines(&source));
    }
    let source = foreign("codex_rollout", &[(Role::User, "{}", vec![image(None)])]);
    let there = session(export(&source, "openai_chat", &all_kept(&source)).as_bytes());
    assert_eq!(
        lines(&there),
        ["user \"[image: image/png, 640x480, not recorded]\""]
    );
}

#[test]
fn thoughts_go_on_only_with_their_signature() {
    let record = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"a","signature":"c2k="},{"type":"thinking","thinking":"b","signature":""},{"type":"text","text":"c"}]}}"#;
    let thought = |text: &str, sealed_bytes| Body::Thinking {
        text: text.into(),
        sealed_bytes,
        reported: None,
    };
    let bodies = vec![thought("a", 4), thought("b", 0), Body::Text("c".into())];
    let source = foreign(
        "claude_code",
        &[
            (Role::User, "{}", vec![Body::Text("hi".into())]),
            (Role::Assistant, record, bodies),
        ],
    );
    let anthropic = session(export(&source, "anthropic_messages", &all_kept(&source)).as_bytes());
    assert_eq!(
        lines(&anthropic),
        [
            "user \"hi\"",
            "assistant thinks \"a\" sealed 4",
            "assistant \"c\""
        ]
    );
    let openai = session(export(&source, "openai_chat", &all_kept(&source)).as_bytes());
    assert_eq!(lines(&openai), ["user \"hi\"", "assistant \"c\""]);
}

#[test]
fn results_stand_right_behind_their_calls_in_another_format_whatever_came_between() {
    let call = |id: &str| Body::ToolCall {
        call: id.into(),
        tool: "f".into(),
        arguments: "{}".into(),
    };
    let result = |id: &str, text: &str| Body::ToolResult {
        call: id.into(),
        tool: "f".into(),
        is_error: false,
        text: text.into(),
    };
    let text = |text: &str| Body::Text(text.into());
    let source = foreign(
        "codex_rollout",
        &[
            (Role::User, "{}", vec![text("go"), text(" \n")]),
            (Role::Assistant, "{}", vec![text("\n\n"), call("a")]),
            (Role::Assistant, "{}", vec![call("b")]),
            (Role::System, "{}", vec![text("rule")]),
            (Role::User, "{}", vec![text("wait")]),
            (Role::Tool, "{}", vec![result("b", "2")]),
            (Role::User, "{}", vec![text("\t")]),
            (Role::Tool, "{}", vec![result("a", "1"), result("z", "0")]),
            (Role::Assistant, "{}", vec![call("c")]),
            (Role::User, "{}", vec![text("stop")]),
            (Role::Assistant, "{}", vec![call("d")]),
        ],
    );
    let none = "[no result was recorded: the call was interrupted]";
    let expected = |tool: &str, rule: &str, is_error: bool| {
        [
            "user \"go\"".to_owned(),
            "assistant calls a f {}".to_owned(),
            "assistant calls b f {}".to_owned(),
            format!("{tool} answers b f false \"2\""),
            format!("{tool} answers a f false \"1\""),
            format!("{rule} \"rule\""),
            "user \"wait\"".to_owned(),
            "user \"0\"".to_owned(),
            "assistant calls c f {}".to_owned(),
            format!("{tool} answers c f {is_error} {none:?}"),
            "user \"stop\"".to_owned(),
            "assistant calls d f {}".to_owned(),
            format!("{tool} answers d f {is_error} {none:?}"),
        ]
    };
    let written = |format: &str| session(export(&source, format, &all_kept(&source)).as_bytes());
    assert_eq!(
        lines(&written("openai_chat")),
        expected("tool", "system", false)
    );
    let anthropic = written("anthropic_messages");
    assert_eq!(lines(&anthropic), expected("user", "user", true));
    let roles: Vec<Role> = anthropic.messages.iter().map(|m| m.role).collect();
    let (user, assistant) = (Role::User, Role::Assistant);
    assert_eq!(
        roles,
        [user, assistant, user, assistant, user, assistant, user]
    );
}

#[test]
fn messages_of_unknown_roles_go_when_anything_changes() {
    let list = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"exit\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]}";
    let source = session(list.as_bytes());
    assert_eq!(export(&source, "openai_chat", &all_kept(&source)), list);
    let without_last = Managed {
        entries: vec![ManagedEntry::Kept { message: 0 }],
        ..Managed::default()
    };
    assert_eq!(
        export(&source, "openai_chat", &without_last),
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}"
    );
}

#[test]
fn calls_recorded_before_a_document_changed_say_nothing_of_it() {
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
    assert_eq!(
        out,
        format!("{{{mark}, \"messages\":[{user},{user},{}]}}", answer(20))
    );
    let again = session(out.as_bytes());
    assert_eq!(
        (again.largest_reported(), &again.models),
        (None, &source.models)
    );
    assert_eq!(
        lines(&again)[2..],
        lines(&source)[4..],
        "thoughts weigh what they did"
    );
    assert_eq!(again.parts[2], source.parts[4]);

    let longer = out.replace("]}", &format!(",{user},{}]}}", answer(30)));
    let longer = longer.replace("]},", "],");
    let continued = session(longer.as_bytes());
    assert_eq!(continued.largest_reported(), Some(Tokens(30)));
    let mut fewer = all_kept(&continued);
    fewer.entries.remove(0);
    let out = export(&continued, "openai_chat", &fewer);
    assert!(
        out.starts_with("{\"plimsoll\": {\"managed\":true,\"messages\":4}, "),
        "{out}"
    );
    assert_eq!(session(out.as_bytes()).largest_reported(), None);

    // A bare list has no place for the mark, and a request without reports needs none.
    for text in [
        format!("[{list}]"),
        format!("{{\"messages\":[{user},{user}]}}"),
    ] {
        let source = session(text.as_bytes());
        let mut fewer = all_kept(&source);
        fewer.entries.remove(0);
        assert!(!export(&source, "openai_chat", &fewer).contains("plimsoll"));
    }
}
