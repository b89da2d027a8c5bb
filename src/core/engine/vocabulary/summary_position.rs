//! The positions of a summary in the context.

use serde::Deserialize;

/// The position of a written message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryPosition {
    /// The position of the first message that it covers.
    #[default]
    First,
    /// The position of the last message that it covers: after the messages that were kept among them.
    Last,
}
