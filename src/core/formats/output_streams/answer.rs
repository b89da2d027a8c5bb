//! An answer that a stream writes in several records, with the results of its calls.

use crate::formats::transcript::Transcript;
use crate::session::{Body, Draft, Part, Role, Span};
use crate::units::Millis;

/// An answer under construction.
#[derive(Debug, Default)]
pub(super) struct OpenAnswer {
    answer: Option<Draft>,
    /// The text that is being written, and its first record.
    text: Option<(u32, String)>,
    results: Vec<Draft>,
}

impl OpenAnswer {
    /// Adds the parts of a record to the answer.
    pub(super) fn add(&mut self, span: &Span, time: Option<Millis>, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        self.end_text();
        let record = self.add_record(span, time);
        let parts = parts.into_iter().map(|part| Part { record, ..part });
        if let Some(answer) = &mut self.answer {
            answer.parts.extend(parts);
        }
    }

    /// Adds a piece of a text that is written while it is generated.
    pub(super) fn add_piece(&mut self, span: &Span, time: Option<Millis>, piece: &str) {
        if let Some((_, text)) = &mut self.text {
            text.push_str(piece);
        } else if !piece.is_empty() {
            self.text = Some((self.add_record(span, time), piece.to_owned()));
        }
    }

    /// Adds a result of one of its calls.
    pub(super) fn add_result(&mut self, span: &Span, time: Option<Millis>, parts: Vec<Part>) {
        self.results.push(Draft { time, raw: vec![span.clone()], ..Draft::new(Role::Tool, parts) });
    }

    /// Returns whether a call has a result, so that what the model writes next is another answer.
    pub(super) fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// Adds the answer and the results to the conversation.
    pub(super) fn close(&mut self, transcript: &mut Transcript) {
        self.end_text();
        let answer = self.answer.take();
        for draft in answer.into_iter().chain(self.results.drain(..)) {
            transcript.add_message(draft);
        }
    }

    /// Adds a record to the answer and returns its number.
    fn add_record(&mut self, span: &Span, time: Option<Millis>) -> u32 {
        let new = || Draft { time, ..Draft::new(Role::Assistant, Vec::new()) };
        let answer = self.answer.get_or_insert_with(new);
        answer.raw.push(span.clone());
        u32::try_from(answer.raw.len() - 1).unwrap_or(u32::MAX)
    }

    /// Ends the text that is being written.
    fn end_text(&mut self) {
        if let (Some((record, text)), Some(answer)) = (self.text.take(), &mut self.answer) {
            answer.parts.push(Part { body: Body::Text(text.into()), record, block: 0 });
        }
    }
}
