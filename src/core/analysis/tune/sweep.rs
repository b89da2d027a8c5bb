//! Replays many settings of policies over a session, on all cores.

use super::gauge::{Gauge, Score};
use super::ruled_out::{Reason, RuledOut};
use super::space::SweepSubject;
use crate::engine::KnobValues;
use crate::figure::counted;
use crate::progress::{Cancelled, Progress};
use rayon::prelude::*;
use std::cmp::Reverse;

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

    /// Returns whether its replay removes or cuts anything of the session.
    pub fn acts(&self) -> bool {
        self.score.is_some_and(|score| score.acts)
    }

    /// Returns the number of the user's constraints and decisions that it loses.
    pub(super) fn lost_rules(&self) -> usize {
        let rules = self.valid().and_then(|score| score.user_rules);
        rules.map_or(0, |rules| rules.lost)
    }
}

/// Returns at most `most` combinations to try, shared evenly among the subjects; for each the current settings first.
pub fn plan(subjects: &[SweepSubject], most: usize) -> Vec<Point> {
    let share = (most / subjects.len().max(1)).max(1);
    let of_subject = |(idx, subject): (usize, &SweepSubject)| {
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

/// Scores every point of a plan. Calls `found` with each point and its index when it is done, from several threads in
/// any order. The result has the order of the plan.
///
/// # Errors
/// [`Cancelled`] if `progress` is cancelled; the points until then were reported.
pub fn sweep(
    gauge: &Gauge<'_>,
    subjects: &[SweepSubject],
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
    // Neighbors in a plan take similar time, and those of one policy may take 50 times as long as those of another.
    // Small portions keep all cores busy to the end.
    plan.into_par_iter().enumerate().with_max_len(4).map(assess).collect()
}

/// The number of points that are ruled out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuledOutCount {
    /// The reason.
    pub reason: Reason,
    /// Number of points.
    pub n: usize,
}

impl RuledOutCount {
    /// Returns what these settings do, to follow their number.
    pub fn description(&self) -> &'static str {
        self.reason.description(self.n)
    }

    /// Formats `12 settings ruled out: overflow`.
    pub fn sentence(&self) -> String {
        let settings = counted(self.n, "setting");
        format!("{settings} ruled out: {}", self.description())
    }
}

/// Counts the points that are ruled out by reason, the most frequent first.
pub fn ruled_out_counts<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<RuledOutCount> {
    let mut counts: Vec<RuledOutCount> = Vec::new();
    for reason in points.into_iter().filter_map(|p| Some(p.ruled_out?.reason)) {
        match counts.iter_mut().find(|c| c.reason.name() == reason.name()) {
            Some(count) => count.n += 1,
            None => counts.push(RuledOutCount { reason, n: 1 }),
        }
    }
    counts.sort_by_key(|count| (Reverse(count.n), count.reason.name()));
    counts
}
