//! Bytes of faulty servers and proxies, and of answers that are refused, empty or damaged. Shared by the tests of requests, of
//! `compact` and of evaluations.

use crate::server::{STREAM_HEAD, answer, chunked};
use plimsoll::json::json;

/// Returns the event of a chat completion with this text.
pub(crate) fn event(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}))
}

/// Returns the body of an error.
pub(crate) fn error_json(words: &str) -> String {
    json!({"error": {"message": words}}).to_string()
}

/// Returns a stream of these events.
pub(crate) fn stream(events: &[&str]) -> Vec<u8> {
    let events: Vec<String> = events.iter().map(|e| format!("data: {e}\n\n")).collect();
    format!("{STREAM_HEAD}{}", events.concat()).into_bytes()
}

/// Returns responses that reject this key.
pub(crate) fn rejected_keys(key: &str) -> Vec<Vec<u8>> {
    let page = format!("<html><title>Forbidden: Bearer {key}</title>");
    let message = error_json(&format!("the key {key} may not"));
    let wrong = error_json("Incorrect API key provided");
    vec![
        answer("401 Unauthorized", "", &wrong),
        answer("403 Forbidden", "", &message),
        answer("403 Forbidden", "", &page),
        answer("401 Unauthorized", "", ""),
    ]
}

/// Returns responses to prompts that overflow the window.
pub(crate) fn too_long() -> Vec<Vec<u8>> {
    let code = json!({"error": {"message": "maximum", "code": "context_length_exceeded"}});
    let words = error_json("prompt is too long: 9 tokens > 8 maximum");
    vec![
        answer("400 Bad Request", "", &code.to_string()),
        answer("400 Bad Request", "", &words),
        answer("413 Payload Too Large", "", "<html>nginx"),
    ]
}

/// Responses of servers that stay busy: status, and words of the error.
pub(crate) const BUSY: [(&str, &str); 4] = [
    ("529 ", "is overloaded"),
    ("503 Service Unavailable", "is overloaded"),
    ("500 Internal Server Error", "failed"),
    ("429 Too Many Requests", "accepts no more requests"),
];

/// Headers of a wait that is too long.
pub(crate) const LONG_WAITS: [&str; 2] =
    ["retry-after: 3600\r\n", "retry-after: Sun, 06 Nov 2094 08:49:37 GMT\r\n"];

/// Returns starts of answers after which the server stalls, and words of the error.
pub(crate) fn stalls() -> [(String, &'static str); 5] {
    [
        (String::new(), "no answer began"),
        ("HTTP/1.1 200 OK\r\ncontent-ty".to_owned(), "no answer began"),
        (STREAM_HEAD.to_owned(), "no more of the answer"),
        (format!("{STREAM_HEAD}{}data: {{\"cho", event("half")), "no more of the answer"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"choices\"".to_owned(),
            "no more of the answer",
        ),
    ]
}

/// Starts of answers before which the connection closes.
pub(crate) const BROKEN_HEADS: [&str; 2] = ["", "HTTP/1.1 200 OK\r\ncont"];

/// Returns an incomplete answer in every framing.
pub(crate) fn incomplete(half: &[u8]) -> [Vec<u8>; 4] {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let size = format!("{:x}\r\n", half.len() + 50);
    let whole = b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n";
    [
        [STREAM_HEAD.as_bytes(), half].concat(),
        [head, size.as_bytes(), half].concat(),
        chunked(&[half]),
        [whole.as_slice(), half].concat(),
    ]
}

/// Returns responses that are not answers, and words of the error.
pub(crate) fn not_answers() -> Vec<(Vec<u8>, &'static str)> {
    let ok = |body: &str| answer("200 OK", "", body);
    vec![
        (ok("data: {\"choices\": [oops\n\n"), "an event contains “{\"choices\": [oops”"),
        (ok("{\"choices\": nonsense}"), "it starts with"),
        (ok("{\"status\": \"fine\"}"), "it starts with “{\"status\": \"fine\"}”"),
        (ok("Hello, I am no API.\n"), "Hello, I am no API."),
        (
            ok("<html><title>Sign in</title>"),
            "the server sent a web page instead of an answer: Sign in",
        ),
        (ok(""), "the answer is empty"),
        (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), "the answer is empty"),
        (answer("200 OK", "content-encoding: gzip\r\n", "\x1f"), "compressed"),
        (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), "not valid HTTP"),
    ]
}

/// Returns pieces of which an endless answer consists.
pub(crate) fn endless_bodies() -> [Vec<u8>; 5] {
    let bodies = [
        event(&"word ".repeat(50)),
        ": ping\n".repeat(2_000),
        "x".repeat(8_192),
        format!("data: {}", "x".repeat(8_192)),
        "{\"a\":\"".to_owned(),
    ];
    bodies.map(|body| body.repeat(1 + 4_096 / body.len()).into_bytes())
}

/// Statuses of redirects.
pub(crate) const REDIRECTS: [&str; 4] =
    ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"];

/// Returns responses with a head that is too large.
pub(crate) fn large_heads() -> [Vec<u8>; 3] {
    let large = |n: usize| {
        format!("HTTP/1.1 200 OK\r\nx-large: {}\r\ncontent-length: 0\r\n\r\n", "x".repeat(n))
    };
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-many: 1\r\n".repeat(500));
    [large(70_000), large(2 << 20), many].map(String::into_bytes)
}

/// An error of an overloaded server within an answer, before any text.
pub(crate) const OVERLOADED_EVENT: &str = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

/// Answers that the model refused or the provider filtered: API and events.
pub(crate) const REFUSED: [(&str, &[&str]); 5] = [
    (
        "openai",
        &[
            r#"{"choices":[{"delta":{"content":"The work began"}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ],
    ),
    (
        "openai",
        &[
            r#"{"choices":[{"delta":{"content":"The work","refusal":"I cannot"},"finish_reason":"stop"}]}"#,
        ],
    ),
    ("openai", &[r#"{"choices":[{"delta":{"content":"The work"},"finish_reason":"SAFETY"}]}"#]),
    (
        "anthropic",
        &[
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"The work began"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":5}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    ),
    (
        "openai-responses",
        &[
            r#"{"type":"response.output_text.delta","delta":"The work began"}"#,
            r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
        ],
    ),
];

/// A tool call without a text.
pub(crate) const ONLY_A_TOOL_CALL: &str = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;

/// Texts without a word, as JSON strings.
pub(crate) const BLANK: [&str; 2] = ["", "  \\n"];

/// Returns the event of a whole answer with this text, which is a JSON string.
pub(crate) fn whole_answer(text: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#)
}

/// Two events with the halves of one character of two UTF-16 units.
pub(crate) const SPLIT_CHARACTER: [&str; 2] = [
    r#"{"choices":[{"delta":{"content":"Done \ud83e"}}]}"#,
    r#"{"choices":[{"delta":{"content":"\udd80\n"}}]}"#,
];
