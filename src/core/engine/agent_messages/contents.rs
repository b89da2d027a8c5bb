//! The content of messages: the messages of the session and the written texts that they contain.

use super::pieces::{Origin, PieceContent, Pieces, pieces};
use crate::chat::ChatMessage;
use crate::engine::case::Case;
use crate::engine::context::taken::ranges;
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// Content of the messages in an action's own request.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Messages of the session, as ascending ranges.
    pub(crate) messages: Vec<Range<u32>>,
    /// Written texts among them.
    pub(crate) texts: Vec<Arc<str>>,
    /// True tokens: untouched content by the session's weights, other content by its text.
    pub(crate) tokens: Tokens,
}

/// Returns the content of messages.
pub(crate) fn contents(case: &Case, messages: &[ChatMessage]) -> Contents {
    let mut contents = Contents::default();
    let mut of_session = Vec::new();
    for message in messages {
        let Pieces { known, new } = pieces(message);
        for (origin, content) in known {
            match origin {
                Origin::Part(part) => {
                    of_session.push(case.index.message_of[part as usize]);
                    contents.tokens += weight(case, part, content);
                }
                Origin::Entry(_) => contents.texts.push(content.to_text()),
            }
        }
        contents.texts.extend(new);
    }
    of_session.sort_unstable();
    contents.messages = ranges(of_session.into_iter());
    contents.tokens += contents.texts.iter().map(|text| case.ledger.weigh(text)).sum();
    contents
}

fn weight(case: &Case, part: u32, content: PieceContent<'_>) -> Tokens {
    let original = &case.session.parts[part as usize].body;
    match content {
        PieceContent::Text(text) if **text != *original.text() => case.ledger.weigh(text),
        _ => Tokens::from(case.ledger.truth.per_part[part as usize]),
    }
}
