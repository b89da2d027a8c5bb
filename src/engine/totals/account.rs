//! What a run of a plain policy did, and what it comes to.

use super::course::Course;
use super::{Row, Totals};
use crate::engine::budget::Budget;
use crate::engine::outcome::SummaryTraffic;
use crate::units::Tokens;
use std::ops::Range;

/// What a run did.
#[derive(Debug)]
pub(super) struct Story<'a> {
    course: &'a Course,
    pub(super) budget: Budget,
    /// All calls, in order.
    pub(super) stretches: Vec<Stretch>,
    /// Firings that removed something, in order.
    pub(super) deeds: Vec<Deed>,
    pub(super) summaries: SummaryTraffic,
}

/// Calls between which nothing is taken out.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) calls: Range<usize>,
    /// What each sends more than what was said: true tokens (below 0 where more is gone).
    pub(super) truth: i64,
    /// The same on the policy's own meter.
    pub(super) metered: i64,
}

/// A firing that removed something.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    /// The call before which it was.
    pub(super) call: usize,
    pub(super) what: What,
}

/// What was removed.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Tool results of these numbers are empty, each weighs so much now.
    Cleared(Range<usize>, u64),
    /// Messages of these ranks are gone, and the text of ours before them.
    Replaced {
        ranks: Range<usize>,
        text: Option<Text>,
    },
}

/// A text of ours in the place of messages.
#[derive(Clone, Debug)]
pub(super) enum Text {
    /// A notice about so many messages that weighed so much, with its own true tokens.
    Notice(usize, u64, u64),
    /// A summary, with what was sent for it and its true tokens.
    Summary(u64, u64),
}

impl<'a> Story<'a> {
    pub(super) fn new(course: &'a Course, budget: Budget) -> Self {
        Self {
            course,
            budget,
            stretches: Vec::new(),
            deeds: Vec::new(),
            summaries: SummaryTraffic::default(),
        }
    }

    /// These calls are made.
    pub(super) fn calls(&mut self, calls: Range<usize>, (truth, metered): (i64, i64)) {
        if calls.is_empty() {
            return;
        }
        match self.stretches.last_mut() {
            Some(last) if (last.truth, last.metered) == (truth, metered) => {
                last.calls.end = calls.end;
            }
            _ => self.stretches.push(Stretch {
                calls,
                truth,
                metered,
            }),
        }
    }

    /// What it comes to.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals {
            compactions: self.deeds.len(),
            summaries: self.summaries,
            ..Totals::default()
        };
        for stretch in &self.stretches {
            self.add(&mut totals, stretch);
        }
        let mut current = Row::default();
        for deed in &self.deeds {
            if let What::Replaced {
                text: Some(Text::Summary(..)),
                ..
            } = deed.what
            {
                totals.paid = totals.paid.with(&mut current, deed.call);
            }
        }
        totals
    }

    fn add(&self, totals: &mut Totals, Stretch { calls, truth, .. }: &Stretch) {
        let course = self.course;
        let sum = |calls: &Range<usize>| {
            let said = course.truth_sums[calls.end] - course.truth_sums[calls.start];
            let more = truth * (calls.len() as u64).cast_signed();
            Tokens((said.cast_signed() + more).cast_unsigned())
        };
        let used = |said: u64| Tokens((said.cast_signed() + truth).cast_unsigned());
        totals.sent += sum(calls);
        // Nothing goes between two firings: the last prompt is the largest, perhaps not alone.
        let last = course.truth[calls.end - 1];
        let largest = used(last);
        if totals.peak.is_none_or(|(_, peak)| largest > peak) {
            let first = course.truth[calls.clone()].partition_point(|said| *said < last);
            totals.peak = Some((calls.start + first, largest));
            totals.peak_share = self.budget.pressure(largest);
        }
        if self.budget.pressure(largest).0 > 1.0 {
            let fits = |said: &u64| self.budget.pressure(used(*said)).0 <= 1.0;
            let first = calls.start + course.truth[calls.clone()].partition_point(fits);
            let rejected = first..calls.end;
            totals.overflows += rejected.len();
            totals.first_overflow.get_or_insert(first);
            totals.rejected += sum(&rejected);
        }
    }
}
