//! Commands of the export dialog.

use crate::app::state::export::draft::ExportDraft;
use crate::app::state::model_form::draft::ModelPath;
use crate::app::state::model_form::typed::Secret;

/// A command of the export dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportCommand {
    /// Prepare an export of this lane; `None` for the focused one.
    Start(Option<usize>),
    /// Compact the last context even if the trigger is not met. Prepares the export, or runs a prepared one.
    CompactAnyway,
    /// Prepare a file with the context of the selected call.
    StartContext,
    /// Change the form.
    Edit(Box<ExportDraft>),
    /// Show the system's dialog for a path of the form.
    Browse(ExportPath),
    /// Run the export. Asks for consent before data is sent to a model.
    Run,
    /// Generate the summaries for review.
    Preview,
    /// Consent to send the data to be summarized to the model.
    Send,
    /// Return to the form and stop the work in progress.
    Cancel,
    /// Edit a summary, by the number of its request.
    EditSummary(usize, String),
    /// Write the export with the reviewed summaries.
    WriteReviewed,
    /// Consent to add the export to the store of the program that recorded the session.
    WriteToStore,
    /// Change the API key.
    SetKey(Secret),
    /// Close the dialog.
    Close,
}

/// A path in the export form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportPath {
    /// Output path of the export.
    Output,
    /// Folder for files that the policy writes.
    Files,
    /// A path in the model settings.
    Model(ModelPath),
    /// Log to replay instead of calling a model.
    Replay,
}

impl ExportPath {
    /// Returns the field of this path.
    pub fn of(self, draft: &ExportDraft) -> &String {
        match self {
            Self::Output => &draft.output,
            Self::Files => &draft.files,
            Self::Model(path) => path.of(&draft.model),
            Self::Replay => &draft.replay,
        }
    }

    /// Returns the field of this path, to change it.
    pub fn of_mut(self, draft: &mut ExportDraft) -> &mut String {
        match self {
            Self::Output => &mut draft.output,
            Self::Files => &mut draft.files,
            Self::Model(path) => path.of_mut(&mut draft.model),
            Self::Replay => &mut draft.replay,
        }
    }
}
