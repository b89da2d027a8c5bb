//! Joins tool results with their tool calls, by id or by order.

use crate::session::{Body, Part};
use std::collections::{HashMap, VecDeque};

/// Tool calls of a conversation read so far, to name their results.
#[derive(Debug, Default)]
pub(in crate::formats) struct CallMatcher {
    tools: HashMap<Box<str>, Box<str>>,
    open: VecDeque<Box<str>>,
    count: usize,
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

    /// Returns the id and the tool of the call that a result answers: the call with this id, or else the oldest one
    /// without a result.
    pub(in crate::formats) fn answer(&mut self, id: Option<&str>) -> (Box<str>, Box<str>) {
        let position = id.map_or(Some(0), |id| {
            self.open.iter().position(|open| **open == *id)
        });
        let open = position.and_then(|position| self.open.remove(position));
        let id = id.map(Into::into).or(open).unwrap_or_default();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        (id, tool)
    }

    /// Assigns ids to the calls of a message and joins its results with their calls.
    pub(in crate::formats) fn join(&mut self, parts: &mut [Part]) {
        let mut latest: Box<str> = "".into();
        for part in parts {
            match &mut part.body {
                Body::ToolCall { call, tool, .. } => {
                    *call = self.add(Some(&**call).filter(|id| !id.is_empty()), tool);
                }
                Body::ToolResult { call, tool, .. } => {
                    let (id, name) = self.answer(Some(&**call).filter(|id| !id.is_empty()));
                    *call = id;
                    if tool.is_empty() {
                        *tool = name;
                    }
                    latest.clone_from(call);
                }
                Body::Media {
                    within: Some(within),
                    ..
                } if within.is_empty() => within.clone_from(&latest),
                _ => {}
            }
        }
    }
}
