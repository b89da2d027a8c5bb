//! Models behind HTTP: requests, answers, and every fault of a server or proxy.
//!
//! Each test starts a real server on loopback, with short time limits.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod evaluate;
mod evaluate_faults;
mod evaluate_recorded;
mod fault_answers;
mod formats;
#[path = "../common/reader.rs"]
mod reader;
mod server;

use plimsoll::chat::ChatMessage;
use plimsoll::exec::model::{
    AskError, AskErrorKind, AskEvent, Key, ModelClient, Proxy, RequestLimits, RetryPolicy, ask,
    context_length,
};
use plimsoll::json::{Value, json};
use plimsoll::progress::Progress;
use plimsoll::providers::{Answer, Endpoint, Prompt, Stop, api_by_name};
use server::{STREAM_HEAD, Server, answer, chunked};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const KEY: &str = "sk-test-0123456789abcdef";

const CHAT: &str = "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"Grüße, \"}}]}\r\n\r\n\
data: {\"choices\":[{\"delta\":{\"content\":\"世界 🦀\"}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\r\
data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5}}\n\n\
data: [DONE]\n\n";

const RESPONSES: &str = "event: response.output_text.delta\n\
data: {\"type\":\"response.output_text.delta\",\"delta\":\"Grüße, 世界 🦀\"}\n\n\
event: response.completed\n\
data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"m-1\",\"usage\":{\"input_tokens\":12,\"output_tokens\":5}}}\n\n";

const ANTHROPIC: &str = "event: message_start\n\
data: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\",\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n\
data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße, 世界 🦀\"}}\n\n\
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n\
data: {\"type\":\"message_stop\"}\n\n";

const STREAMS: [(&str, &str); 3] =
    [("openai", CHAT), ("openai-responses", RESPONSES), ("anthropic", ANTHROPIC)];

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns a client with limits for a busy machine. Tests of the limits set shorter ones.
fn client(api: &str, url: &str) -> ModelClient {
    let endpoint = Endpoint::new(api_by_name(api).unwrap(), url, "m").unwrap();
    let mut client = ModelClient::new(endpoint, Some(Key::typed(KEY.to_owned()).unwrap()));
    client.limits = RequestLimits {
        connect: millis(3_000),
        first_byte: millis(3_000),
        idle: millis(3_000),
        total: millis(8_000),
        ..RequestLimits::default()
    };
    client.retries =
        RetryPolicy { max_retries: 2, first_wait: millis(20), max_wait: millis(1_500) };
    client
}

fn prompt() -> Prompt {
    Prompt {
        messages: vec![ChatMessage::new("system", "Be brief."), ChatMessage::new("user", "Hello?")],
        max_tokens: 100,
        temperature: None,
        tools: Vec::new(),
        repeats_prefix: false,
    }
}

fn ask_at(api: &str, server: &Server) -> Result<Answer, AskError> {
    ask(&client(api, &server.url()), &prompt(), &Progress::default(), &mut |_| {})
}

/// Sends a prompt that fails, and checks that the error is one printable line without the key.
fn fail(client: &ModelClient) -> AskError {
    let error = ask(client, &prompt(), &Progress::default(), &mut |_| {}).expect_err("a failure");
    let line = error.to_string();
    let debug = format!("{error:?} {client:?}");
    assert!(!line.contains(KEY) && !debug.contains(KEY), "{line}");
    assert!(!line.contains(char::is_control), "{line:?}");
    assert!(line.chars().count() < 700, "{line}");
    error
}

#[track_caller]
fn assert_fails(client: &ModelClient, kind: AskErrorKind, words: &[&str]) {
    let error = fail(client);
    let line = error.to_string();
    let lacks: Vec<_> = words.iter().filter(|word| !line.contains(**word)).collect();
    assert!(error.kind == kind && lacks.is_empty(), "{error:?} lacks {lacks:?}");
}

/// Checks the error for a server that always answers with these bytes. Returns the number of requests.
#[track_caller]
fn assert_answer_fails(bytes: Vec<u8>, kind: AskErrorKind, words: &[&str]) -> usize {
    let server = Server::with_answer(bytes);
    assert_fails(&client("openai", &server.url()), kind, words);
    server.received().len()
}

/// Checks several cases at a time, because a check mostly waits.
fn check_each<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let cases: Vec<T> = cases.into_iter().collect();
    let queue = Mutex::new(cases.into_iter());
    let next = || queue.lock().expect("nobody panics with it").next();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = next() {
                    check(case);
                }
            });
        }
    });
}

fn greeting() -> (String, Stop) {
    ("Grüße, 世界 🦀".to_owned(), Stop::Finished)
}

fn gist(answer: Answer) -> (String, Stop) {
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input.0, usage.output.map(|n| n.0)), (12, Some(5)));
    assert_eq!(answer.model.as_deref(), Some("m-1"));
    (answer.text, answer.stop)
}

mod answers;
mod faults;
mod real;
mod requests;
mod tls;
