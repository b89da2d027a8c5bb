//! Calls and their results stand as the provider of the written format wants them.

use super::{Check, Promise, context_messages};
use crate::session::{Body, Message, Part, Role, Session};
use std::collections::{HashMap, HashSet, VecDeque};

/// What a provider refuses about a call or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    /// No result anywhere.
    Unanswered,
    /// Its result does not stand right behind it.
    Apart,
    /// A result that answers no call, or answers one for the second time.
    Orphan,
}

impl Fault {
    const ALL: [Self; 3] = [Self::Unanswered, Self::Apart, Self::Orphan];

    fn sentence(self) -> &'static str {
        match self {
            Self::Unanswered => "without a result",
            Self::Apart => "with the result not right behind",
            Self::Orphan => "answered once too often",
        }
    }
}

/// Something wrong: the message, what, and the call's id.
type Found<'a> = (usize, Fault, &'a str);

/// Every result stands right behind its call, except where the source has it otherwise in the same format.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let context = context_messages(read);
    let found = faults(read, &context);
    let new = if promise.is_same_format() {
        let source = &promise.case.session;
        let all: Vec<usize> = (0..source.messages.len()).collect();
        let new = without_known(&found, &faults(source, &all));
        // The source's own compaction may have separated a pair that its history holds.
        without_known(&new, &faults(source, &context_messages(source)))
    } else {
        found.clone()
    };
    if let Some((message, fault, call)) = new.first() {
        let others = match new.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let why = format!(
            "message {}: call {call} is {}{others}",
            message + 1,
            fault.sentence()
        );
        return Check::failed("pairs", why);
    }
    let parts = context
        .iter()
        .map(|idx| read.parts_of(&read.messages[*idx]));
    let calls: usize = parts.map(|parts| calls_of(parts).count()).sum();
    let place = if is_free(read) {
        "behind"
    } else {
        "right behind"
    };
    let calls = crate::exec::counted(calls, "call");
    if found.is_empty() {
        return Check::passed("pairs", format!("{calls}, every result {place} its call"));
    }
    let what = counted(&found);
    Check::warned(
        "pairs",
        format!("{calls}, {what} as in the source: providers reject this unless it is repaired"),
    )
}

/// What was found beyond what is known of the source.
fn without_known<'a>(found: &[Found<'a>], known: &[Found<'_>]) -> Vec<Found<'a>> {
    let mut left: HashMap<(Fault, String), usize> = HashMap::new();
    for (_, fault, call) in known {
        *left.entry((*fault, (*call).to_owned())).or_default() += 1;
    }
    let is_new = |(_, fault, call): &&Found<'a>| {
        let known = left.get_mut(&(*fault, (*call).to_owned()));
        known.filter(|n| **n > 0).map(|n| *n -= 1).is_none()
    };
    found.iter().filter(is_new).copied().collect()
}

fn counted(found: &[Found<'_>]) -> String {
    let of = |fault: &Fault| {
        let n = found.iter().filter(|(_, other, _)| other == fault).count();
        (n > 0).then(|| format!("{n} {}", fault.sentence()))
    };
    Fault::ALL
        .iter()
        .filter_map(of)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What is wrong among these messages, in their order.
fn faults<'a>(session: &'a Session, order: &[usize]) -> Vec<Found<'a>> {
    let messages: Vec<&Message> = order.iter().map(|idx| &session.messages[*idx]).collect();
    // Results that a call found in its place, by part.
    let mut taken: HashSet<usize> = HashSet::new();
    let mut missed: Vec<(usize, &str)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut calls = calls_of(session.parts_of(message)).peekable();
        if calls.peek().is_none() {
            continue;
        }
        let behind = behind(session, &messages[at + 1..]);
        for call in calls {
            let is_own =
                |(part, answered): &&(usize, &str)| *answered == call && !taken.contains(part);
            match behind.iter().find(is_own) {
                Some((part, _)) => {
                    taken.insert(*part);
                }
                None => missed.push((at, call)),
            }
        }
    }
    let is_left = |(_, (part, _)): &(usize, (usize, &str))| !taken.contains(part);
    let results = messages.iter().enumerate();
    let results = results.flat_map(|(at, m)| results_of(session, m).map(move |r| (at, r)));
    let left = results.filter(is_left).map(|(at, (_, call))| (at, call));
    let mut found = matched(missed, left.collect());
    found.sort_by_key(|(at, ..)| *at);
    found
        .into_iter()
        .filter(|(_, fault, _)| !(is_free(session) && *fault == Fault::Apart))
        .map(|(at, fault, call)| (order[at], fault, call))
        .collect()
}

/// The provider of Codex takes a result wherever it stands behind its call.
fn is_free(session: &Session) -> bool {
    session.source.format == "codex_rollout"
}

/// Calls that found no result in its place, and results that no call found: a result after its call stands apart.
fn matched<'a>(missed: Vec<(usize, &'a str)>, left: Vec<(usize, &'a str)>) -> Vec<Found<'a>> {
    // Where the results of each call stand, in order.
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, call) in &left {
        places.entry(*call).or_default().push_back(*at);
    }
    let mut found = Vec::with_capacity(missed.len());
    for (at, call) in missed {
        let places = places.get_mut(call);
        let later = places.and_then(|places| {
            let first = places.partition_point(|place| *place <= at);
            places.remove(first)
        });
        found.push((at, later.map_or(Fault::Unanswered, |_| Fault::Apart), call));
    }
    for (at, call) in left {
        let is_left = places.get_mut(call).is_some_and(|places| {
            let idx = places.partition_point(|place| *place < at);
            let is_left = places.get(idx) == Some(&at);
            if is_left {
                places.remove(idx);
            }
            is_left
        });
        if is_left {
            found.push((at, Fault::Orphan, call));
        }
    }
    found
}

/// The results that stand where the format's provider looks for those of the message before: for `OpenAI` the messages
/// of tools directly behind it, for Anthropic the head of the next message, for Claude Code, which puts requests
/// together itself, all that is said before the next answer.
fn behind<'a>(session: &'a Session, rest: &[&Message]) -> Vec<(usize, &'a str)> {
    let n = match session.source.format {
        "openai_chat" => rest.iter().take_while(|m| m.role == Role::Tool).count(),
        "anthropic_messages" => rest.iter().take(1).filter(|m| m.role == Role::User).count(),
        _ => rest
            .iter()
            .take_while(|m| m.role != Role::Assistant)
            .count(),
    };
    let is_headed = session.source.format == "anthropic_messages";
    let results = |message: &&Message| {
        let head = if is_headed {
            head(session.parts_of(message))
        } else {
            message.parts.len()
        };
        let end = message.parts.start + head;
        results_of(session, message)
            .take_while(|(part, _)| *part < end)
            .collect::<Vec<_>>()
    };
    rest[..n].iter().flat_map(results).collect()
}

/// How many parts of a message are results, or stand inside of them, before anything else is said.
fn head(parts: &[Part]) -> usize {
    let mut block = None;
    let is_result = |part: &&Part| {
        if matches!(part.body, Body::ToolResult { .. }) {
            block = Some(part.block);
        }
        block == Some(part.block)
    };
    parts.iter().take_while(is_result).count()
}

fn calls_of(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match &part.body {
        Body::ToolCall { call, .. } => Some(&**call),
        _ => None,
    })
}

fn results_of<'a>(
    session: &'a Session,
    message: &Message,
) -> impl Iterator<Item = (usize, &'a str)> {
    let parts = &session.parts;
    message
        .parts
        .clone()
        .filter_map(move |idx| match &parts[idx].body {
            Body::ToolResult { call, .. } => Some((idx, &**call)),
            _ => None,
        })
}
