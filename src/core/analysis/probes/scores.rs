//! Scores of the answers to a probe.

use super::answer::{AnswerCounts, Choice};
use super::probe::Order;

/// Answers to a probe in both orders of its options; `None` where there is no answer.
pub type AnswerPair = [Option<Choice>; 2];

/// Index of the baseline answers by which probes are selected.
pub const SELECTING: usize = 0;
/// Index of the baseline answers by which probes are scored.
pub const SCORING: usize = 1;

/// The answers to a probe, by context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeAnswers {
    /// Without any context: [`SELECTING`] and [`SCORING`].
    pub none: [AnswerPair; 2],
    /// With the full context: [`SELECTING`] and [`SCORING`].
    pub full: [AnswerPair; 2],
    /// By lane and sample.
    pub lanes: Vec<Vec<AnswerPair>>,
}

/// The reason why a probe is left out of the selected scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A baseline has no answer.
    Unanswered,
    /// It is answered without any context.
    AnsweredWithoutContext,
    /// It is not answered with the full context.
    MissedWithFullContext,
}

/// Returns the mean score over both orders: right is 1, wrong is 0, an answer that chooses no option is 1/2 as a guess
/// would be. `None` if an order has no answer.
pub(super) fn score(pair: AnswerPair) -> Option<f64> {
    let points = |order: Order| {
        Some(match pair[order as usize]? {
            choice if choice == order.truth() => 1.0,
            Choice::A | Choice::B => 0.0,
            _ => 0.5,
        })
    };
    let [first, second] = Order::BOTH.map(points);
    Some(f64::midpoint(first?, second?))
}

/// Counts the answers of pairs.
pub fn count<'a>(pairs: impl Iterator<Item = &'a AnswerPair>) -> AnswerCounts {
    let mut counts = AnswerCounts::default();
    for pair in pairs {
        for order in Order::BOTH {
            counts.add(pair[order as usize], order.truth());
        }
    }
    counts
}

impl LeftOut {
    /// Returns the reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unanswered => "a baseline has no answer",
            Self::AnsweredWithoutContext => "answered without any context",
            Self::MissedWithFullContext => "missed with the full context",
        }
    }
}

impl ProbeAnswers {
    /// Decides by one set of baseline answers whether the probe is left out.
    pub fn left_out(&self) -> Option<LeftOut> {
        match (score(self.none[SELECTING]), score(self.full[SELECTING])) {
            (None, _) | (_, None) => Some(LeftOut::Unanswered),
            (Some(1.0), _) => Some(LeftOut::AnsweredWithoutContext),
            (_, Some(full)) if full < 1.0 => Some(LeftOut::MissedWithFullContext),
            _ => None,
        }
    }

    /// Returns the mean score of a lane over its samples; `None` if no sample was answered.
    pub(super) fn lane(&self, lane: usize) -> Option<f64> {
        let scores: Vec<f64> = self.lanes.get(lane)?.iter().copied().filter_map(score).collect();
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: AnswerPair = [Some(Choice::A), Some(Choice::B)];
    const ALWAYS_A: AnswerPair = [Some(Choice::A), Some(Choice::A)];

    #[test]
    fn a_preference_for_one_letter_scores_like_a_guess() {
        assert_eq!(score(RIGHT), Some(1.0));
        assert_eq!(score(ALWAYS_A), Some(0.5));
        assert_eq!(score([Some(Choice::B), Some(Choice::A)]), Some(0.0));
        assert_eq!(score([Some(Choice::Neither), Some(Choice::Refused)]), Some(0.5));
        assert_eq!(score([Some(Choice::A), None]), None);
    }

    #[test]
    fn a_probe_is_selected_by_the_first_set_only() {
        let answers = ProbeAnswers {
            none: [ALWAYS_A, RIGHT],
            full: [RIGHT, ALWAYS_A],
            lanes: vec![vec![RIGHT, ALWAYS_A, [None; 2]]],
        };
        assert_eq!(answers.left_out(), None);
        assert_eq!(answers.lane(0), Some(0.75));
        assert_eq!(answers.lane(1), None);
        let known = ProbeAnswers { none: [RIGHT; 2], ..answers.clone() };
        assert_eq!(known.left_out(), Some(LeftOut::AnsweredWithoutContext));
        let missed = ProbeAnswers { full: [ALWAYS_A; 2], ..answers.clone() };
        assert_eq!(missed.left_out(), Some(LeftOut::MissedWithFullContext));
        let unanswered = ProbeAnswers { full: [[None; 2]; 2], ..answers };
        assert_eq!(unanswered.left_out(), Some(LeftOut::Unanswered));
    }

    #[test]
    fn answers_are_counted_by_choice() {
        let pairs = [
            RIGHT,
            ALWAYS_A,
            [Some(Choice::Both), None],
            [Some(Choice::Empty), Some(Choice::Neither)],
        ];
        let counts = count(pairs.iter());
        assert_eq!((counts.right, counts.wrong, counts.both, counts.unanswered), (3, 1, 1, 1));
        assert_eq!((counts.empty, counts.neither, counts.refused), (1, 1, 0));
    }
}
