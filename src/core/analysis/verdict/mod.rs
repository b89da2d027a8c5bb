//! The verdict about a session: its peak, the calls that crossed the trigger or the window, and the messages that
//! caused it.
//!
//! It describes the recorded run, with reported tokens if the file has them.

mod culprit;
mod limits;
mod working_preset;

pub use working_preset::WorkingPreset;

use super::attribution::unused_servers;
use super::trigger::FirstCompaction;
use super::{MessageName, Trigger};
use crate::engine::{Case, Outcome, Peak, Sample};
use crate::figure::{counted, plural, whole_percent};
use crate::units::Tokens;
use culprit::{Culprit, culprit, heaviest_message};
use limits::VerdictLimits;

/// Minimum share of the largest context for definitions of tools that no call used.
// Chosen: as many tokens as a large tool result. At half, every project with a server would have the sentence.
const MIN_UNUSED: f64 = 0.04;

/// The verdict as text and its severity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The pieces of the text in order, with spaces and full stops.
    pub clauses: Vec<Clause>,
    /// The highest severity of a sentence.
    pub severity: Severity,
}

/// Severity of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No trigger was reached.
    #[default]
    Ok,
    /// A trigger was reached, or a call reached into the output reserve.
    Warning,
    /// A call exceeded the context window or was rejected, or the next one would be.
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
    /// The list of the messages with the most cumulative tokens, at this message.
    Resent(usize),
    /// The cache audit, at this call if any.
    Cache(Option<usize>),
    /// The accuracy of the counts.
    Count,
    /// The preset with this name, to compare it.
    Compare(&'static str),
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
    let mut writer = VerdictWriter { case, clauses: Vec::new(), severity: Severity::Ok };
    let limits = VerdictLimits { output_reserve, trigger };
    if let Some(peak) = recorded.peak() {
        writer.write_peak(recorded, peak);
        writer.write_crossings(recorded, limits, peak);
        writer.write_next_call(recorded, limits);
        writer.write_compactions();
        writer.write_unused_servers(peak);
    } else {
        let total = writer.estimated(case.ledger.total());
        writer.push(format!("No model call in this file; it has {total} tokens."));
    }
    Verdict { clauses: writer.clauses, severity: writer.severity }
}

/// Returns the sample of a peak; for a peak at the end, the last sample.
fn sample_at(samples: &[Sample], peak: Peak) -> Option<&Sample> {
    match peak.call {
        Some(call) => samples.iter().find(|sample| sample.call == call),
        None => samples.last(),
    }
}

/// Writes the sentences of a verdict.
struct VerdictWriter<'a> {
    case: &'a Case,
    clauses: Vec<Clause>,
    severity: Severity,
}

impl VerdictWriter<'_> {
    /// Adds text without a link. Each sentence except the first begins with a space.
    fn push(&mut self, text: impl Into<String>) {
        self.clauses.push(Clause { text: text.into(), link: None });
    }

    fn push_link(&mut self, text: impl Into<String>, link: Link) {
        self.clauses.push(Clause { text: text.into(), link: Some(link) });
    }

    fn push_call(&mut self, call: usize) {
        self.push_link(format!("call {}", call + 1), Link::Call(call));
    }

    fn raise_severity(&mut self, severity: Severity) {
        self.severity = self.severity.max(severity);
    }

    /// Adds `Peaked at 80 % of the 200k window (161k) at call 34.`
    fn write_peak(&mut self, recorded: &Outcome, peak: Peak) {
        let Some(sample) = sample_at(&recorded.samples, peak) else {
            return;
        };
        let window = sample.window.short();
        let share = whole_percent(peak.tokens.share_of(sample.window));
        let tokens = if peak.call.is_some() && self.is_reported(sample) {
            peak.tokens.short()
        } else {
            self.estimated(peak.tokens)
        };
        let place = match peak.call {
            Some(call) => format!("call {}", call + 1),
            None => "the end".to_owned(),
        };
        self.push("Peaked at ");
        self.push_link(format!("{share} of the {window} window"), Link::Call(sample.call));
        self.push(format!(" ({tokens}) at {place}."));
    }

    /// Adds the calls that crossed the trigger, the usable window or the window.
    fn write_crossings(&mut self, recorded: &Outcome, limits: VerdictLimits<'_>, peak: Peak) {
        let samples = &recorded.samples;
        let reaches_trigger = || samples.iter().find(|s| limits.reaches_trigger(s));
        let over_trigger = match &limits.trigger.lane {
            Some(lane) => {
                let of_lane = samples.iter().find(|s| Some(s.call) == lane.call);
                let or_recorded = |sample| {
                    let recorded =
                        reaches_trigger().filter(|_| self.is_replay_only(limits, sample));
                    recorded.unwrap_or(sample)
                };
                of_lane.map(or_recorded)
            }
            None => reaches_trigger(),
        };
        let over_usable = samples.iter().find(|s| s.tokens > limits.usable(s));
        let over_window = samples.iter().find(|s| s.tokens > s.window);
        // A call may cross both. The message that caused it is named once.
        let is_both = over_trigger.is_some_and(|t| over_window.is_some_and(|w| w.call == t.call));
        let rejected = samples.iter().find(|s| s.is_rejected);
        if over_window.or(rejected).is_some() {
            self.raise_severity(Severity::Bad);
        } else if over_usable.is_some() {
            self.raise_severity(Severity::Warning);
        }
        if let Some(sample) = over_trigger {
            self.raise_severity(Severity::Warning);
            if self.is_replay_only(limits, sample) {
                self.write_replay_only(limits, sample);
            } else {
                let (name, trigger) = (limits.trigger.name(), limits.shown_trigger(sample));
                let window = if is_both {
                    format!(" and the window ({})", sample.window.short())
                } else {
                    String::new()
                };
                self.write_crossing(&format!("{name} ({trigger}){window}"), samples, sample);
            }
        } else if let Some(compaction) = &limits.trigger.compaction {
            self.raise_severity(Severity::Warning);
            self.write_first_compaction(compaction, limits.trigger);
        } else if let Some(sample) = sample_at(samples, peak)
            && limits.usable(sample) > Tokens::ZERO
        {
            self.write_trigger_not_reached(limits, peak, sample);
        }
        match over_usable {
            Some(sample) if limits.usable(sample) == Tokens::ZERO => {
                self.write_nothing_usable(limits, sample);
            }
            Some(sample) if over_window.is_none() => {
                let usable = limits.usable(sample).short();
                self.push(format!(" Reached into the output reserve (usable {usable}) at "));
                self.push_call(sample.call);
                self.push(".");
            }
            _ => {}
        }
        if let Some(sample) = over_window.filter(|_| !is_both) {
            let window = sample.window.short();
            self.write_crossing(&format!("the window ({window})"), samples, sample);
        }
        if let Some(sample) = rejected {
            self.write_rejection(sample);
        }
    }

    /// Adds `The provider rejected call 21: it counted 214k tokens.`
    fn write_rejection(&mut self, sample: &Sample) {
        self.push(" The provider rejected ");
        self.push_call(sample.call);
        let calls = &self.case.session.calls;
        match calls.get(sample.call).and_then(|call| call.rejected_size) {
            Some(size) => self.push(format!(": it counted {} tokens.", size.short())),
            None => self.push(" because its context was too long."),
        }
    }

    /// Returns whether only a replay reaches the trigger at this call: it starts from the whole history, and the
    /// recorded run was compacted before.
    fn is_replay_only(&self, limits: VerdictLimits<'_>, sample: &Sample) -> bool {
        self.compactions_until(sample) > 0 && !limits.reaches_trigger(sample)
    }

    /// Counts the recorded compactions before a call.
    fn compactions_until(&self, sample: &Sample) -> usize {
        let compactions = self.case.session.compactions.iter();
        compactions.filter(|c| c.call <= sample.call).count()
    }

    /// Adds `Without its recorded compaction, the session would cross the trigger of claude-code (167k) at call 37.`
    fn write_replay_only(&mut self, limits: VerdictLimits<'_>, sample: &Sample) {
        let ending = plural(self.compactions_until(sample), "compaction");
        let (name, trigger) = (limits.trigger.name(), limits.shown_trigger(sample));
        self.push(format!(
            " Without its recorded compaction{ending}, the session would cross {name} ({trigger}) at "
        ));
        self.push_call(sample.call);
        self.push(".");
    }

    /// Adds `The output reserve (32k) leaves no usable tokens in the window (20k) at call 1: lower the reserve or
    /// enlarge the window.`
    fn write_nothing_usable(&mut self, limits: VerdictLimits<'_>, sample: &Sample) {
        let (reserve, window) = (limits.output_reserve.short(), sample.window.short());
        self.push(format!(
            " The output reserve ({reserve}) leaves no usable tokens in the window ({window}) at "
        ));
        self.push_call(sample.call);
        self.push(": lower the reserve or enlarge the window.");
    }

    /// Adds `Never reached the trigger of truncate (126k).`
    fn write_trigger_not_reached(
        &mut self,
        limits: VerdictLimits<'_>,
        peak: Peak,
        sample: &Sample,
    ) {
        let is_reached_at_end = peak.call.is_none() && peak.tokens >= limits.trigger(sample);
        let end = if is_reached_at_end { " before the end" } else { "" };
        let (name, trigger) = (limits.trigger.name(), limits.shown_trigger(sample));
        self.push(format!(" Never reached {name} ({trigger}){end}."));
    }

    /// Adds `picoclaw compacts from call 9 on, below its trigger of 98.3k tokens.` Such a policy has other triggers,
    /// too.
    fn write_first_compaction(&mut self, compaction: &FirstCompaction, trigger: &Trigger) {
        self.push(format!(" {} compacts from ", compaction.lane));
        self.push_call(compaction.call);
        match &trigger.lane {
            Some(lane) if lane.name == compaction.lane && lane.call.is_none() => {
                let tokens = lane.tokens.short();
                self.push(format!(" on, below its trigger of {tokens} tokens."));
            }
            _ => self.push(" on."),
        }
    }

    /// Adds `Crossed the trigger (126k) at call 212: read main.ts (message 421, +12.8k).`
    fn write_crossing(&mut self, limit: &str, samples: &[Sample], sample: &Sample) {
        self.push(format!(" Crossed {limit} at "));
        self.push_call(sample.call);
        match culprit(self.case, samples, sample) {
            Some(Culprit::Message(message)) => {
                self.push(": ");
                self.push_message(message);
            }
            Some(Culprit::Base(base)) => {
                let base = self.estimated(base);
                self.push(format!(": system prompt and tools alone are {base}."));
            }
            Some(Culprit::Beginning(n)) => {
                self.push(format!(", which began with {}.", counted(n, "message")));
            }
            None => self.push("."),
        }
    }

    /// Adds `read main.ts (message 421, +12.8k).`, linked to the message, with the message's tokens.
    fn push_message(&mut self, message: usize) {
        let about = self.case.ledger.accuracy.mark();
        let grown = self.case.ledger.message(message).short();
        let name = MessageName::of(self.case, message);
        let number =
            if name.has_number() { String::new() } else { format!("message {}, ", message + 1) };
        self.push_link(name.to_string(), Link::Message(message));
        self.push(format!(" ({number}{about}+{grown})."));
    }

    /// Adds the call after the last one if it would overflow. Sessions often end there, and no recorded call shows the
    /// cause.
    fn write_next_call(&mut self, recorded: &Outcome, limits: VerdictLimits<'_>) {
        let session = &self.case.session;
        let (Some(last), Some(sample)) = (session.calls.last(), recorded.samples.last()) else {
            return;
        };
        let (tokens, window) = (recorded.end, sample.window);
        let is_whole = recorded.samples.len() == session.calls.len();
        if self.severity == Severity::Bad || !is_whole || tokens <= limits.usable(sample) {
            return;
        }
        self.raise_severity(if tokens > window { Severity::Bad } else { Severity::Warning });
        let share = whole_percent(tokens.share_of(window));
        let since = last.context_end..session.messages.len();
        let (needed, window) = (self.estimated(tokens), window.short());
        self.push(format!(
            " The file ends before the next call, which would need {needed}, {share} of the {window} window"
        ));
        if let Some(message) = heaviest_message(self.case, since) {
            self.push(": ");
            self.push_message(message);
        } else {
            self.push(".");
        }
    }

    /// Adds `2 compactions recorded.`
    fn write_compactions(&mut self) {
        let recorded = &self.case.session.compactions;
        let Some(first) = recorded.first() else {
            return;
        };
        let last_call = self.case.session.calls.len().saturating_sub(1);
        self.push(" ");
        self.push_link(
            counted(recorded.len(), "compaction"),
            Link::Call(first.call.min(last_call)),
        );
        self.push(" recorded.");
    }

    /// Adds `The 26 tools of github (8.27k) were never used.` for MCP servers whose definitions are a large part of the peak.
    fn write_unused_servers(&mut self, peak: Peak) {
        let unused = unused_servers(self.case);
        let tokens: Tokens = unused.iter().map(|server| server.tokens).sum();
        if tokens.share_of(peak.tokens).0 < MIN_UNUSED {
            return;
        }
        let Some(first) = unused.first() else {
            return;
        };
        let tools: usize = unused.iter().map(|server| server.tools).sum();
        let servers = match &unused[..] {
            [one] => one.name.clone(),
            all => counted(all.len(), "MCP server"),
        };
        let (tools, tokens) = (counted(tools, "tool"), self.estimated(tokens));
        self.push(" The ");
        self.push_link(format!("{tools} of {servers}"), Link::Message(first.message));
        self.push(format!(" ({tokens}) were in every call and never used."));
    }

    fn is_reported(&self, sample: &Sample) -> bool {
        self.case.session.calls.get(sample.call).is_some_and(|s| s.reported_size().is_some())
    }

    /// Formats tokens that are not reported, with `≈` before an estimate.
    fn estimated(&self, tokens: Tokens) -> String {
        format!("{}{}", self.case.ledger.accuracy.mark(), tokens.short())
    }
}

#[cfg(test)]
mod lane_trigger_tests;
#[cfg(test)]
mod tests;
