//! Data that a session file records besides messages: present, absent, or not supported by its format. Data that a
//! format cannot record is unknown, never zero.

use super::{ImportReport, by_name};
use crate::session::{Body, Conversation, Role, Session, Track};
use serde::Serialize;

/// Data that a session file may record besides messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordedData {
    /// Tokens that the provider reported.
    Usage,
    /// Times of messages.
    Times,
    /// Compactions by the program itself.
    Compactions,
    /// The system prompt.
    SystemPrompt,
    /// Tool definitions.
    Tools,
    /// Conversations of sub-agents.
    SubAgents,
}

impl RecordedData {
    /// All kinds of data.
    pub const ALL: &'static [Self] = &[
        Self::Usage,
        Self::Times,
        Self::Compactions,
        Self::SystemPrompt,
        Self::Tools,
        Self::SubAgents,
    ];

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Times => "timestamps",
            Self::Compactions => "compactions",
            Self::SystemPrompt => "system prompt",
            Self::Tools => "tool definitions",
            Self::SubAgents => "sub-agents",
        }
    }
}

/// Availability of a kind of data in a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// The file records it.
    Present,
    /// The format supports it, but the file does not record it.
    Absent,
    /// The format does not support it.
    Unsupported,
}

impl Availability {
    /// Text for the user.
    pub fn words(self) -> &'static str {
        match self {
            Self::Present => "in this file",
            Self::Absent => "none in this file",
            Self::Unsupported => "not kept by this format",
        }
    }
}

/// Returns the availability of each kind of data for a session and the conversations of its file.
pub fn availability(
    session: &Session,
    conversations: &[Conversation],
    report: &ImportReport,
) -> Vec<(RecordedData, Availability)> {
    let format = by_name(session.source.format);
    let recorded = format.map_or(&[][..], |format| format.recorded);
    let of = |data: RecordedData| {
        if holds(session, conversations, data) {
            Availability::Present
        } else if recorded.contains(&data) || has_reported(report, data) {
            Availability::Absent
        } else {
            Availability::Unsupported
        }
    };
    RecordedData::ALL.iter().map(|data| (*data, of(*data))).collect()
}

/// Returns whether the session's list of compactions is meaningful. If its format does not record compactions, an empty
/// list is not.
pub fn records_compactions(session: &Session) -> bool {
    let format = by_name(session.source.format);
    holds(session, &[], RecordedData::Compactions)
        || format.is_some_and(|format| format.recorded.contains(&RecordedData::Compactions))
}

fn holds(session: &Session, conversations: &[Conversation], data: RecordedData) -> bool {
    let has_tools = |body: &Body| matches!(body, Body::ToolDefinition { .. });
    let messages = &session.messages;
    match data {
        RecordedData::Usage => session.calls.iter().any(|call| call.usage.is_some()),
        RecordedData::Times => {
            messages.iter().any(|m| m.time.is_some())
                || session.calls.iter().any(|call| call.time.is_some())
        }
        RecordedData::Compactions => !session.compactions.is_empty(),
        RecordedData::SystemPrompt => messages.iter().any(|m| {
            let mut parts = session.parts_of(m).iter();
            m.role == Role::System && m.in_history && parts.any(|part| !has_tools(&part.body))
        }),
        RecordedData::Tools => session.parts.iter().any(|part| has_tools(&part.body)),
        RecordedData::SubAgents => {
            conversations.iter().any(|c| matches!(c.track, Track::SubAgent(_)))
        }
    }
}

fn has_reported(report: &ImportReport, data: RecordedData) -> bool {
    data == RecordedData::SubAgents && !report.sub_agents.is_empty()
}
