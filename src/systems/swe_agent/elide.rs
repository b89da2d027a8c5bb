//! `LastNObservations`: replaces all but the newest observations by a line.

use super::processed;
use crate::chat::{BlockBody, ChatMessage, PendingRequest, Replies, Shape};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::python::lines;
use std::sync::Arc;

/// Keeps `n` observations, and up to `polling` - 1 more.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "swe_agent.elide",
    kind: ActionKind::Clear,
    help: "Replaces all observations but the first and the newest by a line, for the request only.",
    shape: Shape::OpenAi,
    numbers: &["n", "polling", "is_on"],
    make: |_| Ok(Arc::new(Elide)),
};

#[derive(Debug)]
struct Elide;

impl Rewrite for Elide {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        if input.number("is_on") == 0.0 {
            return Ok(Rewritten::default());
        }
        let all = &input.messages;
        // User messages too: the task is the first observation, and an agent without tool calls gets all so.
        let is_observation = |at: &usize| all[*at].is("user") || all[*at].is("tool");
        let observations: Vec<usize> = (0..all.len()).filter(is_observation).collect();
        let polling = input.count("polling").max(1);
        let n_reached = observations.len() / polling * polling;
        let n_removed = n_reached.saturating_sub(input.count("n"));
        let elided = observations.iter().take(n_removed).skip(1);
        let elided = elided.map(|at| (*at, all[*at].with_text(line(&all[*at]))));
        Ok(processed(&input, "swe_agent_elided", elided))
    }
}

/// Returns the line that replaces an observation.
fn line(observation: &ChatMessage) -> String {
    let blocks = observation.blocks().iter().filter_map(|b| b.as_text());
    let texts = observation.text().into_iter().chain(blocks);
    let texts: usize = texts.map(|text| lines(text).len()).sum();
    let images = observation.blocks().iter();
    let n_images = images
        .filter(|block| matches!(block.body, BlockBody::Image(_)))
        .count();
    let images = match n_images {
        0 => String::new(),
        n => format!(" ({n} images omitted)"),
    };
    format!("Old environment output: ({texts} lines omitted){images}")
}
