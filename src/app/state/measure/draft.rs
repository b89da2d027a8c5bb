//! Settings of a measurement as entered.

use crate::app::state::model_form::draft::{ModelDraft, ModelPath};
use crate::exec::evaluate::SAMPLES;
use std::collections::BTreeSet;

/// Maximum number of questions per compaction.
pub const MAX_PROBES: usize = 50;
/// Maximum number of summaries per lane.
pub const MAX_SAMPLES: usize = 100;

/// The settings of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureDraft {
    /// The model.
    pub model: ModelDraft,
    /// Names of the lanes to leave out, or [`RECORDED`](crate::exec::evaluate::RECORDED).
    pub skipped: BTreeSet<String>,
    /// Probes after each compaction, at most.
    pub probes: usize,
    /// Number of replays of each lane, each with new summaries.
    pub samples: usize,
    /// Limit on the price in USD; none if empty.
    pub budget: String,
    /// Log of a run to repeat without a model; none if empty.
    pub replay: String,
}

/// A path in the settings of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasurePath {
    /// A path of the model.
    Model(ModelPath),
    /// The log to repeat.
    Replay,
}

impl MeasurePath {
    /// Returns the field of this path.
    pub fn of(self, draft: &MeasureDraft) -> &String {
        match self {
            Self::Model(path) => path.of(&draft.model),
            Self::Replay => &draft.replay,
        }
    }

    /// Returns the field of this path, to change it.
    pub fn of_mut(self, draft: &mut MeasureDraft) -> &mut String {
        match self {
            Self::Model(path) => path.of_mut(&mut draft.model),
            Self::Replay => &mut draft.replay,
        }
    }
}

impl MeasureDraft {
    /// Creates the default settings. If the program saves no files, the log is off.
    pub fn new(keeps_state: bool) -> Self {
        Self {
            model: ModelDraft { keeps_log: keeps_state, ..ModelDraft::default() },
            skipped: BTreeSet::new(),
            probes: 10,
            samples: SAMPLES,
            budget: String::new(),
            replay: String::new(),
        }
    }

    /// Returns whether a logged run is repeated.
    pub fn is_replay(&self) -> bool {
        !self.replay.trim().is_empty()
    }

    /// Returns whether the form is complete.
    pub fn is_complete(&self) -> bool {
        self.is_replay() || (self.model.problem().is_none() && self.limit().is_ok())
    }

    /// Returns the limit on the price, if one is given.
    ///
    /// # Errors
    /// Returns one line if it is not a sum of money.
    pub fn limit(&self) -> Result<Option<f64>, String> {
        let text = self.budget.trim().trim_start_matches('$').trim();
        if text.is_empty() {
            return Ok(None);
        }
        let limit = text.parse().ok();
        let limit = limit.filter(|limit: &f64| limit.is_finite() && *limit >= 0.0);
        limit.map(Some).ok_or_else(|| "The budget is a number of dollars, 0 or more.".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_sum_of_money_or_missing() {
        let limit = |text: &str| {
            let draft = MeasureDraft { budget: text.to_owned(), ..MeasureDraft::new(false) };
            draft.limit()
        };
        assert_eq!(limit(" "), Ok(None));
        assert_eq!(limit("$ 2.50"), Ok(Some(2.5)));
        assert_eq!(limit("0"), Ok(Some(0.0)));
        for wrong in ["-1", "inf", "NaN", "two"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
