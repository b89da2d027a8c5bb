//! Members around the list of messages: model, context window, tools and the mark of a managed conversation.

use super::dialect::Dialect;
use super::layout::Layout;
use crate::formats::mark::{self, MARK};
use crate::formats::{counts, json};
use crate::json::{Map, Value};
use crate::session::{Calibration, CallDraft};
use crate::units::Tokens;

/// Settings of a conversation stored outside of its messages.
pub(super) struct Settings {
    /// All members except messages and answers.
    pub(super) members: Map<String, Value>,
    /// The context window of all calls, if recorded.
    pub(super) window: Option<Tokens>,
}

impl Settings {
    /// Reads all members of the outermost object and of the body except messages and answers.
    pub(super) fn new(bytes: &[u8], layout: &Layout, dialect: &Dialect) -> Self {
        let mut found = Map::new();
        let body = layout.body.as_ref().filter(|body| layout.root.as_ref() != Some(*body));
        for object in layout.root.iter().chain(body) {
            for (key, span) in json::members(bytes, object).unwrap_or_default() {
                if layout.answers_in == Some(&*key)
                    || dialect.shape.lists.contains(&&*key)
                    || span.contains(&layout.list.start)
                {
                    continue;
                }
                if let Some(value) = json::parse_span(bytes, &span) {
                    found.insert(key, value);
                }
            }
        }
        let window = found.get("context_window").and_then(|window| counts::window_at(window, &[]));
        Self { members: found, window }
    }

    /// Returns the text of a member unless it is blank.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.members.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// Takes the mark of a managed conversation from a record of the list, if the document has no other place for it.
    pub(super) fn find_mark<'a>(&mut self, mut records: impl Iterator<Item = &'a Value>) {
        if !self.members.contains_key(MARK)
            && let Some(mark) = records.find_map(|record| record.get(MARK))
        {
            self.members.insert(MARK.to_owned(), mark.clone());
        }
    }

    /// Returns the mark of a managed conversation.
    fn mark(&self) -> Option<&Value> {
        let mark = self.members.get(MARK);
        mark.filter(|mark| json::is_true(mark, &["managed"]))
    }

    /// Returns the number of managed messages. The usage they report belongs to contexts that are no longer in the
    /// file.
    pub(super) fn n_managed(&self) -> usize {
        let n = self.mark().and_then(|mark| json::u64_at(mark, &["messages"]));
        n.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    /// Returns the calibration of the source of a managed conversation.
    pub(super) fn calibration(&self) -> Option<Calibration> {
        self.mark().and_then(mark::calibration)
    }

    /// Returns the call that produced a message, from the message or the response that contains it, with the settings
    /// of all calls.
    pub(super) fn call_of(
        &self,
        message: Option<&Value>,
        response: Option<&Value>,
        dialect: &Dialect,
    ) -> Option<CallDraft> {
        let mut call = message.and_then(dialect.call).or_else(|| (dialect.call)(response?))?;
        call.window = self.window;
        Some(call)
    }
}
