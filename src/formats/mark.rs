//! What a managed copy says about itself: that it is one, and how its source was weighed.
//!
//! Calls that were recorded before a copy was written report contexts that it does not hold any more. Readers ignore
//! their usage, and weigh the copy with the calibration that it carries.

use super::json;
use crate::session::{Calibration, Managed};
use serde_json::{Value, json};

/// The mark of a copy; `messages` counts the messages it speaks of, where it does not follow them.
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

/// A calibration as a mark holds it.
pub(super) fn written(calibration: &Calibration) -> Value {
    json!({
        "counter": calibration.counter, "overhead": calibration.overhead, "factor": calibration.factor,
        "error": calibration.error,
    })
}

/// The calibration of a mark; none if a figure is missing.
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
