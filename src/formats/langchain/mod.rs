//! `LangChain`'s dumps of messages, and the runs of `LangSmith`.

mod messages;
mod runs;

pub(super) use messages::MESSAGES;
pub(super) use runs::RUNS;
