//! Compares a session with the written file and counts what was kept.

use super::aspect::{Aspect, counted, same, with_missing};
use super::metadata;
use crate::exec::contents::{CallItem, Contents, Located};
use crate::exec::files::sha256;
use crate::exec::load::Loaded;
use crate::formats::{self, Format};
use crate::json::Value;
use crate::session::{Body, Role, Session};
use std::collections::{HashMap, VecDeque};

/// Returns all aspects that the session has.
pub(super) fn aspects(loaded: &Loaded, read: &Session, format: &Format) -> Vec<Aspect> {
    let session = &*loaded.case.session;
    let is_replaced = format.has_own_instructions(session);
    // Keeps the bytes decompressed while media are read one by one.
    let _held = session.source.bytes.whole();
    let (source, found) = (history(session, is_replaced), history(read, false));
    let mut all = Vec::new();
    if is_replaced {
        all.extend(replaced(session, format));
    }
    texts(&source, &found, &mut all);
    calls(&source, &found, &mut all);
    all.push(same(
        ["images and files", "image or file"],
        true,
        &media_keys(session, &source),
        &media_keys(read, &found),
    ));
    let tools = |contents: &Contents<'_>| -> Vec<Located<String>> {
        let tools = contents.tools.iter();
        let text =
            |tool: &Located<Value>| Located { message: tool.message, item: tool.item.to_string() };
        tools.map(text).collect()
    };
    if !is_replaced {
        let noun = ["tool definitions", "tool definition"];
        all.push(same(noun, true, &tools(&source), &tools(&found)));
    }
    let mut reasoning =
        same(["reasoning blocks", "reasoning block"], false, &source.reasoning, &found.reasoning);
    // Many formats hold no reasoning, so that losing it is not a loss of content.
    reasoning.is_content = reasoning.is_whole();
    all.push(reasoning);
    metadata::of_messages(session, read, &mut all);
    metadata::of_calls(session, read, &mut all);
    metadata::of_session(session, read, &mut all);
    all.extend(metadata::of_file(loaded));
    all.retain(|aspect| aspect.held > 0);
    all
}

/// Collects the contents of a session's history, with or without the instructions at its start.
fn history(session: &Session, without_instructions: bool) -> Contents<'_> {
    let skipped = if without_instructions { n_instructions(session) } else { 0 };
    Contents::of_messages(session, history_messages(session).skip(skipped))
}

fn history_messages(session: &Session) -> impl Iterator<Item = usize> {
    let messages = session.messages.iter().enumerate();
    messages.filter(|(_, message)| message.in_history).map(|(idx, _)| idx)
}

/// Returns the number of messages with instructions at the start of the history.
fn n_instructions(session: &Session) -> usize {
    let is_instruction = |idx: &usize| session.messages[*idx].role == Role::System;
    history_messages(session).take_while(is_instruction).count()
}

/// Returns what the program of the format replaces by its own.
fn replaced(session: &Session, format: &Format) -> [Aspect; 2] {
    let all = Contents::of_messages(session, history_messages(session));
    let first = history_messages(session).take(n_instructions(session));
    let instructions = Contents::of_messages(session, first).texts.len();
    let program = format.resume.as_ref().map_or(format.label, |resume| resume.program);
    let own = |nouns, held| {
        let mut aspect = counted(nouns, held, 0);
        aspect.detail = format!("{program} sends its own");
        aspect
    };
    [
        own(["texts of the system prompt", "text of the system prompt"], instructions),
        own(["tool definitions", "tool definition"], all.tools.len()),
    ]
}

/// Returns a key of every media part: its hash or, if the file lacks its bytes, its kind and size.
fn media_keys(session: &Session, contents: &Contents<'_>) -> Vec<Located<String>> {
    let key = |part: usize| match (formats::media_bytes(session, part), &session.parts[part].body) {
        (Some(bytes), _) => sha256(&bytes),
        (None, Body::Media { media, bytes, .. }) => format!("{media:?} {bytes}"),
        (None, _) => String::new(),
    };
    let keys = contents
        .media
        .iter()
        .map(|media| Located { message: media.message, item: key(media.item) });
    keys.collect()
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
    all.push(with_missing(["texts", "text"], true, n, missing));
    all.push(with_missing(
        ["texts with the same role", "text with the same role"],
        false,
        n_found,
        others,
    ));
    all.push(with_missing(
        ["texts in the original order", "text in the original order"],
        false,
        n_found,
        moved,
    ));
    all.push(counted(["blank texts", "blank text"], source.n_blank, found.n_blank));
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
        let is_there = found.is_some_and(|found| result.is_same_text(found));
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
    all.push(with_missing(["calls", "call"], true, source.calls.len(), no_call));
    all.push(with_missing(["results", "result"], true, n_results, no_result));
    all.push(with_missing(
        ["error flags of results", "error flag of a result"],
        false,
        n_failed,
        no_error,
    ));
    let mut open =
        counted(["calls without a recorded result", "call without a recorded result"], n_noted, 0);
    "a note replaces each result".clone_into(&mut open.detail);
    all.push(open);
}
