//! Summaries: requests of a run, the text to be summarized, and answers without a model.

pub(super) mod digest;
pub(super) mod estimator;
pub(super) mod request;
pub(super) mod transcript;
