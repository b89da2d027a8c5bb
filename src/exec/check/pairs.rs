//! Checks that calls and results are arranged as the provider of the format requires.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::figure::counted;
use crate::formats::{self, ResultPosition};
use crate::session::{Body, Message, Part, Role, Session};
use std::collections::{HashMap, HashSet, VecDeque};

/// A fault of a call or a result that providers reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PairingFault {
    /// The call has no result.
    Unanswered,
    /// The result does not directly follow the call.
    Apart,
    /// The result belongs to no call, or to one that has a result.
    Orphan,
}

impl PairingFault {
    const ALL: [Self; 3] = [Self::Unanswered, Self::Apart, Self::Orphan];

    fn description(self) -> &'static str {
        match self {
            Self::Unanswered => "without a result",
            Self::Apart => "without its result directly after it",
            Self::Orphan => "answered by one result too many",
        }
    }
}

/// A call that providers reject.
#[derive(Clone, Copy)]
struct FaultyCall<'a> {
    /// Index of its message.
    message: usize,
    fault: PairingFault,
    /// Id of the call.
    call: &'a str,
}

/// Checks that every result directly follows its call, unless the source has the same fault in the same format, or the
/// policy's system sends it so.
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
    let is_new = !new.is_empty();
    let new = if is_new && promise.is_of_system() {
        let sent = promise.as_session();
        let all: Vec<usize> = (0..sent.messages.len()).collect();
        let known: HashSet<String> =
            faults(&sent, &all).iter().map(|f| f.call.to_owned()).collect();
        new.into_iter().filter(|faulty| !known.contains(faulty.call)).collect()
    } else {
        new
    };
    if let Some(FaultyCall { message, fault, call }) = new.first() {
        let others = match new.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let why =
            format!("message {}: call {call} is {}{others}", message + 1, fault.description());
        return Check::failed("pairs", why);
    }
    let parts = context.iter().map(|idx| read.parts_of(&read.messages[*idx]));
    let calls: usize = parts.map(|parts| calls_of(parts).count()).sum();
    let position = match required_position(read) {
        ResultPosition::AnywhereAfter => "after",
        _ => "directly after",
    };
    let calls = counted(calls, "call");
    if found.is_empty() {
        return Check::passed("pairs", format!("{calls}, every result {position} its call"));
    }
    let faults = fault_counts(&found);
    let origin = if is_new {
        format!("as {} sends them", promise.policy.label)
    } else {
        "as in the source".to_owned()
    };
    Check::warned(
        "pairs",
        format!("{calls}, {faults} {origin}: providers reject this unless it is repaired"),
    )
}

/// Removes the faults that the source has, too.
fn without_known<'a>(found: &[FaultyCall<'a>], known: &[FaultyCall<'_>]) -> Vec<FaultyCall<'a>> {
    let key = |faulty: &FaultyCall<'_>| (faulty.fault, faulty.call.to_owned());
    let mut left: HashMap<(PairingFault, String), usize> = HashMap::new();
    for faulty in known {
        *left.entry(key(faulty)).or_default() += 1;
    }
    let is_new = |faulty: &&FaultyCall<'a>| {
        let known = left.get_mut(&key(faulty));
        known.filter(|n| **n > 0).map(|n| *n -= 1).is_none()
    };
    found.iter().filter(is_new).copied().collect()
}

/// Formats the number of calls with each fault.
fn fault_counts(found: &[FaultyCall<'_>]) -> String {
    let of = |fault: &PairingFault| {
        let n = found.iter().filter(|faulty| faulty.fault == *fault).count();
        (n > 0).then(|| format!("{n} {}", fault.description()))
    };
    PairingFault::ALL.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// Finds the faults of these messages, in order.
fn faults<'a>(session: &'a Session, order: &[usize]) -> Vec<FaultyCall<'a>> {
    let messages: Vec<&Message> = order.iter().map(|idx| &session.messages[*idx]).collect();
    // Parts with results that follow their call as required.
    let mut taken: HashSet<usize> = HashSet::new();
    let mut missed: Vec<(usize, &str)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut calls = calls_of(session.parts_of(message)).peekable();
        if calls.peek().is_none() {
            continue;
        }
        let following = following_results(session, &messages[at + 1..]);
        for call in calls {
            let is_own =
                |(part, answered): &&(usize, &str)| *answered == call && !taken.contains(part);
            match following.iter().find(is_own) {
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
    found.sort_by_key(|faulty| faulty.message);
    if required_position(session) == ResultPosition::AnywhereAfter {
        found.retain(|faulty| faulty.fault != PairingFault::Apart);
    }
    for faulty in &mut found {
        faulty.message = order[faulty.message];
    }
    found
}

/// Returns the position of results that the provider of a session's format requires.
fn required_position(session: &Session) -> ResultPosition {
    let format = formats::by_name(session.source.format);
    format.map_or(ResultPosition::BeforeNextAnswer, |format| format.result_position)
}

/// Matches the remaining calls and results, each with the position of its message: a result after its call is
/// [`PairingFault::Apart`].
fn matched<'a>(missed: Vec<(usize, &'a str)>, left: Vec<(usize, &'a str)>) -> Vec<FaultyCall<'a>> {
    // Messages with the results of each call, in order.
    let mut positions: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, call) in &left {
        positions.entry(*call).or_default().push_back(*at);
    }
    let mut found = Vec::with_capacity(missed.len());
    for (at, call) in missed {
        let places = positions.get_mut(call);
        let later = places.and_then(|places| {
            let first = places.partition_point(|place| *place <= at);
            places.remove(first)
        });
        found.push(FaultyCall {
            message: at,
            fault: later.map_or(PairingFault::Unanswered, |_| PairingFault::Apart),
            call,
        });
    }
    for (at, call) in left {
        let is_left = positions.get_mut(call).is_some_and(|places| {
            let idx = places.partition_point(|place| *place < at);
            let is_left = places.get(idx) == Some(&at);
            if is_left {
                places.remove(idx);
            }
            is_left
        });
        if is_left {
            found.push(FaultyCall { message: at, fault: PairingFault::Orphan, call });
        }
    }
    found
}

/// Returns the results at the position that the format's provider requires for those of the previous message.
fn following_results<'a>(session: &'a Session, rest: &[&Message]) -> Vec<(usize, &'a str)> {
    let position = required_position(session);
    let messages = rest.iter();
    let n = match position {
        ResultPosition::NextToolMessages => messages.take_while(|m| m.role == Role::Tool).count(),
        ResultPosition::StartOfNextMessage => {
            messages.take(1).filter(|m| m.role == Role::User).count()
        }
        ResultPosition::BeforeNextAnswer | ResultPosition::AnywhereAfter => {
            messages.take_while(|m| m.role != Role::Assistant).count()
        }
    };
    let results = |message: &&Message| {
        let head = if position == ResultPosition::StartOfNextMessage {
            head(session.parts_of(message))
        } else {
            message.parts.len()
        };
        let end = message.parts.start + head;
        results_of(session, message).take_while(|(part, _)| *part < end).collect::<Vec<_>>()
    };
    rest[..n].iter().flat_map(results).collect()
}

/// Returns the number of parts at the start of a message that are results or inside of results.
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
    message.parts.clone().filter_map(move |idx| match &parts[idx].body {
        Body::ToolResult { call, .. } => Some((idx, &**call)),
        _ => None,
    })
}
