//! The next action: what a model would do next with each context.

use super::contexts::{PlayedSamples, PromptContext};
use super::parallel::parallel;
use super::points::Point;
use super::questions::{answer_text, question};
use super::sender::Sender;
use crate::analysis::next_action::{ActionPoint, NextAction, request_text};
use crate::session::{Body, Session};
use crate::tokens::TokenLedger;
use std::collections::BTreeSet;

/// Maximum tokens of an answer, including reasoning.
pub(super) const MAX_ACTION: u64 = 1_000;

/// Returns the text of the request; `None` if the file has no tool definitions.
pub(super) fn request(session: &Session) -> Option<String> {
    let tools = session.parts.iter().filter_map(|part| match &part.body {
        Body::ToolDefinition { tool, .. } => Some(&**tool),
        _ => None,
    });
    let tools: BTreeSet<&str> = tools.collect();
    (!tools.is_empty()).then(|| request_text(&tools.into_iter().collect::<Vec<_>>()))
}

/// Asks for the next action at the points of a session, `n_samples` times with the full context and once with each sample of
/// a lane.
pub(super) fn ask(
    sender: &Sender<'_>,
    concurrency: usize,
    (text, ledger): (&str, &TokenLedger),
    points: &[Point],
    (full, n_samples): (&[Option<PromptContext>], usize),
    lanes: &[PlayedSamples],
) -> Vec<ActionPoint> {
    let indices: Vec<usize> = (0..points.len()).collect();
    parallel(concurrency, &indices, |point| {
        let action = |context: Option<&PromptContext>, series: &str| {
            let exchange = question(
                sender,
                ledger,
                context?,
                text.to_owned(),
                MAX_ACTION,
                series,
            )?;
            NextAction::parse(answer_text(&exchange)).filter(|_| exchange.failed.is_none())
        };
        let with_full = |sample| {
            action(
                full[*point].as_ref(),
                &format!("action full context {sample}"),
            )
        };
        let of_lane = |played: &PlayedSamples| {
            let samples = played.samples.iter().map(|(series, sample)| {
                action(
                    sample.contexts[*point].as_ref(),
                    &format!("action {series}"),
                )
            });
            samples.collect()
        };
        ActionPoint {
            clusters: Vec::new(),
            full: (0..n_samples).map(with_full).collect(),
            lanes: lanes.iter().map(of_lane).collect(),
        }
    })
}
