//! Dropping and summarizing old messages, by sums: what is left is always the instructions, perhaps a text of ours, and
//! the newest messages.

use super::Totals;
use super::plain::{Attempt, Least, Scene};
use crate::engine::stages::{Boundary, Drop, Keep, Summarize, Take};
use crate::units::Tokens;

/// A stage that replaces messages, in the course of a run. Ranks count the messages of the history.
pub(super) struct Replacing {
    action: Action,
    least: Least,
    /// Messages that stay, a text of ours among them.
    keep: usize,
    boundary: Boundary,
    /// The rank of the oldest message that is there, instructions apart; none before the first firing.
    oldest: Option<usize>,
    written: Option<Written>,
    /// Messages that are gone.
    gone: usize,
}

enum Action {
    Drop(Drop),
    Summarize { max_tokens: Tokens, prefix: String },
}

/// A text of ours in the place of messages.
#[derive(Clone, Copy)]
struct Written {
    tokens: u64,
    metered: u64,
    /// The first message that it stands for.
    first: u32,
}

/// What a firing takes out.
struct Taken {
    /// The rank of the oldest message that stays.
    oldest: usize,
    n_messages: usize,
    first: u32,
    tokens: u64,
    metered: u64,
}

impl Replacing {
    pub(super) fn dropping(take: &Take, drop: Drop, least: Least) -> Option<Self> {
        Self::new(take, Action::Drop(drop), least)
    }

    pub(super) fn summarizing(take: &Take, summarize: Summarize, least: Least) -> Option<Self> {
        let max_tokens = Tokens(summarize.max_tokens.constant_value()?.max(0.0) as u64);
        let prefix = summarize.prefix;
        Self::new(take, Action::Summarize { max_tokens, prefix }, least)
    }

    fn new(take: &Take, action: Action, least: Least) -> Option<Self> {
        let mut keep = None;
        let mut keeps_system = false;
        for rule in &take.keep {
            match rule {
                Keep::System => keeps_system = true,
                Keep::LastMessages(n) => {
                    let n = n.constant_value()?.max(0.0) as usize;
                    keep = Some(keep.unwrap_or(0).max(n));
                }
                _ => return None,
            }
        }
        let is_plain = keeps_system
            && take.oldest.is_none()
            && matches!(take.boundary, Boundary::None | Boundary::Pair);
        Some(Self {
            action,
            least,
            keep: keep.filter(|_| is_plain)?,
            boundary: take.boundary,
            oldest: None,
            written: None,
            gone: 0,
        })
    }

    pub(super) fn summarizes(&self) -> bool {
        matches!(self.action, Action::Summarize { .. })
    }

    pub(super) fn attempt(
        &mut self,
        scene: &Scene<'_>,
        call: usize,
        totals: &mut Totals,
    ) -> Attempt {
        let Some(taken) = self.taken(scene, call) else {
            return Attempt::Nothing;
        };
        let written = match &self.action {
            Action::Drop(drop) => {
                let n_messages = self.gone + taken.n_messages;
                let notice = drop.notice(n_messages, taken.tokens);
                let weigh = |text: &str| {
                    let tokens = scene.case.ledger.weigh(text).0 as u32;
                    (tokens, scene.meter.weigh_known(text, tokens))
                };
                let weights = notice.map(|notice| weigh(&notice.text));
                let left = || Tokens::from(weights.map_or(0, |(_, metered)| metered));
                if !self.least.allows(Tokens(taken.metered), left) {
                    return Attempt::Nothing;
                }
                weights
            }
            Action::Summarize { max_tokens, prefix } => {
                if !self.least.allows(Tokens(taken.metered), || Tokens::ZERO) {
                    return Attempt::Nothing;
                }
                let summary = scene.case.predicted(prefix, *max_tokens);
                let weight = summary.weight.0 as u32;
                let metered = scene.meter.weigh_known(&summary.message, weight);
                totals.summaries.requests += 1;
                totals.summaries.sent += Tokens(taken.tokens);
                let shrinks = !self.least.must_shrink || u64::from(metered) < taken.metered;
                if summary.weight > *max_tokens || !shrinks {
                    return Attempt::Failed;
                }
                totals.summaries.received += summary.weight;
                Some((weight, metered))
            }
        };
        self.replace(&taken, written)
    }

    fn replace(&mut self, taken: &Taken, written: Option<(u32, u32)>) -> Attempt {
        let written = written.map(|(tokens, metered)| Written {
            tokens: u64::from(tokens),
            metered: u64::from(metered),
            first: taken.first,
        });
        self.oldest = Some(taken.oldest);
        self.gone = if written.is_some() {
            self.gone + taken.n_messages
        } else {
            0
        };
        self.written = written;
        let (tokens, metered) = written.map_or((0, 0), |w| (w.tokens as i64, w.metered as i64));
        Attempt::Done(tokens - taken.tokens as i64, metered - taken.metered as i64)
    }

    /// What would be taken out before a call; none where nothing would.
    fn taken(&self, scene: &Scene<'_>, call: usize) -> Option<Taken> {
        let (course, index) = (scene.course, &scene.case.index);
        let preamble = course.history.partition_point(|m| *m < index.preamble_end);
        let end = course.ranks[call];
        let oldest = self.oldest.unwrap_or(preamble);
        let there = end.saturating_sub(oldest);
        if there + usize::from(self.written.is_some()) <= self.keep {
            return None;
        }
        let mut cut = end - self.keep.min(there);
        if self.boundary == Boundary::Pair {
            let first_call = |rank: usize| index.first_call[course.history[rank] as usize];
            let mut needed = (cut..end).map(first_call).min().unwrap_or(u32::MAX);
            while cut > oldest && course.history[cut - 1] >= needed {
                cut -= 1;
                needed = needed.min(first_call(cut));
            }
            let is_needed = |written: Written| cut == oldest && written.first >= needed;
            if self.written.is_some_and(is_needed) {
                return None;
            }
        }
        let sum = |before: &[u64]| before[cut] - before[oldest];
        let (tokens, metered) = self.written.map_or((0, 0), |w| (w.tokens, w.metered));
        let first = course.history.get(oldest).copied().unwrap_or(u32::MAX);
        (cut > oldest || self.written.is_some()).then(|| Taken {
            oldest: cut,
            n_messages: cut - oldest,
            first: self.written.map_or(first, |w| w.first.min(first)),
            tokens: tokens + sum(&course.truth_before),
            metered: metered + sum(&course.metered_before),
        })
    }
}
