//! Checks that the file has the intended number of tokens.

use super::contents;
use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::figure::{grouped, tokens};
use crate::json::Value;
use crate::session::{Body, Kind, ManagedEntry, ManagedPart, Session, kind_of};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::HashMap;

const NAME: &str = "tokens";

/// In the same format, the count must be equal, except for reasoning: reported tokens of reasoning are not part of its
/// record, which other checks compare. Another format has a different framing: then the contents must be equal, and the
/// difference of the counts is reported.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let ledger = promise.case.ledger.recount(read);
    let measured: Tokens = context_messages(read).into_iter().map(|idx| ledger.message(idx)).sum();
    let measured = measured + promise.overhead;
    let (promised, found) = (promised_groups(promise), measured_groups(read, &ledger));
    let replaced = groups(promise, &promise.managed.entries).iter().sum::<u64>();
    let replaced = replaced.saturating_sub(promised.iter().sum());
    let expected = Tokens(promise.tokens.0.saturating_sub(replaced));
    let figures = format!("expected {}, measured {}", tokens(expected), tokens(measured));
    if promise.is_same_format() {
        let expected = (promise.tokens.0 + found[THINKING]).saturating_sub(promised[THINKING]);
        let (of_promise, of_file) = rewritten_arguments(promise, read, &ledger);
        let expected = (expected + of_file.0).saturating_sub(of_promise.0);
        let figures = if promised[THINKING] == found[THINKING] {
            figures
        } else {
            format!("{figures}; the reported tokens of reasoning are in removed records")
        };
        return if measured.0 == expected {
            Check::passed(NAME, figures)
        } else {
            Check::failed(NAME, figures)
        };
    }
    if let Some(difference) = contents::difference(promise, read) {
        return Check::failed(NAME, format!("{figures}; {difference}"));
    }
    let differences = differences(&promised, &found);
    if differences.is_empty() {
        return Check::passed(NAME, figures);
    }
    let named: Vec<String> = differences.iter().map(Difference::to_string).collect();
    let label = promise.format.label;
    Check::passed(
        NAME,
        format!(
            "{figures}; all texts, calls and results are present, but {label} formats differently or omits: {}",
            named.join(", ")
        ),
    )
}

/// Returns the tokens of rewritten arguments in the managed conversation and in the file, which may write equal
/// arguments with other spaces. An argument that is not an object becomes a member of one.
fn rewritten_arguments(
    promise: &Promise<'_>,
    read: &Session,
    ledger: &TokenLedger,
) -> (Tokens, Tokens) {
    let mut written: HashMap<&str, (usize, &str)> = HashMap::new();
    for idx in context_messages(read) {
        for part in read.messages[idx].parts.clone() {
            if let Body::ToolCall { call, arguments, .. } = &read.parts[part].body {
                written.insert(&**call, (part, &**arguments));
            }
        }
    }
    let (mut of_promise, mut of_file) = (Tokens::ZERO, Tokens::ZERO);
    let session = &promise.case.session;
    let edited = promise.managed.entries.iter().filter_map(|entry| match entry {
        ManagedEntry::Edited { parts, .. } => Some(parts),
        _ => None,
    });
    for part in edited.flatten() {
        let ManagedPart::Replaced { part, text } = part else {
            continue;
        };
        let Body::ToolCall { call, tool, .. } = &session.parts[*part].body else {
            continue;
        };
        if let Some((place, found)) = written.get(&**call)
            && are_equal_arguments(text, found)
        {
            of_promise += promise.case.ledger.weigh_call(tool, text);
            of_file += ledger.part(*place);
        }
    }
    (of_promise, of_file)
}

fn are_equal_arguments(promised: &str, found: &str) -> bool {
    let value = |text: &str| crate::json::from_str(text).unwrap_or_default();
    match (value(promised), value(found)) {
        (promised @ Value::Object(_), found) => promised == found,
        (_, found) => found["text"] == promised,
    }
}

/// Groups of parts that formats may represent differently.
const GROUPS: [&str; 6] =
    ["text", "tool definitions", "thinking", "tool calls", "tool results", "media"];

/// Index of the group of tool definitions.
const TOOLS: usize = 1;
/// Index of the group of reasoning.
const THINKING: usize = 2;

fn group(kind: Kind) -> usize {
    match kind {
        Kind::System | Kind::User | Kind::Assistant | Kind::Summary | Kind::Notice => 0,
        Kind::Tools => TOOLS,
        Kind::Thinking => THINKING,
        Kind::ToolCall => 3,
        Kind::ToolResult => 4,
        Kind::Media => 5,
    }
}

/// Returns the tokens of the managed conversation without what the program of the file replaces by its own.
pub(super) fn promised_groups(promise: &Promise<'_>) -> [u64; GROUPS.len()] {
    let mut sums = groups(promise, &promise.managed.entries[promise.n_replaced()..]);
    if promise.format.has_own_instructions(&promise.case.session) {
        sums[TOOLS] = 0;
    }
    sums
}

fn groups(promise: &Promise<'_>, entries: &[ManagedEntry]) -> [u64; GROUPS.len()] {
    let (session, ledger) = (&promise.case.session, &promise.case.ledger);
    let mut sums = [0; GROUPS.len()];
    let mut add = |message: usize, part: usize, tokens: Tokens| {
        sums[group(kind_of(&session.messages[message], &session.parts[part]))] += tokens.0;
    };
    for entry in entries {
        match entry {
            ManagedEntry::Kept { message } => {
                session.messages[*message]
                    .parts
                    .clone()
                    .for_each(|part| add(*message, part, ledger.part(part)));
            }
            ManagedEntry::Edited { message, parts } => parts.iter().for_each(|part| match part {
                ManagedPart::Kept { part } => add(*message, *part, ledger.part(*part)),
                ManagedPart::Replaced { part, text } => {
                    let tokens = match &session.parts[*part].body {
                        Body::ToolCall { tool, .. } => ledger.weigh_call(tool, text),
                        _ => ledger.weigh(text),
                    };
                    add(*message, *part, tokens);
                }
            }),
            ManagedEntry::Written { .. } => {}
        }
    }
    let written = entries.iter().filter_map(|entry| match entry {
        ManagedEntry::Written { text, .. } => Some(ledger.weigh(text).0),
        _ => None,
    });
    sums[0] += written.sum::<u64>();
    sums
}

fn measured_groups(read: &Session, ledger: &TokenLedger) -> [u64; GROUPS.len()] {
    let mut sums = [0; GROUPS.len()];
    for idx in context_messages(read) {
        let message = &read.messages[idx];
        for part in message.parts.clone() {
            sums[group(kind_of(message, &read.parts[part]))] += ledger.part(part).0;
        }
    }
    sums
}

/// A difference of the tokens of a group.
struct Difference {
    group: usize,
    promised: u64,
    measured: u64,
}

fn differences(promised: &[u64], measured: &[u64]) -> Vec<Difference> {
    let pairs = promised.iter().zip(measured).enumerate();
    pairs
        .filter(|(_, (promised, measured))| promised != measured)
        .map(|(group, (promised, measured))| Difference {
            group,
            promised: *promised,
            measured: *measured,
        })
        .collect()
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.measured > self.promised { "more" } else { "less" };
        write!(
            f,
            "{} {more} of {}",
            grouped(self.promised.abs_diff(self.measured)),
            GROUPS[self.group]
        )
    }
}
