//! The first sentence about a session: where it peaked, where it crossed, and which message did it.
//!
//! It speaks about what really happened, with the tokens that the provider reported where it did.

use super::trigger::FirstCompaction;
use super::{MessageName, Trigger};
use crate::engine::{Case, Outcome, Peak, Sample};
use crate::session::{Kind, Role};
use crate::tokens::Basis;
use crate::units::Tokens;
use std::ops::Range;

/// One sentence about a session: where it peaked, where it crossed trigger and window, which message did it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Its pieces, in order, spaces and full stops included.
    pub clauses: Vec<Clause>,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad it is what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It never reached the trigger.
    #[default]
    Ok,
    /// It crossed the trigger.
    Warning,
    /// A call did not fit in usable or window, or the next one would not.
    Bad,
}

/// A piece of the sentence: plain words, or the one noun that leads to where it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// Its text.
    pub text: String,
    /// What a click selects.
    pub link: Option<Link>,
}

/// What a click on a clause selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A step's index.
    Step(usize),
    /// A message's index.
    Message(usize),
    /// The messages that were carried longest; the heaviest of them.
    Carried(usize),
    /// What the provider's cache did; the step to begin with.
    Cache(Option<usize>),
    /// How tokens are counted.
    Count,
}

impl Verdict {
    /// The whole sentence.
    pub fn text(&self) -> String {
        self.clauses.iter().map(|c| c.text.as_str()).collect()
    }
}

/// The verdict over what really happened (`recorded`), against a trigger.
pub fn verdict(
    case: &Case,
    recorded: &Outcome,
    output_reserve: Tokens,
    trigger: &Trigger,
) -> Verdict {
    let mut said = Sentence {
        case,
        clauses: Vec::new(),
        severity: Severity::Ok,
    };
    let limits = Limits {
        output_reserve,
        trigger,
    };
    if let Some(peak) = recorded.peak() {
        said.peak(recorded, peak);
        said.crossings(recorded, limits, peak);
        said.unanswered(recorded, limits);
        said.compactions();
    } else {
        let total = said.tokens(case.ledger.total(), false);
        said.say(format!("No model call in this file; it weighs {total}."));
    }
    Verdict {
        clauses: said.clauses,
        severity: said.severity,
    }
}

/// What a call may cross.
#[derive(Clone, Copy)]
struct Limits<'a> {
    output_reserve: Tokens,
    trigger: &'a Trigger,
}

impl Limits<'_> {
    fn usable(self, sample: &Sample) -> Tokens {
        sample.window - self.output_reserve
    }

    /// The trigger in true tokens.
    fn trigger(self, sample: &Sample) -> Tokens {
        Tokens((self.usable(sample).as_f64() * self.trigger.share.0).ceil() as u64)
    }

    /// The trigger as it is shown: in tokens of the policy's own count.
    fn shown_trigger(self, sample: &Sample) -> String {
        let lane = self.trigger.lane.as_ref();
        lane.map_or_else(|| self.trigger(sample), |lane| lane.tokens)
            .short()
    }
}

/// The sample of a peak; the last for one at the end.
fn sample_at(samples: &[Sample], peak: Peak) -> Option<&Sample> {
    match peak.step {
        Some(step) => samples.iter().find(|sample| sample.step == step),
        None => samples.last(),
    }
}

/// The pieces so far.
struct Sentence<'a> {
    case: &'a Case,
    clauses: Vec<Clause>,
    severity: Severity,
}

impl Sentence<'_> {
    /// Plain words; each sentence but the first begins with a space.
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

    fn call(&mut self, step: usize) {
        self.link(format!("call {}", step + 1), Link::Step(step));
    }

    fn is(&mut self, severity: Severity) {
        self.severity = self.severity.max(severity);
    }

    fn peak(&mut self, recorded: &Outcome, peak: Peak) {
        let Some(sample) = sample_at(&recorded.samples, peak) else {
            return;
        };
        let window = sample.window.short();
        let share = percent(peak.tokens, sample.window);
        let is_reported = peak.step.is_some() && self.is_reported(sample);
        let tokens = self.tokens(peak.tokens, is_reported);
        let place = match peak.step {
            Some(step) => format!("call {}", step + 1),
            None => "the end".to_owned(),
        };
        self.say("Peaked at ");
        self.link(format!("{share} of {window}"), Link::Step(sample.step));
        self.say(format!(" ({tokens}) at {place}."));
    }

    fn crossings(&mut self, recorded: &Outcome, limits: Limits<'_>, peak: Peak) {
        let samples = &recorded.samples;
        let over_trigger = match &limits.trigger.lane {
            Some(lane) => samples.iter().find(|s| Some(s.step) == lane.step),
            None => samples.iter().find(|s| s.tokens >= limits.trigger(s)),
        };
        let over_usable = samples.iter().find(|s| s.tokens > limits.usable(s));
        let over_window = samples.iter().find(|s| s.tokens > s.window);
        // One step may cross both; its message is named once.
        let is_both = over_trigger.is_some_and(|t| over_window.is_some_and(|w| w.step == t.step));
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
            let end = if peak.tokens >= trigger && peak.step.is_none() {
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
                self.call(sample.step);
                self.say(".");
            }
            _ => {}
        }
    }

    /// Adds "picoclaw compacts from call 9 on, below its trigger of 98.3k tokens.": it has other triggers, too.
    fn compacts(&mut self, compaction: &FirstCompaction, trigger: &Trigger) {
        self.say(format!(" {} compacts from ", compaction.lane));
        self.call(compaction.step);
        match &trigger.lane {
            Some(lane) if lane.name == compaction.lane && lane.step.is_none() => {
                let tokens = lane.tokens.short();
                self.say(format!(" on, below its trigger of {tokens} tokens."));
            }
            _ => self.say(" on."),
        }
    }

    /// "Crossed the trigger (126k) at call 212: read main.ts (+12.8k)."
    fn crossed(&mut self, what: &str, samples: &[Sample], sample: &Sample) {
        self.say(format!(" Crossed {what} at "));
        self.call(sample.step);
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

    /// `read main.ts (+12.8k).`, linked to the message, with all that the message weighs.
    fn heavy(&mut self, message: usize) {
        let is_estimate = self.case.ledger.basis == Basis::Estimated;
        let about = if is_estimate { "≈" } else { "" };
        let grown = self.case.ledger.message(message).short();
        let name = MessageName::of(self.case, message).to_string();
        self.link(name, Link::Message(message));
        self.say(format!(" ({about}+{grown})."));
    }

    /// A session often ends because the next call did not fit: then no call shows what sank it.
    fn unanswered(&mut self, recorded: &Outcome, limits: Limits<'_>) {
        let session = &self.case.session;
        let (Some(last), Some(sample)) = (session.steps.last(), recorded.samples.last()) else {
            return;
        };
        let (tokens, window) = (recorded.context.tokens(), sample.window);
        let is_whole = recorded.samples.len() == session.steps.len();
        if self.severity == Severity::Bad || !is_whole || tokens <= limits.usable(sample) {
            return;
        }
        self.is(Severity::Bad);
        let share = percent(tokens, window);
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
        let last_step = self.case.session.steps.len().saturating_sub(1);
        let plural = if recorded.len() == 1 { "" } else { "s" };
        self.say(" ");
        self.link(
            format!("{} compaction{plural}", recorded.len()),
            Link::Step(first.step.min(last_step)),
        );
        self.say(" recorded.");
    }

    fn is_reported(&self, sample: &Sample) -> bool {
        self.case
            .session
            .steps
            .get(sample.step)
            .is_some_and(|s| s.usage.is_some())
    }

    /// An estimate says so.
    fn tokens(&self, tokens: Tokens, is_reported: bool) -> String {
        let is_estimate = !is_reported && self.case.ledger.basis == Basis::Estimated;
        format!("{}{}", if is_estimate { "≈" } else { "" }, tokens.short())
    }
}

/// What made a step cross.
enum Culprit {
    /// The heaviest message that was new.
    Message(usize),
    /// What no message holds, which came with this step: system prompt and tools.
    Base(Tokens),
    /// So many messages at once, none of which stands out.
    Beginning(usize),
}

/// A call may begin with a long history: a message, or what no message holds, is to blame only if it is so much of it.
const STANDS_OUT: f64 = 0.25;

fn culprit(case: &Case, samples: &[Sample], sample: &Sample) -> Option<Culprit> {
    let step = sample.step;
    if step >= case.session.steps.len() {
        return None;
    }
    let before = step.checked_sub(1).and_then(|step| samples.get(step));
    let base = base(sample);
    let base_grown = base - before.map_or(Tokens::ZERO, self::base);
    let new = case.session.new_messages(step);
    let heaviest = heaviest_message(case, new.clone());
    let weight = heaviest.map_or(Tokens::ZERO, |message| case.ledger.message(message));
    // A call may begin with much that was said before: what is a small part of it did not make it cross.
    let grown = sample.tokens - before.map_or(Tokens::ZERO, |before| before.tokens);
    if base_grown > weight && base_grown.share_of(grown).0 >= STANDS_OUT {
        return Some(Culprit::Base(base));
    }
    let message = heaviest?;
    if step == 0 && weight.share_of(sample.tokens).0 < STANDS_OUT {
        let spoken = new.filter(|m| is_spoken(case, *m)).count();
        return Some(Culprit::Beginning(spoken));
    }
    Some(Culprit::Message(message))
}

/// System prompt, tools and what the file does not hold.
fn base(sample: &Sample) -> Tokens {
    [Kind::System, Kind::Tools]
        .map(|kind| Tokens::from(sample.by_kind[kind.index()]))
        .into_iter()
        .sum()
}

fn is_spoken(case: &Case, message: usize) -> bool {
    let message = &case.session.messages[message];
    message.in_history && message.role != Role::System
}

/// The first of the heaviest messages that people, model or tools wrote.
fn heaviest_message(case: &Case, messages: Range<usize>) -> Option<usize> {
    messages.filter(|m| is_spoken(case, *m)).reduce(|a, b| {
        if case.ledger.message(b) > case.ledger.message(a) {
            b
        } else {
            a
        }
    })
}

/// 92 %, <1 %: a little is not nothing.
fn percent(tokens: Tokens, window: Tokens) -> String {
    let value = tokens.share_of(window).0 * 100.0;
    if tokens > Tokens::ZERO && value < 0.5 {
        "<1 %".to_owned()
    } else {
        format!("{value:.0} %")
    }
}

#[cfg(test)]
mod tests;
