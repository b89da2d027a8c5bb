//! Captures of requests: every context is a request that was sent, and nothing else of the exchange is kept.

use crate::fixtures::{Fixture, fixtures, read};
use plimsoll::session::{Body, Session};
use serde_json::Value;

fn captures() -> impl Iterator<Item = Fixture> {
    fixtures().into_iter().filter(|fixture| fixture.format == "request_capture")
}

#[test]
fn headers_and_addresses_are_left_out() {
    let mut n_secret = 0;
    for fixture in captures() {
        let has_secret = |bytes: &[u8]| bytes.windows(6).any(|text| text == b"secret");
        n_secret += usize::from(has_secret(&fixture.bytes));
        for session in
            read(&fixture.name, &fixture.bytes).expect("the fixture is complete").sessions
        {
            assert!(!has_secret(&session.source.bytes.whole()), "{}", fixture.name);
        }
    }
    assert!(n_secret > 2, "the fixtures have keys");
}

#[test]
fn every_context_is_a_request_that_was_sent() {
    let mut n_equal = 0;
    for fixture in captures() {
        let Some(requests) = requests(&fixture) else {
            continue;
        };
        let sessions =
            read(&fixture.name, &fixture.bytes).expect("the fixture is complete").sessions;
        let mut contexts: Vec<Vec<String>> = sessions.iter().flat_map(contexts).collect();
        for request in requests {
            let texts = texts_of(&request);
            let found = contexts.iter().position(|context| *context == texts);
            let Some(found) = found else {
                panic!("{}: no call was sent {texts:#?}, but {contexts:#?}", fixture.name)
            };
            contexts.remove(found);
            n_equal += 1;
        }
        assert!(contexts.is_empty(), "{}: nobody was sent {contexts:#?}", fixture.name);
    }
    assert_eq!(n_equal, 11);
}

/// Returns the bodies of the requests of a real capture.
fn requests(fixture: &Fixture) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(&fixture.bytes).ok()?;
    if std::path::Path::new(&fixture.name).extension().is_some_and(|it| it == "har") {
        let archive: Value = serde_json::from_str(text).expect("the fixture is complete");
        let entries = archive["log"]["entries"].as_array().expect("the fixture is complete");
        let body = |entry: &Value| {
            serde_json::from_str(
                entry["request"]["postData"]["text"].as_str().expect("the fixture is complete"),
            )
            .expect("the fixture is complete")
        };
        return Some(entries.iter().map(body).collect());
    }
    let body = |line: &str| {
        serde_json::from_str::<Value>(line).expect("the fixture is complete")["request"]["body"]
            .take()
    };
    fixture.name.contains("claude-trace").then(|| text.lines().map(body).collect())
}

/// Returns the texts, arguments and results of a request's messages.
fn texts_of(request: &Value) -> Vec<String> {
    let list =
        request.get("messages").or_else(|| request.get("input")).expect("the fixture is complete");
    let mut texts = Vec::new();
    for item in list.as_array().expect("the fixture is complete") {
        texts_in(item.get("content").unwrap_or(item), &mut texts);
    }
    texts
}

fn texts_in(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(blocks) => blocks.iter().for_each(|block| texts_in(block, texts)),
        Value::Object(block) => {
            if let Some(input) = block.get("input") {
                texts.push(input.to_string());
            }
            for key in ["text", "arguments", "output", "content"] {
                block.get(key).into_iter().for_each(|inner| texts_in(inner, texts));
            }
        }
        _ => {}
    }
}

/// Returns the texts of the context of each call, without instructions that stand outside of the messages.
fn contexts(session: &Session) -> Vec<Vec<String>> {
    let has_list_in_request = |idx: &usize| !session.messages[*idx].raw.is_empty();
    let context = |end: usize| {
        let messages = session.real_context(end).into_iter().filter(has_list_in_request);
        let parts = messages.flat_map(|idx| session.parts_of(&session.messages[idx]).to_vec());
        parts
            .filter(|part| !matches!(part.body, Body::ToolDefinition { .. }))
            .map(|part| match part.body {
                Body::ToolCall { arguments, .. } => arguments.into_string(),
                body => body.text().to_owned(),
            })
            .collect()
    };
    session.calls.iter().map(|call| context(call.context_end)).collect()
}
