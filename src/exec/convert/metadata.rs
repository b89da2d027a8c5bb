//! Compares metadata: of messages, calls, the session, and the rest of the file.

use super::aspect::{Aspect, counted, same};
use crate::exec::contents::Located;
use crate::exec::load::Loaded;
use crate::session::{Call, Message, Session};
use std::collections::HashSet;

/// Maximum number of kinds of records that are listed.
const MAX_LISTED: usize = 5;

/// Compares times, flags and ids of messages.
pub(super) fn of_messages(session: &Session, read: &Session, all: &mut Vec<Aspect>) {
    let count = |session: &Session, has: fn(&Message) -> bool| {
        let messages = session.messages.iter().filter(|m| m.in_history);
        messages.filter(|m| has(m)).count()
    };
    let messages =
        |noun, has: fn(&Message) -> bool| counted(noun, count(session, has), count(read, has));
    all.push(messages(["times of messages", "time of a message"], |m| m.time.is_some()));
    let nouns = ["marks of reminders of the program", "mark of a reminder of the program"];
    let mut marks = messages(nouns, |m| m.is_injected);
    if !marks.is_whole() {
        let text = if marks.held - marks.kept == 1 {
            "it appears as a message of yours"
        } else {
            "they appear as messages of yours"
        };
        text.clone_into(&mut marks.detail);
    }
    all.push(marks);
    let ids: HashSet<&str> = read.messages.iter().filter_map(|m| m.id.as_deref()).collect();
    let own = session.messages.iter().filter(|m| m.in_history);
    let own: Vec<&str> = own.filter_map(|m| m.id.as_deref()).collect();
    let kept = own.iter().filter(|id| ids.contains(*id)).count();
    all.push(counted(["ids of messages", "id of a message"], own.len(), kept));
}

/// Compares models, usage and windows of calls.
pub(super) fn of_calls(session: &Session, read: &Session, all: &mut Vec<Aspect>) {
    let models = |session: &Session| -> Vec<Located<String>> {
        let models = session.calls.iter().filter_map(|call| call.model);
        let located =
            models.map(|model| Located { message: 0, item: session.models[model].clone() });
        located.collect()
    };
    let mut named = same(
        ["calls that name their model", "call that names its model"],
        false,
        &models(session),
        &models(read),
    );
    named.messages.clear();
    all.push(named);
    let count = |session: &Session, has: fn(&Call) -> bool| {
        session.calls.iter().filter(|call| has(call)).count()
    };
    let mut calls = |noun, has: fn(&Call) -> bool| {
        all.push(counted(noun, count(session, has), count(read, has)));
    };
    calls(["reported tokens of calls", "call's reported tokens"], |call| call.usage.is_some());
    calls(["context windows of calls", "context window of a call"], |call| call.window.is_some());
    calls(["separate model calls", "separate model call"], |_| true);
}

/// Compares compactions, title and project folder.
pub(super) fn of_session(session: &Session, read: &Session, all: &mut Vec<Aspect>) {
    let (held, kept) = (session.compactions.len(), read.compactions.len());
    all.push(counted(["compactions", "compaction"], held, kept));
    let written = |session: &Session| session.messages.iter().filter(|m| !m.in_history).count();
    let mut summaries = counted(
        ["messages that compactions wrote", "message that a compaction wrote"],
        written(session),
        written(read),
    );
    "the messages that they replaced are included".clone_into(&mut summaries.detail);
    all.push(summaries);
    all.push(counted(
        ["title of the session", "title of the session"],
        usize::from(session.title != session.source.name),
        usize::from(read.title == session.title),
    ));
    all.push(counted(
        ["folder of the project", "folder of the project"],
        usize::from(session.project.is_some()),
        usize::from(read.project == session.project),
    ));
}

/// Counts the content of the file besides the conversation.
pub(super) fn of_file(loaded: &Loaded) -> [Aspect; 2] {
    let others = loaded.conversations.len().saturating_sub(1);
    let mut conversations =
        counted(["other conversations of the file", "other conversation of the file"], others, 0);
    "convert each with --conversation".clone_into(&mut conversations.detail);
    let outside = loaded.report.records.iter();
    let outside: Vec<(&String, usize)> =
        outside.map(|(kind, n)| (kind, n.count - n.in_context)).filter(|(_, n)| *n > 0).collect();
    let n = outside.iter().map(|(_, n)| n).sum();
    let mut records = counted(
        ["records outside of the conversation", "record outside of the conversation"],
        n,
        0,
    );
    let kinds: Vec<String> = outside.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let more = kinds.len().saturating_sub(MAX_LISTED);
    records.detail = kinds[..kinds.len() - more].join(", ");
    if more > 0 {
        records.detail.push_str(", …");
    }
    [conversations, records]
}
