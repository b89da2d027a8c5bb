//! Runs case files: one folder per system, with a function for each of its stages.
//!
//! A *stage* is a function of the original system. Folders with an agent loop also reproduce the system's loop, which no
//! preset uses; scripts in the case files take the place of the model and the tools.

mod baseagent;
pub(crate) mod compare;
mod cowagent;
mod digitorn;
mod holmesgpt;
mod picoclaw;

use compare::difference;
use plimsoll::chat::{ChatMessage, message_from_json, message_to_json};
use plimsoll::json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A case file.
pub(crate) struct Case {
    /// Name of the system.
    pub(crate) system: String,
    /// Name of the function.
    pub(crate) stage: String,
    /// Settings of the run.
    pub(crate) config: Value,
    /// Inputs of the function.
    pub(crate) input: Value,
    /// Values that the original returned.
    pub(crate) expected: Value,
    /// The whole file.
    pub(crate) whole: Value,
}

/// Result of a case.
pub(crate) enum Verdict {
    /// The reproduction returned the expected values.
    Passed,
    /// It returned something else: the first difference.
    Failed(String),
    /// The case cannot be run, with the reason.
    NotCovered(String),
}

/// Every field of `expected` as the reproduction returns it.
pub(crate) type Answer = Result<Map<String, Value>, NotCovered>;

/// Reason why a case cannot be run.
pub(crate) struct NotCovered(pub(crate) String);

/// Returns the error for a case that omits an answer of its model or tools.
pub(crate) fn unstated(what: &str) -> NotCovered {
    NotCovered(format!("{what} is not in the case"))
}

/// Returns the error for a case whose function no runner reproduces.
fn no_stage(case: &Case) -> NotCovered {
    NotCovered(format!("no stage named {:?}", case.stage))
}

/// Runs one case of a system.
type Runner = fn(&Case) -> Answer;

/// Runners by system.
const RUNNERS: &[(&str, Runner)] = &[
    ("baseagent", baseagent::run),
    ("cowagent", cowagent::run),
    ("digitorn", digitorn::run),
    ("holmesgpt", holmesgpt::run),
    ("picoclaw", picoclaw::run),
];

impl Case {
    /// Parses a case.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let text_of = |key: &str| whole[key].as_str().map(str::to_owned);
        Ok(Self {
            system: text_of("system").ok_or("no `system`")?,
            stage: text_of("stage").ok_or("no `stage`")?,
            config: whole["config"].clone(),
            input: whole["input"].clone(),
            expected: whole["expected"].clone(),
            whole,
        })
    }
}

/// Runs a case and compares the result. A panic is a failure.
pub(crate) fn judge(case: &Case) -> Verdict {
    let Some((_, run)) = RUNNERS.iter().find(|(name, _)| *name == case.system) else {
        return Verdict::NotCovered(format!("no runner for the system {:?}", case.system));
    };
    match catch_unwind(AssertUnwindSafe(|| run(case))) {
        Err(_) => Verdict::Failed("panicked".to_owned()),
        Ok(Err(NotCovered(why))) => Verdict::NotCovered(why),
        Ok(Ok(actual)) => difference(&case.expected, &Value::Object(actual))
            .map_or(Verdict::Passed, Verdict::Failed),
    }
}

/// Returns all texts in a JSON value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Parses a list of messages; empty if the value is not a list.
fn messages_from_json(list: &Value) -> Vec<ChatMessage> {
    let list = list.as_array().into_iter().flatten();
    list.map(message_from_json).collect()
}

/// Returns messages as a list.
fn messages_to_json(messages: &[ChatMessage]) -> Value {
    messages.iter().map(message_to_json).collect()
}

/// Makes an object.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let owned = |(key, value): (&str, Value)| (key.to_owned(), value);
    fields.map(owned).into_iter().collect()
}
