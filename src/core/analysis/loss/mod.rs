//! References at risk: content that a policy removed and that the recorded agent used later.
//!
//! Content is identified by names: paths, symbols, hashes and numbers that the agent wrote again after they had left
//! the context. They describe what was removed and do not predict what an agent reads again: see [`super::rereads`].
//! Every count is shown next to that of the recorded lane. What the recorded lane lacks was derived, guessed or read
//! elsewhere: the noise.

mod edit;
mod instruction;
mod names;
mod parts;
mod phrase;
mod risk;
mod standing;
mod survival;
mod visible;

pub(crate) use edit::ToolCall;
pub use instruction::Instruction;
pub(crate) use instruction::{is_instruction, sentences};
pub use names::Names;
pub use parts::part_text;
pub use risk::{AtRisk, BlindEdit, Fault, PAGE_IN, blind_edits, references_at_risk};
pub use standing::{Standing, standing};
pub use survival::{Kept, Survival, survival};

use crate::engine::{Case, Outcome};

/// Everything that a run lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// References at risk and blind edits.
    pub at_risk: AtRisk,
    /// Calls that lacked each of [`Names::instructions`].
    pub standing: Vec<Standing>,
    /// Content that the first call after each recorded compaction still had; none without such a call.
    pub survival: Vec<Option<Survival>>,
    /// True if a context contained predicted text, which may contain content that counts as missing.
    pub is_predicted: bool,
}

impl Loss {
    /// Computes the loss of a run; `names` is the index of the case's session.
    pub fn of(names: &Names, case: &Case, outcome: &Outcome) -> Self {
        let compactions = 0..case.session.compactions.len();
        Self {
            at_risk: references_at_risk(names, case, outcome),
            standing: standing(names, case, outcome),
            survival: compactions
                .map(|compaction| survival(names, case, outcome, compaction))
                .collect(),
            is_predicted: outcome.received.texts.iter().any(|text| text.is_predicted),
        }
    }
}
