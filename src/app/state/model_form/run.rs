//! Progress and cancellation of the requests to a model.

use crate::exec::ModelEvent;
use crate::progress::Progress;
use std::sync::{Arc, Mutex, PoisonError};

/// Progress of a model run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelProgress {
    /// Number of requests so far.
    pub n_requests: usize,
    /// Tokens of the current request.
    pub tokens: u64,
    /// The answer so far.
    pub text: String,
    /// Reason for the delay before the next attempt.
    pub waiting: Option<String>,
}

/// Progress and cancellation of a model run.
#[derive(Clone, Debug, Default)]
pub struct RunHandle {
    progress: Arc<Mutex<ModelProgress>>,
    pub(crate) stop: Arc<Progress>,
}

impl RunHandle {
    /// Returns the progress so far.
    pub fn progress(&self) -> ModelProgress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Cancels the run and closes the connection.
    pub fn cancel(&self) {
        self.stop.cancel();
    }

    /// Updates the progress with an event of the run.
    pub(crate) fn update(&self, event: ModelEvent) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ModelEvent::Sent { number, tokens } => {
                *progress =
                    ModelProgress { n_requests: number, tokens, ..ModelProgress::default() };
            }
            ModelEvent::Text(text) => (progress.text, progress.waiting) = (text, None),
            ModelEvent::Waits(why) => progress.waiting = Some(why),
        }
    }
}
