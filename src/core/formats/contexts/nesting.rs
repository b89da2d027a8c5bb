//! The spans that enclose a model call in a trace. They determine whether a sub-agent made the call.

use crate::session::SubAgent;
use std::collections::HashMap;

/// The spans of a file by their ids.
#[derive(Debug, Default)]
pub(crate) struct Nesting(HashMap<Box<str>, Enclosing>);

/// A span that may enclose others.
#[derive(Debug)]
pub(crate) struct Enclosing {
    /// Id of the span around it.
    pub(crate) parent: Option<Box<str>>,
    /// Kind of the span.
    pub(crate) kind: SpanKind,
    /// Name of the agent or the tool.
    pub(crate) name: Box<str>,
    /// Id of the tool call that the span runs.
    pub(crate) call: Option<Box<str>>,
}

/// Effect of a span on the model calls nested in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// An agent runs.
    Agent,
    /// A tool runs: model calls inside are not the caller's.
    Tool,
    /// Anything else.
    Other,
}

/// Maximum depth of nested spans that are followed.
// Chosen far above the depth of any real trace. It ends cycles of parents.
const MAX_DEPTH: usize = 100;

impl Nesting {
    /// Adds a span.
    pub(crate) fn add(&mut self, id: Box<str>, span: Enclosing) {
        self.0.insert(id, span);
    }

    /// Returns the sub-agent of a call whose span has this parent: the nearest agent or tool around it. Returns `None`
    /// for the outermost agent of a trace.
    pub(crate) fn sub_agent(&self, parent: Option<&str>) -> Option<SubAgent> {
        let mut nearest: Option<SubAgent> = None;
        let mut is_nested = false;
        let mut next = parent;
        for _ in 0..MAX_DEPTH {
            let Some(id) = next else {
                return nearest.filter(|_| is_nested);
            };
            // If a file lacks the enclosing spans, any agent in it may be the sub-agent of another.
            let Some(span) = self.0.get(id) else {
                return nearest;
            };
            next = span.parent.as_deref();
            if span.kind == SpanKind::Other {
                continue;
            }
            is_nested |= span.kind == SpanKind::Tool || nearest.is_some();
            let agent = nearest.get_or_insert_with(|| SubAgent {
                id: Some(id.into()),
                kind: Some(span.name.clone()).filter(|name| !name.is_empty()),
                call: None,
            });
            if agent.call.is_none() {
                agent.call.clone_from(&span.call);
            }
        }
        nearest.filter(|_| is_nested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nesting(spans: &[(&str, Option<&str>, SpanKind)]) -> Nesting {
        let mut nesting = Nesting::default();
        for (id, parent, kind) in spans {
            let span = Enclosing {
                parent: parent.map(Into::into),
                kind: *kind,
                name: (*id).into(),
                call: (*kind == SpanKind::Tool).then(|| "c1".into()),
            };
            nesting.add((*id).into(), span);
        }
        nesting
    }

    #[test]
    fn finds_sub_agents_in_tools_and_in_other_agents() {
        use SpanKind::{Agent, Other, Tool};
        let nesting = nesting(&[
            ("chain", None, Other),
            ("main", Some("chain"), Agent),
            ("task", Some("main"), Tool),
            ("helper", Some("task"), Agent),
            ("inner", Some("main"), Agent),
            ("lost", Some("nowhere"), Agent),
            ("round", Some("round"), Other),
        ]);
        let found = |parent| nesting.sub_agent(parent).and_then(|agent| agent.kind);
        assert_eq!(found(None), None);
        assert_eq!(found(Some("chain")), None);
        assert_eq!(found(Some("main")), None);
        assert_eq!(found(Some("task")).as_deref(), Some("task"));
        assert_eq!(found(Some("helper")).as_deref(), Some("helper"));
        assert_eq!(found(Some("inner")).as_deref(), Some("inner"));
        assert_eq!(found(Some("lost")).as_deref(), Some("lost"));
        assert_eq!(found(Some("nowhere")), None);
        assert_eq!(found(Some("round")), None);
        let helper = nesting.sub_agent(Some("helper")).unwrap();
        assert_eq!(helper.call.as_deref(), Some("c1"));
    }
}
