//! The command `/context`.

use super::super::statistics::{Statistics, context_command};
use super::{apart, term};
use crate::chat::{Dialogue, Wants};
use crate::engine::{Rewrite, RewriteInput, Rewritten};

/// Reports messages, roles and characters in the command's own wording.
#[derive(Debug)]
pub(super) struct Context;

impl Rewrite for Context {
    fn rewrite(&self, scene: RewriteInput<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let (_, said) = apart(&scene.messages);
        let counts = Statistics::of(said);
        Ok(Rewritten {
            terms: vec![
                term("messages", counts.messages),
                term("user", counts.user),
                term("assistant", counts.assistant),
                term("tool", counts.tool),
                term("characters", counts.chars),
            ],
            log: context_command(said, "")
                .lines()
                .map(str::to_owned)
                .collect(),
            ..Rewritten::default()
        })
    }
}
