//! Requests and answers of the three APIs, and refusals of many servers.

use plimsoll::chat::{ChatMessage, message_from_json};
use plimsoll::json::{Value, json};
use plimsoll::providers::{
    Answer, AnswerCall, Api, Endpoint, LimitField, Prompt, ReadError, Reading, Refusal,
    RefusalKind, Stop, api_by_name, context_length, window_queries,
};
use plimsoll::session::Usage;
use plimsoll::units::Tokens;

const CHAT: &str = r#"data: {"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}

data: {"choices":[{"delta":{"content":"Grüße, "}}]}

: OPENROUTER PROCESSING

data: {"choices":[{"delta":{"content":"世界 🦀"}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":1}}}

data: [DONE]

"#;

const RESPONSES: &str = r#"event: response.created
data: {"type":"response.created","response":{"model":"m-1","status":"in_progress","error":null}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","delta":"hm"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"Grüße, "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"世界 🦀"}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"Grüße, 世界 🦀"}]}],"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":8},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":1}}}}

"#;

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"model":"m-1","content":[],"usage":{"input_tokens":4,"cache_read_input_tokens":8,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße, "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"世界 🦀"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

"#;

const STREAMS: [(&str, &str); 3] =
    [("openai", CHAT), ("openai-responses", RESPONSES), ("anthropic", ANTHROPIC)];

fn api(name: &str) -> &'static Api {
    api_by_name(name).unwrap()
}

fn read(name: &str, pieces: &[&[u8]]) -> Result<Answer, ReadError> {
    let mut reading = Reading::new(api(name), 100);
    for piece in pieces {
        reading.feed(piece)?;
    }
    reading.finish()
}

fn greeting(name: &str) -> Answer {
    Answer {
        text: "Grüße, 世界 🦀".to_owned(),
        stop: Stop::Finished,
        usage: Some(Usage {
            input: Tokens(12),
            cache_read: Some(Tokens(8)),
            cache_write: None,
            cache_write_hour: None,
            output: Some(Tokens(5)),
            reasoning: (name != "anthropic").then_some(Tokens(1)),
        }),
        model: Some("m-1".to_owned()),
        refusal: None,
        calls: Vec::new(),
    }
}

#[test]
fn an_answer_does_not_depend_on_where_its_stream_is_split() {
    for (name, stream) in STREAMS {
        for stream in
            [stream.to_owned(), stream.replace('\n', "\r\n"), format!("\u{feff}\n{stream}")]
        {
            let bytes = stream.as_bytes();
            for at in 0..=bytes.len() {
                let answer = read(name, &[&bytes[..at], &bytes[at..]]);
                assert_eq!(answer, Ok(greeting(name)), "{name} cut at {at}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(name, &single), Ok(greeting(name)));
        }
    }
}

#[test]
fn an_incomplete_answer_is_an_error() {
    let ends = ["\"stop\"", "\"response.completed\",", "\"end_turn\""];
    for ((name, stream), end) in STREAMS.into_iter().zip(ends) {
        let end = stream.find(end).unwrap();
        for at in 0..end {
            let half = read(name, &[&stream.as_bytes()[..at]]);
            let is_half =
                matches!(half, Err(ReadError::CutOff | ReadError::Malformed(_) | ReadError::Empty));
            assert!(is_half, "{name} ended at {at}: {half:?}");
        }
        assert_eq!(read(name, &[&stream.as_bytes()[..end]]), Err(ReadError::CutOff));
    }
}

#[test]
fn an_answer_that_is_not_streamed_is_read() {
    let answers = [
        (
            "openai",
            json!({"model": "m-1", "choices": [{"message": {"content": "Grüße", "reasoning": "hm"}, "finish_reason": "length"}]}),
        ),
        (
            "openai-responses",
            json!({"model": "m-1", "status": "incomplete", "error": null, "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [{"type": "output_text", "text": "Grüße"}]}]}),
        ),
        (
            "anthropic",
            json!({"model": "m-1", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Grüße"}], "stop_reason": "max_tokens"}),
        ),
    ];
    for (name, answer) in answers {
        let bytes = format!("\n{answer:#}").into_bytes();
        for at in 0..=bytes.len() {
            let answer = read(name, &[&bytes[..at], &bytes[at..]]).unwrap();
            let told = (&*answer.text, &answer.stop, answer.model.as_deref());
            assert_eq!(told, ("Grüße", &Stop::Length, Some("m-1")), "{name} cut at {at}");
        }
        assert_eq!(read(name, &[&bytes[..bytes.len() - 1]]), Err(ReadError::CutOff));
        let strange = read(name, &[br#"{"hello": 1}"#]);
        assert!(matches!(strange, Err(ReadError::Malformed(_))), "{strange:?}");
    }
}

#[test]
fn the_arguments_of_calls_are_joined_from_their_pieces() {
    let chat = [
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"edit","arguments":"{\"pa"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"ls","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"é\"}"}}]},"finish_reason":"tool_calls"}]}"#,
    ];
    let responses = [
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"edit","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"path\":"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"\"é\"}"}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning"},{"type":"function_call","name":"edit","arguments":"{\"path\":\"é\"}"},{"type":"function_call","name":"ls","arguments":""}]}}"#,
    ];
    let anthropic = [
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"edit","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"é\"}"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"ls","input":{}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let whole = [
        r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"edit","arguments":"{\"path\":\"é\"}"}},{"function":{"name":"ls"}}]},"finish_reason":"tool_calls"}]}"#,
    ];
    let events = |events: &[&str]| {
        let separator = "\n\ndata: ";
        format!("data: {}\n\n", events.join(separator))
    };
    let call = |tool: &str, arguments: &str| AnswerCall {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    for (name, stream) in [
        ("openai", events(&chat)),
        ("openai-responses", events(&responses)),
        ("anthropic", events(&anthropic)),
        ("openai", whole[0].to_owned()),
    ] {
        let answer = read(name, &[stream.as_bytes()]).unwrap();
        let calls = [call("edit", "{\"path\":\"é\"}"), call("ls", "")];
        assert_eq!(answer.calls, calls, "{stream}");
        assert_eq!(answer.stop, Stop::ToolCall, "{stream}");
    }
}

#[test]
fn calls_and_refusals_are_distinguished_from_answers() {
    let cases = [
        (
            "openai",
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0}]},"finish_reason":"stop"}]}"#,
            Stop::ToolCall,
        ),
        (
            "openai",
            r#"data: {"choices":[{"delta":{"refusal":"I cannot"},"finish_reason":"stop"}]}"#,
            Stop::Refused,
        ),
        (
            "openai",
            r#"data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
            Stop::Refused,
        ),
        (
            "openai",
            r#"data: {"choices":[{"delta":{},"finish_reason":"new\u001b"}]}"#,
            Stop::Other("new".to_owned()),
        ),
        (
            "openai-responses",
            r#"data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call"}]}}"#,
            Stop::ToolCall,
        ),
        (
            "openai-responses",
            r#"data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}]}}"#,
            Stop::Refused,
        ),
        (
            "openai-responses",
            r#"data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
            Stop::Refused,
        ),
        (
            "anthropic",
            r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            Stop::ToolCall,
        ),
        (
            "anthropic",
            r#"data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
            Stop::Refused,
        ),
        (
            "anthropic",
            r#"data: {"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#,
            Stop::Length,
        ),
    ];
    for (name, stream, stop) in cases {
        let answer = read(name, &[stream.as_bytes()]).unwrap();
        assert_eq!((answer.text, answer.stop), (String::new(), stop), "{stream}");
    }
}

#[test]
fn errors_within_an_answer_are_reported() {
    let cases = [
        ("openai", r#"data: {"error":{"message":"no","code":429}}"#),
        ("openai", r#"data: {"choices":[{"delta":{},"error":{"code":502,"message":"no"}}]}"#),
        ("openai", r#"error: {"error":{"code":500,"message":"no"}}"#),
        ("openai", r#"{"error":"no"}"#),
        ("openai-responses", r#"data: {"type":"error","code":"server_error","message":"no"}"#),
        (
            "openai-responses",
            r#"data: {"type":"response.failed","response":{"status":"failed","error":{"code":"x","message":"no"}}}"#,
        ),
        (
            "anthropic",
            r#"data: {"type":"error","error":{"type":"overloaded_error","message":"no"}}"#,
        ),
        ("anthropic", r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#),
        (
            "openai",
            r#"data: {"choices":[{"delta":{"content":"Half an answer"},"finish_reason":"network_error"}]}"#,
        ),
        (
            "openai-responses",
            r#"{"status":"cancelled","output":[{"content":[{"type":"output_text","text":"Half"}]}]}"#,
        ),
    ];
    for (name, stream) in cases {
        let stream = format!("{stream}\n\n");
        let Err(ReadError::Server(error)) = read(name, &[stream.as_bytes()]) else {
            panic!("{stream}");
        };
        let endpoint = Endpoint::new(api(name), "", "m").unwrap();
        let refusal = Refusal::in_answer(&endpoint, &error, None);
        assert!(
            ["no", "ended with the reason"].iter().any(|words| refusal.message.contains(words))
                && refusal.kind.may_pass(),
            "{refusal:?}"
        );
    }
}

#[test]
fn a_numeric_code_of_the_providers_own_is_no_http_status() {
    let endpoint = Endpoint::new(api("openai"), "", "m").unwrap();
    let error = plimsoll::json::json!({"code": 1302, "message": "Rate limit reached for requests"});
    let refusal = Refusal::in_answer(&endpoint, &error, None);
    assert!(refusal.kind == RefusalKind::RateLimited, "{refusal:?}");
    assert!(!refusal.message.contains("HTTP"), "{refusal:?}");
}

#[test]
fn a_response_that_is_not_an_answer_is_described() {
    let page = read("openai", &[b"<html><title>Log in</title>"]);
    assert_eq!(page, Err(ReadError::Page("Log in".to_owned())));
    for (bytes, word) in [
        (&b"hello\x1b[2J there"[..], "hello[2J there"),
        (b"data: {\"choices\": [\n\ndata: x", "choices"),
        (b"{\"a\": nonsense}", "nonsense"),
        (b"\xff\xfe\x00", "starts"),
    ] {
        let error = read("openai", &[bytes]).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(!error.to_string().contains('\x1b'), "{error}");
    }
    for bytes in [&b""[..], b" \n", b"\xef\xbb", b"data: [DO", b"{", b": ping\n"] {
        let error = read("openai", &[bytes]).unwrap_err();
        assert!(
            matches!(error, ReadError::CutOff | ReadError::Malformed(_) | ReadError::Empty),
            "{error}"
        );
    }
}

#[test]
fn an_endless_answer_is_stopped_early() {
    let event =
        format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "word ".repeat(20)}}]}));
    let streams: [&[u8]; 5] =
        [event.as_bytes(), b": ping\n\n", b"data: ", b"data: {}\n\n", b"{\"a\":"];
    for stream in streams {
        let mut reading = Reading::new(api("openai"), 16);
        let piece = stream.repeat(1 + 1000 / stream.len());
        let mut n_bytes = 0;
        let error = loop {
            n_bytes += piece.len();
            assert!(n_bytes < 2 << 20, "{:?}", String::from_utf8_lossy(stream));
            if let Err(error) = reading.feed(&piece) {
                break error;
            }
        };
        assert_eq!(error, ReadError::Endless(16));
    }
    // The largest limit still ends the answer.
    let mut reading = Reading::new(api("openai"), u64::MAX);
    assert!(reading.feed(event.as_bytes()).is_ok());
}

fn conversation() -> Vec<ChatMessage> {
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]},
        {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            {"id": "a.1", "type": "function", "function": {"name": "read", "arguments": "{\"n\":1.50}"}},
            {"id": "b", "type": "function", "function": {"name": "list", "arguments": ""}}]},
        {"role": "tool", "tool_call_id": "a.1", "content": "text"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "shot"}, picture]},
        {"role": "user", "content": ""},
        {"role": "user", "content": "Go on."},
        {"role": "system", "content": "Summarize."},
    ]);
    messages.as_array().unwrap().iter().map(message_from_json).collect()
}

fn asked(name: &str, base: &str, messages: Vec<ChatMessage>) -> Value {
    let endpoint = Endpoint::new(api(name), base, "m").unwrap();
    let prompt = Prompt {
        messages,
        max_tokens: 20,
        temperature: None,
        tools: Vec::new(),
        repeats_prefix: false,
    };
    endpoint.body(&prompt)
}

#[test]
fn a_conversation_is_written_as_chat_completions() {
    let body = asked("openai", "http://localhost:1", conversation());
    let expected = json!({"model": "m", "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        {"role": "assistant", "tool_calls": [
            {"id": "a.1", "type": "function", "function": {"name": "read", "arguments": "{\"n\":1.50}"}},
            {"id": "b", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a.1", "content": "text"},
        {"role": "tool", "tool_call_id": "b", "content": "shot\n[image]"},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, {"type": "text", "text": "Go on."}]},
        {"role": "system", "content": "Summarize."},
    ], "max_tokens": 20, "stream": true, "stream_options": {"include_usage": true}});
    assert_eq!(body, expected);
    let own = asked("openai", "", conversation());
    assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(20), None));
}

#[test]
fn a_conversation_is_written_as_responses() {
    let picture =
        json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"});
    let expected = json!({"model": "m", "input": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, picture]},
        {"type": "function_call", "call_id": "a.1", "name": "read", "arguments": "{\"n\":1.50}"},
        {"type": "function_call", "call_id": "b", "name": "list", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a.1", "output": "text"},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "shot"}, picture]},
        {"role": "user", "content": "Go on."},
        {"role": "system", "content": "Summarize."},
    ], "max_output_tokens": 20, "stream": true, "store": false});
    assert_eq!(asked("openai-responses", "", conversation()), expected);
}

fn anthropic_messages() -> Value {
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    json!([
        {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a_1", "name": "read", "input": {"n": 1.50}},
            {"type": "tool_use", "id": "b", "name": "list", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a_1", "content": [{"type": "text", "text": "text"}]},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "shot"}, picture]},
            {"type": "text", "text": "Go on."}, {"type": "text", "text": "Summarize."}]},
    ])
}

#[test]
fn a_conversation_is_written_as_messages_of_anthropic() {
    let body = asked("anthropic", "", conversation());
    let any = json!({"type": "object", "properties": {}});
    let messages =
        plimsoll::json::from_str(&anthropic_messages().to_string().replace("1.5}", "1.50}"))
            .unwrap();
    let expected = json!({"model": "m", "max_tokens": 20, "system": "Be brief.", "messages": messages, "stream": true,
        "tools": [{"name": "read", "input_schema": any}, {"name": "list", "input_schema": any}],
        "tool_choice": {"type": "none"}});
    assert_eq!(body, expected);
}

#[test]
fn the_request_does_not_depend_on_the_shape_of_the_messages() {
    let mut messages = vec![message_from_json(&json!({"role": "system", "content": "Be brief."}))];
    messages.extend(anthropic_messages().as_array().unwrap().iter().map(message_from_json));
    let chat = asked("openai", "http://localhost:1", messages.clone());
    let roles: Vec<_> =
        chat["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    let calls = &chat["messages"][2]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], json!("{\"n\":1.5}"));
    let back = asked("anthropic", "", messages);
    assert_eq!(back["messages"], anthropic_messages());
}

#[test]
fn a_conversation_of_instructions_or_starting_with_an_answer_is_valid() {
    let lone = asked("anthropic", "", vec![ChatMessage::new("system", "Say hi.")]);
    assert_eq!(
        lone["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "Say hi."}]}])
    );
    let first = asked("anthropic", "", vec![ChatMessage::new("assistant", "Hi.")]);
    assert_eq!(first["messages"][0]["role"], json!("user"));
    let image = message_from_json(
        &json!({"role": "user", "content": [{"type": "image"}, {"type": "document", "source": {}}]}),
    );
    let chat = asked("openai", "", vec![image]);
    assert_eq!(chat["messages"][0]["content"], json!("[image]\n[document]"));
}

#[test]
fn tools_of_any_api_are_converted_to_every_other() {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string", "default": null}}});
    let function = json!({"name": "read", "description": "Reads.", "parameters": schema});
    let anthropic = json!({"name": "read", "description": "Reads.", "input_schema": schema});
    let mut flat = function.clone();
    flat["type"] = json!("function");
    flat["strict"] = json!(false);
    let chat = json!({"type": "function", "function": function});
    for tool in [&chat, &flat, &anthropic] {
        let prompt = Prompt {
            messages: vec![ChatMessage::new("user", "a")],
            max_tokens: 0,
            temperature: Some(0.25),
            tools: vec![tool.clone(), json!({"type": "web_search"})],
            repeats_prefix: false,
        };
        for (name, expected) in
            [("openai", &chat), ("openai-responses", &flat), ("anthropic", &anthropic)]
        {
            let body = Endpoint::new(api(name), "", "m").unwrap().body(&prompt);
            assert_eq!(body["tools"], json!([expected]), "{name}");
            assert_eq!(body["temperature"], json!(0.25));
        }
    }
}

#[test]
fn the_messages_that_other_prompts_begin_with_are_marked_for_the_cache() {
    let mut prompt = Prompt {
        messages: conversation(),
        max_tokens: 1,
        temperature: None,
        tools: Vec::new(),
        repeats_prefix: true,
    };
    prompt.messages.push(ChatMessage::new("user", "A or B?"));
    let marks = |name: &str, prompt: &Prompt| {
        let body = Endpoint::new(api(name), "", "m").unwrap().body(prompt);
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let blocks =
            messages.iter().flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
        let blocks: Vec<Value> = blocks.collect();
        let marked = blocks.iter().map(|block| !block["cache_control"].is_null());
        (marked.collect::<Vec<_>>(), body.to_string().contains("cache_control"))
    };
    let (marked, _) = marks("anthropic", &prompt);
    let n = marked.len();
    assert!(
        marked[n - 2] && marked.iter().filter(|is_marked| **is_marked).count() == 1,
        "{marked:?}"
    );
    // The other providers cache without a mark.
    assert!(!marks("openai", &prompt).1 && !marks("openai-responses", &prompt).1);
    prompt.repeats_prefix = false;
    assert!(!marks("anthropic", &prompt).1);
    prompt = Prompt {
        messages: vec![ChatMessage::new("user", "A or B?")],
        repeats_prefix: true,
        ..prompt
    };
    assert!(!marks("anthropic", &prompt).1, "nothing precedes the question");
}

#[test]
fn an_invalid_temperature_is_not_sent() {
    let prompt = Prompt {
        messages: vec![ChatMessage::new("user", "a")],
        max_tokens: 0,
        temperature: Some(f64::NAN),
        tools: Vec::new(),
        repeats_prefix: false,
    };
    let body = Endpoint::new(api("anthropic"), "", "m").unwrap().body(&prompt);
    assert_eq!((body.get("temperature"), &body["max_tokens"]), (None, &json!(1)));
}

/// Error responses of servers and their kinds.
const REFUSALS: &[(u16, &str, RefusalKind)] = &[
    (401, r#"{"error":{"message":"Incorrect API key provided"}}"#, RefusalKind::BadKey),
    (403, "prompt is too long", RefusalKind::BadKey),
    (
        404,
        r#"{"error":{"message":"model 'x' not found, try pulling it first"}}"#,
        RefusalKind::UnknownModel,
    ),
    (
        400,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        RefusalKind::UnknownModel,
    ),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        RefusalKind::ContextTooLong,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        RefusalKind::ContextTooLong,
    ),
    (
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        RefusalKind::ContextTooLong,
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        RefusalKind::ContextTooLong,
    ),
    (
        400,
        r#"{"error":"the input length exceeds the context length"}"#,
        RefusalKind::ContextTooLong,
    ),
    (
        400,
        r#"{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 40 tokens"}"#,
        RefusalKind::ContextTooLong,
    ),
    (500, r#"{"error":"Context size has been exceeded."}"#, RefusalKind::ContextTooLong),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        RefusalKind::NoCredit,
    ),
    (402, "", RefusalKind::NoCredit),
    (429, r#"{"error":{"message":"Rate limit reached"}}"#, RefusalKind::RateLimited),
    (
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        RefusalKind::Overloaded,
    ),
    (503, "<html><title>503 Service Unavailable</title>", RefusalKind::Overloaded),
    (500, "", RefusalKind::ServerError),
    (
        422,
        r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"x"}]}"#,
        RefusalKind::BadRequest,
    ),
    (400, r#"[{"error":{"code":400,"message":"API error"}}]"#, RefusalKind::BadRequest),
];

#[test]
fn refusals_of_many_servers_are_classified() {
    let endpoint = Endpoint::new(api("openai"), "http://gpu:8000", "x").unwrap();
    for (status, body, kind) in REFUSALS {
        let refusal = Refusal::new(&endpoint, *status, body.as_bytes(), None);
        assert_eq!(refusal.kind, *kind, "{status} {body}");
        let line = &refusal.message;
        assert!(line.contains("gpu:8000") && line.contains(&status.to_string()), "{line}");
        assert!(line.chars().count() < 500 && !line.contains(['{', '<']), "{line}");
    }
    let detail =
        Refusal::new(&endpoint, 422, br#"{"detail":[{"msg":"field required"},{"msg":"x"}]}"#, None);
    assert!(detail.message.contains("HTTP 422: field required; x"), "{}", detail.message);
}

#[test]
fn a_refusal_never_contains_the_key() {
    let key = "sk-very-secret-key";
    let endpoint = Endpoint::new(api("openai"), "", key).unwrap();
    let echoes = [
        format!(r#"{{"error":{{"message":"bad key {key}"}}}}"#),
        format!("{}{key}{key}", "x".repeat(MAX_SHOWN_CHARS - 5)),
        format!("<title>{key}</title>"),
        format!("sk-very\x00-secret-key {key}"),
    ];
    for echo in echoes {
        let refusal = Refusal::new(&endpoint, 403, echo.as_bytes(), Some(key));
        assert!(!refusal.message.contains("sk-very"), "{}", refusal.message);
    }
    let error = json!({"message": format!("bad {key}")});
    assert!(!Refusal::in_answer(&endpoint, &error, Some(key)).message.contains(key));
}

/// Maximum number of characters of a server's message that are shown.
const MAX_SHOWN_CHARS: usize = 300;

#[test]
fn a_server_that_requires_the_other_limit_field_is_detected() {
    let own = Endpoint::new(api("openai"), "", "o9").unwrap();
    let other = Endpoint::new(api("openai"), "http://localhost:1", "o9").unwrap();
    let wants = |endpoint: &Endpoint, words: &str| {
        let body = json!({"error": {"message": words}}).to_string();
        Refusal::new(endpoint, 400, body.as_bytes(), None).wants_limit
    };
    let newer = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let unknown = "Unrecognized request argument supplied: max_completion_tokens";
    assert_eq!(wants(&other, newer), Some(LimitField::MaxCompletionTokens));
    assert_eq!(wants(&own, unknown), Some(LimitField::MaxTokens));
    assert_eq!(wants(&other, "max_tokens is too large"), None);
    assert_eq!(wants(&own, "max_completion_tokens must be at least 16"), None);
}

#[test]
fn windows_are_read_from_the_responses_of_all_servers() {
    let cases = [
        (
            json!({"data": [{"id": "a", "context_length": 5}, {"id": "m", "context_length": 131_072}]}),
            Some(131_072),
        ),
        (json!({"data": [{"id": "m", "max_model_len": 8192}]}), Some(8192)),
        (
            json!({"data": [{"id": "m", "max_context_length": 32768, "loaded_context_length": 4096}]}),
            Some(4096),
        ),
        (json!({"default_generation_settings": {"n_ctx": 2048}}), Some(2048)),
        (json!({"models": [{"name": "m:latest", "context_length": 4096}]}), Some(4096)),
        (
            json!({"parameters": "stop x\nnum_ctx   16384", "model_info": {"llama.context_length": 131_072}}),
            Some(16384),
        ),
        (
            json!({"model_info": {"general.name": "x", "llama.context_length": 131_072}}),
            Some(131_072),
        ),
        (json!({"id": "claude", "max_input_tokens": 200_000}), Some(200_000)),
        (json!({"data": [{"id": "other", "context_length": 5}]}), None),
        (json!({"data": [{"id": "m", "context_length": 0}]}), None),
        (json!({"data": [{"id": "m", "context_length": -1, "meta": {"n_ctx_train": 9}}]}), None),
        (json!([]), None),
        (json!("x"), None),
    ];
    for (answer, length) in cases {
        assert_eq!(context_length("m", &answer), length, "{answer}");
    }
}

#[test]
fn a_provider_only_gets_queries_for_its_own_urls() {
    let urls = |name: &str, base: &str| -> Vec<String> {
        let endpoint = Endpoint::new(api(name), base, "org/m:1").unwrap();
        window_queries(&endpoint).into_iter().map(|q| q.url).collect()
    };
    assert_eq!(urls("openai", ""), ["https://api.openai.com/v1/models"]);
    assert_eq!(urls("anthropic", ""), ["https://api.anthropic.com/v1/models/org%2Fm%3A1"]);
    let local = urls("openai", "http://localhost:1/v1/");
    assert_eq!(
        (local.len(), &*local[0], &*local[2]),
        (5, "http://localhost:1/v1/models", "http://localhost:1/props")
    );
}
