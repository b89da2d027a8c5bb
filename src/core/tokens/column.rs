//! Token counts per part, with sums.

use crate::session::Session;

/// Token counts per part, with sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// By part index.
    pub per_part: Vec<u32>,
    /// By message index.
    pub per_message: Vec<u32>,
    /// Sums over the messages of the full history before each index. Has one more element than there are messages.
    pub history_prefix: Vec<u64>,
}

impl Column {
    /// Sums the token counts of a session's parts.
    pub fn new(session: &Session, per_part: Vec<u32>) -> Self {
        let mut column = Self {
            per_part,
            per_message: Vec::with_capacity(session.messages.len()),
            history_prefix: Vec::with_capacity(session.messages.len() + 1),
        };
        column.history_prefix.push(0);
        column.add_messages(session);
        column
    }

    /// Adds the sums of messages whose parts are counted.
    pub(super) fn add_messages(&mut self, session: &Session) {
        let mut sum = self.history_prefix.last().copied().unwrap_or(0);
        for message in &session.messages[self.per_message.len()..] {
            let weight = sum_of(&self.per_part[message.parts.clone()]);
            sum += if message.in_history { u64::from(weight) } else { 0 };
            self.per_message.push(weight);
            self.history_prefix.push(sum);
        }
    }
}

/// Sums over the parts of each message.
pub(super) fn per_message(session: &Session, per_part: &[u32]) -> Vec<u32> {
    session.messages.iter().map(|m| sum_of(&per_part[m.parts.clone()])).collect()
}

fn sum_of(parts: &[u32]) -> u32 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(*part))
}
