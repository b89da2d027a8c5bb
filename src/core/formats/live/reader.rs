//! Single messages of a conversation that a program holds in memory: read one by one, and written one by one.

use super::DIALECTS;
use crate::formats::content::CallMatcher;
use crate::formats::message_list::{Dialect, write_each};
use crate::formats::{CannotExport, by_name, json};
use crate::json::Value;
use crate::session::{Draft, Managed, ManagedEntry, ModelVendor, Session};

/// Reads the messages of a conversation one by one, and writes those of a managed one.
#[derive(Debug)]
pub struct MessageReader {
    /// Name of the format.
    pub format: &'static str,
    /// Vendor of models without a name.
    pub vendor: Option<ModelVendor>,
    dialect: &'static Dialect,
    calls: CallMatcher,
}

/// A message of a managed conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMessage {
    /// The session's message that it is or was, if it is not added. Of several in one message, the first.
    pub of: Option<usize>,
    /// Whether it is unchanged.
    pub is_untouched: bool,
    /// Its JSON; empty if it is unchanged.
    pub text: String,
}

impl MessageReader {
    /// Creates a reader for a format by its name; `None` if programs do not hold conversations in it.
    pub fn new(format: &str) -> Option<Self> {
        let dialect = DIALECTS.into_iter().find(|dialect| dialect.name == format)?;
        let vendor = by_name(format)?.vendor;
        Some(Self { format: dialect.name, vendor, dialect, calls: CallMatcher::default() })
    }

    /// Returns whether consecutive messages of the model are one answer.
    pub fn answers_in_runs(&self) -> bool {
        self.dialect.answers_in_runs
    }

    /// Reads instructions and tool definitions that a request contains besides its messages.
    ///
    /// # Errors
    /// A sentence if it is no JSON object.
    pub fn read_request(&self, request: &str) -> Result<Vec<Draft>, String> {
        let value = parse_message(request)?;
        Ok((self.dialect.body)(&value).into_iter().map(|(_, draft)| draft).collect())
    }

    /// Reads one message, which may contain a call and its result.
    ///
    /// # Errors
    /// A sentence if it is no message of this format.
    pub fn read(&mut self, message: &str) -> Result<Vec<Draft>, String> {
        let value = parse_message(message)?;
        let drafts = (self.dialect.messages)(&value, &mut self.calls)?;
        if drafts.is_empty() {
            return Err("this is no message that is sent to the model".to_owned());
        }
        Ok(drafts)
    }

    /// Writes the messages of a managed conversation.
    ///
    /// # Errors
    /// [`CannotExport`] if the format cannot represent it.
    pub fn write(
        &self,
        session: &Session,
        managed: &Managed,
    ) -> Result<Vec<PlannedMessage>, CannotExport> {
        let mut kept: Vec<usize> = managed.entries.iter().filter_map(message_of).collect();
        kept.sort_unstable();
        let (mut elements, mut firsts, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        let span = |message: usize| session.messages[message].raw.first();
        for message in kept {
            let Some(place) = span(message) else {
                continue;
            };
            if elements.last() != Some(place) {
                elements.push(place.clone());
                // A message of the file may be several of the session, of which the context may keep some.
                let is_same = |other: &usize| span(*other) == Some(place);
                let first = (0..message).rev().take_while(is_same).last().unwrap_or(message);
                firsts.push(first);
                listed.extend((first..session.messages.len()).take_while(is_same));
            }
        }
        let written = write_each(session, managed, self.dialect, elements, &listed)?;
        let planned = written.into_iter().map(|written| PlannedMessage {
            of: written.element.map(|element| firsts[element]),
            is_untouched: written.is_untouched,
            text: String::from_utf8_lossy(&written.text).into_owned(),
        });
        Ok(planned.collect())
    }
}

fn message_of(entry: &ManagedEntry) -> Option<usize> {
    match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => Some(*message),
        ManagedEntry::Written { .. } => None,
    }
}

/// Parses a message. Lone surrogates, which no `String` can hold, become U+FFFD.
///
/// # Errors
/// A sentence if it is no JSON object.
pub fn parse_message(text: &str) -> Result<Value, String> {
    let value = json::parse_lenient(text.as_bytes());
    let value = value.map_err(|error| format!("this is no JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("this is no JSON object".to_owned()) }
}
