//! The mark of a managed conversation: that it is one, and the calibration of its source.
//!
//! Calls recorded before the file was written report contexts that the file no longer holds. Readers ignore their usage
//! and count tokens with the calibration in the mark.

use super::json;
use crate::json::{Value, json};
use crate::session::{Calibration, Managed};

/// Member of a document that holds the mark.
pub(super) const MARK: &str = "plimsoll";

/// Returns a mark. `messages` is the number of messages it applies to, if they do not precede it.
pub(super) fn mark(managed: &Managed, messages: Option<usize>) -> Value {
    let mut mark = json!({"managed": true});
    if let Some(messages) = messages {
        mark["messages"] = messages.into();
    }
    if let Some(calibration) = &managed.calibration {
        mark["calibration"] = written(calibration);
    }
    mark
}

/// Returns a calibration as a mark stores it.
pub(super) fn written(calibration: &Calibration) -> Value {
    json!({
        "counter": calibration.counter, "overhead": calibration.overhead, "factor": calibration.factor,
        "error": calibration.error,
    })
}

/// Returns the calibration of a mark, or `None` if a number is missing.
pub(super) fn calibration(mark: &Value) -> Option<Calibration> {
    let held = mark.get("calibration")?;
    let number = |key: &str| held.get(key)?.as_f64().filter(|n| n.is_finite());
    Some(Calibration {
        counter: json::str_at(held, &["counter"])?.to_owned(),
        overhead: number("overhead")?,
        factor: number("factor")?,
        error: number("error")?,
    })
}
