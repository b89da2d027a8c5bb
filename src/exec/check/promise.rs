//! The intended content of an export, against which the written file is checked.

use crate::engine::{Case, KnobValues, Policy, PolicyKind};
use crate::formats::{Format, n_replaced};
use crate::session::{Managed, ManagedEntry, ManagedPart, Message, Session};
use crate::units::Tokens;

/// The intended content of an export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise<'a> {
    /// The source.
    pub case: &'a Case,
    /// The managed conversation.
    pub managed: &'a Managed,
    /// Actual tokens of the executed context, including overhead.
    pub tokens: Tokens,
    /// Tokens of text that is not recorded.
    pub overhead: Tokens,
    /// Format of the file.
    pub format: &'static Format,
    /// The policy of the run.
    pub policy: &'a Policy,
    /// Settings of the policy.
    pub knobs: &'a KnobValues,
    /// Index of the last call.
    pub call: usize,
}

impl Promise<'_> {
    /// Returns whether the policy sends what a real system sends, so that its context is right although providers may
    /// reject it.
    pub(super) fn is_of_system(&self) -> bool {
        let mut stages = self.policy.stages.iter();
        self.policy.kind.is_some_and(|kind| kind != PolicyKind::Strategy)
            || stages.any(|stage| stage.action.system().is_some())
    }

    /// Returns a session with the messages of the managed conversation, without calls and compactions.
    pub(super) fn as_session(&self) -> Session {
        let source = &self.case.session;
        let mut session = Session {
            messages: Vec::new(),
            parts: Vec::new(),
            calls: Vec::new(),
            compactions: Vec::new(),
            revisions: Vec::new(),
            ..Session::clone(source)
        };
        for entry in &self.managed.entries {
            let start = session.parts.len();
            let (template, role) = match entry {
                ManagedEntry::Kept { message } => {
                    let message = &source.messages[*message];
                    session.parts.extend_from_slice(source.parts_of(message));
                    (Some(message), message.role)
                }
                ManagedEntry::Edited { message, parts } => {
                    let parts = parts.iter().map(|part| match part {
                        ManagedPart::Kept { part } | ManagedPart::Replaced { part, .. } => *part,
                    });
                    let parts = parts.map(|part| source.parts[part].clone());
                    session.parts.extend(parts);
                    let message = &source.messages[*message];
                    (Some(message), message.role)
                }
                ManagedEntry::Written { role, .. } => (source.messages.first(), *role),
            };
            session.messages.extend(template.map(|message| Message {
                role,
                parts: start..session.parts.len(),
                ..message.clone()
            }));
        }
        session
    }

    /// Returns the number of messages that the program of the file replaces by its own.
    pub(super) fn n_replaced(&self) -> usize {
        let session = &self.case.session;
        let is_replaced = self.format.has_own_instructions(session);
        if is_replaced { n_replaced(session, self.managed) } else { 0 }
    }

    pub(super) fn is_same_format(&self) -> bool {
        self.format.name == self.case.session.source.format
    }
}

/// Returns the messages of the last recorded context: those since the last compaction, and its result.
pub(super) fn context_messages(session: &Session) -> Vec<usize> {
    session.real_context(session.messages.len())
}
