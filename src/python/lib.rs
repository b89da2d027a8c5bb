//! The native module of the Python package: the live manager of the core, with JSON in and out.
//!
//! `plimsoll/_manager.py` wraps it: it knows the host's messages, this module only their JSON.

use plimsoll_core::live::{Entry, LiveError, Manager, Options, Ready, Step};
use plimsoll_core::units::Millis;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Native, says_too_long};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Returns whether an error of a provider says that the context is too long.
#[pyfunction]
fn says_too_long(error: &str) -> bool {
    plimsoll_core::session::says_too_long(&error.to_lowercase())
}

/// The policy and the decisions of one conversation.
///
/// Every method releases the interpreter while it works, and may be called from any thread.
#[pyclass(frozen)]
struct Native(Mutex<Manager>);

#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    #[serde(default)]
    output_tokens: Option<u64>,
}

/// A part of a context. Long conversations are mostly kept, and Python copies a range at once.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    /// The host's messages from the first number to before the second.
    Keep { keep: (usize, usize) },
    /// An edited or added message.
    Other(&'a Entry),
}

fn parts(entries: &[Entry]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for entry in entries {
        match (parts.last_mut(), entry) {
            (Some(Part::Keep { keep }), Entry::Keep { keep: next }) if keep.1 == *next => {
                keep.1 += 1;
            }
            (_, Entry::Keep { keep }) => parts.push(Part::Keep { keep: (*keep, keep + 1) }),
            (_, other) => parts.push(Part::Other(other)),
        }
    }
    parts
}

/// Returns a step as JSON.
fn to_json(step: &Step) -> serde_json::Result<String> {
    let Step::Ready(ready) = step else {
        return serde_json::to_string(step);
    };
    let Ready { call, entries, tokens, accuracy, error, events, warnings } = ready;
    let ready = serde_json::json!({
        "call": call, "tokens": tokens, "accuracy": accuracy, "error": error, "events": events,
        "warnings": warnings,
    });
    // Messages keep the order of their fields only if they are written directly.
    let entries = serde_json::to_string(&parts(entries))?;
    Ok(format!("{{\"ready\":{ready},\"entries\":{entries}}}"))
}

fn value_error(error: &LiveError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Native {
    /// Does work without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Manager) -> Result<T, LiveError> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.manager())).map_err(|error| value_error(&error))
    }

    /// A panic in an earlier call leaves a manager that still answers with errors.
    fn manager(&self) -> MutexGuard<'_, Manager> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Native {
    #[new]
    fn new(py: Python<'_>, policy: &str, options: &str) -> PyResult<Self> {
        let manager = py.detach(|| Manager::new(policy, Options::from_json(options)?));
        manager.map(|manager| Self(Mutex::new(manager))).map_err(|error| value_error(&error))
    }

    fn push(&self, py: Python<'_>, message: &str) -> PyResult<usize> {
        self.with(py, |manager| manager.push(message))
    }

    fn truncate(&self, py: Python<'_>, n: usize) -> PyResult<()> {
        self.with(py, |manager| manager.truncate(n))
    }

    fn __len__(&self) -> usize {
        self.manager().len()
    }

    fn step(&self, py: Python<'_>) -> PyResult<String> {
        let step = self.with(py, |manager| Ok(to_json(&manager.step()?)))?;
        step.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn answer(&self, py: Python<'_>, text: &str) -> PyResult<Option<String>> {
        self.with(py, |manager| manager.answer(text))
    }

    fn fail(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        self.with(py, |manager| manager.fail(why))
    }

    fn report(&self, py: Python<'_>, usage: &str) -> PyResult<()> {
        let usage: Usage = serde_json::from_str(usage)
            .map_err(|error| PyValueError::new_err(format!("usage: {error}")))?;
        self.with(py, |manager| manager.report(usage.input_tokens, usage.output_tokens))
    }

    fn rejected(&self, py: Python<'_>, error: &str) -> PyResult<()> {
        self.with(py, |manager| manager.reject(error))
    }

    fn time(&self, seconds: f64) {
        self.manager().set_time(Millis((seconds * 1000.0) as i64));
    }

    fn state(&self, py: Python<'_>) -> String {
        py.detach(|| self.manager().state())
    }

    #[staticmethod]
    fn restore(py: Python<'_>, state: &str) -> PyResult<Self> {
        let manager = py.detach(|| Manager::restore(state, &[]));
        manager.map(|manager| Self(Mutex::new(manager))).map_err(|error| value_error(&error))
    }
}
