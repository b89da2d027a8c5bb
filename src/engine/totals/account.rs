//! The actions of a plain policy's run, and their totals.

use super::course::Course;
use super::{Row, Totals};
use crate::engine::budget::Budget;
use crate::engine::event::leaves_nothing;
use crate::engine::outcome::{Peak, SummaryTraffic};
use crate::units::Tokens;
use std::ops::Range;

/// The actions of a run, as far as they are computed.
#[derive(Debug)]
pub(super) struct Story<'a> {
    course: &'a Course,
    budget: Budget,
    /// The last calls, which may be extended.
    open: Option<Stretch>,
    totals: Totals,
    /// The current row of consecutive calls that each paid for a summary.
    row: Row,
    pub(super) summaries: SummaryTraffic,
    /// Full details, if more than totals is needed.
    told: Option<Told>,
}

/// All actions of a run.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// All calls, in order.
    pub(super) stretches: Vec<Stretch>,
    /// Compactions that removed something, in order.
    pub(super) deeds: Vec<Deed>,
}

/// Calls between which nothing is removed.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) calls: Range<usize>,
    /// True tokens that each call sends in addition to the full history (negative if more is removed).
    pub(super) truth: i64,
    /// `truth` on the policy's own meter.
    pub(super) metered: i64,
}

/// A compaction that removed something.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    /// The call before which it happened.
    pub(super) call: usize,
    pub(super) what: What,
    pub(super) wiped: Option<Wiped>,
}

/// A compaction that left almost nothing of the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wiped {
    pub(super) before: Tokens,
    pub(super) after: Tokens,
    /// Number of remaining messages.
    pub(super) left: usize,
}

/// The removed content.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Tool results with these numbers were cleared, with the new weight of each.
    Cleared(Range<usize>, u64),
    /// Messages of these ranks were removed, with the written text before them.
    Replaced {
        ranks: Range<usize>,
        text: Option<Text>,
    },
}

/// A written text in the place of messages.
#[derive(Clone, Debug)]
pub(super) enum Text {
    /// A notice: number of messages, their weight, and its own true tokens.
    Notice(usize, u64, u64),
    /// A summary: true tokens sent for it, and its own.
    Summary(u64, u64),
}

impl What {
    /// Returns the details if a compaction left almost nothing of the conversation, given the tokens before and after.
    pub(super) fn wiped(
        &self,
        course: &Course,
        call: usize,
        (before, after): (Tokens, Tokens),
        overhead: Tokens,
    ) -> Option<Wiped> {
        let left = match self {
            // Cleared messages remain in the context.
            Self::Cleared(..) => course.ranks[call] - course.preamble,
            Self::Replaced {
                text: Some(Text::Summary(..)),
                ..
            } => return None,
            Self::Replaced { ranks, text } => {
                course.ranks[call].saturating_sub(ranks.end) + usize::from(text.is_some())
            }
        };
        leaves_nothing((before, after), overhead, left).then_some(Wiped {
            before,
            after,
            left,
        })
    }
}

impl<'a> Story<'a> {
    /// Creates a record that keeps only totals.
    pub(super) fn new(course: &'a Course, budget: Budget) -> Self {
        Self {
            course,
            budget,
            open: None,
            totals: Totals::default(),
            row: Row::default(),
            summaries: SummaryTraffic::default(),
            told: None,
        }
    }

    /// Creates a record that keeps everything.
    pub(super) fn in_full(course: &'a Course, budget: Budget) -> Self {
        Self {
            told: Some(Told::default()),
            ..Self::new(course, budget)
        }
    }

    /// Records these calls, with the tokens that each sends in addition to the full history.
    pub(super) fn calls(&mut self, calls: Range<usize>, (truth, metered): (i64, i64)) {
        if calls.is_empty() {
            return;
        }
        match &mut self.open {
            Some(last) if (last.truth, last.metered) == (truth, metered) => {
                last.calls.end = calls.end;
            }
            _ => {
                self.close();
                self.open = Some(Stretch {
                    calls,
                    truth,
                    metered,
                });
            }
        }
    }

    /// Records a compaction before this call.
    pub(super) fn did(&mut self, call: usize, what: What, wiped: Option<Wiped>) {
        let totals = &mut self.totals;
        totals.compactions += 1;
        if let What::Replaced {
            text: Some(Text::Summary(sent, received)),
            ..
        } = what
        {
            totals.paid = totals.paid.with(&mut self.row, call);
            if Tokens(sent + received) > self.budget.window {
                totals.too_long.get_or_insert(call);
            }
        }
        if wiped.is_some() {
            totals.wipes += 1;
            totals.first_wipe.get_or_insert(call);
        }
        if let Some(told) = &mut self.told {
            told.deeds.push(Deed { call, what, wiped });
        }
    }

    /// Returns the totals, and the details if they were kept. `truth` is the difference of the final context to the
    /// full history.
    pub(super) fn finish(mut self, truth: i64) -> (Totals, Told) {
        self.close();
        let said = self.course.truth_before.last().copied().unwrap_or(0);
        let end = Tokens((said.cast_signed() + truth).cast_unsigned());
        self.totals.end = end;
        if self.totals.peak.is_some_and(|peak| end > peak.tokens) {
            self.totals.peak = Some(Peak {
                step: None,
                tokens: end,
            });
            self.totals.peak_share = self.budget.pressure(end);
        }
        let totals = Totals {
            summaries: self.summaries,
            ..self.totals
        };
        (totals, self.told.unwrap_or_default())
    }

    /// Closes the last stretch of calls.
    fn close(&mut self) {
        let Some(stretch) = self.open.take() else {
            return;
        };
        self.add(&stretch);
        if let Some(told) = &mut self.told {
            told.stretches.push(stretch);
        }
    }

    fn add(&mut self, Stretch { calls, truth, .. }: &Stretch) {
        let (course, totals) = (self.course, &mut self.totals);
        let sum = |calls: &Range<usize>| {
            let said = course.truth_sums[calls.end] - course.truth_sums[calls.start];
            let more = truth * (calls.len() as u64).cast_signed();
            Tokens((said.cast_signed() + more).cast_unsigned())
        };
        let used = |said: u64| Tokens((said.cast_signed() + truth).cast_unsigned());
        totals.sent += sum(calls);
        // Nothing is removed between two compactions: the last prompt is the largest, possibly one of several.
        let last = course.truth[calls.end - 1];
        let largest = used(last);
        if totals.peak.is_none_or(|peak| largest > peak.tokens) {
            let first = course.truth[calls.clone()].partition_point(|said| *said < last);
            totals.peak = Some(Peak {
                step: Some(calls.start + first),
                tokens: largest,
            });
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
