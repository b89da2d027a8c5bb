//! What a prompt that does not fit does: it ends the run.

use super::terms;
use crate::chat::{Dialogue, Shape, Wants};
use crate::engine::{NamedAction, Rewrite, Rewritten, Scene};
use crate::systems::baseagent::agent_loop::{Failure, code_of_status};
use std::sync::Arc;

/// There is no emergency stage, and nothing in the provider's words makes the loop try again.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "baseagent.fail",
    verb: "log",
    help: "Ends the run: there is no emergency stage for a prompt that does not fit.",
    shape: Shape::OpenAi,
    numbers: &[],
    make: |_| Ok(Arc::new(Fail)),
};

#[derive(Debug)]
struct Fail;

impl Rewrite for Fail {
    fn rewrite(&self, scene: Scene<'_>, _: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let failure = Failure::Llm {
            code: code_of_status(400).to_owned(),
            message: format!(
                "HTTP 400: the prompt does not fit into {} tokens",
                scene.window
            ),
        };
        let log = failure.of_attempt(1).into_iter().chain([failure.fatal()]);
        Ok(Rewritten {
            fired: true,
            terms: terms(&[("window", scene.window as f64)]),
            log: log.map(|line| format!("[loop] {line}")).collect(),
            halt: Some(failure.fatal()),
            ..Rewritten::default()
        })
    }
}
