//! The rules that find facts: one file and one row in [`EXTRACTORS`] each.

mod commands;
mod constraints;
mod decisions;
mod errors;
mod files;
mod identifiers;
mod links;
mod plans;
mod values;

use super::FactKind;
use super::text::FactSearch;
use crate::json::Value;
use crate::session::{Body, Message, Part, Role, Session, ToolCalls};
use rayon::prelude::*;
use regex::Regex;
use std::collections::HashMap;
use std::ops::Range;

/// Finds the facts of a kind.
type Extractor = fn(&Material<'_>, &mut Vec<FactDraft>);

/// The extractor of each kind.
const EXTRACTORS: [(FactKind, Extractor); FactKind::ALL.len()] = [
    (FactKind::Command, commands::find),
    (FactKind::Constraint, constraints::find),
    (FactKind::Decision, decisions::find),
    (FactKind::Error, errors::find),
    (FactKind::File, files::find),
    (FactKind::Identifier, identifiers::find),
    (FactKind::Link, links::find),
    (FactKind::Plan, plans::find),
    (FactKind::Value, values::find),
];

/// Compiles a pattern with ASCII word boundaries. Unicode word boundaries are slow in texts with other characters.
fn compile(text: &str) -> Option<Regex> {
    Regex::new(&text.replace(r"\b", r"(?-u:\b)")).ok()
}

/// A fact as an extractor finds it.
#[derive(Clone, Debug)]
pub(super) struct FactDraft {
    pub(super) kind: FactKind,
    pub(super) message: u32,
    pub(super) part: u32,
    pub(super) span: Range<usize>,
    pub(super) search: FactSearch,
    pub(super) detail: Box<str>,
    /// A later fact of the same kind with the same key replaces it.
    pub(super) key: String,
    /// Index of the message that replaces the fact.
    pub(super) until: Option<u32>,
    /// Index of the part that states its outcome.
    pub(super) evidence: Option<u32>,
}

/// A part of the history with its message.
#[derive(Clone, Copy)]
struct LocatedPart<'a> {
    message: &'a Message,
    message_idx: u32,
    part: &'a Part,
    part_idx: u32,
}

impl LocatedPart<'_> {
    /// Creates a fact in this part. Its span is that of the searched text, or the whole part if the text does not
    /// occur.
    fn draft(&self, kind: FactKind, search: FactSearch, key: &str) -> FactDraft {
        let raw = match &self.part.body {
            Body::ToolCall { arguments, .. } => arguments,
            other => other.text(),
        };
        let at = raw.find(search.text());
        let span = at.map_or(0..raw.len(), |at| at..at + search.text().len());
        self.draft_at(kind, search, key, span)
    }

    /// Creates a fact at a span of this part.
    fn draft_at(
        &self,
        kind: FactKind,
        search: FactSearch,
        key: &str,
        span: Range<usize>,
    ) -> FactDraft {
        FactDraft {
            kind,
            message: self.message_idx,
            part: self.part_idx,
            span,
            search,
            detail: Box::default(),
            key: key.to_owned(),
            until: None,
            evidence: None,
        }
    }
}

impl FactDraft {
    /// Sets the detail.
    fn detail(self, detail: &str) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

/// The session, indexed for the extractors.
struct Material<'a> {
    session: &'a Session,
    /// Arguments of the tool call in each part, if the part is one and they are JSON; empty for constraints, which do not
    /// need them.
    arguments: Vec<Option<Value>>,
    /// The tool calls with their results.
    tool_calls: ToolCalls,
    /// Whether the file marks failed results.
    marks_errors: bool,
}

impl<'a> Material<'a> {
    fn new(session: &'a Session, kinds: &[FactKind]) -> Self {
        // Hooks read the constraints of long sessions and have little time.
        let is_parsed = kinds.iter().any(|kind| *kind != FactKind::Constraint);
        let parsed = if is_parsed { &session.parts[..] } else { &[] };
        let arguments = parsed.par_iter().map(|part| match &part.body {
            Body::ToolCall { arguments, .. } => crate::json::from_str(arguments).ok(),
            _ => None,
        });
        let is_marked = |located: LocatedPart<'_>| {
            matches!(located.part.body, Body::ToolResult { is_error: true, .. })
        };
        Self {
            session,
            arguments: arguments.collect(),
            tool_calls: ToolCalls::new(session),
            marks_errors: located_parts(session).any(is_marked),
        }
    }

    /// Returns all parts of the history, in order.
    fn located_parts(&self) -> impl Iterator<Item = LocatedPart<'a>> + use<'a> {
        located_parts(self.session)
    }

    /// Returns the tool calls of the model with their tool and arguments, if these are JSON.
    fn calls(&self) -> impl Iterator<Item = (LocatedPart<'a>, &'a str, &Value)> {
        self.located_parts().filter_map(|located| match &located.part.body {
            Body::ToolCall { tool, .. } => {
                let arguments = self.arguments.get(located.part_idx as usize)?.as_ref()?;
                Some((located, &**tool, arguments))
            }
            _ => None,
        })
    }

    /// Returns the texts that the user wrote.
    fn user_texts(&self) -> impl Iterator<Item = (LocatedPart<'a>, &'a str)> {
        self.texts(|message| message.role == Role::User && !message.is_injected)
    }

    /// Returns the texts of the messages that match.
    fn texts(
        &self,
        matches: impl Fn(&Message) -> bool,
    ) -> impl Iterator<Item = (LocatedPart<'a>, &'a str)> {
        self.located_parts().filter_map(move |located| match &located.part.body {
            Body::Text(text) if matches(located.message) => Some((located, &**text)),
            _ => None,
        })
    }

    /// Returns the part with the result of the tool call in a part.
    fn result_of(&self, located: &LocatedPart<'_>) -> Option<u32> {
        self.tool_calls.result_of(located.part_idx as usize).map(|part| part as u32)
    }

    /// Returns the results of commands with their text.
    fn command_results(&self) -> impl Iterator<Item = (LocatedPart<'a>, &'a str)> {
        let mut of_commands: Vec<u32> = self
            .calls()
            .filter(|(.., arguments)| super::call::command(arguments).is_some())
            .filter_map(|(located, ..)| self.result_of(&located))
            .collect();
        of_commands.sort_unstable();
        self.located_parts().filter_map(move |located| match &located.part.body {
            Body::ToolResult { text, .. }
                if of_commands.binary_search(&located.part_idx).is_ok() =>
            {
                Some((located, &**text))
            }
            _ => None,
        })
    }
}

/// Returns all parts of the history of a session, in order.
fn located_parts(session: &Session) -> impl Iterator<Item = LocatedPart<'_>> {
    let messages = (0..).zip(&session.messages);
    let history = messages.filter(|(_, message)| message.in_history && !message.is_summary);
    history.flat_map(move |(message_idx, message)| {
        message.parts.clone().map(move |part| LocatedPart {
            message,
            message_idx,
            part: &session.parts[part],
            part_idx: part as u32,
        })
    })
}

/// Returns the facts of some kinds in order, each with the message that replaces it.
pub(super) fn of_kinds(session: &Session, kinds: &[FactKind]) -> Vec<FactDraft> {
    let material = Material::new(session, kinds);
    let wanted = EXTRACTORS.par_iter().filter(|(kind, _)| kinds.contains(kind));
    let found = wanted.map(|(_, find)| {
        let mut found = Vec::new();
        find(&material, &mut found);
        found
    });
    let mut found: Vec<FactDraft> = found.collect::<Vec<_>>().into_iter().flatten().collect();
    found.sort_by_key(|draft| (draft.message, draft.part, draft.span.start));
    let mut last: HashMap<(FactKind, String), usize> = HashMap::new();
    for idx in 0..found.len() {
        let key = (found[idx].kind, found[idx].key.clone());
        if let Some(earlier) = last.insert(key, idx) {
            let message = found[idx].message;
            found[earlier].until.get_or_insert(message);
        }
    }
    // A fact that a message states twice is kept once.
    found.retain(|draft| draft.until != Some(draft.message));
    found
}

/// Returns the last two components of a path, by which it is searched.
fn tail(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let mut slashes = path.rmatch_indices(['/', '\\']).map(|(at, _)| at);
    slashes.nth(1).map_or(path, |at| &path[at + 1..])
}

/// Returns the first line that is not empty.
fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}
