//! Records of summary requests, for the manifest and for repeating a run.

use crate::units::Tokens;
use serde::Serialize;
use std::sync::Arc;

/// Name of the offline digest as a summarizer.
pub(super) const DIGEST: &str = "digest";

/// A summary request of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RequestRecord {
    /// Number of the call before which it was made, from 1.
    pub call: usize,
    /// The stage that made it.
    pub stage: String,
    /// The model or other summarizer that answered.
    pub summarizer: String,
    /// Actual tokens of the messages to summarize.
    pub input: Tokens,
    /// Maximum number of actual tokens of the answer.
    pub max_tokens: Tokens,
    /// Number of prompts: more than one if the messages overflow the model's window.
    pub prompts: usize,
    /// Tokens sent, as reported by the provider.
    pub sent: Option<u64>,
    /// Tokens received, as reported by the provider.
    pub received: Option<u64>,
    /// Duration in milliseconds.
    pub millis: Option<u64>,
    /// Reason why the answer was rejected or missing.
    pub failed: Option<String>,
    /// The user edited the answer.
    pub is_edited: bool,
    /// The model called a tool instead of answering.
    #[serde(skip)]
    pub called_tool: bool,
    /// The answer.
    #[serde(skip)]
    pub text: Option<Arc<str>>,
}

/// Describes the first rejected or missing answer and the number of others.
pub(crate) fn rejection(requests: &[RequestRecord]) -> Option<String> {
    let mut failed = requests
        .iter()
        .enumerate()
        .filter_map(|(nth, request)| Some((nth + 1, request, request.failed.as_ref()?)));
    let (nth, first, reason) = failed.next()?;
    let more = match failed.count() {
        0 => String::new(),
        1 => ", 1 more answer was rejected too".to_owned(),
        n => format!(", {n} more answers were rejected too"),
    };
    let (n, call, stage) = (requests.len(), first.call, &first.stage);
    Some(format!(
        "the answer to summary request {nth} of {n} (call {call}, {stage}) was rejected ({reason}){more}"
    ))
}

/// Describes the summaries that the offline digest wrote where a replay predicts a model's.
pub(crate) fn digested(requests: &[RequestRecord]) -> Option<String> {
    let digests = requests.iter();
    let digests = digests.filter(|r| r.summarizer == DIGEST && r.failed.is_none());
    match digests.count() {
        0 => None,
        1 => Some("1 summary is an offline digest, not written by a model: its size and content differ from the predicted summary".to_owned()),
        n => Some(format!("{n} summaries are offline digests, not written by a model: their sizes and contents differ from the predicted summaries")),
    }
}
