//! The native module of the Python package: the live manager of the core, with JSON in and out.
//!
//! `plimsoll/_manager.py` wraps it: it knows the host's messages, this module only their JSON.

use plimsoll_core::live::{LiveError, Manager, Options, StepWriter};
use plimsoll_core::units::Millis;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
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
struct Native(Mutex<State>);

/// A manager, and the last step that Python got.
struct State {
    manager: Manager,
    steps: StepWriter,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    #[serde(default)]
    output_tokens: Option<u64>,
}

fn value_error(error: &LiveError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Native {
    /// Does work without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, LiveError> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.locked())).map_err(|error| value_error(&error))
    }

    /// Creates a manager without the interpreter.
    fn create(
        py: Python<'_>,
        manager: impl FnOnce() -> Result<Manager, LiveError> + Send,
    ) -> PyResult<Self> {
        let manager = py.detach(manager).map_err(|error| value_error(&error))?;
        Ok(Self(Mutex::new(State { manager, steps: StepWriter::default() })))
    }

    /// A panic in an earlier call leaves a manager that still answers with errors.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Native {
    #[new]
    fn new(py: Python<'_>, policy: &str, options: &str) -> PyResult<Self> {
        Self::create(py, || Manager::new(policy, Options::from_json(options)?))
    }

    fn push(&self, py: Python<'_>, message: &str) -> PyResult<usize> {
        self.with(py, |state| state.manager.push(message))
    }

    fn truncate(&self, py: Python<'_>, n: usize) -> PyResult<()> {
        self.with(py, |state| {
            state.steps.forget();
            state.manager.truncate(n)
        })
    }

    fn __len__(&self) -> usize {
        self.locked().manager.len()
    }

    fn step(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| Ok(state.steps.write(state.manager.step()?)))
    }

    fn answer(&self, py: Python<'_>, text: &str) -> PyResult<Option<String>> {
        self.with(py, |state| state.manager.answer(text))
    }

    fn fail(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        self.with(py, |state| state.manager.fail(why))
    }

    fn report(&self, py: Python<'_>, usage: &str) -> PyResult<()> {
        let usage: Usage = serde_json::from_str(usage)
            .map_err(|error| PyValueError::new_err(format!("usage: {error}")))?;
        self.with(py, |state| state.manager.report(usage.input_tokens, usage.output_tokens))
    }

    fn rejected(&self, py: Python<'_>, error: &str) -> PyResult<()> {
        self.with(py, |state| state.manager.reject(error))
    }

    fn time(&self, seconds: f64) {
        self.locked().manager.set_time(Millis((seconds * 1000.0) as i64));
    }

    fn state(&self, py: Python<'_>) -> String {
        py.detach(|| self.locked().manager.state())
    }

    #[staticmethod]
    fn restore(py: Python<'_>, state: &str) -> PyResult<Self> {
        Self::create(py, || Manager::restore(state, &[]))
    }
}
