//! Compares a session with the written file and counts what was kept.

use super::aspect::Aspect;
use super::contents::{CallItem, Contents};
use crate::exec::load::Loaded;
use crate::session::{Message, Role, Session};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

/// Most messages that are listed per aspect.
const LISTED: usize = 5;

/// A noun in plural and singular.
type Noun = (&'static str, &'static str);

/// Returns all aspects that the session has.
pub(super) fn aspects(loaded: &Loaded, read: &Session) -> Vec<Aspect> {
    let session = &*loaded.case.session;
    // Keeps the bytes decompressed while media are read one by one.
    let _held = session.source.bytes.whole();
    let (source, found) = (Contents::of(session), Contents::of(read));
    let mut all = Vec::new();
    texts(&source, &found, &mut all);
    calls(&source, &found, &mut all);
    all.push(same(
        ("images and files", "image or file"),
        true,
        &source.media,
        &found.media,
    ));
    let tools = |contents: &Contents<'_>| -> Vec<(usize, String)> {
        let tools = contents.tools.iter();
        tools.map(|(at, tool)| (*at, tool.to_string())).collect()
    };
    all.push(same(
        ("tool definitions", "tool definition"),
        true,
        &tools(&source),
        &tools(&found),
    ));
    let mut reasoning = same(
        ("reasoning blocks", "reasoning block"),
        false,
        &source.reasoning,
        &found.reasoning,
    );
    // Many formats hold no reasoning, so that losing it is not a loss of content.
    reasoning.is_content = reasoning.is_whole();
    all.push(reasoning);
    metadata(session, read, &mut all);
    all.extend(rest_of_the_file(loaded));
    all.retain(|aspect| aspect.held > 0);
    all
}

/// Creates an aspect from two counts.
fn counted((plural, singular): Noun, held: usize, kept: usize) -> Aspect {
    Aspect {
        plural,
        singular,
        held,
        kept: kept.min(held),
        is_content: false,
        messages: Vec::new(),
        detail: String::new(),
    }
}

/// Creates an aspect from the items of the source that were found, each as often as it was found.
fn same<T: Hash + Eq>(
    noun: Noun,
    is_content: bool,
    source: &[(usize, T)],
    found: &[(usize, T)],
) -> Aspect {
    let mut there: HashMap<&T, usize> = HashMap::new();
    for (_, item) in found {
        *there.entry(item).or_default() += 1;
    }
    let mut missing = Vec::new();
    for (message, item) in source {
        match there.get_mut(item) {
            Some(n) if *n > 0 => *n -= 1,
            _ => missing.push(*message),
        }
    }
    with_missing(noun, is_content, source.len(), missing)
}

/// Creates an aspect that is missing in these messages.
fn with_missing(noun: Noun, is_content: bool, held: usize, missing: Vec<usize>) -> Aspect {
    let mut aspect = counted(noun, held, held - missing.len());
    aspect.is_content = is_content;
    aspect.messages = missing;
    aspect.messages.dedup();
    aspect.messages.truncate(LISTED);
    aspect
}

/// Compares texts, their roles and their order.
fn texts(source: &Contents<'_>, found: &Contents<'_>, all: &mut Vec<Aspect>) {
    let mut there: HashMap<&str, VecDeque<(usize, Role)>> = HashMap::new();
    for (position, item) in found.texts.iter().enumerate() {
        let positions = there.entry(item.text).or_default();
        positions.push_back((position, item.role));
    }
    let (mut missing, mut others, mut moved, mut last) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for item in &source.texts {
        let positions = there.entry(item.text).or_default();
        let same_role = positions.iter().position(|(_, role)| *role == item.role);
        let Some((position, role)) = positions.remove(same_role.unwrap_or(0)) else {
            missing.push(item.message);
            continue;
        };
        if role != item.role {
            others.push(item.message);
        }
        if position < last {
            moved.push(item.message);
        }
        last = last.max(position);
    }
    let (n, n_found) = (source.texts.len(), source.texts.len() - missing.len());
    all.push(with_missing(("texts", "text"), true, n, missing));
    all.push(with_missing(
        ("texts with the same role", "text with the same role"),
        false,
        n_found,
        others,
    ));
    all.push(with_missing(
        ("texts in the original order", "text in the original order"),
        false,
        n_found,
        moved,
    ));
    all.push(counted(
        ("blank texts", "blank text"),
        source.n_blank,
        found.n_blank,
    ));
}

/// Compares calls with their arguments and results.
fn calls(source: &Contents<'_>, found: &Contents<'_>, all: &mut Vec<Aspect>) {
    let key = |call: &CallItem<'_>| format!("{}\n{}", call.tool, call.arguments);
    let mut there: HashMap<String, VecDeque<&CallItem<'_>>> = HashMap::new();
    for call in &found.calls {
        there.entry(key(call)).or_default().push_back(call);
    }
    let (mut no_call, mut no_result, mut no_error) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n_results, mut n_failed, mut n_noted) = (0, 0, 0);
    for call in &source.calls {
        let same = there.get_mut(&key(call)).and_then(VecDeque::pop_front);
        if same.is_none() {
            no_call.push(call.message);
        }
        let found = same.and_then(|call| call.result.as_ref());
        let Some(result) = &call.result else {
            n_noted += usize::from(found.is_some());
            continue;
        };
        n_results += 1;
        let is_blank = |text: &str| text.trim().is_empty();
        let is_there = found.is_some_and(|there| {
            there.text == result.text || is_blank(there.text) && is_blank(result.text)
        });
        if !is_there {
            no_result.push(result.message);
        }
        if result.is_error {
            n_failed += 1;
            if !found.is_some_and(|there| there.is_error) {
                no_error.push(result.message);
            }
        }
    }
    all.push(with_missing(
        ("calls", "call"),
        true,
        source.calls.len(),
        no_call,
    ));
    all.push(with_missing(
        ("results", "result"),
        true,
        n_results,
        no_result,
    ));
    all.push(with_missing(
        ("error flags of results", "error flag of a result"),
        false,
        n_failed,
        no_error,
    ));
    let mut open = counted(
        (
            "calls without a recorded result",
            "call without a recorded result",
        ),
        n_noted,
        0,
    );
    "a note replaces each result".clone_into(&mut open.detail);
    all.push(open);
}

/// Compares the metadata of messages, calls and the session.
fn metadata(session: &Session, read: &Session, all: &mut Vec<Aspect>) {
    let history = |session: &Session, is_it: fn(&Message) -> bool| {
        let messages = session.messages.iter().filter(|m| m.in_history);
        messages.filter(|m| is_it(m)).count()
    };
    let mut messages = |what, is_it: fn(&Message) -> bool| {
        all.push(counted(what, history(session, is_it), history(read, is_it)));
    };
    messages(("times of messages", "time of a message"), |m| {
        m.time.is_some()
    });
    messages(
        (
            "flags of messages that the program wrote as the user",
            "flag of a message that the program wrote as the user",
        ),
        |m| m.is_injected,
    );
    let ids: HashSet<&str> = read
        .messages
        .iter()
        .filter_map(|m| m.id.as_deref())
        .collect();
    let own = session.messages.iter().filter(|m| m.in_history);
    let own: Vec<&str> = own.filter_map(|m| m.id.as_deref()).collect();
    let kept = own.iter().filter(|id| ids.contains(*id)).count();
    all.push(counted(
        ("ids of messages", "id of a message"),
        own.len(),
        kept,
    ));
    let models = |session: &Session| -> Vec<(usize, String)> {
        let steps = session.steps.iter().filter_map(|step| step.model);
        steps
            .map(|model| (0, session.models[model].clone()))
            .collect()
    };
    let mut named = same(
        ("calls that name their model", "call that names its model"),
        false,
        &models(session),
        &models(read),
    );
    named.messages.clear();
    all.push(named);
    let steps = |session: &Session, is_it: fn(&crate::session::Step) -> bool| {
        session.steps.iter().filter(|step| is_it(step)).count()
    };
    let mut calls = |what, is_it: fn(&crate::session::Step) -> bool| {
        all.push(counted(what, steps(session, is_it), steps(read, is_it)));
    };
    calls(
        ("reported tokens of calls", "call's reported tokens"),
        |step| step.usage.is_some(),
    );
    calls(
        ("context windows of calls", "context window of a call"),
        |step| step.window.is_some(),
    );
    calls(("separate model calls", "separate model call"), |_| true);
    let (held, kept) = (session.compactions.len(), read.compactions.len());
    all.push(counted(("compactions", "compaction"), held, kept));
    let written = |session: &Session| session.messages.iter().filter(|m| !m.in_history).count();
    let mut summaries = counted(
        (
            "messages that compactions wrote",
            "message that a compaction wrote",
        ),
        written(session),
        written(read),
    );
    "the messages that they replaced are included".clone_into(&mut summaries.detail);
    all.push(summaries);
    let has_title = session.title != session.source.name;
    let is_titled = usize::from(read.title == session.title);
    all.push(counted(
        ("title of the session", "title of the session"),
        usize::from(has_title),
        is_titled,
    ));
    let folder = usize::from(session.project.is_some());
    let is_named = usize::from(read.project == session.project);
    all.push(counted(
        ("folder of the project", "folder of the project"),
        folder,
        is_named,
    ));
}

/// Counts the content of the file besides the conversation.
fn rest_of_the_file(loaded: &Loaded) -> [Aspect; 2] {
    let others = loaded.conversations.len().saturating_sub(1);
    let mut conversations = counted(
        (
            "other conversations of the file",
            "other conversation of the file",
        ),
        others,
        0,
    );
    "convert each with --conversation".clone_into(&mut conversations.detail);
    let outside = loaded.report.records.iter();
    let outside: Vec<(&String, usize)> = outside
        .map(|(kind, n)| (kind, n.count - n.in_context))
        .filter(|(_, n)| *n > 0)
        .collect();
    let n = outside.iter().map(|(_, n)| n).sum();
    let mut records = counted(
        (
            "records outside of the conversation",
            "record outside of the conversation",
        ),
        n,
        0,
    );
    let kinds: Vec<String> = outside
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    let more = kinds.len().saturating_sub(LISTED);
    records.detail = kinds[..kinds.len() - more].join(", ");
    if more > 0 {
        records.detail.push_str(", …");
    }
    [conversations, records]
}
