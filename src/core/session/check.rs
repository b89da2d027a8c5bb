//! Detects defects of a recorded session: tool calls and results that do not match.

use super::{Body, Session, ToolCalls};

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

/// Returns all defects in order of their messages.
pub fn issues(session: &Session) -> Vec<Issue> {
    let calls = ToolCalls::new(session);
    let is_answered = |part: usize| calls.result_of(part).is_some_and(|result| result > part);
    let answers_call = |part: usize| {
        calls.result_of(part) == Some(part) && calls.call_of(part).is_some_and(|call| call < part)
    };
    let mut found = Vec::new();
    for (idx, message) in session.messages.iter().enumerate().filter(|(_, m)| m.in_history) {
        for part in message.parts.clone() {
            match &session.parts[part].body {
                Body::ToolCall { call, .. } if !is_answered(part) => {
                    found.push(issue(IssueKind::CallWithoutResult, idx, call));
                }
                Body::ToolResult { call, .. } if !answers_call(part) => {
                    found.push(issue(IssueKind::ResultWithoutCall, idx, call));
                }
                _ => {}
            }
        }
    }
    found.sort_by(|a, b| (a.message, &a.call).cmp(&(b.message, &b.call)));
    found
}

fn issue(kind: IssueKind, message: usize, call: &str) -> Issue {
    Issue { kind, message, call: call.to_owned() }
}
