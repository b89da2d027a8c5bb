//! The tool calls of a session: which result answers which call.

use super::{Body, Session};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// The tool calls of a session, numbered, with the parts that belong to each.
///
/// A result answers the latest unanswered call with its id before it, because ids may repeat across turns. If every such
/// call is answered, it is a further result of the latest. If there is none, it answers the first call after it. Messages
/// that only a recorded compaction wrote copy calls and results of the history: a copy belongs to the call that it copies.
#[derive(Clone, Debug, Default)]
pub struct ToolCalls {
    /// Number of the call that a part belongs to, by part.
    of_part: Vec<u32>,
    /// Parts of each call, by number.
    calls: Vec<CallParts>,
}

/// The part with a call, and the part with its result.
#[derive(Clone, Copy, Debug)]
struct CallParts {
    call: u32,
    result: u32,
}

/// An index or a number that does not exist.
const NONE: u32 = u32::MAX;

impl ToolCalls {
    /// Finds the calls of a session.
    pub fn new(session: &Session) -> Self {
        let n_parts = session.parts.len();
        let mut builder = Builder::<&str> {
            found: Self { of_part: Vec::new(), calls: Vec::with_capacity(n_parts / 2) },
            ids: HashMap::with_capacity(n_parts / 2),
            open_below: Vec::new(),
        };
        builder.add_messages(session, 0);
        builder.found
    }

    /// Returns the number of calls, including those that are known only by a result.
    pub fn n_calls(&self) -> usize {
        self.calls.len()
    }

    /// Returns the number of the call that a call, a result or media in a result belong to.
    #[inline]
    pub fn number(&self, part: usize) -> Option<u32> {
        some(self.of_part[part])
    }

    /// Returns the part with the call that a part belongs to; `None` for a result without a call.
    pub fn call_of(&self, part: usize) -> Option<usize> {
        let parts = self.calls[self.number(part)? as usize];
        some(parts.call).map(|call| call as usize)
    }

    /// Returns the part with the result of the call that a part belongs to: the first result after the call, or else the one
    /// before it. Further results and copies are never returned.
    pub fn result_of(&self, part: usize) -> Option<usize> {
        let parts = self.calls[self.number(part)? as usize];
        some(parts.result).map(|result| result as usize)
    }

    /// Returns the name and arguments of the call that a part belongs to.
    pub fn tool_and_arguments<'a>(
        &self,
        session: &'a Session,
        part: usize,
    ) -> Option<(&'a str, &'a str)> {
        match &session.parts[self.call_of(part)?].body {
            Body::ToolCall { tool, arguments, .. } => Some((tool, arguments)),
            _ => None,
        }
    }

    /// Returns the tool of a part. Some formats name it in the call only.
    pub fn tool_of<'a>(&self, session: &'a Session, part: usize) -> Option<&'a str> {
        match &session.parts[part].body {
            Body::ToolResult { tool, .. } if !tool.is_empty() => Some(tool),
            Body::ToolResult { .. } | Body::Media { .. } => {
                self.tool_and_arguments(session, part).map(|(tool, _)| tool)
            }
            other => other.tool(),
        }
    }
}

fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// Finds the calls of a session that grows.
#[derive(Debug, Default)]
pub struct GrowingToolCalls(Builder<Box<str>>);

impl GrowingToolCalls {
    /// Adds the messages of a session from this one on, which must be the first that is not added yet. `found` has the calls
    /// so far.
    pub fn grow(&mut self, found: &mut ToolCalls, session: &Session, from_message: usize) {
        std::mem::swap(found, &mut self.0.found);
        self.0.add_messages(session, from_message);
        std::mem::swap(found, &mut self.0.found);
    }
}

/// Joins calls and results, part by part. `Id` is a borrowed or owned text.
#[derive(Debug, Default)]
struct Builder<Id> {
    found: ToolCalls,
    ids: HashMap<Id, CallsOfId>,
    /// The unanswered call with the same id before a call, by number.
    open_below: Vec<u32>,
}

/// Numbers of the calls with an id.
#[derive(Debug)]
struct CallsOfId {
    /// The latest call.
    latest: u32,
    /// The latest unanswered call.
    open: u32,
    /// A call that is known only by a result so far.
    awaited: u32,
    /// The call of the latest part.
    last: u32,
}

impl<'a, Id: From<&'a str> + Borrow<str> + Eq + Hash> Builder<Id> {
    /// Adds the messages of a session from this one on.
    fn add_messages(&mut self, session: &'a Session, from: usize) {
        self.found.of_part.resize(session.parts.len(), NONE);
        for message in &session.messages[from..] {
            for part in message.parts.clone() {
                match &session.parts[part].body {
                    Body::ToolCall { call, .. } => self.add_call(part, call, message.in_history),
                    Body::ToolResult { call, .. } => {
                        self.add_result(part, call, message.in_history);
                    }
                    Body::Media { within: Some(call), .. } => {
                        let id = self.ids.get(&**call);
                        self.found.of_part[part] = id.map_or(NONE, |id| id.last);
                    }
                    _ => {}
                }
            }
        }
    }

    fn add_call(&mut self, part: usize, id: &'a str, in_history: bool) {
        let next = self.found.calls.len() as u32;
        let calls = self.ids.entry(id.into()).or_insert_with(CallsOfId::none);
        let is_copy = !in_history && calls.latest != NONE;
        let number = if is_copy { calls.latest } else { some(calls.awaited).unwrap_or(next) };
        if number == next {
            self.found.calls.push(CallParts { call: NONE, result: NONE });
            self.open_below.push(NONE);
        }
        if !is_copy {
            self.found.calls[number as usize].call = part as u32;
            self.open_below[number as usize] = calls.open;
            *calls = CallsOfId { latest: number, open: number, awaited: NONE, last: number };
        }
        calls.last = number;
        self.found.of_part[part] = number;
    }

    fn add_result(&mut self, part: usize, id: &'a str, in_history: bool) {
        let next = self.found.calls.len() as u32;
        let calls = self.ids.entry(id.into()).or_insert_with(CallsOfId::none);
        let answered = some(calls.open).filter(|_| in_history);
        let number = answered.or(some(calls.latest)).or(some(calls.awaited)).unwrap_or(next);
        if let Some(answered) = answered {
            calls.open = self.open_below[answered as usize];
            self.found.calls[answered as usize].result = part as u32;
        } else if number == next {
            let result = if in_history { part as u32 } else { NONE };
            self.found.calls.push(CallParts { call: NONE, result });
            self.open_below.push(NONE);
            calls.awaited = number;
        }
        calls.last = number;
        self.found.of_part[part] = number;
    }
}

impl CallsOfId {
    fn none() -> Self {
        Self { latest: NONE, open: NONE, awaited: NONE, last: NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Draft, FileBytes, Part, Role, SessionBuilder, Source};

    fn call(id: &str) -> (Role, Body) {
        let arguments = "{}".into();
        (Role::Assistant, Body::ToolCall { call: id.into(), tool: "read".into(), arguments })
    }

    fn result(id: &str) -> (Role, Body) {
        let text = "content".into();
        let tool = "".into();
        (Role::Tool, Body::ToolResult { call: id.into(), tool, is_error: false, text })
    }

    /// Returns the call that each part belongs to.
    fn calls_of(parts: Vec<(Role, Body)>, n_history: usize) -> (Vec<Option<usize>>, ToolCalls) {
        let bytes = FileBytes::from(Vec::new());
        let source = Source { name: String::new(), format: "test", bytes };
        let mut builder = SessionBuilder::new(source);
        for (idx, (role, body)) in parts.into_iter().enumerate() {
            let parts = vec![Part { body, record: 0, block: 0 }];
            builder.message(Draft { in_history: idx < n_history, ..Draft::new(role, parts) });
        }
        let session = builder.finish();
        let calls = ToolCalls::new(&session);
        ((0..session.parts.len()).map(|part| calls.call_of(part)).collect(), calls)
    }

    #[test]
    fn a_result_answers_the_latest_unanswered_call_of_its_id() {
        let parts = vec![call("a"), result("a"), call("a"), call("b"), result("b"), result("a")];
        let (calls, table) = calls_of(parts, 6);
        assert_eq!(calls, [Some(0), Some(0), Some(2), Some(3), Some(3), Some(2)]);
        assert_eq!(table.n_calls(), 3);
        assert_eq!(table.result_of(0), Some(1));
    }

    #[test]
    fn a_further_result_belongs_to_the_latest_call_and_does_not_answer_it() {
        let (calls, table) = calls_of(vec![call("a"), result("a"), result("a")], 3);
        assert_eq!(calls, [Some(0), Some(0), Some(0)]);
        assert_eq!(table.result_of(0), Some(1));
    }

    #[test]
    fn a_result_before_its_call_belongs_to_it() {
        let (calls, table) = calls_of(vec![result("a"), call("a"), result("b")], 3);
        assert_eq!(calls, [Some(1), Some(1), None]);
        assert_eq!(table.result_of(1), Some(0));
    }

    #[test]
    fn copies_of_a_recorded_compaction_belong_to_the_calls_that_they_copy() {
        let parts = vec![call("a"), result("a"), call("a"), result("a")];
        let (calls, table) = calls_of(parts, 2);
        assert_eq!(calls, [Some(0); 4]);
        assert_eq!((table.n_calls(), table.result_of(0)), (1, Some(1)));
    }
}
