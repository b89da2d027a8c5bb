//! Assigns the usage of `token_count` events to calls.

use super::lines::RolloutLine;
use super::reader::{CodexReader, OpenCall};
use super::usage::{Reading, TokenCount};
use crate::formats::counts;
use crate::session::{Body, CallDraft, Usage};
use crate::units::Tokens;

impl CodexReader {
    /// Reads a `token_count` event.
    pub(super) fn count(&mut self, line: &RolloutLine, count: &TokenCount) {
        self.window = self.checked_window(line, count.window).or(self.window);
        match self.meter.read(count) {
            Reading::Call(usage) => {
                let usage = counts::checked_usage(Some(usage)).unwrap_or_else(|why| {
                    self.warn(line, why);
                    None
                });
                self.size = usage.map(|u| u.input + u.output.unwrap_or_default()).or(self.size);
                self.is_answering = false;
                match usage {
                    Some(usage) if !self.is_copied => self.set_usage(line, usage),
                    // The call was made, although its usage is implausible.
                    None => self.open_call = None,
                    Some(_) => {}
                }
            }
            Reading::Estimate(tokens) if !self.is_copied => {
                let text = match counts::checked(Some(tokens), "an estimate by the client") {
                    Ok(_) => format!(
                        "{} tokens are an estimate by the client, not a model call",
                        tokens.0
                    ),
                    Err(why) => why,
                };
                self.warn(line, text);
            }
            _ => {}
        }
    }

    /// Returns a plausible window, else adds a warning.
    pub(super) fn checked_window(
        &mut self,
        line: &RolloutLine,
        window: Option<Tokens>,
    ) -> Option<Tokens> {
        counts::checked(window, "the recorded context window").unwrap_or_else(|why| {
            self.warn_once(line, why);
            None
        })
    }

    /// Sets the usage of the open call.
    fn set_usage(&mut self, line: &RolloutLine, usage: Usage) {
        let call = self.open_call.take().unwrap_or_else(|| {
            let text = "usage of a model call whose answer is not in the file";
            self.warn(line, text.to_owned());
            let draft =
                CallDraft { model: self.model.clone(), time: line.time, ..CallDraft::default() };
            OpenCall { index: self.builder.call(draft), messages: Vec::new() }
        });
        if let Some(recorded) = self.builder.call_mut(call.index) {
            recorded.usage = Some(usage);
            recorded.window = self.window;
        }
        // The call's total reasoning tokens are assigned to the first part.
        let mut tokens = usage.reasoning.map(|t| u32::try_from(t.0).unwrap_or(u32::MAX));
        for message in call.messages {
            for part in self.builder.parts_mut(message) {
                if let Body::Thinking { reported, .. } = &mut part.body {
                    *reported = tokens;
                    tokens = tokens.map(|_| 0);
                }
            }
        }
    }
}
