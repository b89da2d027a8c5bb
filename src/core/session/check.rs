//! Detects defects of a recorded session: tool calls and results that do not match.

use super::{Body, Session};
use std::collections::HashMap;

/// A defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Kind of defect.
    pub kind: IssueKind,
    /// Index of the message.
    pub message: usize,
    /// Id of the tool call.
    pub call: String,
}

/// Kinds of defects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueKind {
    /// A tool call without a result in the file (an aborted call).
    CallWithoutResult,
    /// A tool result without a preceding call in the file.
    ResultWithoutCall,
}

impl IssueKind {
    /// Returns a short sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::CallWithoutResult => "a tool call has no result",
            Self::ResultWithoutCall => "a tool result has no call before it",
        }
    }
}

/// Returns all defects in order of their messages. Ids may repeat across turns; a result answers the latest unanswered
/// call with its id.
pub fn issues(session: &Session) -> Vec<Issue> {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (idx, message) in session.messages.iter().enumerate().filter(|(_, m)| m.in_history) {
        for part in session.parts_of(message) {
            match &part.body {
                Body::ToolCall { call, .. } => open.entry(call).or_default().push(idx),
                Body::ToolResult { call, .. }
                    if open.get_mut(&**call).and_then(Vec::pop).is_none() =>
                {
                    found.push(issue(IssueKind::ResultWithoutCall, idx, call));
                }
                _ => {}
            }
        }
    }
    let unanswered = open.iter().flat_map(|(call, at)| {
        at.iter().map(|idx| issue(IssueKind::CallWithoutResult, *idx, call))
    });
    found.extend(unanswered);
    found.sort_by(|a, b| (a.message, &a.call).cmp(&(b.message, &b.call)));
    found
}

fn issue(kind: IssueKind, message: usize, call: &str) -> Issue {
    Issue { kind, message, call: call.to_owned() }
}
