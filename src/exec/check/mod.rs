//! Whether a written export holds what was promised: it is read again and compared, one small check after another.

use crate::engine::Case;
use crate::formats::{self, Format, Input};
use crate::session::{
    Body, Kind, Managed, ManagedEntry, ManagedPart, Message, Role, Session, issues, kind_of,
};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One check of a written export.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// It holds.
    pub ok: bool,
    /// Figures, or what is wrong.
    pub detail: String,
}

impl Check {
    /// A check that does not hold, and why.
    pub fn failed(name: &'static str, why: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            detail: why.into(),
        }
    }
}

/// What an export promises.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise<'a> {
    /// The session it was made from.
    pub case: &'a Case,
    /// What was to be written.
    pub managed: &'a Managed,
    /// True tokens of the executed context, overhead included.
    pub tokens: Tokens,
    /// Of these, what no file holds.
    pub overhead: Tokens,
    /// How it was to be written.
    pub format: &'static Format,
}

impl Promise<'_> {
    fn is_same_format(&self) -> bool {
        self.format.name == self.case.session.source.format
    }
}

/// Reads the written bytes and runs every check.
pub(super) fn all(promise: &Promise<'_>, bytes: Vec<u8>) -> Vec<Check> {
    let read = match read_back(promise, bytes) {
        Ok(read) => read,
        Err(why) => return vec![Check::failed("reads back", why)],
    };
    let ledger = promise.case.ledger.recount(&read);
    let mut checks = vec![pairs(promise, &read), roles(promise, &read)];
    if promise.is_same_format() {
        checks.push(kept_bytes(promise, &read));
    }
    checks.push(tokens(promise, &read, &ledger));
    checks.push(unique_ids(promise, &read));
    checks
}

fn read_back(promise: &Promise<'_>, bytes: Vec<u8>) -> Result<Session, String> {
    let name = promise.case.session.source.name.clone();
    let parsed = formats::parse(&Input {
        name,
        bytes: Arc::from(bytes),
    })
    .map_err(|refused| refused.to_string())?;
    let session = parsed
        .sessions
        .into_iter()
        .next()
        .ok_or("it holds no conversation")?;
    if session.source.format == promise.format.name {
        Ok(session)
    } else {
        Err(format!(
            "it reads as {} instead of {}",
            session.source.format, promise.format.name
        ))
    }
}

/// Calls and results are paired as well as they were in the source.
fn pairs(promise: &Promise<'_>, read: &Session) -> Check {
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    for issue in issues(&promise.case.session) {
        *known
            .entry((issue.kind.sentence(), issue.call))
            .or_default() += 1;
    }
    let found = issues(read);
    let old = found.len();
    let new: Vec<_> = found
        .into_iter()
        .filter(|issue| !take(&mut known, &(issue.kind.sentence(), issue.call.clone())))
        .collect();
    let calls = read
        .parts
        .iter()
        .filter(|p| matches!(p.body, Body::ToolCall { .. }))
        .count();
    let detail = match new.first() {
        Some(first) => format!(
            "message {}: {} ({})",
            first.message + 1,
            first.kind.sentence(),
            first.call
        ),
        None if old > 0 => format!("{calls} calls; {old} unpaired as in the source"),
        None => format!("{calls} calls, each with its result"),
    };
    Check {
        name: "pairs",
        ok: new.is_empty(),
        detail,
    }
}

/// Takes one of the known; false where there was none.
fn take<K: std::hash::Hash + Eq>(known: &mut HashMap<K, usize>, key: &K) -> bool {
    match known.get_mut(key) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    }
}

/// A person speaks first, and nobody says nothing, except where the source has it so.
fn roles(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let first = first_speaker(read);
    if first != Some(Role::User) && first_speaker(source) == Some(Role::User) {
        let who = first.map_or("nobody", Role::name);
        return Check::failed(
            "roles",
            format!("the conversation begins with {who}, not with the user"),
        );
    }
    let empty: Vec<usize> = empty_messages(read);
    if empty.len() > empty_messages(source).len() {
        let message = empty.first().map_or(0, |idx| idx + 1);
        return Check::failed("roles", format!("message {message} is empty"));
    }
    let begins = first.map_or("nobody", Role::name);
    Check {
        name: "roles",
        ok: true,
        detail: format!("{} messages, the first by {begins}", read.messages.len()),
    }
}

fn first_speaker(session: &Session) -> Option<Role> {
    session
        .messages
        .iter()
        .map(|m| m.role)
        .find(|role| *role != Role::System)
}

fn empty_messages(session: &Session) -> Vec<usize> {
    let is_empty = |m: &Message| {
        session
            .parts_of(m)
            .iter()
            .all(|p| matches!(&p.body, Body::Text(text) if text.trim().is_empty()))
    };
    session
        .messages
        .iter()
        .enumerate()
        .filter(|(_, m)| is_empty(m))
        .map(|(idx, _)| idx)
        .collect()
}

/// Every record of an untouched message is read back byte for byte.
fn kept_bytes(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let written: HashSet<&[u8]> = read
        .messages
        .iter()
        .flat_map(|m| &m.raw)
        .map(|span| read.raw(span))
        .collect();
    let mut kept = 0;
    for entry in &promise.managed.entries {
        let ManagedEntry::Kept { message } = entry else {
            continue;
        };
        if !source.messages[*message]
            .raw
            .iter()
            .all(|span| written.contains(source.raw(span)))
        {
            return Check::failed(
                "kept bytes",
                format!(
                    "message {} was not touched, but its bytes changed",
                    message + 1
                ),
            );
        }
        kept += 1;
    }
    Check {
        name: "kept bytes",
        ok: true,
        detail: format!("{kept} untouched messages are byte for byte as in the source"),
    }
}

/// The file weighs what was promised. Another format frames and carries things differently, which is then named.
fn tokens(promise: &Promise<'_>, read: &Session, ledger: &TokenLedger) -> Check {
    let measured: Tokens = context_messages(read)
        .into_iter()
        .map(|idx| ledger.message(idx))
        .sum();
    let measured = measured + promise.overhead;
    let figures = format!("promised {}, measured {}", promise.tokens.0, measured.0);
    if measured == promise.tokens {
        return Check {
            name: "tokens",
            ok: true,
            detail: figures,
        };
    }
    if promise.is_same_format() {
        return Check::failed("tokens", figures);
    }
    let differences = differences(&promised_groups(promise), &measured_groups(read, ledger));
    let ok = differences.iter().all(|d| d.is_explained(promise.tokens));
    let named: Vec<String> = differences.iter().map(Difference::to_string).collect();
    Check {
        name: "tokens",
        ok,
        detail: format!(
            "{figures}; {} holds {}",
            promise.format.label,
            named.join(", ")
        ),
    }
}

/// Messages of the last real context: all that was said since the last compaction, and what that left.
fn context_messages(session: &Session) -> Vec<usize> {
    let (kept, start) = match session.compactions.last() {
        Some(last) => (last.kept.clone(), last.before_message),
        None => (Vec::new(), 0),
    };
    let since = (start..session.messages.len())
        .filter(|idx| session.messages[*idx].in_history && !kept.contains(idx));
    kept.iter().copied().chain(since).collect()
}

/// What formats may carry differently, each summed by itself.
const GROUPS: [&str; 6] = [
    "text",
    "tool definitions",
    "thinking",
    "tool calls",
    "tool results",
    "media",
];
const THINKING: usize = 2;
const MEDIA: usize = 5;

fn group(kind: Kind) -> usize {
    match kind {
        Kind::System | Kind::User | Kind::Assistant | Kind::Summary | Kind::Notice => 0,
        Kind::Tools => 1,
        Kind::Thinking => THINKING,
        Kind::ToolCall => 3,
        Kind::ToolResult => 4,
        Kind::Media => MEDIA,
    }
}

fn promised_groups(promise: &Promise<'_>) -> [u64; GROUPS.len()] {
    let (session, ledger) = (&promise.case.session, &promise.case.ledger);
    let mut sums = [0; GROUPS.len()];
    let mut add = |message: usize, part: usize, tokens: Tokens| {
        sums[group(kind_of(&session.messages[message], &session.parts[part]))] += tokens.0;
    };
    for entry in &promise.managed.entries {
        match entry {
            ManagedEntry::Kept { message } => {
                session.messages[*message]
                    .parts
                    .clone()
                    .for_each(|part| add(*message, part, ledger.part(part)));
            }
            ManagedEntry::Edited { message, parts } => parts.iter().for_each(|fate| match fate {
                ManagedPart::Kept { part } => add(*message, *part, ledger.part(*part)),
                ManagedPart::Replaced { part, text } => add(*message, *part, ledger.weigh(text)),
            }),
            ManagedEntry::Written { .. } => {}
        }
    }
    let written = promise
        .managed
        .entries
        .iter()
        .filter_map(|entry| match entry {
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

/// What the export holds more or less of than the promise.
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

impl Difference {
    /// Reasoning and media cannot go everywhere; all else may only be framed differently, by a fiftieth at most.
    fn is_explained(&self, whole: Tokens) -> bool {
        let is_left_out = matches!(self.group, THINKING | MEDIA) && self.measured < self.promised;
        is_left_out || self.promised.abs_diff(self.measured) * 50 <= whole.0
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.measured > self.promised {
            "more"
        } else {
            "less"
        };
        write!(
            f,
            "{} {more} of {}",
            self.promised.abs_diff(self.measured),
            GROUPS[self.group]
        )
    }
}

/// No two messages and no two calls share an id, except where they do in the source.
fn unique_ids(promise: &Promise<'_>, read: &Session) -> Check {
    let known: HashSet<String> = repeated_ids(&promise.case.session).into_iter().collect();
    let repeated: Vec<String> = repeated_ids(read)
        .into_iter()
        .filter(|id| !known.contains(id))
        .collect();
    let detail = match repeated.first() {
        Some(id) => format!("{id} stands for more than one"),
        None => "no id stands for two messages or two calls".to_owned(),
    };
    Check {
        name: "ids unique",
        ok: repeated.is_empty(),
        detail,
    }
}

fn repeated_ids(session: &Session) -> Vec<String> {
    let messages = session
        .messages
        .iter()
        .filter_map(|m| m.id.as_deref())
        .map(|id| format!("message {id}"));
    let calls = session.parts.iter().filter_map(|p| match &p.body {
        Body::ToolCall { call, .. } => Some(format!("call {call}")),
        _ => None,
    });
    let mut seen = HashSet::new();
    messages
        .chain(calls)
        .filter(|id| !seen.insert(id.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
