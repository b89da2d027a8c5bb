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
        let per_message = per_message(session, &per_part);
        let mut history_prefix = Vec::with_capacity(per_message.len() + 1);
        let mut sum = 0;
        history_prefix.push(sum);
        for (message, weight) in session.messages.iter().zip(&per_message) {
            sum += if message.in_history { u64::from(*weight) } else { 0 };
            history_prefix.push(sum);
        }
        Self { per_part, per_message, history_prefix }
    }
}

/// Sums over the parts of each message.
pub(super) fn per_message(session: &Session, per_part: &[u32]) -> Vec<u32> {
    let sum = |parts: &[u32]| parts.iter().fold(0_u32, |sum, part| sum.saturating_add(*part));
    session.messages.iter().map(|m| sum(&per_part[m.parts.clone()])).collect()
}
