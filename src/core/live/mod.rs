//! A policy in an agent's own loop: the engine of a replay, played while the conversation goes on.
//!
//! A [`Manager`] holds one conversation. The program pushes messages, and before each request [`Manager::step`] returns what
//! to send: its own messages by their numbers, edited and added ones as JSON. If the policy needs a summary, the step is a
//! prompt for a model, which the program answers before the next step.
//!
//! - Decisions are final. What arrives later (usage, messages) never changes an earlier compaction, and nothing of the past is
//!   counted again.
//! - Values go in and out. The manager reads no file, sends nothing and uses no clock.
//! - With the same counts, the messages of each call are those of a replay of the finished conversation.

mod asking;
mod conversation;
mod error;
mod last_request;
mod manager;
mod options;
mod phase;
mod state;
mod step;
mod step_writer;

pub use error::LiveError;
pub use manager::Manager;
pub use options::Options;
pub use step::{Ask, Entry, EventReport, Ready, Step};
pub use step_writer::StepWriter;
