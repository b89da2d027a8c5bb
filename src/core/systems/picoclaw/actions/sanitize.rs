//! Selects the messages of the stored history that are sent.

use super::turn::{BuiltRequest, leave_out};
use super::{MakeResult, edition, term};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{Memory, Rewrite, RewriteInput, Rewritten};
use crate::systems::picoclaw::Edition;
use crate::systems::picoclaw::sanitize::sent;
use crate::systems::picoclaw::store::history;
use std::sync::Arc;

/// Memory key of [`Sanitized`].
const SANITIZED: &str = "picoclaw.sanitized";

#[derive(Debug)]
struct Sanitize {
    edition: Edition,
}

/// The messages from which a turn's requests are built, and those that are not sent.
#[derive(Clone, Debug)]
struct Sanitized {
    built: BuiltRequest,
    left_out: Arc<[usize]>,
}

pub(super) fn make(options: &toml::Table) -> MakeResult {
    let edition = edition(options)?;
    Ok(Arc::new(Sanitize { edition }))
}

impl Rewrite for Sanitize {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let turn = input.turn;
        let before = input.memory.shared::<Sanitized>(SANITIZED);
        let mut memory = Memory::default();
        let still = before.filter(|sanitized| sanitized.built.is_current(&input.messages, turn));
        // Messages that the turn added since then are sent unchanged.
        let sanitized = still.cloned().unwrap_or_else(|| {
            let history = history(&input.messages);
            let built = BuiltRequest::new(history, turn, before.map(|sanitized| &sanitized.built));
            let mut sent = sent(&history[..built.messages], self.edition).into_iter().peekable();
            let is_left_out = |idx: &usize| sent.next_if_eq(idx).is_none();
            let left_out = (0..built.messages).filter(is_left_out).collect();
            let sanitized = Sanitized { built, left_out };
            memory = std::mem::take(&mut memory).with(SANITIZED, sanitized.clone());
            sanitized
        });
        let left_out = &sanitized.left_out;
        Ok(Rewritten {
            terms: vec![
                term("stored_messages", sanitized.built.messages as f64),
                term("left_out", left_out.len() as f64),
            ],
            fired: !left_out.is_empty(),
            edits: leave_out(&input.messages, left_out.iter().copied()).into(),
            memory,
            ..Rewritten::default()
        })
    }
}
