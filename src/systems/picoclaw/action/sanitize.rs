//! Selects the messages of the stored history that are sent.

use super::turn::Built;
use super::{Made, edition, term};
use crate::chat::{Dialogue, Wants};
use crate::engine::{Rewrite, Rewritten, Scene};
use crate::systems::picoclaw::sanitize::{sanitize, sent};
use crate::systems::picoclaw::store::history;
use crate::systems::picoclaw::{Conversation, Edition};
use std::sync::Arc;

#[derive(Debug)]
struct Sanitize {
    edition: Edition,
}

pub(super) fn make(options: &toml::Table) -> Made {
    let edition = edition(options)?;
    Ok(Arc::new(Sanitize { edition }))
}

impl Rewrite for Sanitize {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let turn = scene.turn.0;
        let before = Built::read(&scene.memory);
        let built = before
            .and_then(|built| built.still(&scene.messages, turn))
            .unwrap_or_else(|| Built::new(history(&scene.messages), turn, before.as_ref()));
        // Messages that the turn added since then are sent unchanged.
        let stored = built.messages;
        let left_out = stored - sent(&history(&scene.messages)[..stored], self.edition).len();
        let messages = (left_out > 0).then(|| {
            let mut conversation = Conversation::of(scene.messages.into_vec());
            let history = &mut conversation.stored.history;
            let added = history.split_off(stored);
            sanitize(history, self.edition);
            history.extend(added);
            conversation.into_messages()
        });
        Ok(Rewritten {
            terms: vec![
                term("stored_messages", stored as f64),
                term("left_out", left_out as f64),
            ],
            messages,
            fired: left_out > 0,
            memory: built.write(),
            ..Rewritten::default()
        })
    }
}
