//! The table `messages`.

use super::conversation::Conversation;
use crate::exec::tables::column::{ContentHash, Name, SessionText};
use crate::exec::tables::schema::row;
use crate::session::{Kind, kind_of};
use crate::units::{Millis, Tokens};

row! {
    /// A message of a conversation.
    MessageRow in "messages" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Number of the message, from 1.
        message: usize,
        /// Call that wrote the message or included it first; null if no call included it.
        call: Option<usize>,
        /// Turn of the message; null before the first.
        turn: Option<u32>,
        /// Time; null if not recorded.
        time: Option<Millis>,
        /// Role of the author: `system`, `user`, `assistant` or `tool`.
        role: Name,
        /// Kind of the first part, such as `tool_result`.
        kind: Name,
        /// Tool of the first part (`gen_ai.tool.name`); null if it has none.
        tool_name: Option<Name>,
        /// Whether it is part of the history. False for messages that only a recorded compaction wrote.
        in_history: bool,
        /// Tokens.
        tokens: Tokens,
        /// Text of its parts, one after another.
        text: Option<SessionText>,
    }
}

/// Returns a row for each message.
pub(super) fn rows<'a>(
    of: &'a Conversation<'_>,
    with_text: bool,
) -> impl Iterator<Item = MessageRow> + 'a {
    let session = &of.case.session;
    session.messages.iter().enumerate().map(move |(idx, message)| {
        let (content_sha256, conversation) = of.key();
        let parts = session.parts_of(message);
        let tool = message.parts.clone().next();
        let tool = tool.and_then(|part| of.case.index.calls.tool_of(session, part));
        let text = || {
            let texts = parts.iter().map(|part| part.body.text()).filter(|text| !text.is_empty());
            SessionText(texts.collect::<Vec<_>>().join("\n"))
        };
        MessageRow {
            content_sha256,
            conversation,
            message: idx + 1,
            call: session.call_of(idx).map(|call| call + 1),
            turn: Some(message.turn).filter(|turn| *turn > 0),
            time: message.time,
            role: message.author(parts).name().into(),
            kind: parts.first().map_or(Kind::Notice, |part| kind_of(message, part)).name().into(),
            tool_name: tool.map(|tool| Name::Owned(tool.to_owned())),
            in_history: message.in_history,
            tokens: of.case.ledger.message(idx),
            text: with_text.then(text),
        }
    })
}
