//! From a case file to a verdict: which of our functions a case runs, and whether it returns what the original did.

mod baseagent;
mod compare;
mod cowagent;
mod digitorn;
mod holmesgpt;
mod picoclaw;

use compare::difference;
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One case file.
pub(crate) struct Case {
    /// Name of the file.
    pub(crate) id: String,
    /// The system.
    pub(crate) system: String,
    /// Which of its functions.
    pub(crate) stage: String,
    /// Settings it ran with.
    pub(crate) config: Value,
    /// What it was given.
    pub(crate) input: Value,
    /// What it returned.
    pub(crate) expected: Value,
    /// The whole file.
    pub(crate) whole: Value,
}

/// What came of a case.
pub(crate) enum Verdict {
    /// Everything expected was returned.
    Passed,
    /// It was not: the first difference.
    Failed(String),
    /// It cannot be run, and why.
    NotCovered(String),
}

/// What a runner gives back: every field of `expected` as our functions return it.
pub(crate) type Answer = Result<Map<String, Value>, NotCovered>;

/// A case whose stub did what the case does not state.
pub(crate) fn unstated(what: &str) -> NotCovered {
    NotCovered(format!("{what} is not in the case"))
}

/// All texts of a JSON value.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Why a case cannot be run.
pub(crate) struct NotCovered(pub(crate) String);

/// Runs one case of a system.
type Runner = fn(&Case) -> Answer;

/// One row a system.
const RUNNERS: &[(&str, Runner)] = &[
    ("baseagent", baseagent::run),
    ("cowagent", cowagent::run),
    ("digitorn", digitorn::run),
    ("holmesgpt", holmesgpt::run),
    ("picoclaw", picoclaw::run),
];

impl Case {
    /// Reads a case. Fields differ a little between systems; ids carry the stage where no field does.
    pub(crate) fn parse(id: &str, text: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let text_of = |key: &str| whole[key].as_str().map(str::to_owned);
        Ok(Self {
            id: id.to_owned(),
            system: text_of("system").ok_or("no `system`")?,
            stage: text_of("stage").ok_or("no `stage`")?,
            config: whole["config"].clone(),
            input: whole["input"].clone(),
            expected: whole["expected"].clone(),
            whole,
        })
    }
}

/// Runs a case and compares. A panic of ours is a failure with its name.
pub(crate) fn judge(case: &Case) -> Verdict {
    let Some((_, run)) = RUNNERS.iter().find(|(name, _)| *name == case.system) else {
        return Verdict::NotCovered(format!("no runner for the system {:?}", case.system));
    };
    match catch_unwind(AssertUnwindSafe(|| run(case))) {
        Err(_) => Verdict::Failed("it panicked".to_owned()),
        Ok(Err(NotCovered(why))) => Verdict::NotCovered(why),
        Ok(Ok(actual)) => difference(&case.expected, &Value::Object(actual))
            .map_or(Verdict::Passed, Verdict::Failed),
    }
}
