//! A context without predicted text: the only kind that can be exported.

use super::{Context, Edited, EntryBody, Marker, PartStatus, Written};
use crate::session::{Managed, ManagedEntry, ManagedPart, Session, WrittenKind};

/// A context without predicted text.
#[derive(Clone, Debug)]
pub struct ExecutedContext(Context);

/// Error: the context holds a stand-in for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this context has a predicted summary; write the summary before the export")]
pub struct PredictedText;

impl ExecutedContext {
    /// Accepts a context that has no predicted text.
    ///
    /// # Errors
    /// [`PredictedText`].
    pub fn new(context: Context) -> Result<Self, PredictedText> {
        let is_real = context.written().all(|(written, _)| !written.is_predicted);
        let mut marks = context.markers_in_use();
        if is_real && marks.all(|marker| !marker.is_predicted) {
            drop(marks);
            Ok(Self(context))
        } else {
            Err(PredictedText)
        }
    }

    /// Returns the context.
    pub fn context(&self) -> &Context {
        &self.0
    }

    /// Returns the messages to write, for the writer of a format.
    pub fn managed(&self, session: &Session) -> Managed {
        let mut entries = Vec::with_capacity(self.0.entries.len());
        for entry in &self.0.entries {
            match &entry.body {
                EntryBody::Original(message) => {
                    entries.push(ManagedEntry::Kept { message: *message as usize });
                }
                EntryBody::Edited(edited) => {
                    entries.push(edited_entry(session, edited, &self.0.markers));
                }
                EntryBody::Written(written) => entries.extend(written_entries(written)),
            }
        }
        Managed { entries, calibration: None, tokens: Some(self.0.tokens()) }
    }
}

/// Returns a written message, with an addition for each further text of it.
fn written_entries(written: &Written) -> Vec<ManagedEntry> {
    let entry = |(nth, text): (usize, &str)| ManagedEntry::Written {
        role: written.role,
        text: text.to_owned(),
        kind: if nth == 0 { written.kind } else { WrittenKind::Addition },
        joins_next: written.joins_next,
        answers: written.answers.as_ref().map(|answered| answered.call.to_string()),
        before_message: written.covers.last().map_or(0, |range| range.end as usize),
    };
    written.texts().into_iter().enumerate().map(entry).collect()
}

fn edited_entry(session: &Session, edited: &Edited, markers: &[Marker]) -> ManagedEntry {
    let message = edited.message as usize;
    let parts = session.messages[message].parts.clone().zip(edited.parts.as_slice());
    let parts = parts.filter_map(|(part, status)| match status {
        PartStatus::Kept => Some(ManagedPart::Kept { part }),
        PartStatus::Cleared { marker } => {
            Some(ManagedPart::Replaced { part, text: markers[*marker as usize].text.to_string() })
        }
        PartStatus::Removed { .. } => None,
    });
    ManagedEntry::Edited { message, parts: parts.collect() }
}
