//! What a session file holds beside what was said: there, not there, or more than its format can say. What a format cannot
//! say is unknown, never zero.

use super::{Carried, ImportReport, by_name};
use crate::session::{Body, Conversation, Role, Session, Track};

/// Whether a file holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carriage {
    /// It does.
    Present,
    /// It could, but does not.
    Absent,
    /// Its format has no place for it.
    NotCarried,
}

impl Carriage {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::NotCarried => "not_carried",
        }
    }

    /// The same for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Present => "in this file",
            Self::Absent => "none in this file",
            Self::NotCarried => "not kept by this format",
        }
    }
}

/// For everything that a file may hold whether this one does: the session that was read, and what its file's
/// conversations are.
pub fn carriage(
    session: &Session,
    conversations: &[Conversation],
    report: &ImportReport,
) -> Vec<(Carried, Carriage)> {
    let format = by_name(session.source.format);
    let carries = format.map_or(&[][..], |format| format.carries);
    let of = |what: Carried| {
        if holds(session, conversations, what) {
            Carriage::Present
        } else if carries.contains(&what) || is_told_of(report, what) {
            Carriage::Absent
        } else {
            Carriage::NotCarried
        }
    };
    Carried::ALL.iter().map(|what| (*what, of(*what))).collect()
}

/// Whether what a session says of its program's own compactions means anything: where its format has no place for them,
/// that there are none does not.
pub fn tells_compactions(session: &Session) -> bool {
    let format = by_name(session.source.format);
    holds(session, &[], Carried::Compactions)
        || format.is_some_and(|format| format.carries.contains(&Carried::Compactions))
}

fn holds(session: &Session, conversations: &[Conversation], what: Carried) -> bool {
    let has_tools = |body: &Body| matches!(body, Body::ToolDefinition { .. });
    let messages = &session.messages;
    match what {
        Carried::Usage => session.steps.iter().any(|step| step.usage.is_some()),
        Carried::Times => {
            messages.iter().any(|m| m.time.is_some())
                || session.steps.iter().any(|step| step.time.is_some())
        }
        Carried::Compactions => !session.compactions.is_empty(),
        Carried::SystemPrompt => messages.iter().any(|m| {
            let mut parts = session.parts_of(m).iter();
            m.role == Role::System && m.in_history && parts.any(|part| !has_tools(&part.body))
        }),
        Carried::Tools => session.parts.iter().any(|part| has_tools(&part.body)),
        Carried::SubAgents => conversations
            .iter()
            .any(|c| matches!(c.track, Track::SubAgent(_))),
    }
}

fn is_told_of(report: &ImportReport, what: Carried) -> bool {
    what == Carried::SubAgents && !report.sub_agents.is_empty()
}
