//! The first sentence about a session: where it peaked, where it crossed, and which message did it.
//!
//! It speaks about what really happened, with the tokens that the provider reported where it did.

use crate::engine::{Case, Outcome, Sample};
use crate::session::{Body, Session};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};
use serde_json::Value;
use std::ops::Range;

/// One sentence about a session: where it peaked, where it crossed trigger and window, which message did it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Its clauses, in order; shown joined by a space.
    pub clauses: Vec<Clause>,
}

/// A piece of the sentence.
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
}

impl Verdict {
    /// The whole sentence.
    pub fn text(&self) -> String {
        self.clauses
            .iter()
            .map(|c| c.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The verdict over what really happened (`recorded`), against a trigger as a share of usable.
pub fn verdict(case: &Case, recorded: &Outcome, output_reserve: Tokens, trigger: Share) -> Verdict {
    let mut said = Sentence {
        case,
        clauses: Vec::new(),
    };
    let limits = Limits {
        output_reserve,
        trigger,
    };
    if let Some(peak) = highest(&recorded.samples) {
        said.peak(peak);
        said.crossings(&recorded.samples, limits, peak);
        said.unanswered(recorded, limits);
        said.compactions();
    } else {
        let total = said.tokens(case.ledger.total(), false);
        said.say(
            format!("No model call in this file; it weighs {total}."),
            None,
        );
    }
    Verdict {
        clauses: said.clauses,
    }
}

/// What a call may cross.
#[derive(Clone, Copy)]
struct Limits {
    output_reserve: Tokens,
    trigger: Share,
}

impl Limits {
    fn usable(self, sample: &Sample) -> Tokens {
        sample.window - self.output_reserve
    }

    fn trigger(self, sample: &Sample) -> Tokens {
        Tokens((self.usable(sample).as_f64() * self.trigger.0).ceil() as u64)
    }
}

/// The first of the highest samples.
fn highest(samples: &[Sample]) -> Option<&Sample> {
    samples
        .iter()
        .reduce(|a, b| if b.tokens > a.tokens { b } else { a })
}

/// The clauses so far.
struct Sentence<'a> {
    case: &'a Case,
    clauses: Vec<Clause>,
}

impl Sentence<'_> {
    fn say(&mut self, text: String, link: Option<Link>) {
        self.clauses.push(Clause { text, link });
    }

    fn peak(&mut self, sample: &Sample) {
        let percent = sample.tokens.share_of(sample.window).0 * 100.0;
        let (peak, window) = (
            self.tokens(sample.tokens, self.is_reported(sample)),
            sample.window.short(),
        );
        let call = sample.step + 1;
        self.say(
            format!("Peaked at {percent:.0} % of {window} ({peak}) at call {call}."),
            Some(Link::Step(sample.step)),
        );
    }

    fn crossings(&mut self, samples: &[Sample], limits: Limits, peak: &Sample) {
        let over_trigger = samples.iter().find(|s| s.tokens >= limits.trigger(s));
        let over_usable = samples.iter().find(|s| s.tokens > limits.usable(s));
        let over_window = samples.iter().find(|s| s.tokens > s.window);
        // One step may cross both; its message is named once.
        let is_both = over_trigger.is_some_and(|t| over_window.is_some_and(|w| w.step == t.step));
        match over_trigger {
            Some(sample) => {
                let window = if is_both {
                    format!(" and the window ({})", sample.window.short())
                } else {
                    String::new()
                };
                self.crossed(
                    &format!("trigger ({}){window}", limits.trigger(sample).short()),
                    sample,
                );
            }
            None => self.say(
                format!(
                    "Never reached the trigger ({}).",
                    limits.trigger(peak).short()
                ),
                None,
            ),
        }
        match (over_usable, over_window) {
            (_, Some(sample)) if !is_both => {
                self.crossed(&format!("window ({})", sample.window.short()), sample);
            }
            (Some(sample), None) => self.cut_into_reserve(sample, limits.usable(sample)),
            _ => {}
        }
    }

    fn cut_into_reserve(&mut self, sample: &Sample, usable: Tokens) {
        let (usable, call) = (usable.short(), sample.step + 1);
        let text = format!("Cut into the output reserve (usable {usable}) at call {call}.");
        self.say(text, Some(Link::Step(sample.step)));
    }

    /// "Crossed the trigger (126k) at call 212:" "read main.ts (+12.8k)."
    fn crossed(&mut self, what: &str, sample: &Sample) {
        let call = sample.step + 1;
        let link = Some(Link::Step(sample.step));
        match heaviest_new_part(self.case, sample.step) {
            Some((message, part)) => {
                let grown = self.tokens(self.case.ledger.part(part), false);
                let name = name_of(&self.case.session, message, part);
                self.say(format!("Crossed the {what} at call {call}:"), link);
                self.say(format!("{name} (+{grown})."), Some(Link::Message(message)));
            }
            None => self.say(format!("Crossed the {what} at call {call}."), link),
        }
    }

    /// A session often ends because the next call did not fit: then no call shows what sank it.
    fn unanswered(&mut self, recorded: &Outcome, limits: Limits) {
        let session = &self.case.session;
        let (Some(last), Some(sample)) = (session.steps.last(), recorded.samples.last()) else {
            return;
        };
        let (tokens, window) = (recorded.context.tokens(), sample.window);
        let is_known = recorded.samples.iter().any(|s| s.tokens > limits.usable(s));
        let is_whole = recorded.samples.len() == session.steps.len();
        if is_known || !is_whole || tokens <= limits.usable(sample) {
            return;
        }
        let percent = tokens.share_of(window).0 * 100.0;
        let since = last.context_end..session.messages.len();
        let culprit = heaviest_part(self.case, since);
        let (needed, window) = (self.tokens(tokens, false), window.short());
        let text = format!(
            "The file ends before the next call, which would need {needed}, {percent:.0} % of {window}"
        );
        match culprit {
            Some((message, part)) => {
                let grown = self.tokens(self.case.ledger.part(part), false);
                let name = name_of(session, message, part);
                self.say(format!("{text}:"), Some(Link::Message(message)));
                self.say(format!("{name} (+{grown})."), Some(Link::Message(message)));
            }
            None => self.say(format!("{text}."), None),
        }
    }

    fn compactions(&mut self) {
        let recorded = &self.case.session.compactions;
        let Some(first) = recorded.first() else {
            return;
        };
        let last_step = self.case.session.steps.len().saturating_sub(1);
        let text = match recorded.len() {
            1 => "1 recorded compaction.".to_owned(),
            n => format!("{n} recorded compactions."),
        };
        self.say(text, Some(Link::Step(first.step.min(last_step))));
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

/// The heaviest part that entered between the step before and this one; with its message.
fn heaviest_new_part(case: &Case, step: usize) -> Option<(usize, usize)> {
    (step < case.session.steps.len())
        .then(|| case.session.new_messages(step))
        .and_then(|new| heaviest_part(case, new))
}

fn heaviest_part(case: &Case, messages: Range<usize>) -> Option<(usize, usize)> {
    let messages = messages.filter(|idx| case.session.messages[*idx].in_history);
    let parts = messages.flat_map(|idx| {
        case.session.messages[idx]
            .parts
            .clone()
            .map(move |part| (idx, part))
    });
    // The first of equals.
    parts.reduce(|a, b| {
        if case.ledger.part(b.1) > case.ledger.part(a.1) {
            b
        } else {
            a
        }
    })
}

/// How a person would call a part: `read main.ts`, `bash cargo test`, `the user's message`.
fn name_of(session: &Session, message: usize, part: usize) -> String {
    let body = &session.parts[part].body;
    let Some((tool, arguments)) = call_of(session, part) else {
        return match body {
            Body::Media { .. } => format!("a picture or document in message {}", message + 1),
            _ => format!(
                "{} message {}",
                session.messages[message].role.name(),
                message + 1
            ),
        };
    };
    match subject(arguments) {
        Some(subject) => format!("{tool} {subject}"),
        None => format!("{tool} in message {}", message + 1),
    }
}

/// Tool and arguments of the call that a part is or answers.
fn call_of(session: &Session, part: usize) -> Option<(&str, &str)> {
    let call_id = match &session.parts[part].body {
        Body::ToolCall {
            tool, arguments, ..
        } => return Some((tool, arguments)),
        Body::ToolResult { call, .. }
        | Body::Media {
            within: Some(call), ..
        } => call,
        _ => return None,
    };
    session.parts[..part]
        .iter()
        .rev()
        .find_map(|p| match &p.body {
            Body::ToolCall {
                call,
                tool,
                arguments,
            } if call == call_id => Some((&**tool, &**arguments)),
            _ => None,
        })
}

/// Arguments that say what a call is about, most telling first; paths are shown by their last component.
const PATHS: [&str; 6] = [
    "file_path",
    "path",
    "filename",
    "file",
    "notebook_path",
    "filePath",
];
const TEXTS: [&str; 6] = ["command", "cmd", "pattern", "query", "url", "description"];

fn subject(arguments: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let text = |key: &&str| match arguments.get(*key)? {
        Value::String(text) => Some(text.clone()),
        // Codex writes commands as words; the last one is what the shell runs.
        Value::Array(words) => words.last()?.as_str().map(str::to_owned),
        _ => None,
    };
    let path = PATHS.iter().find_map(text);
    let subject = match path {
        Some(path) => path
            .trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        None => TEXTS.iter().find_map(text)?,
    };
    let line = subject.lines().next().unwrap_or_default().trim();
    let short: String = line.chars().take(40).collect();
    let cut = if short.len() < line.len() || subject.lines().count() > 1 {
        "…"
    } else {
        ""
    };
    (!short.is_empty()).then(|| format!("{short}{cut}"))
}

#[cfg(test)]
mod tests;
