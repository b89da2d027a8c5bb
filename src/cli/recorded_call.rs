//! Recorded properties of a call as JSON, the same in every list of calls.

use crate::session::Session;
use crate::units::{Tokens, rfc3339};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// Recorded properties of a call.
#[derive(Serialize, JsonSchema)]
pub(super) struct RecordedCall<'a> {
    /// Time of the call or of its answer as RFC 3339 in UTC; null if not recorded.
    time: Option<String>,
    /// Model that answered; null if not recorded.
    model: Option<&'a str>,
    /// Part of the recorded answer used for reasoning, in tokens; null if not recorded.
    reasoning_output_tokens: Option<Tokens>,
}

impl<'a> RecordedCall<'a> {
    /// Returns the properties of the call with this index.
    pub(super) fn new(session: &'a Session, idx: usize) -> Self {
        let call = session.calls.get(idx);
        let time = call.and_then(|call| call.time);
        let time = time.and_then(|time| u64::try_from(time.0).ok());
        let model = call.and_then(|call| session.models.get(call.model?));
        Self {
            time: time.and_then(|millis| rfc3339(Duration::from_millis(millis))),
            model: model.map(String::as_str),
            reasoning_output_tokens: call.and_then(|call| call.usage?.reasoning),
        }
    }
}
