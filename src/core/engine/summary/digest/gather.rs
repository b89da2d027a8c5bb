//! Collects the lines of each section of the digest, in order of importance.

use crate::engine::case::Case;
use crate::json::Value;
use crate::session::{Body, COMMAND_KEYS, Message, PATH_KEYS, Role, Session};
use std::collections::HashSet;

/// Words that mark standing instructions of the user.
const STANDING: [&str; 12] = [
    "always",
    "never",
    "don't",
    "do not",
    "must",
    "mustn't",
    "only use",
    "make sure",
    "avoid",
    "prefer",
    "remember",
    "without ever",
];

fn said<'a>(
    session: &'a Session,
    messages: &'a [usize],
) -> impl DoubleEndedIterator<Item = &'a Message> {
    messages.iter().map(|m| &session.messages[*m])
}

/// Returns texts that the user wrote.
fn own_words<'a>(
    session: &'a Session,
    messages: &'a [usize],
) -> impl DoubleEndedIterator<Item = &'a str> {
    said(session, messages)
        .filter(|m| m.role == Role::User && !m.is_injected && !m.is_summary)
        .flat_map(|m| session.parts_of(m))
        .filter_map(|part| match &part.body {
            Body::Text(text) => Some(&**text),
            _ => None,
        })
}

pub(super) fn first_request(session: &Session, messages: &[usize]) -> Vec<String> {
    own_words(session, messages).next().map(one_line).into_iter().collect()
}

/// Returns summaries that the source's own compaction wrote, newest first.
pub(super) fn earlier_summary(session: &Session, messages: &[usize]) -> Vec<String> {
    let summaries =
        said(session, messages).rev().filter(|m| m.is_summary).flat_map(|m| session.parts_of(m));
    summaries
        .map(|part| part.body.text().trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

/// Returns sentences with an instruction that outlives its turn, newest first, without duplicates.
pub(super) fn constraints(session: &Session, messages: &[usize]) -> Vec<String> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut lines: Vec<String> = Vec::new();
    for text in own_words(session, messages).rev() {
        for sentence in text.split_inclusive(['.', '!', '?', '\n', '。']).map(str::trim) {
            let lower = sentence.to_lowercase();
            let line = format!("- {}", one_line(sentence));
            if STANDING.iter().any(|word| has_word(&lower, word))
                && sentence.len() <= 400
                && seen.insert(line.clone())
            {
                lines.push(line);
            }
        }
    }
    lines
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Returns the newest to-do list: from a planning tool, else a checklist in the model's text.
pub(super) fn plan(session: &Session, messages: &[usize]) -> Vec<String> {
    let parts = said(session, messages).rev().flat_map(|m| session.parts_of(m).iter().rev());
    parts
        .map(|part| match &part.body {
            Body::ToolCall { arguments, .. } => tool_plan(arguments),
            Body::Text(text) => checklist(text),
            _ => Vec::new(),
        })
        .find(|lines| lines.len() >= 2)
        .unwrap_or_default()
}

fn tool_plan(arguments: &str) -> Vec<String> {
    // Searching for the relevant keys first is cheaper than parsing the arguments of every call.
    if !arguments.contains("\"todos\"") && !arguments.contains("\"plan\"") {
        return Vec::new();
    }
    let Ok(value) = crate::json::from_str(arguments) else {
        return Vec::new();
    };
    let Some(items) = ["todos", "plan"].iter().find_map(|key| value.get(key)?.as_array()) else {
        return Vec::new();
    };
    let text = |item: &Value, keys: &[&str]| {
        keys.iter().find_map(|k| Some(item.get(k)?.as_str()?.to_owned()))
    };
    let line = |item: &Value| {
        let status = text(item, &["status"]).unwrap_or_default();
        let mark = match status.as_str() {
            "completed" | "done" => 'x',
            "in_progress" => '~',
            _ => ' ',
        };
        Some(format!(
            "- [{mark}] {}",
            one_line(&text(item, &["content", "step", "text", "title"])?)
        ))
    };
    items.iter().filter_map(line).collect()
}

fn checklist(text: &str) -> Vec<String> {
    let is_item = |line: &&str| line.starts_with("- [") || line.starts_with("* [");
    text.lines().map(str::trim).filter(is_item).map(str::to_owned).collect()
}

/// Returns commands whose result reports a failure, newest first, with their last error lines.
pub(super) fn failures(case: &Case, messages: &[usize]) -> Vec<String> {
    let session = &case.session;
    let mut lines: Vec<String> = Vec::new();
    for part in said(session, messages).flat_map(|m| m.parts.clone()) {
        let Body::ToolResult { is_error, text, .. } = &session.parts[part].body else {
            continue;
        };
        if *is_error || failed(text) {
            let called = case.index.calls.tool_and_arguments(session, part);
            let command = called
                .map(|(tool, arguments)| command(arguments).unwrap_or_else(|| tool.to_owned()));
            lines.push(format!(
                "- {}: {}",
                shorten(command.as_deref().unwrap_or("a tool"), 160),
                shorten(&last_error(text), 240)
            ));
        }
    }
    lines.reverse();
    lines.dedup();
    lines
}

/// Returns whether a result reports an exit code other than 0 in one of the common ways.
fn failed(text: &str) -> bool {
    let tail: String = text.chars().rev().take(400).collect::<Vec<_>>().into_iter().rev().collect();
    let head: String = text.chars().take(200).collect();
    [head, tail].iter().any(|part| {
        let lower = part.to_lowercase();
        ["exit code", "exit_code", "exited with code", "exit status"].iter().any(|phrase| {
            lower.split(phrase).nth(1).is_some_and(|after| {
                let digits: String = after
                    .chars()
                    .skip_while(|c| !c.is_ascii_digit())
                    .take_while(char::is_ascii_digit)
                    .collect();
                after.find(|c: char| c.is_ascii_digit()).is_some_and(|at| at <= 4)
                    && digits.parse().is_ok_and(|n: u32| n != 0)
            })
        })
    })
}

/// Returns the last line that mentions an error, else the last line.
fn last_error(text: &str) -> String {
    let speaks = |line: &&str| {
        let lower = line.to_lowercase();
        ["error", "failed", "panicked", "exception", "not found", "denied"]
            .iter()
            .any(|word| lower.contains(word))
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let found = lines.clone().rfind(speaks).or_else(|| lines.next_back());
    found.map(one_line).unwrap_or_default()
}

/// Returns files that tools accessed, newest first, with the last tool used on each.
pub(super) fn files(session: &Session, messages: &[usize]) -> Vec<String> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut lines = Vec::new();
    for part in said(session, messages).rev().flat_map(|m| session.parts_of(m).iter().rev()) {
        let Body::ToolCall { tool, arguments, .. } = &part.body else {
            continue;
        };
        for path in paths(arguments) {
            let line = format!("- {} ({tool})", shorten(&path, 200));
            if seen.insert(path) {
                lines.push(line);
            }
        }
    }
    lines
}

fn paths(arguments: &str) -> Vec<String> {
    let patched = arguments.split("*** ").skip(1).filter_map(|rest| {
        let (verb, after) = rest.split_once(" File: ")?;
        let end = after.find(['\n', '\\', '"']).unwrap_or(after.len());
        matches!(verb, "Update" | "Add" | "Delete").then(|| after[..end].trim().to_owned())
    });
    let patched: Vec<String> = patched.collect();
    if !patched.is_empty() {
        return patched;
    }
    let value = crate::json::from_str(arguments).unwrap_or_default();
    PATH_KEYS
        .iter()
        .find_map(|key| Some(value.get(key)?.as_str()?.to_owned()))
        .into_iter()
        .collect()
}

fn command(arguments: &str) -> Option<String> {
    let value: Value = crate::json::from_str(arguments).ok()?;
    let command = COMMAND_KEYS.iter().find_map(|key| value.get(key))?;
    match command {
        Value::String(text) => Some(one_line(text)),
        Value::Array(words) => Some(
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ").replace('\n', " "),
        ),
        _ => None,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
