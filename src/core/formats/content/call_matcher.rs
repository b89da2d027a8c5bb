//! Joins tool results with their tool calls, by id or by order.
//!
//! Calls without a result wait in the order in which they were made. A result takes the waiting call with its id, or
//! else the oldest one that can be its call, because programs write ids into both, into one of them, or into none.

use crate::session::{Body, Part};
use std::collections::{HashMap, HashSet, VecDeque};

/// The tool calls of a conversation so far.
#[derive(Debug, Default)]
pub(crate) struct CallMatcher {
    /// Name of the tool of each call, by the call's id.
    tools: HashMap<Box<str>, Box<str>>,
    /// Ids of the calls without a result, oldest first.
    open: VecDeque<Box<str>>,
    /// Calls without a result whose ids are assigned because the file has none.
    unnamed: HashSet<Box<str>>,
    /// Number of calls.
    count: usize,
}

/// The tool call that a result answers.
pub(crate) struct AnsweredCall {
    /// Id of the call; empty if unknown.
    pub(crate) id: Box<str>,
    /// Name of the tool; empty if unknown.
    pub(crate) tool: Box<str>,
}

impl CallMatcher {
    /// Records a call. Assigns an id if it has none, and returns the id.
    pub(crate) fn add(&mut self, id: Option<&str>, tool: &str) -> Box<str> {
        self.count += 1;
        let assigned = || -> Box<str> { format!("call-{}", self.count).into() };
        let is_unnamed = id.is_none();
        let id = id.map_or_else(assigned, Into::into);
        if is_unnamed {
            self.unnamed.insert(id.clone());
        }
        self.tools.insert(id.clone(), tool.into());
        self.open.push_back(id.clone());
        id
    }

    /// Returns the call that a result answers: the call with this id or, without an id, the oldest call without a
    /// result. An id that no call has answers the oldest call without an id: some programs write ids only into
    /// results.
    pub(crate) fn answer(&mut self, id: Option<&str>) -> AnsweredCall {
        let is_new = id.is_some_and(|id| !self.tools.contains_key(id));
        let position = match id {
            None => Some(0),
            Some(_) if is_new => self.open.iter().position(|c| self.unnamed.contains(c)),
            Some(id) => self.open.iter().position(|open| **open == *id),
        };
        let open = position.and_then(|position| self.open.remove(position));
        if let Some(open) = &open {
            self.unnamed.remove(open);
        }
        let id =
            if is_new { open.or_else(|| id.map(Into::into)) } else { id.map(Into::into).or(open) };
        let id = id.unwrap_or_default();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        AnsweredCall { id, tool }
    }

    /// Assigns ids to the calls of a message and joins its results with their calls. Media without a call belong to the
    /// result before them.
    pub(crate) fn join(&mut self, parts: &mut [Part]) {
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
                Body::Media { within: Some(within), .. } if within.is_empty() => {
                    within.clone_from(&latest_result);
                }
                _ => {}
            }
        }
    }
}
