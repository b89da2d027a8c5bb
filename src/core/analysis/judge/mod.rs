//! Hindsight judge: what each of the agent's next actions rested on, as a model lists it from a managed context. Every
//! quote is checked byte for byte; an answer whose quote is not in the context counts as missing.

mod actions;
mod answer;
mod outcome;

pub use actions::{RecordedAction, next_actions, request_text};
pub use answer::{JudgedAction, Support, parse};
pub use outcome::{JudgeOutcome, JudgedLane, JudgedPoint, SupportCounts};
