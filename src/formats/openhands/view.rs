//! What the model sees of the events: a condensation forgets some of them and may put a summary in their place.

use crate::formats::transcript::Transcript;
use crate::session::Draft;
use std::collections::HashSet;

/// The messages in context, each with the event that it was read from.
#[derive(Debug, Default)]
pub(super) struct View(Vec<(Box<str>, usize)>);

/// What a condensation does.
#[derive(Debug, Default)]
pub(super) struct Condensation<'a> {
    /// The events that go.
    pub(super) forgotten: HashSet<Box<str>>,
    /// Why it ran, as far as the file says.
    pub(super) trigger: &'a str,
    /// What stands for them.
    pub(super) summary: Option<Draft>,
    /// Where in the new view it stands.
    pub(super) offset: usize,
}

impl View {
    /// A message came in.
    pub(super) fn add(&mut self, event: &str, message: usize) {
        self.0.push((event.into(), message));
    }

    /// Carries a condensation out.
    pub(super) fn condense(
        &mut self,
        id: &str,
        condensation: Condensation<'_>,
        transcript: &mut Transcript,
    ) {
        let Condensation {
            forgotten,
            trigger,
            summary,
            offset,
        } = condensation;
        self.0.retain(|(event, _)| !forgotten.contains(event));
        if let Some(summary) = summary {
            // The offset counts events; several messages may come from one.
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
