//! The kinds of actions, as events and JSON name them.

use serde::{Serialize, Serializer};
use std::fmt;

/// The kind of an action of a stage, of a manual edit or of a recorded compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Clears tool results.
    Clear,
    /// Shortens texts.
    Cut,
    /// Moves texts to files.
    Spill,
    /// Replaces repeated tool results by pointers.
    Dedupe,
    /// Removes messages.
    Drop,
    /// Replaces messages by a summary.
    Summarize,
    /// Adds messages.
    Inject,
    /// Writes a log line.
    Log,
    /// Adds or removes messages until every call has its result.
    Repair,
    /// A compaction that the session records.
    Recorded,
}

impl ActionKind {
    /// Returns the name used in events and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Cut => "cut",
            Self::Spill => "spill",
            Self::Dedupe => "dedupe",
            Self::Drop => "drop",
            Self::Summarize => "summarize",
            Self::Inject => "inject",
            Self::Log => "log",
            Self::Repair => "repair",
            Self::Recorded => "compaction",
        }
    }

    /// Returns whether the action is meant to add tokens.
    pub fn adds_content(self) -> bool {
        match self {
            Self::Inject | Self::Repair => true,
            Self::Clear
            | Self::Cut
            | Self::Spill
            | Self::Dedupe
            | Self::Drop
            | Self::Summarize
            | Self::Log
            | Self::Recorded => false,
        }
    }

    /// Returns whether the action shortens content without removing messages.
    pub fn shortens(self) -> bool {
        match self {
            Self::Clear | Self::Cut | Self::Spill | Self::Dedupe => true,
            Self::Drop
            | Self::Summarize
            | Self::Inject
            | Self::Log
            | Self::Repair
            | Self::Recorded => false,
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for ActionKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
