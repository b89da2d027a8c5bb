//! What a policy's context lacked of what the recorded agent went on to use: references at risk.
//!
//! It goes by names: paths, symbols, hashes and numbers that the agent wrote again after they had left the context. It is
//! no measure of quality: a model that lacks a file reads it again. So every count stands beside the same count on the
//! recorded lane, where all that it finds was derived, guessed or read elsewhere: the noise floor.

mod edit;
mod hindsight;
mod instruction;
mod names;
mod phrase;
mod reuse;
mod risk;
mod said;
mod survival;
mod visible;

pub use hindsight::{hindsight, saved};
pub use instruction::{Instruction, Standing, standing};
pub use names::Names;
pub use reuse::{Distances, ReuseCurves, reuse_distances};
pub use risk::{AtRisk, BlindEdit, Fault, PAGE_IN, most_at_risk, references_at_risk};
pub use survival::{Kept, Survival, survival};

use crate::engine::{Case, Outcome};

/// All that is told of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// What it lacked of what the recorded agent used.
    pub at_risk: AtRisk,
    /// Where instructions did not stand in the context, one for each of [`Names::instructions`].
    pub standing: Vec<Standing>,
    /// What each recorded compaction's place had left, by compaction; none where no call came after it.
    pub survival: Vec<Option<Survival>>,
    /// A call saw text that is only predicted, which may hold some of what is told missing.
    pub is_predicted: bool,
}

impl Loss {
    /// What is told of a run; `names` is the index of the case's session.
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
