//! The unit in which settings are compared.

use super::gauge::Score;
use super::sweep::Point;
use crate::analysis::rereads::Expected;
use crate::analysis::statistics::Interval;
use serde::Serialize;

/// The unit by which settings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostUnit {
    /// Cost in USD.
    Usd,
    /// Tokens in total, because a price is unknown.
    Tokens,
}

impl CostUnit {
    /// Returns what the run of a score costs in this unit, without expected re-reads.
    pub fn paid(self, score: &Score) -> f64 {
        match (self, score.cost) {
            (Self::Usd, Some(cost)) => cost.0,
            _ => score.total.as_f64(),
        }
    }

    /// Returns the cost of the re-reads that a score expects.
    pub fn rereads(self, score: &Score) -> Expected {
        match (self, score.rereads.usd) {
            (Self::Usd, Some(usd)) => usd,
            _ => score.rereads.sent,
        }
    }

    /// Returns the cost of a score in this unit, with its expected re-reads.
    pub fn of(self, score: &Score) -> f64 {
        self.paid(score) + self.rereads(score).value
    }

    /// Returns the 95 % interval of [`Self::of`].
    pub fn interval(self, score: &Score) -> Interval {
        let (paid, rereads) = (self.paid(score), self.rereads(score));
        Interval { low: paid + rereads.low, high: paid + rereads.high }
    }
}

/// Returns dollars if all prices are known, otherwise tokens.
pub fn cost_unit(points: &[Point]) -> CostUnit {
    let mut scores = points.iter().filter_map(|p| p.score.as_ref());
    if scores.all(|score| score.cost.is_some()) { CostUnit::Usd } else { CostUnit::Tokens }
}
