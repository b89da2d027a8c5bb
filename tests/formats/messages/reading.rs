//! Reading requests, logs and JSON Lines.

use super::{all_kept, anthropic_request, export, lines, openai_request, read, session};
use plimsoll::session::{Body, CallsFrom, Managed, ManagedEntry, ManagedPart, issues};
use plimsoll::units::Tokens;

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
        (session.turns, session.calls.len(), session.calls_from),
        (2, 3, CallsFrom::AssistantMessages)
    );
    assert_eq!(session.models, ["gpt-x"]);
    assert!(session.messages[0].raw.is_empty());
    let raw = session.raw(&session.messages[6].raw[0]);
    assert_eq!(*raw, *br#"{"role": "assistant", "content": "A cat.", "tool_calls": []}"#);
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
    assert_eq!((session.turns, session.calls.len()), (2, 2));
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
    assert_eq!(session.calls_from, CallsFrom::Recorded);
    let ends: Vec<_> = session.calls.iter().map(|s| s.context_end).collect();
    assert_eq!(ends, [1, 3]);
    assert_eq!((session.messages[1].call, session.messages[3].call), (Some(0), Some(1)));
    let usage = session.calls[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output),
        (Tokens(100), Some(Tokens(64)), Some(Tokens(9)))
    );
    assert_eq!((session.calls[0].window, session.calls[1].usage), (Some(Tokens(1000)), None));
    assert!(lines(&session)[1].contains("thinks"));
    assert!(matches!(session.parts[1].body, Body::Thinking { reported: Some(4), .. }));
}

#[test]
fn reads_json_lines_of_conversations_and_of_messages() {
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
    let kept_last =
        Managed { entries: vec![ManagedEntry::Kept { message: 1 }], ..Managed::default() };
    assert_eq!(
        export(second, "openai_chat", &kept_last),
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"c\"}]}\n"
    );

    let lines_file = b"{\"role\":\"user\",\"content\":\"a\"}\nbad\n{\"role\":\"assistant\",\"content\":\"b\"}\n{\"role\":\"x\",\"content\":\"b\"}\n{\"role\":\"user\"";
    let refused = read(lines_file);
    assert!(refused.is_err(), "an unknown role is not accepted");
    let lines_file = b"{\"role\":\"user\",\"content\":\"a\"}\nbad\n{\"role\":\"assistant\",\"content\":\"b\"}\n{\"role\":\"user\",\"content\":\"c\"}\n{\"role\":\"user\",\"content\":\"d\"}\n{\"role\":\"user\"";
    let parsed = read(lines_file).unwrap();
    assert_eq!(parsed.sessions[0].messages.len(), 4);
    assert_eq!(parsed.warnings.iter().map(|w| w.line).collect::<Vec<_>>(), [Some(2), Some(6)]);
}

#[test]
fn warns_of_unknown_roles_with_their_line() {
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
fn anthropic_messages_are_detected_by_their_own_members() {
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
fn rejects_documents_without_a_conversation() {
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
    for end in (0..text.len()).step_by(37).filter(|end| text.is_char_boundary(*end)) {
        let _ = read(&text.as_bytes()[..end]);
    }
    let _ = read(b"[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]");
}

#[test]
fn reads_the_old_notation_of_functions() {
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
    managed.entries[0] = ManagedEntry::Edited { message: 0, parts: Vec::new() };
    let part = source.messages[2].parts.start;
    let new = ManagedPart::Replaced { part, text: "{\"cut\":1}".to_owned() };
    managed.entries[2] = ManagedEntry::Edited { message: 2, parts: vec![new] };
    let out = export(&source, "openai_chat", &managed);
    let expected = text
        .replace(r#""functions": [{"name": "f", "parameters": {"type": "object"}}], "#, "")
        .replace(r#""arguments": "{}""#, r#""arguments": "{\"cut\":1}""#);
    assert_eq!(out, expected);
}

#[test]
fn the_preferred_answer_is_in_the_conversation() {
    let text = br#"{"input": {"messages": [{"role": "user", "content": "a"}]},
        "preferred_output": [{"role": "assistant", "content": "b"}], "non_preferred_output": [{"role": "assistant", "content": "c"}]}"#;
    assert_eq!(lines(&session(text)), ["user \"a\"", "assistant \"b\""]);
}

#[test]
fn a_data_set_with_values_is_not_openai_chat() {
    let text =
        b"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"value\":\"a\"}]}]}";
    assert_eq!(session(text).source.format, "llama_factory");
}
