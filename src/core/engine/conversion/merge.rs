//! Applies the result of a background action to a conversation that has new messages since.

use crate::chat::ChatMessage;
use std::collections::{HashMap, HashSet};

/// Applies the change from `before` to `after` to the messages of `now` that still exist. Returns none if no part of
/// the change applies any more.
pub(crate) fn merge(
    before: &[ChatMessage],
    after: &[ChatMessage],
    now: &[ChatMessage],
) -> Option<Vec<ChatMessage>> {
    if now.starts_with(before) {
        return Some([after, &now[before.len()..]].concat());
    }
    let was: HashMap<u32, &ChatMessage> = known(before).collect();
    let becomes: HashMap<u32, &ChatMessage> = known(after).collect();
    let mut new = new_before(after);
    let mut merged = Vec::with_capacity(now.len());
    for message in now {
        let id = message.parts().next();
        let untouched = id.filter(|id| was.get(id) == Some(&message));
        merged.extend(id.and_then(|id| new.remove(&id)).into_iter().flatten().cloned());
        match untouched {
            // The message is new, or it was changed meanwhile.
            None => merged.push(message.clone()),
            Some(id) => merged.extend(becomes.get(&id).map(|changed| (*changed).clone())),
        }
    }
    (merged != now).then_some(merged)
}

/// Returns messages that contain existing content, with their first part.
fn known(messages: &[ChatMessage]) -> impl Iterator<Item = (u32, &ChatMessage)> {
    messages.iter().filter_map(|m| Some((m.parts().next()?, m)))
}

/// Returns messages that the action wrote, by the message that they precede.
fn new_before(after: &[ChatMessage]) -> HashMap<u32, Vec<&ChatMessage>> {
    let mut found: HashMap<u32, Vec<&ChatMessage>> = HashMap::new();
    let mut waiting = Vec::new();
    let mut seen = HashSet::new();
    for message in after {
        match message.parts().next() {
            None => waiting.push(message),
            Some(id) if seen.insert(id) && !waiting.is_empty() => {
                found.insert(id, std::mem::take(&mut waiting));
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Content, Fields, Text};

    fn message(part: u32, text: &str) -> ChatMessage {
        ChatMessage::from(Fields {
            content: Content::Text(Text { text: text.into(), part: Some(part) }),
            ..ChatMessage::new("user", "").into_fields()
        })
    }

    fn texts(messages: &[ChatMessage]) -> Vec<&str> {
        messages.iter().filter_map(ChatMessage::text).collect()
    }

    #[test]
    fn newer_messages_follow_the_change() {
        let before = [message(0, "a"), message(1, "b")];
        let after = [ChatMessage::summary("user", "ab")];
        let now = [message(0, "a"), message(1, "b"), message(2, "c")];
        assert_eq!(texts(&merge(&before, &after, &now).unwrap()), ["ab", "c"]);
    }

    #[test]
    fn a_change_applies_to_remaining_messages_and_skips_changed_ones() {
        let before = [message(0, "a"), message(1, "b"), message(2, "c")];
        let after = [message(0, "a"), message(1, "sum b"), message(2, "sum c")];
        let now = [message(1, "b"), message(2, "c cut"), message(3, "d")];
        assert_eq!(texts(&merge(&before, &after, &now).unwrap()), ["sum b", "c cut", "d"]);
    }

    #[test]
    fn no_message_is_left_to_change() {
        let before = [message(0, "a"), message(1, "b")];
        let after = [message(0, "a!"), message(1, "b")];
        assert!(merge(&before, &after, &[message(1, "b")]).is_none());
    }
}
