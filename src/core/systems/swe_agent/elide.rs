//! `LastNObservations`: replaces all but the newest observations by a line.

use crate::chat::{BlockBody, ChatMessage, Rule};
use crate::engine::{ActionKind, Edits, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::languages::python::split_lines;
use crate::systems::stage_settings::numbers_only;

/// Keeps `n` observations, and up to `polling` - 1 more.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "swe_agent.elide",
    ActionKind::Clear,
    "Replaces all observations but the first and the newest by a line, for the request only.",
    |settings| numbers_only(settings, elide),
)
.with_numbers(&["n", "polling", "is_on"]);

fn elide(input: &RewriteInput<'_>) -> Rewritten {
    if !input.flag("is_on") {
        return Rewritten::default();
    }
    let polling = input.count("polling").max(1);
    let elided = input.messages.updated_state(ELIDED, |elided: &mut Elided, all| {
        elided.extend(all, polling, input.count("n"));
    });
    Rewritten::edited_for_request(input, "swe_agent_elided", elided.edits.clone())
}

const ELIDED: Rule = Rule::new("swe-agent: elided");

/// The elided observations of a conversation, extended as it grows.
#[derive(Clone, Debug, Default)]
struct Elided {
    /// Number of messages read.
    n: usize,
    /// Positions of observations.
    observations: Vec<usize>,
    /// Number of observations that are no longer kept.
    n_removed: usize,
    edits: Edits,
}

impl Elided {
    /// Reads the new messages, and elides the observations that are now old.
    fn extend(&mut self, all: &[ChatMessage], polling: usize, n_kept: usize) {
        // User messages too: the task is the first observation, and an agent without tool calls gets all so.
        let is_observation = |at: &usize| all[*at].is("user") || all[*at].is("tool");
        self.observations.extend((self.n..all.len()).filter(is_observation));
        self.n = all.len();
        let n_reached = self.observations.len() / polling * polling;
        let n_removed = n_reached.saturating_sub(n_kept);
        if n_removed < self.n_removed {
            (self.n_removed, self.edits) = (0, Edits::default());
        }
        let old = &self.observations[self.n_removed.max(1).min(n_removed)..n_removed];
        let edit = |at: &usize| {
            let now = Some(all[*at].with_text(line(&all[*at])));
            MessageEdit { at: *at, now }
        };
        if !old.is_empty() {
            self.edits.grow(old.iter().map(edit));
        }
        self.n_removed = n_removed;
    }
}

const LINES: Rule = Rule::new("swe-agent: lines");

/// Returns the line that replaces an observation.
fn line(observation: &ChatMessage) -> String {
    let blocks = observation.blocks().iter().filter_map(|b| b.as_text());
    let texts = observation.text().into_iter().chain(blocks);
    let n_lines = |_: &ChatMessage| texts.map(|text| split_lines(text).len() as u64).sum();
    let texts = observation.weigh(LINES, n_lines);
    let images = observation.blocks().iter();
    let n_images = images.filter(|block| matches!(block.body, BlockBody::Image(_))).count();
    let images = match n_images {
        0 => String::new(),
        n => format!(" ({n} images omitted)"),
    };
    format!("Old environment output: ({texts} lines omitted){images}")
}
