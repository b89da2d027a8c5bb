//! Insights about the growth of the context: skipped triggers, calls near the limit, and the largest messages.

use super::{Certainty, Insight, InsightInput, InsightKind, Level, counted, whole_percent};
use crate::analysis::resent::{ResentMessage, growth};
use crate::engine::Sample;
use crate::tokens::Accuracy;
use crate::units::{Share, Tokens};

/// Share of the trigger from which a call counts as near it. Chosen: with a trigger of 150,000 tokens, the next 15,000
/// cross it, which are one or two large results.
const NEAR: f64 = 0.9;
/// Minimum number of calls near the limit to report. Chosen: every session that compacts passes through this range
/// before each compaction, so a few calls there are no problem.
const MIN_NEAR: usize = 40;
/// Minimum share of all calls near the limit to report. Chosen: a context that grows evenly is in this range at a tenth
/// of its calls, or a fifth if a compaction halves it. More means that compactions free too little.
const MIN_NEAR_SHARE: f64 = 0.3;
/// Number of messages whose share of all sent tokens is reported: as many as a person looks through.
pub(super) const FEW: usize = 10;
/// Share from which it is a warning. In two recorded sessions of more than 900 messages, ten of them were 34 % and 38
/// %.
const MUCH: f64 = 0.3;
/// Minimum tokens that a summary request reserves for its answer. Chosen: the bundled presets of systems ask for
/// summaries of 500 to 4,500 tokens, most for 2,000 or 4,000. A larger figure would report requests that some system
/// can still send.
const SUMMARY: Tokens = Tokens(1_024);

impl InsightInput<'_> {
    fn usable(&self, sample: &Sample) -> Tokens {
        sample.window - self.output_reserve
    }

    /// Returns the size from which a call is too large: the usable window, or the whole window if the trigger is
    /// within the output reserve, which is an assumption.
    fn limit(&self, sample: &Sample) -> Tokens {
        let usable = self.usable(sample);
        if self.trigger_at(sample) > usable.as_f64() { sample.window } else { usable }
    }

    /// Returns the recorded program's trigger at a call, if known: the context before its next automatic compaction,
    /// or before its last one.
    fn own_trigger(&self, call: usize) -> Option<Tokens> {
        let own = &self.own_compactions;
        let next = own.partition_point(|compaction| compaction.call <= call);
        Some(own.get(next).or(own.last())?.before)
    }

    /// Returns the recorded program's trigger if known, otherwise the trigger of the comparison.
    fn trigger_at(&self, sample: &Sample) -> f64 {
        let chosen = self.usable(sample).as_f64() * self.trigger.share.0;
        let own = self.own_trigger(sample.call);
        own.map_or(chosen, Tokens::as_f64)
    }

    /// Returns the name of that trigger at these calls.
    fn trigger_name<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> String {
        let samples = samples.into_iter();
        let own: Vec<Tokens> = samples.filter_map(|s| self.own_trigger(s.call)).collect();
        let (Some(least), Some(most)) = (own.iter().min(), own.iter().max()) else {
            return self.trigger.name();
        };
        let (least, most) = (least.short(), most.short());
        if least == most {
            format!("the program's own trigger ({least})")
        } else {
            format!("the program's own trigger ({least} to {most})")
        }
    }

    /// Returns the certainty of a count: figures of the provider are certain.
    fn by_count(&self) -> Certainty {
        match self.case.ledger.accuracy {
            Accuracy::Reported | Accuracy::Exact => Certainty::Certain,
            Accuracy::Calibrated(_) | Accuracy::Estimated => Certainty::Likely,
        }
    }
}

/// Reports calls that jump from below the trigger to above the limit. A policy that acts before a call cannot
/// act in time there.
pub(super) fn threshold_skipped(input: &InsightInput<'_>) -> Vec<Insight> {
    let samples = &input.recorded.samples;
    let skips = growth(input.case, input.recorded).into_iter().filter_map(|grown| {
        let at = samples.binary_search_by_key(&grown.call, |sample| sample.call).ok()?;
        let (before, after) = (samples.get(at.checked_sub(1)?)?, &samples[at]);
        let below = before.tokens.as_f64() < input.trigger_at(after);
        (below && after.tokens > input.limit(after)).then_some((grown, before, after))
    });
    let mut skips = skips.map(|(grown, before, after)| Insight {
        call: Some(grown.call),
        message: grown.message,
        text: format!(
            "One call skipped {}: call {} grew from {} to {} tokens, beyond the limit of {}{}.",
            input.trigger_name([after]),
            grown.call + 1,
            before.tokens.short(),
            after.tokens.short(),
            input.limit(after).short(),
            grown.message.map_or(String::new(), |message| format!(", mostly by {}", input.name(message)))
        ),
        evidence: format!("+{} tokens in one call", grown.grown.short()),
        advice: "Cut or spill large results as they come in; a trigger before the next call comes too late.",
        ..Insight::new(InsightKind::ThresholdSkipped, Level::Bad, Certainty::Certain)
    });
    skips.next().into_iter().collect()
}

/// Reports many calls just below the limit, where each call is most expensive and the next result may overflow.
pub(super) fn hovering(input: &InsightInput<'_>) -> Vec<Insight> {
    let samples = &input.recorded.samples;
    let is_near = |sample: &&Sample| {
        let near = sample.tokens.as_f64() >= NEAR * input.trigger_at(sample);
        near && sample.tokens <= input.limit(sample)
    };
    let near: Vec<&Sample> = samples.iter().filter(is_near).collect();
    let share = Share(near.len() as f64 / samples.len().max(1) as f64);
    let Some(first) = near.first().filter(|_| near.len() >= MIN_NEAR && share.0 >= MIN_NEAR_SHARE)
    else {
        return Vec::new();
    };
    let sent: Tokens = near.iter().map(|sample| sample.tokens).sum();
    vec![Insight {
        call: Some(first.call),
        text: format!(
            "{} of the calls ({}) ran near or above {} without an overflow.",
            whole_percent(share),
            near.len(),
            input.trigger_name(near.iter().copied())
        ),
        evidence: format!(
            "{} tokens sent in them, {} of all",
            sent.short(),
            whole_percent(input.share_of_sent(sent))
        ),
        advice: "Compact to a lower level, or start a new session for a new task.",
        stake: sent,
        ..Insight::new(InsightKind::Hovering, Level::Warning, Certainty::Certain)
    }]
}

/// Reports a peak at which a request to summarize the whole context would overflow the window.
pub(super) fn summary_too_long(input: &InsightInput<'_>) -> Vec<Insight> {
    let samples = &input.recorded.samples;
    let last = input.recorded.end;
    let over = samples.iter().find(|s| s.tokens + SUMMARY > s.window);
    let (call, tokens, window) = match (over, samples.last()) {
        (Some(sample), _) => (sample.call, sample.tokens, sample.window),
        (None, Some(end)) if last + SUMMARY > end.window => (end.call, last, end.window),
        _ => return Vec::new(),
    };
    vec![Insight {
        call: Some(call),
        text: format!(
            "At call {} a request to summarize the whole context would overflow the window too.",
            call + 1
        ),
        evidence: format!("{} tokens in a window of {}", tokens.short(), window.short()),
        advice: "Compact earlier, or let the summarizer work in pieces or on cleared tool results.",
        ..Insight::new(InsightKind::SummaryTooLong, Level::Warning, input.by_count())
    }]
}

/// Reports a few messages that account for a large share of all sent tokens.
pub(super) fn few_messages(input: &InsightInput<'_>) -> Vec<Insight> {
    let heaviest = input.resent.heaviest(&input.case.session, FEW);
    let share = input.resent.share(&heaviest);
    let n_messages = input.case.session.n_history();
    let Some(first) = heaviest.first().filter(|_| share.0 >= MUCH && n_messages >= 5 * FEW) else {
        return Vec::new();
    };
    let rest = heaviest.iter().take(3).map(|resent| {
        let (name, tokens) = (input.name(resent.message), resent.tokens.short());
        format!("{name} ({tokens} × {})", resent.calls)
    });
    let stake: Tokens = heaviest.iter().map(ResentMessage::cumulative).sum();
    vec![Insight {
        call: input.case.session.first_call_with(first.message),
        message: Some(first.message),
        text: format!(
            "{} account for {} of all tokens sent.",
            counted(heaviest.len(), "message"),
            whole_percent(share)
        ),
        evidence: format!("heaviest: {}", rest.collect::<Vec<_>>().join(", ")),
        advice: "Start with these: cutting one large early message saves more than many small late ones.",
        stake,
        ..Insight::new(InsightKind::FewMessages, Level::Note, input.by_count())
    }]
}
