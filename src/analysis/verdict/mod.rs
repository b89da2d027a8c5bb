//! The verdict about a session: its peak, the calls that crossed the trigger or the window, and the messages that caused it.
//!
//! It describes the recorded run, with reported tokens if the file has them.

mod culprit;

use super::trigger::FirstCompaction;
use super::{MessageName, Trigger};
use crate::engine::{Case, Outcome, Peak, Sample};
use crate::figure::whole_percent;
use crate::tokens::Basis;
use crate::units::Tokens;
use culprit::{Culprit, culprit, heaviest_message};

/// A few sentences about the recorded run: its peak, the limits it crossed, and the messages that caused it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The pieces of the text in order, with spaces and full stops.
    pub clauses: Vec<Clause>,
    /// Severity.
    pub severity: Severity,
}

/// Severity of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No trigger was reached.
    #[default]
    Ok,
    /// A trigger was reached.
    Warning,
    /// A call exceeded the usable window or the window, or the next one would.
    Bad,
}

/// A piece of the text, possibly a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The text.
    pub text: String,
    /// Target of the link, if any.
    pub link: Option<Link>,
}

/// Target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The call with this index.
    Call(usize),
    /// The message with this index.
    Message(usize),
    /// The messages with the most cumulative tokens; the first of them.
    Resent(usize),
    /// The cache audit; the first call to show.
    Cache(Option<usize>),
    /// The accuracy of the counts.
    Count,
}

impl Verdict {
    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.clauses.iter().map(|c| c.text.as_str()).collect()
    }
}

/// Returns the verdict about the recorded run, compared with a trigger.
pub fn verdict(
    case: &Case,
    recorded: &Outcome,
    output_reserve: Tokens,
    trigger: &Trigger,
) -> Verdict {
    let mut sentence = Sentence {
        case,
        clauses: Vec::new(),
        severity: Severity::Ok,
    };
    let limits = Limits {
        output_reserve,
        trigger,
    };
    if let Some(peak) = recorded.peak() {
        sentence.peak(recorded, peak);
        sentence.crossings(recorded, limits, peak);
        sentence.unanswered(recorded, limits);
        sentence.compactions();
    } else {
        let total = sentence.tokens(case.ledger.total(), false);
        sentence.say(format!(
            "No model call in this file; it has {total} tokens."
        ));
    }
    Verdict {
        clauses: sentence.clauses,
        severity: sentence.severity,
    }
}

/// Limits that a call may cross.
#[derive(Clone, Copy)]
struct Limits<'a> {
    output_reserve: Tokens,
    trigger: &'a Trigger,
}

impl Limits<'_> {
    fn usable(self, sample: &Sample) -> Tokens {
        sample.window - self.output_reserve
    }

    /// Returns the trigger in actual tokens.
    fn trigger(self, sample: &Sample) -> Tokens {
        Tokens((self.usable(sample).as_f64() * self.trigger.share.0).ceil() as u64)
    }

    /// Returns the trigger in tokens of the policy's own count, as text.
    fn shown_trigger(self, sample: &Sample) -> String {
        let lane = self.trigger.lane.as_ref();
        lane.map_or_else(|| self.trigger(sample), |lane| lane.tokens)
            .short()
    }
}

/// Returns the sample of a peak; for a peak at the end, the last sample.
fn sample_at(samples: &[Sample], peak: Peak) -> Option<&Sample> {
    match peak.call {
        Some(call) => samples.iter().find(|sample| sample.call == call),
        None => samples.last(),
    }
}

/// Builds the text.
struct Sentence<'a> {
    case: &'a Case,
    clauses: Vec<Clause>,
    severity: Severity,
}

impl Sentence<'_> {
    /// Adds text without a link. Each sentence except the first begins with a space.
    fn say(&mut self, text: impl Into<String>) {
        self.clauses.push(Clause {
            text: text.into(),
            link: None,
        });
    }

    fn link(&mut self, text: impl Into<String>, link: Link) {
        self.clauses.push(Clause {
            text: text.into(),
            link: Some(link),
        });
    }

    fn call(&mut self, call: usize) {
        self.link(format!("call {}", call + 1), Link::Call(call));
    }

    fn is(&mut self, severity: Severity) {
        self.severity = self.severity.max(severity);
    }

    fn peak(&mut self, recorded: &Outcome, peak: Peak) {
        let Some(sample) = sample_at(&recorded.samples, peak) else {
            return;
        };
        let window = sample.window.short();
        let share = whole_percent(peak.tokens.share_of(sample.window));
        let is_reported = peak.call.is_some() && self.is_reported(sample);
        let tokens = self.tokens(peak.tokens, is_reported);
        let place = match peak.call {
            Some(call) => format!("call {}", call + 1),
            None => "the end".to_owned(),
        };
        self.say("Peaked at ");
        self.link(
            format!("{share} of the {window} window"),
            Link::Call(sample.call),
        );
        self.say(format!(" ({tokens}) at {place}."));
    }

    fn crossings(&mut self, recorded: &Outcome, limits: Limits<'_>, peak: Peak) {
        let samples = &recorded.samples;
        let over_trigger = match &limits.trigger.lane {
            Some(lane) => samples.iter().find(|s| Some(s.call) == lane.call),
            None => samples.iter().find(|s| s.tokens >= limits.trigger(s)),
        };
        let over_usable = samples.iter().find(|s| s.tokens > limits.usable(s));
        let over_window = samples.iter().find(|s| s.tokens > s.window);
        // A call may cross both; its message is named once.
        let is_both = over_trigger.is_some_and(|t| over_window.is_some_and(|w| w.call == t.call));
        if over_usable.or(over_window).is_some() {
            self.is(Severity::Bad);
        }
        if let Some(sample) = over_trigger {
            self.is(Severity::Warning);
            let window = if is_both {
                format!(" and the window ({})", sample.window.short())
            } else {
                String::new()
            };
            let trigger = limits.shown_trigger(sample);
            let name = limits.trigger.name();
            self.crossed(&format!("{name} ({trigger}){window}"), samples, sample);
        } else if let Some(compaction) = &limits.trigger.compaction {
            self.is(Severity::Warning);
            self.compacts(compaction, limits.trigger);
        } else if let Some(sample) = sample_at(samples, peak) {
            let trigger = limits.trigger(sample);
            let end = if peak.tokens >= trigger && peak.call.is_none() {
                " before the end"
            } else {
                ""
            };
            let (name, trigger) = (limits.trigger.name(), limits.shown_trigger(sample));
            self.say(format!(" Never reached {name} ({trigger}){end}."));
        }
        match (over_usable, over_window) {
            (_, Some(sample)) if !is_both => {
                let window = sample.window.short();
                self.crossed(&format!("the window ({window})"), samples, sample);
            }
            (Some(sample), None) => {
                let usable = limits.usable(sample).short();
                self.say(format!(
                    " Cut into the output reserve (usable {usable}) at "
                ));
                self.call(sample.call);
                self.say(".");
            }
            _ => {}
        }
    }

    /// Adds "picoclaw compacts from call 9 on, below its trigger of 98.3k tokens.": it has other triggers, too.
    fn compacts(&mut self, compaction: &FirstCompaction, trigger: &Trigger) {
        self.say(format!(" {} compacts from ", compaction.lane));
        self.call(compaction.call);
        match &trigger.lane {
            Some(lane) if lane.name == compaction.lane && lane.call.is_none() => {
                let tokens = lane.tokens.short();
                self.say(format!(" on, below its trigger of {tokens} tokens."));
            }
            _ => self.say(" on."),
        }
    }

    /// Adds "Crossed the trigger (126k) at call 212: read main.ts (+12.8k)."
    fn crossed(&mut self, what: &str, samples: &[Sample], sample: &Sample) {
        self.say(format!(" Crossed {what} at "));
        self.call(sample.call);
        match culprit(self.case, samples, sample) {
            Some(Culprit::Message(message)) => {
                self.say(": ");
                self.heavy(message);
            }
            Some(Culprit::Base(base)) => {
                let base = self.tokens(base, false);
                self.say(format!(": system prompt and tools alone are {base}."));
            }
            Some(Culprit::Beginning(n)) => {
                let plural = if n == 1 { "" } else { "s" };
                self.say(format!(", which began with {n} message{plural}."));
            }
            None => self.say("."),
        }
    }

    /// Adds `read main.ts (+12.8k).`, linked to the message, with the message's tokens.
    fn heavy(&mut self, message: usize) {
        let is_estimate = self.case.ledger.basis == Basis::Estimated;
        let about = if is_estimate { "≈" } else { "" };
        let grown = self.case.ledger.message(message).short();
        let name = MessageName::of(self.case, message).to_string();
        self.link(name, Link::Message(message));
        self.say(format!(" ({about}+{grown})."));
    }

    /// Adds the next call if it would overflow. Sessions often end there, and no recorded call shows the cause.
    fn unanswered(&mut self, recorded: &Outcome, limits: Limits<'_>) {
        let session = &self.case.session;
        let (Some(last), Some(sample)) = (session.calls.last(), recorded.samples.last()) else {
            return;
        };
        let (tokens, window) = (recorded.context.tokens(), sample.window);
        let is_whole = recorded.samples.len() == session.calls.len();
        if self.severity == Severity::Bad || !is_whole || tokens <= limits.usable(sample) {
            return;
        }
        self.is(Severity::Bad);
        let share = whole_percent(tokens.share_of(window));
        let since = last.context_end..session.messages.len();
        let (needed, window) = (self.tokens(tokens, false), window.short());
        self.say(format!(
            " The file ends before the next call, which would need {needed}, {share} of {window}"
        ));
        if let Some(message) = heaviest_message(self.case, since) {
            self.say(": ");
            self.heavy(message);
        } else {
            self.say(".");
        }
    }

    fn compactions(&mut self) {
        let recorded = &self.case.session.compactions;
        let Some(first) = recorded.first() else {
            return;
        };
        let last_call = self.case.session.calls.len().saturating_sub(1);
        let plural = if recorded.len() == 1 { "" } else { "s" };
        self.say(" ");
        self.link(
            format!("{} compaction{plural}", recorded.len()),
            Link::Call(first.call.min(last_call)),
        );
        self.say(" recorded.");
    }

    fn is_reported(&self, sample: &Sample) -> bool {
        self.case
            .session
            .calls
            .get(sample.call)
            .is_some_and(|s| s.usage.is_some())
    }

    /// Formats tokens, with `≈` before an estimate.
    fn tokens(&self, tokens: Tokens, is_reported: bool) -> String {
        let is_estimate = !is_reported && self.case.ledger.basis == Basis::Estimated;
        format!("{}{}", if is_estimate { "≈" } else { "" }, tokens.short())
    }
}

#[cfg(test)]
mod lane_trigger_tests;
#[cfg(test)]
mod tests;
