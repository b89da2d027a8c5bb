//! The state of a thread at one moment: its channels, of which those with messages are read.

use super::msgpack::Cursor;
use crate::formats::json;

/// An encoded message or list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Encoded<'a> {
    MessagePack(&'a [u8]),
    Json(&'a [u8]),
}

/// A kind of message that is handled differently from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageKind {
    Answer,
    Result,
    /// Names a message that is removed.
    Removal,
    Other,
}

/// The channels of a checkpoint.
#[derive(Debug, Default)]
pub(super) struct Checkpoint<'a> {
    channels: Vec<(String, Encoded<'a>)>,
    /// Name of an encoding that is not read, or empty.
    pub(super) unread: &'a str,
}

impl<'a> Checkpoint<'a> {
    /// Reads a checkpoint in the encoding of this name.
    pub(super) fn read(encoding: &'a str, bytes: &'a [u8]) -> Self {
        let value = match encoding {
            "msgpack" => Encoded::MessagePack(bytes),
            "json" | "" => Encoded::Json(bytes),
            _ => return Self { unread: encoding, ..Self::default() },
        };
        let channels = value.member("channel_values").and_then(Encoded::members);
        let channels = channels.unwrap_or_default();
        Self { channels, unread: "" }
    }

    /// Returns the name of the channel with the conversation: `messages`, or the longest list of messages.
    pub(super) fn main_channel(&self) -> Option<&str> {
        let lists = self.channels.iter().filter_map(|(name, value)| {
            let elements = value.elements()?;
            let is_list = elements.first().is_some_and(|first| first.is_message());
            is_list.then_some((&**name, elements.len()))
        });
        let longest = lists.max_by_key(|(name, n)| (*name == "messages", *n));
        longest.map(|(name, _)| name)
    }

    /// Returns the names of the other channels with messages.
    pub(super) fn other_channels(&self, main: &str) -> Vec<&str> {
        let is_list = |value: &Encoded<'a>| {
            let elements = value.elements().unwrap_or_default();
            elements.first().is_some_and(|first| first.is_message())
        };
        let others = self.channels.iter().filter(|(name, value)| *name != main && is_list(value));
        others.map(|(name, _)| &**name).collect()
    }

    /// Returns whether the state has a summary outside of the messages.
    pub(super) fn has_summary(&self) -> bool {
        let summary = self.channels.iter().find(|(name, _)| *name == "summary");
        summary.is_some_and(|(_, value)| value.text().is_some_and(|text| !text.is_empty()))
    }

    /// Returns the messages of a channel; `None` if the checkpoint does not repeat them.
    pub(super) fn messages(&self, channel: &str) -> Option<Vec<Encoded<'a>>> {
        let found = self.channels.iter().find(|(name, _)| *name == channel);
        found.and_then(|(_, value)| value.elements())
    }
}

impl<'a> Encoded<'a> {
    /// Returns a value in the encoding of this name.
    pub(super) fn new(encoding: &str, bytes: &'a [u8]) -> Option<Self> {
        match encoding {
            "msgpack" => Some(Self::MessagePack(bytes)),
            "json" => Some(Self::Json(bytes)),
            _ => None,
        }
    }

    fn members(self) -> Option<Vec<(String, Self)>> {
        match self {
            Self::MessagePack(bytes) => {
                let members = Cursor::new(bytes).members()?.into_iter();
                let named = members.map(|(key, at)| {
                    (String::from_utf8_lossy(key).into_owned(), Self::MessagePack(at.rest()))
                });
                Some(named.collect())
            }
            Self::Json(bytes) => {
                let members = json::members(bytes, &json::document_span(bytes))?.into_iter();
                Some(members.map(|(key, span)| (key, Self::Json(&bytes[span]))).collect())
            }
        }
    }

    pub(super) fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::MessagePack(bytes) => {
                Cursor::new(bytes).member(name).map(|at| Self::MessagePack(at.rest()))
            }
            Self::Json(bytes) => {
                let span = json::member(bytes, &json::document_span(bytes), name)?;
                Some(Self::Json(&bytes[span]))
            }
        }
    }

    /// Returns the elements of a list.
    pub(super) fn elements(self) -> Option<Vec<Self>> {
        match self {
            Self::MessagePack(bytes) => {
                let elements = Cursor::new(bytes).elements()?;
                Some(elements.into_iter().map(Self::MessagePack).collect())
            }
            Self::Json(bytes) => {
                let elements = json::elements(bytes, &json::document_span(bytes))?;
                Some(elements.into_iter().map(|span| Self::Json(&bytes[span])).collect())
            }
        }
    }

    fn text(self) -> Option<String> {
        let mut out = String::new();
        self.write_json(&mut out, usize::MAX)?;
        crate::json::from_str(&out).ok()?.as_str().map(str::to_owned)
    }

    /// Returns the members of a message: those of an object, or the dictionary itself.
    fn message(self) -> Self {
        if let Self::MessagePack(bytes) = self
            && let Some(members) = Cursor::new(bytes).object_members()
        {
            return Self::MessagePack(members.rest());
        }
        self.member("kwargs").unwrap_or(self)
    }

    /// Returns the class of an object: of Python, or as `dumpd` of `LangChain` writes it.
    fn class(self) -> Option<String> {
        if let Self::MessagePack(bytes) = self
            && let Some(class) = Cursor::new(bytes).class()
        {
            return Some(class.to_owned());
        }
        self.member("kwargs")?;
        self.member("id")?.elements()?.last()?.text()
    }

    /// Returns the kind of a message: an object of such a class, or a dictionary with a content and a type or a role.
    fn kind(self) -> Option<MessageKind> {
        let name = if let Some(class) = self.class() {
            let class = class.strip_suffix("Chunk").unwrap_or(&class);
            class.strip_suffix("Message")?.to_ascii_lowercase()
        } else {
            self.member("content")?;
            let name = self.member("type").or_else(|| self.member("role"))?.text()?;
            name.strip_suffix("MessageChunk").unwrap_or(&name).to_ascii_lowercase()
        };
        Some(match &*name {
            "ai" | "assistant" => MessageKind::Answer,
            "tool" | "function" => MessageKind::Result,
            "remove" => MessageKind::Removal,
            _ => MessageKind::Other,
        })
    }

    /// Returns whether this is a message.
    pub(super) fn is_message(self) -> bool {
        self.kind().is_some()
    }

    /// Returns whether this message is neither an answer nor a result.
    pub(super) fn is_of_user(self) -> bool {
        !matches!(self.kind(), Some(MessageKind::Answer | MessageKind::Result))
    }

    /// Returns the identity of a message: its id and its content, or all of it without an id.
    pub(super) fn identity(self) -> (Option<Self>, Self) {
        let message = self.message();
        let bytes = |name| message.member(name).map(Self::trimmed);
        match (bytes("id"), bytes("content")) {
            (Some(id), Some(content)) => (Some(id), content),
            _ => (None, self.trimmed()),
        }
    }

    /// Returns whether this message was written without an id, in short form, and is `other` in a checkpoint.
    pub(super) fn is_short_for(self, other: Self) -> bool {
        self.identity().0.is_none() && self.content() == other.content()
    }

    /// Returns the content of a message, which may be a pair of a role and a content, or a text.
    fn content(self) -> Self {
        let pair = self.elements().filter(|pair| pair.len() == 2);
        let content = pair.and_then(|pair| pair.last().copied());
        content.or_else(|| self.message().member("content")).unwrap_or(self).trimmed()
    }

    /// Returns the id of a message that a removal names, if this is one.
    pub(super) fn removal(self) -> Option<Self> {
        let is_removal = self.kind() == Some(MessageKind::Removal);
        is_removal.then(|| self.message().member("id").map(Self::trimmed)).flatten()
    }

    /// Returns whether this is the id with which a removal removes all messages.
    pub(super) fn is_all(self) -> bool {
        self.text().as_deref() == Some("__remove_all__")
    }

    /// Returns the encoded bytes, which may continue after the value.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::MessagePack(bytes) | Self::Json(bytes) => bytes,
        }
    }

    /// Removes the bytes after the value.
    fn trimmed(self) -> Self {
        match self {
            Self::MessagePack(bytes) => Self::MessagePack(Cursor::new(bytes).value()),
            Self::Json(_) => self,
        }
    }

    /// Writes the value as JSON. Returns `None` if it is damaged or `out` becomes longer than `most` bytes.
    pub(super) fn write_json(self, out: &mut String, most: usize) -> Option<()> {
        match self {
            Self::MessagePack(bytes) => Cursor::new(bytes).write_json(out, most),
            Self::Json(bytes) => {
                let text = str::from_utf8(bytes).ok()?;
                (out.len() + text.len() <= most).then(|| out.push_str(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_that_of_the_class_the_type_or_the_role() {
        let object = |class: &str| {
            format!(
                r#"{{"id":["langchain","schema","messages","{class}"],"kwargs":{{"content":"a","id":"1"}}}}"#
            )
        };
        let kind = |json: &str| Encoded::Json(json.as_bytes()).kind();
        assert_eq!(kind(&object("AIMessageChunk")), Some(MessageKind::Answer));
        assert_eq!(kind(&object("HumanMessage")), Some(MessageKind::Other));
        assert_eq!(kind(&object("Document")), None);
        assert_eq!(kind(r#"{"type":"ai","content":"a"}"#), Some(MessageKind::Answer));
        assert_eq!(kind(r#"{"type":"AIMessageChunk","content":"a"}"#), Some(MessageKind::Answer));
        assert_eq!(kind(r#"{"role":"assistant","content":"a"}"#), Some(MessageKind::Answer));
        assert_eq!(kind(r#"{"type":"tool","content":"a"}"#), Some(MessageKind::Result));
        assert_eq!(kind(r#"{"role":"user"}"#), None);
        let removal = object("RemoveMessage");
        let removed = Encoded::Json(removal.as_bytes()).removal();
        assert_eq!(removed, Some(Encoded::Json(br#""1""#)));
    }
}
