//! Messages as the program numbers them: consecutive tool results are one.

use crate::chat::{ChatMessage, n_system};
use std::ops::Range;

/// The text of a result that takes the place of a missing one.
pub(super) const MISSING: &str = "result missing";

/// Returns the ranges of messages that the program stores as one, without instructions. Stand-ins for the results of
/// the first answer belong to that answer.
pub(super) fn units(messages: &[ChatMessage]) -> Vec<Range<usize>> {
    let n_system = n_system(messages);
    let mut units: Vec<Range<usize>> = Vec::new();
    for (idx, message) in messages.iter().enumerate().skip(n_system) {
        let n_units = units.len();
        let is_stand_in = n_units == 2 && message.is("tool") && message.text() == Some(MISSING);
        match units.last_mut() {
            Some(last) if is_stand_in => last.end = idx + 1,
            Some(last) if message.is("tool") && messages[last.start].is("tool") => {
                last.end = idx + 1;
            }
            _ => units.push(idx..idx + 1),
        }
    }
    units
}
