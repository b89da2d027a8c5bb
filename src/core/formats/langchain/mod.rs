//! Serialized `LangChain` messages and `LangSmith` runs.

mod messages;
mod runs;

pub(super) use messages::{MESSAGES, call};
pub(super) use runs::RUNS;
