//! Requests that a model server received, as `requests.jsonl` of a pair stores them.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// A request and what the server answered.
pub(super) struct Received {
    /// Number in the file, from 1.
    pub number: u64,
    /// API: `chat`, `responses`, `anthropic` or `gemini`.
    pub api: String,
    /// Purpose: `main` for a call of the agent, `summary`, `title`, `sub:…`.
    pub role: String,
    /// Whether the server answered with an error.
    pub failed: bool,
    /// Text of the answer; empty if it has none.
    pub text: String,
    /// The whole body.
    pub body: Map<String, Value>,
}

/// Reads the requests of a pair.
pub(super) fn read(path: &Path) -> Vec<Received> {
    let text = std::fs::read_to_string(path).expect("the file of requests");
    let mut bodies: HashMap<u64, Map<String, Value>> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a request a line");
        let number = line["n"].as_u64().expect("a number");
        let mut body = line["request"].as_object().expect("a body").clone();
        for (field, of) in line["same"].as_object().into_iter().flatten() {
            let whole = &bodies[&of.as_u64().expect("a line")];
            body.insert(field.clone(), whole[field].clone());
        }
        for (field, of) in line["head"].as_object().into_iter().flatten() {
            let whole = &bodies[&of[0].as_u64().expect("a line")];
            let n = of[1].as_u64().expect("a number of items") as usize;
            let mut items = whole[field].as_array().expect("a list")[..n].to_vec();
            items.extend(body[field].as_array().expect("a list").iter().cloned());
            body.insert(field.clone(), Value::Array(items));
        }
        bodies.insert(number, body.clone());
        let answer = &line["answer"];
        found.push(Received {
            number,
            api: line["kind"].as_str().expect("an API").to_owned(),
            role: answer["role"].as_str().unwrap_or_default().to_owned(),
            failed: !matches!(&answer["error"], Value::Null | Value::Bool(false)),
            text: answer["text"].as_str().unwrap_or_default().to_owned(),
            body,
        });
    }
    found
}
