//! What a session holds and what of it is found again in what was written: counted, never assumed of a format.

use super::Aspect;
use super::contents::{Asked, Contents};
use crate::exec::load::Loaded;
use crate::session::{Message, Role, Session};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

/// Messages that are named of those whose own is missing.
const NAMED: usize = 5;

/// What is counted: many, and one.
type Noun = (&'static str, &'static str);

/// All aspects of which the session holds anything.
pub(super) fn aspects(loaded: &Loaded, read: &Session) -> Vec<Aspect> {
    let session = &*loaded.case.session;
    // Its pictures are looked up one by one.
    let _held = session.source.bytes.whole();
    let (source, found) = (Contents::of(session), Contents::of(read));
    let mut all = Vec::new();
    texts(&source, &found, &mut all);
    calls(&source, &found, &mut all);
    all.push(same(
        ("pictures and files", "picture or file"),
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
    let mut thoughts = same(
        ("thoughts", "thought"),
        false,
        &source.thoughts,
        &found.thoughts,
    );
    // Many formats hold none, which is no fault; where all are there it is told.
    thoughts.is_said = thoughts.is_whole();
    all.push(thoughts);
    beside(session, read, &mut all);
    all.extend(around(loaded));
    all.retain(|aspect| aspect.held > 0);
    all
}

/// Counted on both sides, whichever they are.
fn counted(what: Noun, held: usize, kept: usize) -> Aspect {
    Aspect {
        what: what.0,
        one: what.1,
        held,
        kept: kept.min(held),
        is_said: false,
        messages: Vec::new(),
        detail: String::new(),
    }
}

/// Those of the one side that are on the other as well, each as often as it is there.
fn same<T: Hash + Eq>(
    what: Noun,
    is_said: bool,
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
    lacking(what, is_said, source.len(), missing)
}

/// An aspect of which these messages' own are missing.
fn lacking(what: Noun, is_said: bool, held: usize, missing: Vec<usize>) -> Aspect {
    let mut aspect = counted(what, held, held - missing.len());
    aspect.is_said = is_said;
    aspect.messages = missing;
    aspect.messages.dedup();
    aspect.messages.truncate(NAMED);
    aspect
}

/// Texts, who says them, and in which order.
fn texts(source: &Contents<'_>, found: &Contents<'_>, all: &mut Vec<Aspect>) {
    let mut there: HashMap<&str, VecDeque<(usize, Role)>> = HashMap::new();
    for (place, said) in found.texts.iter().enumerate() {
        let places = there.entry(said.text).or_default();
        places.push_back((place, said.role));
    }
    let (mut missing, mut others, mut moved, mut last) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for said in &source.texts {
        let places = there.entry(said.text).or_default();
        let same_role = places.iter().position(|(_, role)| *role == said.role);
        let Some((place, role)) = places.remove(same_role.unwrap_or(0)) else {
            missing.push(said.message);
            continue;
        };
        if role != said.role {
            others.push(said.message);
        }
        if place < last {
            moved.push(said.message);
        }
        last = last.max(place);
    }
    let (n, n_found) = (source.texts.len(), source.texts.len() - missing.len());
    all.push(lacking(("texts", "text"), true, n, missing));
    all.push(lacking(
        ("texts said by the same role", "text said by the same role"),
        false,
        n_found,
        others,
    ));
    all.push(lacking(
        ("texts in their order", "text in its order"),
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

/// Calls with their arguments, and results.
fn calls(source: &Contents<'_>, found: &Contents<'_>, all: &mut Vec<Aspect>) {
    let key = |asked: &Asked<'_>| format!("{}\n{}", asked.tool, asked.arguments);
    let mut there: HashMap<String, VecDeque<&Asked<'_>>> = HashMap::new();
    for asked in &found.calls {
        there.entry(key(asked)).or_default().push_back(asked);
    }
    let (mut no_call, mut no_result, mut no_mark) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n_results, mut n_failed, mut n_noted) = (0, 0, 0);
    for asked in &source.calls {
        let again = there.get_mut(&key(asked)).and_then(VecDeque::pop_front);
        if again.is_none() {
            no_call.push(asked.message);
        }
        let answer = again.and_then(|asked| asked.result.as_ref());
        let Some(result) = &asked.result else {
            n_noted += usize::from(answer.is_some());
            continue;
        };
        n_results += 1;
        let is_blank = |text: &str| text.trim().is_empty();
        let is_there = answer.is_some_and(|there| {
            there.text == result.text || is_blank(there.text) && is_blank(result.text)
        });
        if !is_there {
            no_result.push(result.message);
        }
        if result.is_error {
            n_failed += 1;
            if !answer.is_some_and(|there| there.is_error) {
                no_mark.push(result.message);
            }
        }
    }
    all.push(lacking(
        ("calls", "call"),
        true,
        source.calls.len(),
        no_call,
    ));
    all.push(lacking(("results", "result"), true, n_results, no_result));
    all.push(lacking(
        ("marks of failed results", "mark of a failed result"),
        false,
        n_failed,
        no_mark,
    ));
    let mut open = counted(
        ("calls left without a result", "call left without a result"),
        n_noted,
        0,
    );
    "a note replaces each result".clone_into(&mut open.detail);
    all.push(open);
}

/// What stands beside what was said.
fn beside(session: &Session, read: &Session, all: &mut Vec<Aspect>) {
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
            "marks of messages that the program wrote as the user",
            "mark of a message that the program wrote as the user",
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
        let steps = session.calls.iter().filter_map(|step| step.model);
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
    let steps = |session: &Session, is_it: fn(&crate::session::Call) -> bool| {
        session.calls.iter().filter(|step| is_it(step)).count()
    };
    let mut calls = |what, is_it: fn(&crate::session::Call) -> bool| {
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

/// What the file holds around the conversation.
fn around(loaded: &Loaded) -> [Aspect; 2] {
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
    let aside = loaded.report.records.iter();
    let aside: Vec<(&String, usize)> = aside
        .map(|(kind, n)| (kind, n.count - n.in_context))
        .filter(|(_, n)| *n > 0)
        .collect();
    let n = aside.iter().map(|(_, n)| n).sum();
    let mut records = counted(
        (
            "records that are no part of the conversation",
            "record that is no part of the conversation",
        ),
        n,
        0,
    );
    let kinds: Vec<String> = aside
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    let more = kinds.len().saturating_sub(NAMED);
    records.detail = kinds[..kinds.len() - more].join(", ");
    if more > 0 {
        records.detail.push_str(", …");
    }
    [conversations, records]
}
