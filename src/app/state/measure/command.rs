//! Commands of the dialog that measures with a model.

use crate::app::state::measure::draft::{MeasureDraft, MeasurePath};
use crate::app::state::model_form::typed::Secret;

/// A command of the dialog that measures with a model.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasureCommand {
    /// Open the dialog, with the last result if there is one.
    Open,
    /// Change the form.
    Edit(Box<MeasureDraft>),
    /// Show the system's dialog for a path.
    Browse(MeasurePath),
    /// Change the API key.
    SetKey(Secret),
    /// Write the questions and ask for consent, or repeat a logged run.
    Run,
    /// Open a probe by its index, or return to their list.
    ShowProbe(Option<usize>),
    /// Consent to send the questions and contexts to the model, or continue a stopped run.
    Send,
    /// Stop the requests. What was answered is scored.
    Stop,
    /// Return to the form.
    Back,
    /// Close the dialog. The result is kept.
    Close,
}
