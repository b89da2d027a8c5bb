//! Replays many settings of policies over a session, on all cores.

use super::gauge::{Gauge, Score};
use super::ruled_out::RuledOut;
use super::space::Subject;
use crate::engine::KnobValues;
use crate::progress::{Cancelled, Progress};
use rayon::prelude::*;

/// A combination of settings and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Index of its policy among the subjects.
    pub subject: usize,
    /// The settings.
    pub knobs: KnobValues,
    /// True for the current settings.
    pub is_now: bool,
    /// Its score; none if it was not replayed.
    pub score: Option<Score>,
    /// The reason why it is ruled out, if it is.
    pub ruled_out: Option<RuledOut>,
}

impl Point {
    /// Returns the score, unless the point is ruled out.
    pub fn valid(&self) -> Option<&Score> {
        self.score.as_ref().filter(|_| self.ruled_out.is_none())
    }
}

/// Returns at most `most` combinations to try, shared evenly among the subjects; for each the current settings first.
pub fn plan(subjects: &[Subject], most: usize) -> Vec<Point> {
    let share = (most / subjects.len().max(1)).max(1);
    let of_subject = |(idx, subject): (usize, &Subject)| {
        let settings = subject.settings(share).into_iter().enumerate();
        let point = move |(nth, knobs)| Point {
            subject: idx,
            knobs,
            is_now: nth == 0,
            score: None,
            ruled_out: None,
        };
        settings.map(point).collect::<Vec<_>>()
    };
    subjects.iter().enumerate().flat_map(of_subject).collect()
}

/// Scores every point of a plan. Calls `found` with each point and its index when it is done, from several threads in any
/// order. The result has the order of the plan.
///
/// # Errors
/// [`Cancelled`] if `progress` is cancelled; the points until then were reported.
pub fn sweep(
    gauge: &Gauge<'_>,
    subjects: &[Subject],
    plan: Vec<Point>,
    progress: &Progress,
    found: &(dyn Fn(usize, &Point) + Sync),
) -> Result<Vec<Point>, Cancelled> {
    let assess = |(idx, mut point): (usize, Point)| {
        progress.check_cancelled()?;
        let policy = &subjects[point.subject].policy;
        match gauge.assess_unless_stuck(policy, &point.knobs) {
            Ok(assessment) => {
                point.score = Some(assessment.score);
                point.ruled_out = assessment.reasons.first().copied();
            }
            Err(stuck) => point.ruled_out = Some(stuck),
        }
        found(idx, &point);
        Ok(point)
    };
    // Neighbors in a plan take similar time: small portions keep all cores busy to the end.
    plan.into_par_iter()
        .enumerate()
        .with_max_len(4)
        .map(assess)
        .collect()
}
