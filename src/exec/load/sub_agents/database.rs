//! Sub-agents as further sessions of a database, each with the id of its parent.

use crate::formats::{DatabaseSession, ImportReport, SessionIdentity, SubAgentCalls};
use crate::session::{Conversation, Session, Start};
use std::collections::HashMap;

/// Returns all conversations of a database of which the session with this index was loaded.
pub(crate) fn in_database(
    entries: &[DatabaseSession],
    loaded: usize,
    session: &Session,
    report: &ImportReport,
) -> Vec<Conversation> {
    let numbers = entries.iter().enumerate();
    let numbers: HashMap<&str, usize> = numbers.map(|(n, entry)| (&*entry.id, n)).collect();
    let parent_of = |entry: &DatabaseSession| {
        let parent = entry.parent.as_deref().and_then(|id| numbers.get(id));
        parent.copied().filter(|n| entries[*n].id != entry.id)
    };
    let started = SubAgentCalls::new(session, report);
    let describe = |entry: &DatabaseSession| {
        let identity =
            SessionIdentity { id: entry.id.as_str().into(), ..SessionIdentity::default() };
        (entry.title.clone(), started.agent(&identity).0, None)
    };
    let all = Conversation::sub_agents(session, entries.iter().map(describe));
    let with_parent =
        |(entry, mut conversation): (&DatabaseSession, Conversation)| match parent_of(entry) {
            None => Conversation::unread(conversation.title),
            Some(parent) => {
                let is_known = parent == loaded && conversation.start.is_some();
                conversation.start =
                    conversation.start.filter(|_| is_known).or(Some(Start::Of(parent)));
                conversation
            }
        };
    entries.iter().zip(all).map(with_parent).collect()
}
