//! The parts of a session that state each fact, and the answers that use it.

use super::Facts;
use super::text::StatedFact;
use crate::session::{Body, Session};
use rayon::prelude::*;
use std::borrow::Cow;

/// Facts by part.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By part: the facts that it states, ascending.
    by_part: Vec<Box<[StatedFact]>>,
}

impl Places {
    /// Searches all facts in `texts`, the texts of the session's parts.
    pub(super) fn new(session: &Session, texts: &[Cow<'_, str>], facts: &Facts) -> Self {
        let mut by_part: Vec<Vec<StatedFact>> = texts
            .par_iter()
            .map(|text| {
                let mut found = facts.finder.in_part(text);
                for stated in &mut found {
                    // The outcome of a command is in its result.
                    stated.is_verbatim &= facts.searches[stated.fact as usize].outcome().is_none();
                }
                found
            })
            .collect();
        for (fact, evidence) in (0..).zip(&facts.evidence) {
            // The part that a fact was read from states it, even if the search finds only whole words.
            let part = evidence.unwrap_or(facts.all[fact as usize].part);
            by_part[part as usize].push(StatedFact { fact, is_verbatim: true });
        }
        debug_assert_eq!(by_part.len(), session.parts.len());
        let sorted = by_part.into_par_iter().map(|mut found| {
            StatedFact::sort(&mut found);
            found.into_boxed_slice()
        });
        Self { by_part: sorted.collect() }
    }

    /// Returns the facts that a part states.
    pub(super) fn in_part(&self, part: usize) -> &[StatedFact] {
        self.by_part.get(part).map_or(&[], |stated| stated)
    }
}

/// Returns for each fact the later calls whose answers contain it.
pub(super) fn uses(session: &Session, facts: &Facts) -> Vec<Box<[u32]>> {
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); facts.all.len()];
    for message in &session.messages {
        let Some(call) = message.call.filter(|_| message.in_history) else {
            continue;
        };
        let Some(context_end) = session.calls.get(call).map(|call| call.context_end as u32) else {
            continue;
        };
        for part in message.parts.clone() {
            let body = &session.parts[part].body;
            let is_written = matches!(body, Body::Text(_) | Body::Thinking { .. });
            let is_called = matches!(body, Body::ToolCall { .. });
            for stated in facts.places.in_part(part) {
                let fact = stated.fact as usize;
                // To run a command again needs no earlier outcome; to write about it does.
                let is_command = facts.searches[fact].outcome().is_some();
                let is_use = if is_command {
                    is_written
                } else {
                    stated.is_verbatim && (is_written || is_called)
                };
                let list = &mut uses[fact];
                if is_use
                    && facts.all[fact].message < context_end
                    && list.last() != Some(&(call as u32))
                {
                    list.push(call as u32);
                }
            }
        }
    }
    uses.into_iter().map(Vec::into_boxed_slice).collect()
}
