//! What is sent of the stored history.

use super::turn::Built;
use super::{Made, edition, term};
use crate::chat::{Dialogue, Wants};
use crate::engine::{Rewrite, Rewritten, Scene};
use crate::systems::picoclaw::{Conversation, Edition, sanitize::sanitize};
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
        let mut conversation = Conversation::of(scene.messages.into_vec());
        let history = &mut conversation.stored.history;
        let built = before
            .and_then(|built| built.still(history, turn))
            .unwrap_or_else(|| Built::new(history, turn, before.as_ref()));
        // What the turn has added since then goes along as it is.
        let added = history.split_off(built.messages);
        let stored = history.len();
        sanitize(history, self.edition);
        let left_out = stored - history.len();
        history.extend(added);
        Ok(Rewritten {
            terms: vec![
                term("stored_messages", stored as f64),
                term("left_out", left_out as f64),
            ],
            messages: (left_out > 0).then(|| conversation.into_messages()),
            fired: left_out > 0,
            memory: built.write(),
            ..Rewritten::default()
        })
    }
}
