//! The points of a call at which stages act.

use serde::Deserialize;

/// A point of a call at which a stage may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// After a tool has answered, before its result is added to the context.
    ToolResult,
    /// After a restart of the program, before anything else.
    Resume,
    /// After a user message, before the first call of the turn.
    TurnStart,
    /// After tool results, before the next call.
    AfterTools,
    /// Before every call.
    BeforeCall,
    /// After an overflow; the call is tried again if a stage changed the context. Also after a provider error that the
    /// user placed, whose text a named action reads.
    OverflowError,
    /// After the answer.
    AfterCall,
    /// After the last answer of the turn.
    TurnEnd,
    /// When the policy is applied once to the last context, never in a replay.
    Manual,
}
