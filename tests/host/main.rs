//! Checks that `serde_json` behaves as without `plimsoll-core`, while the session at the path given is replayed.

use plimsoll_core::engine::{Case, simulate};
use plimsoll_core::formats::{self, Input};
use plimsoll_core::json;
use plimsoll_core::presets::{self, models};
use plimsoll_core::progress::Progress;
use plimsoll_core::tokens::{self, TokenLedger};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
enum Shape {
    Circle { radius: f64 },
}

fn main() {
    let path = std::env::args().nth(1).expect("the path of a session");
    own_json_is_as_usual();
    values_keep_their_text();
    replays(path);
}

fn own_json_is_as_usual() {
    let circle: Shape = serde_json::from_str(r#"{"radius":1.5,"type":"Circle"}"#).unwrap();
    assert_eq!(circle, Shape::Circle { radius: 1.5 });
    let number: serde_json::Value = serde_json::from_str("1.00").unwrap();
    assert_eq!(number, serde_json::json!(1.0));
    let object: serde_json::Value = serde_json::from_str(r#"{"b":1.50,"a":1e2}"#).unwrap();
    assert_eq!(object.to_string(), r#"{"a":100.0,"b":1.5}"#);
}

fn values_keep_their_text() {
    let text = r#"{"b":1.50,"a":1e+2}"#;
    let value = json::from_str(text).unwrap();
    assert_eq!(value.to_string(), text);
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(serde_json::to_value(&value).unwrap(), serde_json::json!({"a": 100.0, "b": 1.5}));
}

fn replays(path: String) {
    let input = Input { bytes: std::fs::read(&path).unwrap().into(), name: path };
    let session = formats::parse(&input).unwrap().sessions.remove(0);
    let counter = tokens::by_name("o200k_base").unwrap();
    let ledger = TokenLedger::count(&session, counter, &Progress::default()).unwrap();
    let windows = models::window_plan(&session, None);
    let case = Case::new(Arc::new(session), ledger, windows);
    let policy = presets::by_name("claude-code").unwrap();
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    assert!(outcome.peak().is_some());
}
