//! Collects warnings and record counts while a file is read.

use super::notes::Notes;
use super::{ImportReport, Input, ParseError, Parsed, Refused, Warning};
use crate::session::Session;

/// Warnings and record counts of a file.
#[derive(Debug, Default)]
pub(super) struct ReadLog {
    /// Warnings by byte position.
    pub(super) notes: Notes,
    /// Warnings by line.
    pub(super) warnings: Vec<Warning>,
    /// Records by kind.
    pub(super) report: ImportReport,
}

impl ReadLog {
    /// Returns the sessions of the file with all warnings in file order, those without a line last.
    ///
    /// # Errors
    /// [`Refused`] if there is no session. `what` then describes the file ("a Pi session without a message").
    pub(super) fn finish(
        mut self,
        input: &Input,
        sessions: Vec<Session>,
        what: &str,
    ) -> Result<Parsed, ParseError> {
        if sessions.is_empty() {
            let looks_like = format!("this looks like {what}");
            return Err(Refused { looks_like }.into());
        }
        self.warnings.extend(self.notes.warnings(&input.bytes));
        self.warnings.sort_by_key(|w| w.line.unwrap_or(usize::MAX));
        Ok(Parsed { sessions, warnings: self.warnings, report: self.report })
    }
}
