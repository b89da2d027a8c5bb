//! Conversion between the two formats, and of other formats to them.

use super::{PNG, all_kept, anthropic_request, export, lines, openai_request, session};
use plimsoll::session::{
    Body, Draft, MediaKind, Part, Role, Session, SessionBuilder, Source, issues,
};

#[test]
fn a_conversation_is_equal_after_conversion_to_anthropic_and_back() {
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
    assert_eq!(lines(&back).into_iter().filter(is_same).collect::<Vec<_>>(), expected);
    assert_eq!(issues(&back), []);
}

#[test]
fn converting_to_openai_moves_images_of_results_after_them() {
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
fn later_instructions_become_user_messages_for_anthropic() {
    let text = br#"[{"role":"system","content":"A"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},
        {"role":"developer","content":"D"},{"role":"assistant","content":""},{"role":"user","content":"e"}]"#;
    let source = session(text);
    let out = export(&source, "anthropic_messages", &all_kept(&source));
    let there = session(out.as_bytes());
    assert_eq!(
        lines(&there),
        ["system \"A\"", "user \"b\"", "assistant \"c\"", "user \"D\"", "user \"e\""]
    );
    assert_eq!(there.messages.len(), 4, "consecutive messages of one role are joined");
}

#[test]
fn conversion_makes_ids_unique_that_equal_a_new_one() {
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"done"}}"#
        )
    };
    let text = format!(
        r#"[{{"role":"user","content":"go"}},{},{},{}]"#,
        call("a"),
        call("a"),
        call("a-2")
    );
    let source = session(text.as_bytes());
    let there = session(export(&source, "anthropic_messages", &all_kept(&source)).as_bytes());
    let calls = there.parts.iter().filter_map(|part| match &part.body {
        Body::ToolCall { call, .. } => Some(call.to_string()),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), ["a", "a-2", "a-2-2"]);
}

#[test]
fn conversion_orders_late_results_and_makes_ids_unique() {
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
        // Written in the other format first, so that the session was read in neither.
        let other = if format == "openai_chat" { "anthropic_messages" } else { "openai_chat" };
        let managed = all_kept(&source);
        let first = session(export(&source, "anthropic_messages", &managed).as_bytes());
        let there = session(export(&first, format, &all_kept(&first)).as_bytes());
        let asked: Vec<_> = lines(&there)
            .into_iter()
            .filter(|l| l.contains(" calls ") || l.contains("answers"))
            .collect();
        let role = if other == "openai_chat" { "user" } else { "tool" };
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
fn reads_audio_and_files_as_media() {
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
    assert_eq!(there[0], "user \"[audio: cannot be written in this format]\"");
    assert_eq!(there[1..], expected[1..]);
}

/// Returns a session of another format in which each record is a message.
fn foreign(format: &'static str, records: &[(Role, &str, Vec<Body>)]) -> Session {
    let texts: Vec<&str> = records.iter().map(|(_, record, _)| *record).collect();
    let file = texts.join("\n");
    let source = Source { name: "x".to_owned(), format, bytes: file.as_bytes().to_vec().into() };
    let mut builder = SessionBuilder::new(source);
    let mut at = 0;
    for (role, record, bodies) in records {
        let parts =
            (0..).zip(bodies).map(|(block, body)| Part { body: body.clone(), record: 0, block });
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
        detail: plimsoll::session::ImageDetail::Auto,
        within: within.map(Into::into),
    }
}

#[test]
fn images_from_codex_are_written_with_their_payload() {
    let record = format!(
        r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"see"}},{{"type":"input_image","image_url":"data:image/png;base64,{PNG}"}}]}}}}"#
    );
    let source = foreign(
        "codex_rollout",
        &[(Role::User, &record, vec![Body::Text("see".into()), image(None)])],
    );
    for format in ["openai_chat", "anthropic_messages"] {
        let there = session(export(&source, format, &all_kept(&source)).as_bytes());
        assert_eq!(lines(&there), lines(&source));
    }
    let source = foreign("codex_rollout", &[(Role::User, "{}", vec![image(None)])]);
    let there = session(export(&source, "openai_chat", &all_kept(&source)).as_bytes());
    assert_eq!(lines(&there), ["user \"[image: image/png, 640x480, not recorded]\""]);
}

#[test]
fn only_signed_thoughts_are_converted() {
    let record = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"a","signature":"c2k="},{"type":"thinking","thinking":"b","signature":""},{"type":"text","text":"c"}]}}"#;
    let thought = |text: &str, sealed_bytes| Body::Thinking {
        text: text.into(),
        sealed_bytes,
        reported: None,
    };
    let bodies = vec![thought("a", 4), thought("b", 0), Body::Text("c".into())];
    let source = foreign(
        "claude_code",
        &[(Role::User, "{}", vec![Body::Text("hi".into())]), (Role::Assistant, record, bodies)],
    );
    let anthropic = session(export(&source, "anthropic_messages", &all_kept(&source)).as_bytes());
    assert_eq!(
        lines(&anthropic),
        ["user \"hi\"", "assistant thinks \"a\" sealed 4", "assistant \"c\""]
    );
    let openai = session(export(&source, "openai_chat", &all_kept(&source)).as_bytes());
    assert_eq!(lines(&openai), ["user \"hi\"", "assistant \"c\""]);
}

#[test]
fn conversion_places_results_directly_after_their_calls() {
    let call =
        |id: &str| Body::ToolCall { call: id.into(), tool: "f".into(), arguments: "{}".into() };
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
    assert_eq!(lines(&written("openai_chat")), expected("tool", "system", false));
    let anthropic = written("anthropic_messages");
    assert_eq!(lines(&anthropic), expected("user", "user", true));
    let roles: Vec<Role> = anthropic.messages.iter().map(|m| m.role).collect();
    let (user, assistant) = (Role::User, Role::Assistant);
    assert_eq!(roles, [user, assistant, user, assistant, user, assistant, user]);
}
