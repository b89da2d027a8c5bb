//! What a run of a plain policy did, and what it comes to.

use super::course::Course;
use super::{Row, Totals};
use crate::engine::budget::Budget;
use crate::engine::event::leaves_nothing;
use crate::engine::outcome::{Peak, SummaryTraffic};
use crate::units::Tokens;
use std::ops::Range;

/// What a run did, as far as it is told.
#[derive(Debug)]
pub(super) struct Story<'a> {
    course: &'a Course,
    budget: Budget,
    /// The last calls, to which more may come.
    open: Option<Stretch>,
    totals: Totals,
    /// The summaries paid for before call after call that are followed now.
    row: Row,
    pub(super) summaries: SummaryTraffic,
    /// All of it, where more than totals is asked for.
    told: Option<Told>,
}

/// All that a run did.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// All calls, in order.
    pub(super) stretches: Vec<Stretch>,
    /// Firings that removed something, in order.
    pub(super) deeds: Vec<Deed>,
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
    pub(super) wiped: Option<Wiped>,
}

/// A firing that left next to nothing of the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wiped {
    pub(super) before: Tokens,
    pub(super) after: Tokens,
    /// Messages that are there still.
    pub(super) left: usize,
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

impl What {
    /// Whether it left next to nothing of the conversation, which came from so many tokens to so many.
    pub(super) fn wiped(
        &self,
        course: &Course,
        call: usize,
        (before, after): (Tokens, Tokens),
        overhead: Tokens,
    ) -> Option<Wiped> {
        let left = match self {
            // What is empty is there still.
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
    /// Nothing happened yet; only totals are kept.
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

    /// The same, with everything kept.
    pub(super) fn in_full(course: &'a Course, budget: Budget) -> Self {
        Self {
            told: Some(Told::default()),
            ..Self::new(course, budget)
        }
    }

    /// These calls are made, each with so much more than what was said.
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

    /// A firing before this call removed something.
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

    /// What it comes to, and what it did where that was kept. At the end the context has so much more than what was said.
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

    /// Nothing more comes to the last calls.
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
        // Nothing goes between two firings: the last prompt is the largest, perhaps not alone.
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
