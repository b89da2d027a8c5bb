//! Sources of summaries.

use super::log::RunLog;
use super::model::Model;
use std::sync::Arc;

/// The source of summaries.
#[derive(Clone, Debug)]
pub enum Summarizer {
    /// The offline digest. Nothing leaves the machine.
    Digest,
    /// A text pasted by the user.
    Text(String),
    /// A model behind HTTP.
    Model(Arc<Model>),
    /// Answers of an earlier run, from its log.
    Log(Arc<RunLog>),
}
