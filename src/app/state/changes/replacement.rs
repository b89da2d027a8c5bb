//! Messages that a lane wrote, next to the messages they replace.

use crate::app::state::changes::changed::{Changes, Original, Replacement};
use crate::app::state::changes::message_changes::{ChangeInputs, cause, sentence};
use crate::app::state::changes::predicted_summary;
use crate::app::state::messages::text::MessageText;
use crate::app::state::model::lane_context::PositionedMessage;
use crate::app::state::wording;
use crate::engine::Written;
use crate::safe_text;
use crate::session::WrittenKind;

/// Maximum bytes of a written message, and of a single original.
const MAX_BYTES: usize = 48 * 1024;
/// Maximum bytes of each of several originals.
const MAX_BYTES_EACH: usize = 700;
/// Maximum number of originals shown for a summary.
const MAX_ORIGINALS: usize = 60;

impl ChangeInputs<'_> {
    /// Returns a message the lane wrote with all messages it replaces, or with only the selected one of them.
    pub(crate) fn replacement(&self, written: &Written, message: Option<usize>) -> Changes {
        let ledger = &self.runs.case.ledger;
        let covered = || written.covers.iter().cloned().flatten().map(|m| m as usize);
        let n_covered = covered().count();
        let originals: Vec<_> = match message {
            Some(message) => vec![self.original(message, MAX_BYTES)],
            None => {
                covered().take(MAX_ORIGINALS).map(|m| self.original(m, MAX_BYTES_EACH)).collect()
            }
        };
        let by = self.event(Some(written.event)).map_or_else(String::new, cause);
        let text = if message.is_some() {
            replaced_text(written.kind, &by, n_covered)
        } else {
            let kind = wording::written(written.kind);
            let messages = wording::count(n_covered, "message");
            format!("Written {by}: a {kind} that replaces {messages}.")
        };
        let positioned = PositionedMessage::all(self.context)
            .into_iter()
            .find(|message| std::ptr::eq(message.written, written));
        let content = if written.is_predicted {
            self.predicted(written)
        } else {
            Some(written.text.as_ref().to_owned())
        };
        let shown =
            |text: String| safe_text::visible(safe_text::head(&text, MAX_BYTES)).into_owned();
        let n_unlisted = match message {
            Some(_) => 0,
            None => n_covered - originals.len(),
        };
        let replacement = positioned.map(|message| Replacement {
            kind: written.kind,
            position: message.position,
            tokens: message.tokens,
            text: content.map(shown),
            is_predicted: written.is_predicted,
            n_covered,
            covered_tokens: covered().map(|m| ledger.message(m)).sum(),
            n_unlisted,
            originals,
        });
        Changes { event: self.link(Some(written.event)), replacement, ..sentence(text) }
    }

    fn predicted(&self, written: &Written) -> Option<String> {
        let event = self.event(Some(written.event))?;
        let (case, run) = (&self.runs.case, &self.runs.lanes[self.lane]);
        let until = (!self.is_whole).then_some(self.rows.call);
        predicted_summary::predicted(case, run, until, written, event)
    }

    /// Returns the text of a message, up to `most` bytes.
    fn original(&self, message: usize, most: usize) -> Original {
        let text = MessageText::parts(self.document, &self.runs.case.ledger, message).whole();
        let head = safe_text::head(&text, most);
        Original {
            message,
            n_hidden_lines: text[head.len()..].lines().count(),
            text: head.trim_end().to_owned(),
        }
    }
}

/// Describes how one of `n_covered` messages was replaced. `by` is the cause.
fn replaced_text(kind: WrittenKind, by: &str, n_covered: usize) -> String {
    let n_others = n_covered.saturating_sub(1);
    let (with, pronoun) = if n_others == 0 {
        (String::new(), "it")
    } else {
        let others = wording::count(n_others, "other message");
        (format!(", with {others}"), "them")
    };
    match kind {
        WrittenKind::Summary => format!("Summarized {by}{with}."),
        WrittenKind::Notice | WrittenKind::Addition => {
            format!("Dropped {by}{with}. A notice replaces {pronoun}.")
        }
    }
}
