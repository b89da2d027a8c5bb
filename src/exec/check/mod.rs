//! Whether a written export holds what was promised: it is read again and compared, one small check after another.

mod again;
mod bytes;
mod contents;
mod pairs;
mod roles;
mod signatures;
mod tokens;

pub(super) use contents::{arguments, definition};

use crate::engine::{Case, KnobValues, Policy};
use crate::formats::{self, Format, ImportReport, Input};
use crate::session::{Body, FileBytes, Managed, Session};
use crate::units::Tokens;
use std::collections::HashSet;
use std::fmt;

/// One check of a written export.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// It holds.
    pub ok: bool,
    /// It holds because the source is no better, and a provider refuses it as it stands.
    pub warning: bool,
    /// Figures, or what is wrong.
    pub detail: String,
}

impl Check {
    /// A check that holds, with its figures.
    pub fn passed(name: &'static str, figures: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            warning: false,
            detail: figures.into(),
        }
    }

    /// A check that holds as far as the source does, and what a provider refuses about it.
    pub fn warned(name: &'static str, what: impl Into<String>) -> Self {
        Self {
            warning: true,
            ..Self::passed(name, what)
        }
    }

    /// A check that does not hold, and why.
    pub fn failed(name: &'static str, why: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            warning: false,
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
    /// What managed it.
    pub policy: &'a Policy,
    /// Its settings.
    pub knobs: &'a KnobValues,
    /// Index of the last step.
    pub step: usize,
}

impl Promise<'_> {
    fn is_same_format(&self) -> bool {
        self.format.name == self.case.session.source.format
    }
}

/// Reads the written bytes and runs every check.
pub(super) fn all(promise: &Promise<'_>, bytes: FileBytes) -> Vec<Check> {
    let (read, report) = match read_back(promise, bytes) {
        Ok(read) => read,
        Err(why) => return vec![Check::failed("reads back", why)],
    };
    let mut checks = vec![
        pairs::check(promise, &read),
        roles::check(promise, &read, &report),
    ];
    if promise.is_same_format() {
        checks.push(bytes::check(promise, &read));
    }
    checks.push(tokens::check(promise, &read));
    checks.push(unique_ids(promise, &read));
    checks.push(signatures::check(promise, &read));
    checks.push(again::check(promise, read));
    checks
}

fn read_back(promise: &Promise<'_>, bytes: FileBytes) -> Result<(Session, ImportReport), String> {
    let name = promise.case.session.source.name.clone();
    let parsed = formats::parse(&Input { name, bytes }).map_err(|refused| refused.to_string())?;
    let session = parsed
        .sessions
        .into_iter()
        .next()
        .ok_or("it holds no conversation")?;
    if session.source.format == promise.format.name {
        Ok((session, parsed.report))
    } else {
        Err(format!(
            "it reads as {} instead of {}",
            session.source.format, promise.format.name
        ))
    }
}

/// Messages of the last real context: all that was said since the last compaction, and what that left.
fn context_messages(session: &Session) -> Vec<usize> {
    session.real_context(session.messages.len())
}

/// What an id stands for, and the id.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id<'a> {
    Message(&'a str),
    Call(&'a str),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(id) => write!(f, "message {id}"),
            Self::Call(id) => write!(f, "call {id}"),
        }
    }
}

/// No two messages and no two calls share an id, except where they do in the source.
fn unique_ids(promise: &Promise<'_>, read: &Session) -> Check {
    const NAME: &str = "ids unique";
    let repeated = repeated_ids(read, context_messages(read));
    if repeated.is_empty() {
        return Check::passed(NAME, "no id stands for two messages or two calls");
    }
    let source = &promise.case.session;
    let known = repeated_ids(source, 0..source.messages.len());
    let known: HashSet<Id<'_>> = known.into_iter().collect();
    if let Some(id) = repeated.iter().find(|id| !known.contains(*id)) {
        return Check::failed(NAME, format!("{id} is not unique"));
    }
    // Ids of messages are the file's own: no provider sees them.
    match repeated.iter().find(|id| matches!(id, Id::Call(_))) {
        Some(id) => Check::warned(
            NAME,
            format!("{id} is not unique, as in the source; providers may reject this"),
        ),
        None => Check::passed(NAME, "no id stands for two messages or two calls"),
    }
}

/// The ids of the messages, then those of their calls, that others had before.
fn repeated_ids(session: &Session, messages: impl IntoIterator<Item = usize>) -> Vec<Id<'_>> {
    let (mut of_messages, mut of_calls) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for idx in messages {
        let message = &session.messages[idx];
        let id = message.id.as_deref().map(Id::Message);
        of_messages.extend(id.filter(|id| !seen.insert(*id)));
        for part in session.parts_of(message) {
            if let Body::ToolCall { call, .. } = &part.body
                && !seen.insert(Id::Call(call))
            {
                of_calls.push(Id::Call(call));
            }
        }
    }
    of_messages.append(&mut of_calls);
    of_messages
}

#[cfg(test)]
mod tests;
