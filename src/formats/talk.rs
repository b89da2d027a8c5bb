//! A conversation being read, record by record: what all readers do beside knowing their records.

use super::message_list::Calls;
use super::{Input, title};
use crate::session::{
    Body, Draft, Part, Role, Session, SessionBuilder, Source, Span, StepDraft, Usage,
};

/// A conversation being read.
#[derive(Debug)]
pub(super) struct Talk {
    /// What was read so far; compactions are added to it directly.
    pub(super) builder: SessionBuilder,
    calls: Calls,
    first_words: Option<String>,
    has_title: bool,
}

impl Talk {
    /// The conversation of a file, or one of several (`number`, from 1).
    pub(super) fn new(input: &Input, format: &'static str, number: Option<usize>) -> Self {
        let name = match number {
            Some(number) => format!("{} #{number}", input.name),
            None => input.name.clone(),
        };
        Self {
            builder: SessionBuilder::new(Source {
                name,
                format,
                bytes: input.bytes.clone(),
            }),
            calls: Calls::default(),
            first_words: None,
            has_title: false,
        }
    }

    /// Names it, if this says anything.
    pub(super) fn title(&mut self, text: &str) {
        if let Some(title) = title::of(text) {
            self.builder.title(title);
            self.has_title = true;
        }
    }

    /// Adds a message and returns its index. Calls and results without an id are joined in their order.
    pub(super) fn say(&mut self, mut draft: Draft) -> usize {
        self.calls.join(&mut draft.parts);
        // A command says little about what follows.
        if self.first_words.as_ref().is_none_or(|w| w.starts_with('/')) && is_a_persons(&draft) {
            let words = draft.parts.iter().find_map(|p| title::of(p.body.text()));
            self.first_words = words.or(self.first_words.take());
        }
        self.builder.message(draft)
    }

    /// Adds a model call with its answer and returns the answer's index.
    pub(super) fn answer(&mut self, step: StepDraft, mut draft: Draft) -> usize {
        note_reasoning(&mut draft.parts, step.usage.as_ref());
        self.builder.step(step);
        self.say(draft)
    }

    /// Does not believe what the latest call reports of its context; its thoughts weigh what they did.
    pub(super) fn forget_usage(&mut self) {
        let last = self.builder.session().steps.len().checked_sub(1);
        if let Some(step) = last.and_then(|last| self.builder.step_mut(last)) {
            step.usage = None;
        }
    }

    /// Adds a record with more parts to the latest message; false where others have come since.
    pub(super) fn extend(&mut self, message: usize, record: Span, mut parts: Vec<Part>) -> bool {
        if !self.is_last(message) {
            return false;
        }
        self.calls.join(&mut parts);
        self.builder.extend_last(record, parts);
        true
    }

    /// Nothing was said since this message.
    pub(super) fn is_last(&self, message: usize) -> bool {
        message + 1 == self.len()
    }

    /// How many messages there are.
    pub(super) fn len(&self) -> usize {
        self.builder.len()
    }

    /// The conversation, named by a person's first words where nothing else names it; none without a message.
    pub(super) fn finish(mut self) -> Option<Session> {
        if let (false, Some(words)) = (self.has_title, self.first_words.take()) {
            self.builder.title(words);
        }
        let session = self.builder.finish();
        (!session.messages.is_empty()).then_some(session)
    }
}

/// The provider's count of reasoning tokens belongs to the first thought of an answer.
fn note_reasoning(parts: &mut [Part], usage: Option<&Usage>) {
    let tokens = usage
        .and_then(|u| u.reasoning)
        .and_then(|t| u32::try_from(t.0).ok())
        .filter(|tokens| *tokens > 0);
    let thought = parts.iter_mut().find_map(|part| match &mut part.body {
        Body::Thinking { reported, .. } => Some(reported),
        _ => None,
    });
    if let Some(reported) = thought {
        *reported = tokens;
    }
}

fn is_a_persons(draft: &Draft) -> bool {
    draft.role == Role::User && draft.in_history && !draft.is_injected && !draft.is_summary
}
