//! Asks a model for its next action with each context.

use super::contexts::{AskedSession, PlayedSamples, PromptContext};
use super::parallel::parallel;
use super::questions::{Question, answer_text};
use crate::analysis::next_action::{ActionPoint, NextAction, request_text};
use crate::json::Value;
use crate::presets::tool_definitions;
use crate::session::{Body, Session};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::BTreeSet;

/// Maximum tokens of an answer, including reasoning. Only the tool and its main argument are compared, so an answer
/// that is cut in the middle of a long patch counts.
pub(super) const MAX_ACTION: u64 = 1_000;

/// A request for the next action.
#[derive(Clone, Debug)]
pub(super) enum ActionRequest {
    /// Sends the tool definitions of the session. The model calls a tool.
    Call(Vec<Value>),
    /// Sends a question, since the file has no tool definitions. The model names a tool.
    Text(String),
}

impl ActionRequest {
    /// Returns the request of a session; `None` if no tool is known.
    pub(super) fn new(session: &Session) -> Option<Self> {
        let definitions = tool_definitions(session);
        if !definitions.is_empty() {
            return Some(Self::Call(definitions));
        }
        let tools = session.parts.iter().filter_map(|part| match &part.body {
            Body::ToolDefinition { tool, .. } | Body::ToolCall { tool, .. } => Some(&**tool),
            _ => None,
        });
        let tools: BTreeSet<&str> = tools.collect();
        let tools: Vec<&str> = tools.into_iter().collect();
        (!tools.is_empty()).then(|| Self::Text(request_text(&tools)))
    }

    /// Returns the tokens after the context. Recorded contexts include tool definitions.
    pub(super) fn tokens(&self, ledger: &TokenLedger) -> Tokens {
        match self {
            Self::Call(_) => Tokens::ZERO,
            Self::Text(text) => ledger.weigh(text),
        }
    }

    fn question(&self) -> Question {
        let (text, tools) = match self {
            Self::Call(tools) => (None, tools.clone()),
            Self::Text(text) => (Some(text.clone()), Vec::new()),
        };
        Question { text, tools, max_tokens: MAX_ACTION }
    }
}

/// Asks for the next action at the points of a session, `n_samples` times with the full context and once with each
/// sample of a lane. Only probes treat the recorded run as a lane, so all lanes here are asked at every point.
pub(super) fn ask(
    asked: AskedSession<'_, '_>,
    request: &ActionRequest,
    n_samples: usize,
) -> Vec<ActionPoint> {
    let indices: Vec<usize> = (0..asked.points.len()).collect();
    parallel(asked.concurrency, &indices, |point| {
        let action = |context: Option<&PromptContext>, series: &str| {
            let exchange = asked.answer(context, request.question(), series)?;
            if exchange.failed.is_some() {
                return None;
            }
            match (request, &exchange.called) {
                (ActionRequest::Call(_), Some((tool, arguments))) => {
                    NextAction::of_call(tool, arguments)
                }
                (ActionRequest::Call(_), None) => None,
                (ActionRequest::Text(_), _) => NextAction::parse(answer_text(&exchange)),
            }
        };
        let with_full =
            |sample| action(asked.full[*point].as_ref(), &format!("action full context {sample}"));
        let of_lane = |played: &PlayedSamples| {
            let samples = played.samples.iter().map(|sample| {
                action(sample.contexts[*point].as_ref(), &format!("action {}", sample.series))
            });
            samples.collect()
        };
        ActionPoint {
            clusters: Vec::new(),
            full: (0..n_samples).map(with_full).collect(),
            lanes: asked.lanes.iter().map(of_lane).collect(),
        }
    })
}
