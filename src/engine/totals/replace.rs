//! Dropping and summarizing of old messages, by sums. The remaining context is always the instructions, an optional
//! written text, and the newest messages.

use super::account::{Text, What};
use super::course::{Course, first_not};
use super::plain::{Attempt, Least, Scene};
use crate::engine::Case;
use crate::engine::meter::Count;
use crate::engine::outcome::SummaryTraffic;
use crate::engine::seen::{SeenKind, SeenText};
use crate::engine::stages::{Boundary, Drop, Keep, Summarize, Take};
use crate::units::Tokens;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stage that replaces messages, during a run. Ranks count the messages of the history.
pub(super) struct Replacing {
    action: Action,
    least: Least,
    /// Number of messages that stay, including a written text.
    keep: usize,
    boundary: Boundary,
    /// The rank of the oldest remaining message, without instructions; none before the first compaction.
    oldest: Option<usize>,
    written: Option<Written>,
    /// Number of removed messages.
    gone: usize,
    /// Weight of a summary: true tokens, and on the policy's own meter.
    summary: Option<(u64, u64)>,
}

enum Action {
    Drop(Drop),
    Summarize { max_tokens: Tokens, prefix: String },
}

/// A written text in the place of messages.
#[derive(Clone, Copy)]
struct Written {
    tokens: u64,
    metered: u64,
    /// The first message that it covers.
    first: u32,
}

/// The messages that a compaction removes.
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
            summary: None,
        })
    }

    /// Returns the first call from this one on at which there are more messages than stay.
    pub(super) fn earliest(&self, course: &Course, call: usize) -> usize {
        let oldest = self.oldest.unwrap_or(course.preamble);
        let stays = self.keep.checked_sub(usize::from(self.written.is_some()));
        stays.map_or(call, |stays| {
            let is_all_kept = |rank: &usize| *rank <= oldest.saturating_add(stays);
            first_not(&course.ranks, call, is_all_kept)
        })
    }

    pub(super) fn attempt(
        &mut self,
        scene: &Scene<'_>,
        call: usize,
        summaries: &mut SummaryTraffic,
    ) -> Attempt {
        let Some(taken) = self.taken(scene, call) else {
            return Attempt::Nothing;
        };
        let gone = Tokens(taken.metered);
        match &self.action {
            Action::Drop(drop) => {
                let n_messages = self.gone + taken.n_messages;
                let weights = scene.notices.weigh(scene, drop, (n_messages, taken.tokens));
                let left = || Tokens(weights.map_or(0, |weights| weights.1));
                if !self.least.allows(gone, left) {
                    return Attempt::Nothing;
                }
                let text = |(own, _)| Text::Notice(n_messages, taken.tokens, own);
                self.replace(&taken, weights, weights.map(text))
            }
            Action::Summarize { max_tokens, prefix } => {
                if !self.least.allows(gone, || Tokens::ZERO) {
                    return Attempt::Nothing;
                }
                let weights = || summary(scene, prefix, *max_tokens);
                let (weight, metered) = *self.summary.get_or_insert_with(weights);
                summaries.requests += 1;
                summaries.sent += Tokens(taken.tokens);
                let shrinks = !self.least.must_shrink || metered < taken.metered;
                if !shrinks {
                    return Attempt::Failed;
                }
                summaries.received += Tokens(weight);
                let text = Text::Summary(taken.tokens, weight);
                self.replace(&taken, Some((weight, metered)), Some(text))
            }
        }
    }

    /// Replaces the taken messages by a written text of these weights.
    fn replace(
        &mut self,
        taken: &Taken,
        weights: Option<(u64, u64)>,
        text: Option<Text>,
    ) -> Attempt {
        let ranks = taken.oldest - taken.n_messages..taken.oldest;
        self.written = weights.map(|(tokens, metered)| Written {
            tokens,
            metered,
            first: taken.first,
        });
        self.oldest = Some(taken.oldest);
        self.gone = match text {
            Some(_) => self.gone + taken.n_messages,
            None => 0,
        };
        let (tokens, metered) = weights.unwrap_or_default();
        let added = (
            tokens.cast_signed() - taken.tokens.cast_signed(),
            metered.cast_signed() - taken.metered.cast_signed(),
        );
        Attempt::Done(What::Replaced { ranks, text }, added)
    }

    /// Returns the wording of a text.
    pub(super) fn text(&self, scene: &Scene<'_>, text: &Text) -> Option<SeenText> {
        let (said, kind, weight) = match (text, &self.action) {
            (Text::Notice(messages, tokens, weight), Action::Drop(drop)) => (
                drop.notice(*messages, *tokens)?.text,
                SeenKind::Notice,
                weight,
            ),
            (Text::Summary(_, weight), Action::Summarize { max_tokens, prefix }) => {
                let message = scene.case.predicted(prefix, *max_tokens).message;
                (message, SeenKind::Summary, weight)
            }
            _ => return None,
        };
        Some(SeenText {
            text: said,
            is_predicted: kind == SeenKind::Summary,
            kind,
            tokens: *weight as u32,
        })
    }

    /// Returns the messages that would be removed before a call; none if there are none.
    fn taken(&self, scene: &Scene<'_>, call: usize) -> Option<Taken> {
        let (course, index) = (scene.course, &scene.case.index);
        let end = course.ranks[call];
        let oldest = self.oldest.unwrap_or(course.preamble);
        let there = end.saturating_sub(oldest);
        if there + usize::from(self.written.is_some()) <= self.keep {
            return None;
        }
        let mut cut = end - self.keep.min(there);
        // Usually no message after the cut, present or future, needs a message before it.
        let needs = |cut: usize| cut > 0 && course.needed_from[cut] <= course.history[cut - 1];
        if self.boundary == Boundary::Pair && needs(cut) {
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

/// Returns the true tokens of a predicted summary with its prefix, and its weight on the policy's own meter.
fn summary(scene: &Scene<'_>, prefix: &str, most: Tokens) -> (u64, u64) {
    if matches!(scene.meter.count, Count::True) {
        let weight = scene.case.predicted_size(prefix, most).weight.0;
        return (weight, weight);
    }
    let summary = scene.case.predicted(prefix, most);
    let weight = summary.weight.0;
    let metered = scene.meter.weigh_known(&summary.message, weight as u32);
    (weight, u64::from(metered))
}

/// Weights of notices, by the messages that they mention: other runs write the same ones.
#[derive(Debug)]
pub(super) struct Notices {
    /// True tokens in the upper half, and tokens on the policy's own meter plus 1 in the lower half; 0 if unknown.
    known: Vec<AtomicU64>,
}

impl Notices {
    pub(super) fn new(case: &Case) -> Self {
        let n_messages = case.session.messages.len();
        Self {
            known: (0..=n_messages).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Returns the true tokens and the weight on the policy's own meter of a notice about these messages and tokens.
    fn weigh(
        &self,
        scene: &Scene<'_>,
        drop: &Drop,
        (messages, tokens): (usize, u64),
    ) -> Option<(u64, u64)> {
        let template = drop.notice.as_deref()?;
        let place = self.known.get(messages);
        let place = place.filter(|_| !template.contains("{tokens}"));
        let known = place.map_or(0, |place| place.load(Ordering::Relaxed));
        if known > 0 {
            return Some((known >> 32, (known & u64::from(u32::MAX)) - 1));
        }
        let text = drop.notice(messages, tokens)?.text;
        let truth = scene.case.ledger.weigh(&text).0 as u32;
        let metered = scene.meter.weigh_known(&text, truth);
        if let Some(place) = place.filter(|_| metered < u32::MAX) {
            let packed = u64::from(truth) << 32 | (u64::from(metered) + 1);
            place.store(packed, Ordering::Relaxed);
        }
        Some((u64::from(truth), u64::from(metered)))
    }
}
