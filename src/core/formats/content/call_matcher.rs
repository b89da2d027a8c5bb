//! Joins tool results with their tool calls, by id or by order.

use crate::session::{Body, Part};
use std::collections::{HashMap, VecDeque};

/// The tool calls of a conversation so far.
#[derive(Debug, Default)]
pub(in crate::formats) struct CallMatcher {
    /// Name of the tool of each call, by the call's id.
    tools: HashMap<Box<str>, Box<str>>,
    /// Ids of the calls without a result, oldest first.
    open: VecDeque<Box<str>>,
    /// Number of calls.
    count: usize,
}

/// The tool call that a result answers.
pub(in crate::formats) struct AnsweredCall {
    /// Id of the call; empty if unknown.
    pub(in crate::formats) id: Box<str>,
    /// Name of the tool; empty if unknown.
    pub(in crate::formats) tool: Box<str>,
}

impl CallMatcher {
    /// Records a call. Assigns an id if it has none, and returns the id.
    pub(in crate::formats) fn add(&mut self, id: Option<&str>, tool: &str) -> Box<str> {
        self.count += 1;
        let id: Box<str> = id.map_or_else(|| format!("call-{}", self.count).into(), Into::into);
        self.tools.insert(id.clone(), tool.into());
        self.open.push_back(id.clone());
        id
    }

    /// Returns the call that a result answers: the call with this id or, without an id, the oldest call without a
    /// result.
    pub(in crate::formats) fn answer(&mut self, id: Option<&str>) -> AnsweredCall {
        let position = id.map_or(Some(0), |id| {
            self.open.iter().position(|open| **open == *id)
        });
        let open = position.and_then(|position| self.open.remove(position));
        let id = id.map(Into::into).or(open).unwrap_or_default();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        AnsweredCall { id, tool }
    }

    /// Assigns ids to the calls of a message and joins its results with their calls. Media without a call belong to the
    /// result before them.
    pub(in crate::formats) fn join(&mut self, parts: &mut [Part]) {
        let mut latest_result: Box<str> = "".into();
        for part in parts {
            match &mut part.body {
                Body::ToolCall { call, tool, .. } => {
                    *call = self.add(Some(&**call).filter(|id| !id.is_empty()), tool);
                }
                Body::ToolResult { call, tool, .. } => {
                    let answered = self.answer(Some(&**call).filter(|id| !id.is_empty()));
                    *call = answered.id;
                    if tool.is_empty() {
                        *tool = answered.tool;
                    }
                    latest_result.clone_from(call);
                }
                Body::Media {
                    within: Some(within),
                    ..
                } if within.is_empty() => within.clone_from(&latest_result),
                _ => {}
            }
        }
    }
}
