//! All weights of a session, as columns over its parts.

use super::calibrate::{self, Stretch};
use super::calls::calls;
use super::column::Column;
use super::media::Provider;
use super::weight::{Scale, Weight};
use super::{Counter, Fit, bpe};
use crate::progress::{Cancelled, Phase, Progress};
use crate::session::{Calibration, Kind, Part, Session, Step, kind_of};
use crate::units::{Bytes, Share, Tokens};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// How a count is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// By the provider.
    Reported,
    /// By a named vocabulary, which is the model's own.
    Exact,
    /// Fitted to what the provider reported, with this error.
    Calibrated(Share),
    /// By a rule of thumb, or by a vocabulary that is not the model's own.
    Estimated,
}

/// All weights of a session.
#[derive(Debug)]
pub struct TokenLedger {
    /// What counted.
    pub counter: &'static Counter,
    /// Weights before any fit, by part index: the counter's tokens and what wraps the part; for what is not counted
    /// (media, reported reasoning) the provider's.
    pub counted: Vec<u32>,
    /// True tokens: counted, then fitted where the file reports usage.
    pub truth: Column,
    /// Fitted weight of what the file does not hold; in every call. After a compaction of the source's own it may
    /// have been another ([`Self::overhead_at`]).
    pub overhead: Tokens,
    /// How `truth` is known.
    pub basis: Basis,
    /// The fit, where the file reports usage that fits what it holds.
    pub fit: Option<Fit>,
    stretches: Vec<Stretch>,
    /// Fitted weight of what the file does not hold of the call that comes after the last.
    overhead_next: Tokens,
    /// A fit too bad to be used: the reported usage belongs to other text than the file's.
    pub distrusted: Option<Fit>,
    provider: Provider,
    /// Weights of texts of ours.
    remembered: RwLock<HashMap<Box<str>, u64>>,
}

/// Texts remembered at once; when they are more, all are forgotten, which costs a recount of each at most.
const MAX_REMEMBERED: usize = 4096;

/// Longer texts are not remembered: they are written once (a summary), and would hold memory.
const MAX_REMEMBERED_BYTES: usize = 16 * 1024;

impl TokenLedger {
    /// Counts every part once, on all cores, and calibrates.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` says so.
    pub fn count(
        session: &Session,
        counter: &'static Counter,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let scale = Scale {
            counter,
            provider: Provider::of(session),
        };
        let weights = weigh_parts(session, scale, progress)?;
        let carried = session
            .calibration
            .as_ref()
            .filter(|c| counter.counts_as(&c.counter));
        let (fit, stretches, distrusted) = match calibrate::fit(&calls(session, &weights)) {
            Some((fit, stretches)) if fit.is_trusted() => (Some(fit), stretches, None),
            other => (None, Vec::new(), other.map(|(fit, _)| fit)),
        };
        // A managed copy has no usage of its own yet, but says how its source was weighed.
        let fit = fit.or_else(|| carried.map(Fit::carried));
        let basis = match &fit {
            Some(fit) => Basis::Calibrated(fit.error),
            None if distrusted.is_none() && is_exact(session, counter) => Basis::Exact,
            None => Basis::Estimated,
        };
        let whole = Self::assemble(session, scale, &weights, fit, basis);
        Ok(Self {
            overhead_next: overhead_next(session, &stretches).unwrap_or(whole.overhead),
            stretches,
            distrusted,
            ..whole
        })
    }

    /// Weighs another session with this one's counter and calibration (an export, read again).
    #[must_use]
    pub fn recount(&self, other: &Session) -> Self {
        let scale = self.scale();
        let weights: Vec<_> = other
            .parts
            .par_iter()
            .with_max_len(1)
            .map(|part| scale.weigh(part))
            .collect();
        Self::assemble(other, scale, &weights, self.fit, self.basis)
    }

    fn assemble(
        session: &Session,
        scale: Scale,
        weights: &[Weight],
        fit: Option<Fit>,
        basis: Basis,
    ) -> Self {
        let truth = weights.iter().map(|w| fitted(fit.as_ref(), *w)).collect();
        let overhead = Tokens(fit.map_or(0, |f| f.overhead.round() as u64));
        Self {
            counter: scale.counter,
            counted: weights
                .iter()
                .map(|w| w.counted.saturating_add(w.known))
                .collect(),
            truth: Column::new(session, truth),
            overhead,
            overhead_next: overhead,
            basis,
            fit,
            distrusted: None,
            stretches: Vec::new(),
            provider: scale.provider,
            remembered: RwLock::default(),
        }
    }

    /// How weights were told, for a managed copy to carry; none where nothing was fitted.
    pub fn calibration(&self, overhead: Tokens) -> Option<Calibration> {
        let fit = self.fit?;
        Some(Calibration {
            counter: self.counter.name.to_owned(),
            overhead: overhead.as_f64(),
            factor: fit.factor,
            error: fit.error.0,
        })
    }

    fn scale(&self) -> Scale {
        Scale {
            counter: self.counter,
            provider: self.provider,
        }
    }

    /// Tokens of a text as the counter counts them, not fitted to what the session's provider reported.
    pub fn counted(&self, text: &str) -> Tokens {
        Tokens(u64::from(self.scale().text(text)))
    }

    /// True tokens of a text of ours, as of a part that holds nothing else. Remembers texts, since a run writes the
    /// same marker thousands of times.
    pub fn weigh(&self, text: &str) -> Tokens {
        // Nothing that holds the lock can panic half-way, so a poisoned map is whole.
        if let Some(tokens) = self
            .remembered
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(text)
        {
            return Tokens(*tokens);
        }
        let weight = Weight {
            counted: self.scale().text(text),
            known: 0,
        };
        let tokens = u64::from(fitted(self.fit.as_ref(), weight));
        if text.len() <= MAX_REMEMBERED_BYTES {
            let mut remembered = self
                .remembered
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            if remembered.len() >= MAX_REMEMBERED {
                remembered.clear();
            }
            remembered.insert(text.into(), tokens);
        }
        Tokens(tokens)
    }

    /// The same for a text behind which one word of ASCII stands so many times. Long ones are told from short ones:
    /// twelve words more weigh the same each time, since vocabularies count each by itself and rules of thumb divide by 3
    /// or 4.
    pub fn weigh_repeated(&self, text: &str, word: &str, times: usize) -> Tokens {
        const PERIOD: usize = 12;
        let count = |times: usize| self.scale().text(&format!("{text}{}", word.repeat(times)));
        let counted = if times < 3 * PERIOD {
            count(times)
        } else {
            let few = PERIOD + times % PERIOD;
            let (some, more) = (count(few), count(few + PERIOD));
            let periods = ((times - few) / PERIOD) as u32;
            some.saturating_add(more.saturating_sub(some).saturating_mul(periods))
        };
        let weight = Weight { counted, known: 0 };
        Tokens(u64::from(fitted(self.fit.as_ref(), weight)))
    }

    /// True tokens of a part.
    pub fn part(&self, part: usize) -> Tokens {
        Tokens::from(self.truth.per_part[part])
    }

    /// True tokens of a message.
    pub fn message(&self, message: usize) -> Tokens {
        Tokens::from(self.truth.per_message[message])
    }

    /// What the file does not hold of the call at this step as it really was: more after a compaction, when agents
    /// carry on with files read again, less after a cut that the file does not tell.
    pub fn overhead_at(&self, step: usize) -> Tokens {
        let begun = self.stretches.iter().rev().find(|s| s.step <= step);
        begun.map_or(self.overhead, tokens_of)
    }

    /// What the file does not hold of the call that comes after the last. The last calls tell it, unless they report less
    /// than the messages alone weigh and the file records no compaction before them: then they were sent something else
    /// than the file holds (another model, or a cut that was not recorded), and the calls before them tell it.
    pub fn overhead_next(&self) -> Tokens {
        self.overhead_next
    }

    /// True tokens of the full history, once, by kind in the order of [`Kind::ALL`]; the overhead counts as system.
    pub fn by_kind(&self, session: &Session) -> [Tokens; Kind::ALL.len()] {
        let mut kinds = [Tokens::ZERO; Kind::ALL.len()];
        kinds[Kind::System.index()] += self.overhead;
        for message in session.messages.iter().filter(|m| m.in_history) {
            for part in message.parts.clone() {
                kinds[kind_of(message, &session.parts[part]).index()] += self.part(part);
            }
        }
        kinds
    }

    /// True tokens of the full history, once, overhead included.
    pub fn total(&self) -> Tokens {
        Tokens(self.truth.history_prefix.last().copied().unwrap_or(0)) + self.overhead
    }
}

fn overhead_next(session: &Session, stretches: &[Stretch]) -> Option<Tokens> {
    let is_cut_unseen = |stretch: &&Stretch| {
        let is_reported = |step: &Step| step.usage.is_some_and(|u| u.input > Tokens::ZERO);
        let before = session.steps[..stretch.step].iter().rposition(is_reported);
        let since = before.map_or(0, |before| before + 1)..=stretch.step;
        stretch.is_short && !session.compactions.iter().any(|c| since.contains(&c.step))
    };
    let told = stretches.iter().rev().find(|s| !is_cut_unseen(s));
    told.map(tokens_of)
}

fn tokens_of(stretch: &Stretch) -> Tokens {
    Tokens(stretch.overhead.round().max(0.0) as u64)
}

fn fitted(fit: Option<&Fit>, weight: Weight) -> u32 {
    let factor = fit.map_or(1.0, |f| f.factor);
    // Rounded part by part, so that sums of truth are sums of its parts; a float saturates as it becomes an integer.
    ((f64::from(weight.counted) * factor).round() as u32).saturating_add(weight.known)
}

/// Whether the counter counts as the models do, and what they were sent.
fn is_exact(session: &Session, counter: &Counter) -> bool {
    let is_redacted = |part: &Part| part.body.text().starts_with("[REDACTED");
    !session.models.is_empty()
        && !session.parts.iter().any(is_redacted)
        && session
            .models
            .iter()
            .all(|model| bpe::is_own_vocabulary(counter, model))
}

/// Weighs all parts, the longest first so that no core is left with a long one at the end. Agents read the same files
/// again and again: what says the same is counted once.
fn weigh_parts(
    session: &Session,
    scale: Scale,
    progress: &Progress,
) -> Result<Vec<Weight>, Cancelled> {
    let parts = &session.parts;
    let work: Vec<u64> = parts.iter().map(Scale::work).collect();
    progress.begin(Phase::Weighing, Bytes(work.iter().sum()));
    let mut order: Vec<usize> = (0..work.len()).collect();
    let words = |part: &usize| Scale::words(&parts[*part]);
    let by_words = |a: &usize, b: &usize| {
        work[*b]
            .cmp(&work[*a])
            .then_with(|| words(a).cmp(&words(b)))
    };
    order.par_sort_unstable_by(by_words);
    let say_the_same = |a: &usize, b: &usize| words(a).is_some() && words(a) == words(b);
    let alike: Vec<&[usize]> = order.chunk_by(say_the_same).collect();
    let weigh = |alike: &&[usize]| {
        // Nothing is weighed any more once somebody asked to stop.
        progress.go_on().ok()?;
        let first = alike[0];
        let weight = scale.weigh(&parts[first]);
        progress.advance(work[first] * alike.len() as u64);
        Some(weight)
    };
    // A result might be an error at any place, so they would not be put straight where they belong.
    let weighed: Vec<Option<Weight>> = alike.par_iter().with_max_len(1).map(weigh).collect();
    progress.go_on()?;
    let mut weights = vec![Weight::default(); work.len()];
    for (alike, weight) in alike.into_iter().zip(weighed) {
        for part in alike {
            weights[*part] = weight.unwrap_or_default();
        }
    }
    Ok(weights)
}
