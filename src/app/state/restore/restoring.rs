//! The settings and the result of restoring the source of a managed conversation.

use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::document::{Document, Origin};
use crate::exec;
use crate::exec::Restored;
use std::path::PathBuf;

/// A command of the dialog that restores a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreCommand {
    /// Show the dialog.
    Start,
    /// Change the paths.
    Edit(RestoreDraft),
    /// Show the system's dialog for a path.
    Browse(RestorePath),
    /// Restore the source.
    Write,
    /// Close the dialog.
    Close,
}

/// A path of the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePath {
    /// The managed conversation.
    Managed,
    /// The restored file.
    Output,
}

/// The paths as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreDraft {
    /// Path of the managed conversation.
    pub managed: String,
    /// Output path; empty for the default.
    pub output: String,
}

impl RestorePath {
    /// Returns the field of this path.
    pub fn of(self, draft: &RestoreDraft) -> &String {
        match self {
            Self::Managed => &draft.managed,
            Self::Output => &draft.output,
        }
    }

    /// Returns the field of this path, to change it.
    pub fn of_mut(self, draft: &mut RestoreDraft) -> &mut String {
        match self {
            Self::Managed => &mut draft.managed,
            Self::Output => &mut draft.output,
        }
    }
}

/// The dialog that restores a source.
#[derive(Debug, Default)]
pub struct Restoring {
    /// The paths.
    pub draft: RestoreDraft,
    /// The restored file.
    pub done: Option<Restored>,
    /// The error of the last attempt.
    pub failed: Option<String>,
    work: Option<Background<Result<Restored, String>>>,
}

impl Restoring {
    /// Starts with the open file as the managed conversation.
    pub fn new(document: Option<&Document>) -> Self {
        let managed = match document.map(|document| &document.origin) {
            Some(Origin::Path(path)) => path.display().to_string(),
            _ => String::new(),
        };
        let draft = RestoreDraft { managed, ..RestoreDraft::default() };
        Self { draft, ..Self::default() }
    }

    /// Changes the paths. The earlier error belongs to other paths.
    pub fn edit(&mut self, draft: RestoreDraft) {
        self.failed = None;
        self.draft = draft;
    }

    /// Returns whether the file is being written.
    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Starts to restore the source.
    pub fn write(&mut self, repaint: &Repaint, at: WorkMode) {
        let [managed, output] = [&self.draft.managed, &self.draft.output].map(|typed| {
            let typed = PathBuf::from(typed.trim());
            // The window does not show the working directory, so the path is made absolute.
            std::path::absolute(&typed).unwrap_or(typed)
        });
        let output = (!self.draft.output.trim().is_empty()).then_some(output);
        let work = move || exec::restore(&managed, output.as_deref());
        self.failed = None;
        self.work = Some(at.start(repaint, "restore", work));
    }

    /// Receives the restored file since the last frame.
    pub fn poll(&mut self) {
        match self.work.take().map(Background::take) {
            Some(Ok(Some(Ok(restored)))) => self.done = Some(restored),
            Some(Ok(Some(Err(why)))) => self.failed = Some(why),
            Some(Ok(None)) => {
                self.failed =
                    Some("Restoring stopped unexpectedly; nothing was written.".to_owned());
            }
            Some(Err(work)) => self.work = Some(work),
            None => {}
        }
    }
}
