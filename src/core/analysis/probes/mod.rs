//! Probes: forced-choice questions about facts of a session, with exact truth and no judge.
//!
//! Templates write the questions ([`TEMPLATES`]), so that no model is needed for them. Each is asked in both orders of
//! its options, so that a preference for one letter cancels out. An answer that chooses no option scores like a guess,
//! and is counted. [`ProbeOutcome`] selects the probes on one set of baseline answers and scores them on another: with
//! the same set for both, the baselines would be 0 and 1 by construction.

mod answer;
mod known_facts;
mod outcome;
mod probe;
mod scores;
mod select;
mod templates;

pub use answer::{AnswerCounts, Choice, result_words};
pub use known_facts::KnownFacts;
pub use outcome::{
    AnsweredProbe, LaneDifference, LaneScore, ProbeOutcome, Selection, TemplateScore,
};
pub use probe::{Order, Probe};
pub use scores::{AnswerPair, LeftOut, ProbeAnswers, SCORING, SELECTING, count as count_answers};
pub use select::{SelectedProbes, write};
pub use templates::{TEMPLATES, Template};

#[cfg(test)]
mod outcome_tests;
#[cfg(test)]
mod question_tests;
