//! The events that the model sees. A condensation removes some of them and may insert a summary.

use crate::formats::transcript::Transcript;
use crate::session::Draft;
use std::collections::HashSet;

/// The messages in context, each with the event it was read from.
#[derive(Debug, Default)]
pub(super) struct CondensedView(Vec<(Box<str>, usize)>);

/// A condensation.
#[derive(Debug, Default)]
pub(super) struct Condensation<'a> {
    /// Ids of the events that it removes.
    pub(super) forgotten: HashSet<Box<str>>,
    /// Reason for the condensation, as far as the file records it.
    pub(super) trigger: &'a str,
    /// The summary that replaces them.
    pub(super) summary: Option<Draft>,
    /// Position of the summary in the new view, in events.
    pub(super) offset: usize,
}

impl CondensedView {
    /// Adds a message.
    pub(super) fn add(&mut self, event: &str, message: usize) {
        self.0.push((event.into(), message));
    }

    /// Applies a condensation.
    pub(super) fn condense(
        &mut self,
        id: &str,
        condensation: Condensation<'_>,
        transcript: &mut Transcript,
    ) {
        let Condensation { forgotten, trigger, summary, offset } = condensation;
        self.0.retain(|(event, _)| !forgotten.contains(event));
        if let Some(summary) = summary {
            // The offset counts events, and one event may produce several messages.
            let mut seen: HashSet<&str> = HashSet::new();
            let at = self.0.iter().position(|(event, _)| {
                seen.insert(event);
                seen.len() > offset
            });
            let at = at.unwrap_or(self.0.len());
            let message = transcript.add_message(summary);
            self.0.insert(at, (id.into(), message));
        }
        let kept = self.0.iter().map(|(_, message)| *message).collect();
        transcript.builder.compaction(trigger, None, None, kept);
    }
}
