//! Plays every setting of some policies over a session, on all cores.

use super::gauge::{Gauge, Rejection, Score};
use super::space::Subject;
use crate::engine::KnobValues;
use crate::progress::{Cancelled, Progress};
use rayon::prelude::*;

/// One setting, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Index of its policy among the subjects.
    pub subject: usize,
    /// The settings.
    pub knobs: KnobValues,
    /// They are the present ones.
    pub is_now: bool,
    /// What it comes to; none where it was not played.
    pub score: Option<Score>,
    /// Why it is out of the question, if it is.
    pub rejected: Option<Rejection>,
}

impl Point {
    /// What it comes to, if it is not out of the question.
    pub fn valid(&self) -> Option<&Score> {
        self.score.as_ref().filter(|_| self.rejected.is_none())
    }
}

/// The settings to try: no more than `most` in all, shared evenly among the subjects; of each its present ones first.
pub fn plan(subjects: &[Subject], most: usize) -> Vec<Point> {
    let share = (most / subjects.len().max(1)).max(1);
    let of_subject = |(idx, subject): (usize, &Subject)| {
        let settings = subject.settings(share).into_iter().enumerate();
        let point = move |(nth, knobs)| Point {
            subject: idx,
            knobs,
            is_now: nth == 0,
            score: None,
            rejected: None,
        };
        settings.map(point).collect::<Vec<_>>()
    };
    subjects.iter().enumerate().flat_map(of_subject).collect()
}

/// Weighs every point of a plan. `found` hears of each with its index as soon as it is done, from several threads and in
/// no order; the result is in the order of the plan.
///
/// # Errors
/// [`Cancelled`] when `progress` says so; what was found until then was reported.
pub fn sweep(
    gauge: &Gauge<'_>,
    subjects: &[Subject],
    plan: Vec<Point>,
    progress: &Progress,
    found: &(dyn Fn(usize, &Point) + Sync),
) -> Result<Vec<Point>, Cancelled> {
    let weigh = |(idx, mut point): (usize, Point)| {
        progress.check_cancelled()?;
        let policy = &subjects[point.subject].policy;
        (point.score, point.rejected) = gauge.weigh(policy, &point.knobs);
        found(idx, &point);
        Ok(point)
    };
    // Neighbors of a plan are alike, and some are slow: small portions keep all cores busy to the end.
    plan.into_par_iter()
        .enumerate()
        .with_max_len(4)
        .map(weigh)
        .collect()
}
