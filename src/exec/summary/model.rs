//! The model that writes summaries or answers questions, and its settings.

use crate::exec::model::ModelClient;
use crate::progress::Progress;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A model with the settings of a run.
#[derive(Clone)]
pub struct Model {
    /// Model, address, limits and retries.
    pub client: ModelClient,
    /// Context window in tokens, if known. Longer prompts are not sent.
    pub window: Option<u64>,
    /// The user's own prompt, for policies whose actions have none.
    pub prompt: Option<String>,
    /// Temperature; the model's default if `None`.
    pub temperature: Option<f64>,
    /// Log file of requests and answers, if any.
    pub log: Option<PathBuf>,
    /// Cancels the requests.
    pub stop: Arc<Progress>,
    /// Receives events on the thread that sends the requests.
    pub on_event: Option<Arc<dyn Fn(ModelEvent) + Send + Sync>>,
}

/// An event during a request to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// A prompt was sent.
    Sent {
        /// Number of the prompt in the run, from 1.
        number: usize,
        /// Estimated tokens of the prompt.
        tokens: u64,
    },
    /// The answer so far.
    Text(String),
    /// A retry follows after a wait, for this reason.
    Waits(String),
}

impl Model {
    /// Returns the name of the model and its host.
    pub fn name(&self) -> String {
        format!("{} at {}", self.client.endpoint.model, self.client.endpoint.host())
    }

    pub(super) fn emit(&self, event: ModelEvent) {
        if let Some(on_event) = &self.on_event {
            on_event(event);
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.name())
    }
}
