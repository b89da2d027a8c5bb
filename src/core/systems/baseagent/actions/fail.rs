//! Effects of a provider error: it ends the run or delays it.

use super::terms;
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::languages::python::PythonError;
use crate::systems::baseagent::{Failure, code_of_status};
use crate::systems::stage_settings::numbers_only;

/// There is no emergency stage. An overflow ends the run; a temporary error causes a wait.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "baseagent.fail",
    ActionKind::Log,
    "Ends the run: there is no emergency stage for an overflow. Retries temporary errors.",
    |settings| numbers_only(settings, fail),
);

fn fail(input: &RewriteInput<'_>) -> Rewritten {
    let failure = failure(input);
    let first = failure.attempt_line(1);
    let (halt, last) = match failure.wait_after(1) {
        Some(seconds) => (None, format!("sleep {seconds}")),
        None => (Some(failure.fatal_line()), failure.fatal_line()),
    };
    let log = first.into_iter().chain([last]);
    Rewritten {
        // A retried call has not failed yet.
        fired: halt.is_some(),
        terms: terms(&[("window", input.window as f64)]),
        log: log.map(|line| format!("[loop] {line}")).collect(),
        halt,
        ..Rewritten::default()
    }
}

/// Returns the client's failure for the provider's error; without an error, an overflow.
fn failure(input: &RewriteInput<'_>) -> Failure {
    let window = input.window;
    let (status, message) = if input.error.is_empty() {
        let why = format!("HTTP 400: the prompt does not fit into {window} tokens");
        (Some(400), why)
    } else {
        (status_of(input.error), input.error.to_owned())
    };
    match status {
        Some(status) => Failure::Llm { code: code_of_status(status).to_owned(), message },
        // Without an answer there is no status: the client raises an exception.
        None => Failure::Other(PythonError::new("RuntimeError", message)),
    }
}

/// Returns the first number in an error's text that is a status of a failed request.
fn status_of(error: &str) -> Option<u16> {
    error
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| digits.len() == 3)
        .filter_map(|digits| digits.parse().ok())
        .find(|status| (400..600).contains(status))
}
