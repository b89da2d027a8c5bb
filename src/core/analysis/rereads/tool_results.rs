//! The tool results of a session, with their copies.

use crate::engine::Case;
use crate::session::Body;

/// The results of a call.
#[derive(Default)]
pub(super) struct ToolResult {
    /// Message and part of the result, and of its copies.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) is_error: bool,
}

/// Returns the results by the number of their call.
pub(super) fn results(case: &Case) -> Vec<ToolResult> {
    let mut results: Vec<ToolResult> = Vec::new();
    results.resize_with(case.index.calls.n_calls(), ToolResult::default);
    for (part, body) in case.session.parts.iter().map(|part| &part.body).enumerate() {
        let (Body::ToolResult { is_error, .. }, Some(call)) = (body, case.index.calls.number(part))
        else {
            continue;
        };
        let result = &mut results[call as usize];
        result.places.push((case.index.message_of[part], part as u32));
        result.is_error |= is_error;
    }
    results
}
