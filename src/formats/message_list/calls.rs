//! Joins results with the calls that they answer, by ids or by their order.

use crate::session::{Body, Part};
use std::collections::{HashMap, VecDeque};

/// The calls of a conversation so far, to name the results.
#[derive(Debug, Default)]
pub(in crate::formats) struct Calls {
    tools: HashMap<Box<str>, Box<str>>,
    open: VecDeque<Box<str>>,
    made: usize,
}

impl Calls {
    /// Notes a call and gives it an id if it has none.
    pub(in crate::formats) fn make(&mut self, id: Option<&str>, tool: &str) -> Box<str> {
        self.made += 1;
        let id: Box<str> = id.map_or_else(|| format!("call-{}", self.made).into(), Into::into);
        self.tools.insert(id.clone(), tool.into());
        self.open.push_back(id.clone());
        id
    }

    /// The id and the tool of the call that a result answers: that of its id, or the oldest without an answer.
    pub(in crate::formats) fn answer(&mut self, id: Option<&str>) -> (Box<str>, Box<str>) {
        let place = id.map_or(Some(0), |id| {
            self.open.iter().position(|open| **open == *id)
        });
        let open = place.and_then(|place| self.open.remove(place));
        let id = id.map(Into::into).or(open).unwrap_or_default();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        (id, tool)
    }

    /// Gives the calls of a message their ids and joins its results with their calls.
    pub(in crate::formats) fn join(&mut self, parts: &mut [Part]) {
        let mut latest: Box<str> = "".into();
        for part in parts {
            match &mut part.body {
                Body::ToolCall { call, tool, .. } => {
                    *call = self.make(Some(&**call).filter(|id| !id.is_empty()), tool);
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
