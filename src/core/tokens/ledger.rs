//! Token counts of a session, as columns over its parts.

use super::calibrate::{self, Stretch};
use super::calls::calls;
use super::column::Column;
use super::counters::is_own_vocabulary;
use super::media::Provider;
use super::weight::{Scale, Weight};
use super::{Counter, Fit};
use crate::progress::{Cancelled, Phase, Progress};
use crate::session::{Calibration, Call, Kind, Part, Session, kind_of};
use crate::units::{Bytes, Share, Tokens};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{PoisonError, RwLock};

/// Accuracy of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Reported by the provider.
    Reported,
    /// Exact, with the model's own vocabulary.
    Exact,
    /// Calibrated with the reported usage, with this error.
    Calibrated(Share),
    /// Estimated with a rule of thumb, or with a vocabulary that is not the model's own.
    Estimated,
}

impl Accuracy {
    /// Returns the error of calibrated counts; 0 if the counts have none or it is unknown.
    pub fn error(self) -> Share {
        match self {
            Self::Calibrated(error) => error,
            Self::Reported | Self::Exact | Self::Estimated => Share(0.0),
        }
    }

    /// Returns `≈` for an estimate, else an empty text.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Reported | Self::Exact | Self::Calibrated(_) => "",
            Self::Estimated => "≈",
        }
    }
}

/// Token counts of a session.
#[derive(Debug)]
pub struct TokenLedger {
    /// The counter.
    pub counter: &'static Counter,
    /// Uncalibrated tokens by part index: the counter's tokens including the framing of the part, or the provider's
    /// count for media and reported reasoning.
    pub counted: Vec<u32>,
    /// Actual tokens: counted, then calibrated if the file reports usage.
    pub truth: Column,
    /// Calibrated tokens of content that is not recorded; part of every call. May differ after a recorded compaction
    /// ([`Self::overhead_at`]).
    pub overhead: Tokens,
    /// Accuracy of `truth`.
    pub accuracy: Accuracy,
    /// The fit, if the file reports usage that matches its content.
    pub fit: Option<Fit>,
    stretches: Vec<Stretch>,
    /// Calibrated tokens of content that is not recorded in the call after the last one.
    overhead_next: Tokens,
    /// A fit that is too bad to use: the reported usage belongs to other content than the file's.
    pub distrusted: Option<Fit>,
    provider: Provider,
    /// Cached counts of added texts.
    cache: RwLock<HashMap<Box<str>, u64>>,
}

/// Maximum number of cached texts. The cache is cleared when it is full, which costs at most one recount per text.
// Chosen: with texts of 16 KiB each, 64 MiB at most. Markers and notes of a sweep are far fewer and far shorter.
const MAX_CACHED: usize = 4096;

/// Maximum bytes of a cached text. Longer texts (summaries) are written only once.
// Chosen: longer than any marker or note of a preset.
const MAX_CACHED_BYTES: usize = 16 * 1024;

impl TokenLedger {
    /// Counts every part once, on all cores, and calibrates.
    ///
    /// # Errors
    /// [`Cancelled`] if `progress` is cancelled.
    pub fn count(
        session: &Session,
        counter: &'static Counter,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let scale = Scale { counter, provider: Provider::of(session) };
        let weights = weigh_parts(session, scale, progress)?;
        let stored = session.calibration.as_ref().filter(|c| counter.counts_as(&c.counter));
        let sums = calls(session, &weights);
        let fitted_calls = calibrate::fit(&sums.reported, sums.largest);
        let (fit, stretches, distrusted) = match fitted_calls {
            Some((fit, stretches, true)) => (Some(fit), stretches, None),
            other => (None, Vec::new(), other.map(|(fit, ..)| fit)),
        };
        // A managed conversation has no usage yet, but stores the calibration of its source.
        let stored = stored.and_then(Fit::from_calibration);
        let fit = fit.or(stored);
        let accuracy = match &fit {
            Some(fit) => Accuracy::Calibrated(fit.error),
            None if distrusted.is_none() && is_exact(session, scale) => Accuracy::Exact,
            None => Accuracy::Estimated,
        };
        let whole = Self::assemble(session, scale, &weights, fit, accuracy);
        Ok(Self {
            overhead_next: overhead_next(session, &stretches).unwrap_or(whole.overhead),
            stretches,
            distrusted,
            ..whole
        })
    }

    /// Counts the parts that a growing session has now, with the calibration so far.
    pub fn grow(&mut self, session: &Session) {
        let scale = self.scale();
        let new = &session.parts[self.counted.len()..];
        for part in new {
            let weight = scale.weigh(part);
            self.counted.push(weight.counted.saturating_add(weight.known));
            self.truth.per_part.push(fitted(self.fit.as_ref(), weight));
        }
        self.truth.add_messages(session);
        let is_exact = self.accuracy == Accuracy::Exact;
        if is_exact && !new.iter().all(|part| is_exact_part(scale, part)) {
            self.accuracy = Accuracy::Estimated;
        }
    }

    /// Counts another session (an export) with the counter and calibration of this one.
    #[must_use]
    pub fn recount(&self, other: &Session) -> Self {
        let scale = self.scale();
        let weights: Vec<_> =
            other.parts.par_iter().with_max_len(1).map(|part| scale.weigh(part)).collect();
        Self::assemble(other, scale, &weights, self.fit, self.accuracy)
    }

    /// Returns the counts of a session that consists of parts of the counted one. `kept` has for each of its parts the
    /// index in the counted session and the actual tokens that it lost.
    #[must_use]
    pub fn with_tokens(&self, session: &Session, kept: &[(usize, Tokens)]) -> Self {
        let left = |of: &[u32], (part, lost): &(usize, Tokens)| {
            of[*part].saturating_sub(u32::try_from(lost.0).unwrap_or(u32::MAX))
        };
        let factor = self.fit.map_or(1.0, |fit| fit.factor);
        // Counts before the calibration lose the same content.
        let uncalibrated = |(part, lost): &(usize, Tokens)| {
            (*part, Tokens((lost.as_f64() / factor).round() as u64))
        };
        let truth = kept.iter().map(|kept| left(&self.truth.per_part, kept)).collect();
        Self {
            counter: self.counter,
            counted: kept.iter().map(|kept| left(&self.counted, &uncalibrated(kept))).collect(),
            truth: Column::new(session, truth),
            overhead: self.overhead,
            overhead_next: self.overhead_next,
            accuracy: self.accuracy,
            fit: self.fit,
            distrusted: self.distrusted,
            stretches: self.stretches.clone(),
            provider: self.provider,
            cache: RwLock::default(),
        }
    }

    fn assemble(
        session: &Session,
        scale: Scale,
        weights: &[Weight],
        fit: Option<Fit>,
        accuracy: Accuracy,
    ) -> Self {
        let truth = weights.iter().map(|w| fitted(fit.as_ref(), *w)).collect();
        let overhead = Tokens(fit.map_or(0, |f| f.overhead.round() as u64));
        Self {
            counter: scale.counter,
            counted: weights.iter().map(|w| w.counted.saturating_add(w.known)).collect(),
            truth: Column::new(session, truth),
            overhead,
            overhead_next: overhead,
            accuracy,
            fit,
            distrusted: None,
            stretches: Vec::new(),
            provider: scale.provider,
            cache: RwLock::default(),
        }
    }

    /// Returns the calibration to store in a managed conversation, or `None` if nothing was calibrated.
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
        Scale { counter: self.counter, provider: self.provider }
    }

    /// Returns the uncalibrated tokens of a text.
    pub fn counted(&self, text: &str) -> Tokens {
        Tokens(u64::from(self.scale().text(text)))
    }

    /// Returns the actual tokens of a text as a separate part. Caches texts, because a run writes the same
    /// marker thousands of times.
    pub fn weigh(&self, text: &str) -> Tokens {
        // Code that holds the lock cannot panic, so a poisoned map is valid.
        if let Some(tokens) = self.cache.read().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Tokens(*tokens);
        }
        let weight = Weight { counted: self.scale().recent_text(text), known: 0 };
        let tokens = u64::from(fitted(self.fit.as_ref(), weight));
        if text.len() <= MAX_CACHED_BYTES {
            let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
            if cache.len() >= MAX_CACHED {
                cache.clear();
            }
            cache.insert(text.into(), tokens);
        }
        Tokens(tokens)
    }

    /// Returns the actual tokens of a call with other arguments.
    pub fn weigh_call(&self, tool: &str, arguments: &str) -> Tokens {
        let counted = self.scale().recent_call(tool, arguments);
        let weight = Weight { counted, known: 0 };
        Tokens(u64::from(fitted(self.fit.as_ref(), weight)))
    }

    /// Returns the actual tokens of a text followed by an ASCII word `times` times. Extrapolates from short texts:
    /// twelve more words always add the same count, because vocabularies count each word separately and rules of thumb
    /// divide by 3 or 4.
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

    /// Returns the actual tokens of a part.
    pub fn part(&self, part: usize) -> Tokens {
        Tokens::from(self.truth.per_part[part])
    }

    /// Returns the actual tokens of a message.
    pub fn message(&self, message: usize) -> Tokens {
        Tokens::from(self.truth.per_message[message])
    }

    /// Returns the tokens of unrecorded content in the context that this call recorded. They increase after a
    /// compaction if agents read files again, and decrease after an unrecorded cut.
    pub fn overhead_at(&self, call: usize) -> Tokens {
        let stretch = self.stretches.iter().rev().find(|s| s.call <= call);
        stretch.map_or(self.overhead, tokens_of)
    }

    /// Returns the tokens of content that is not recorded in the call after the last one. They are those of the last
    /// calls, unless these calls report fewer tokens than their messages alone have and no compaction is recorded
    /// before them. The model then received something else than the file records (another model, an unrecorded cut),
    /// and the calls before them determine the overhead.
    pub fn overhead_next(&self) -> Tokens {
        self.overhead_next
    }

    /// Returns whether a difference from `base` is smaller than the error of the calibration, so that it may be none.
    pub fn is_within_error(&self, difference: f64, base: f64) -> bool {
        match self.accuracy {
            Accuracy::Calibrated(error) => difference.abs() < error.0 * base.abs(),
            Accuracy::Reported | Accuracy::Exact | Accuracy::Estimated => false,
        }
    }

    /// Returns the actual tokens of the full history by kind, in the order of [`Kind::ALL`]. The overhead counts as
    /// system.
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

    /// Returns the actual tokens of the full history including the overhead.
    pub fn total(&self) -> Tokens {
        Tokens(self.truth.history_prefix.last().copied().unwrap_or(0)) + self.overhead
    }
}

fn overhead_next(session: &Session, stretches: &[Stretch]) -> Option<Tokens> {
    let is_unrecorded_cut = |stretch: &&Stretch| {
        let is_reported = |call: &Call| call.reported_size().is_some();
        let before = session.calls[..stretch.call].iter().rposition(is_reported);
        let since = before.map_or(0, |before| before + 1)..=stretch.call;
        stretch.is_short && !session.compactions.iter().any(|c| since.contains(&c.call))
    };
    let last = stretches.iter().rev().find(|s| !is_unrecorded_cut(s));
    last.map(tokens_of)
}

fn tokens_of(stretch: &Stretch) -> Tokens {
    Tokens(stretch.overhead.round().max(0.0) as u64)
}

fn fitted(fit: Option<&Fit>, weight: Weight) -> u32 {
    let factor = fit.map_or(1.0, |f| f.factor);
    // Rounded per part, so that sums equal the sums of their parts. The conversion from float saturates.
    ((f64::from(weight.counted) * factor).round() as u32).saturating_add(weight.known)
}

/// Returns whether the counter uses the models' vocabulary and the file records the texts that were sent.
fn is_exact(session: &Session, scale: Scale) -> bool {
    !session.models.is_empty()
        && session.parts.iter().all(|part| is_exact_part(scale, part))
        && session.models.iter().all(|model| is_own_vocabulary(scale.counter, model))
}

/// Returns whether the text of a part is the one that was sent, and its rule is known.
fn is_exact_part(scale: Scale, part: &Part) -> bool {
    !part.body.text().starts_with("[REDACTED") && scale.provider.is_exact(&part.body)
}

/// Bytes of a part to count, a hash of its content, and its index.
type PartKey = (Reverse<u64>, u64, usize);

/// Counts all parts, the longest first, so that no core ends with a long one. Agents read the same files repeatedly, so
/// equal parts are counted once.
fn weigh_parts(
    session: &Session,
    scale: Scale,
    progress: &Progress,
) -> Result<Vec<Weight>, Cancelled> {
    let parts = &session.parts;
    let key = |(at, part)| {
        let mut content = DefaultHasher::new();
        Scale::counted_content(part).hash(&mut content);
        (Reverse(Scale::work(part)), content.finish(), at)
    };
    let mut order: Vec<PartKey> = parts.par_iter().enumerate().map(key).collect();
    let work = order.iter().map(|(Reverse(work), ..)| work).sum();
    progress.begin(Phase::Counting, Bytes(work));
    order.par_sort_unstable();
    let content = |key: &PartKey| Scale::counted_content(&parts[key.2]);
    let are_equal = |a: &PartKey, b: &PartKey| content(a).is_some() && content(a) == content(b);
    let equal: Vec<_> = order.chunk_by(are_equal).collect();
    let weigh = |equal: &&[PartKey]| {
        // Skips the count after a cancellation.
        progress.check_cancelled().ok()?;
        let (Reverse(work), _, first) = equal[0];
        let weight = scale.weigh(&parts[first]);
        progress.advance(work * equal.len() as u64);
        Some(weight)
    };
    // Collecting results with errors would not preserve the order efficiently.
    let weighed: Vec<Option<Weight>> = equal.par_iter().with_max_len(1).map(weigh).collect();
    progress.check_cancelled()?;
    let mut weights = vec![Weight::default(); parts.len()];
    for (equal, weight) in equal.into_iter().zip(weighed) {
        for (.., part) in equal {
            weights[*part] = weight.unwrap_or_default();
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_estimates_are_marked_as_such() {
        let marks = [
            Accuracy::Reported,
            Accuracy::Exact,
            Accuracy::Calibrated(Share(0.02)),
            Accuracy::Estimated,
        ]
        .map(Accuracy::mark);
        assert_eq!(marks, ["", "", "", "≈"]);
    }
}
