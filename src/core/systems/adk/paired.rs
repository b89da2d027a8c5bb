//! The request of a session without summaries. It only depends on the recorded messages and is continued from call to
//! call.

use super::assemble::assemble;
use super::event::{AdkEvent, AdkEventKind};
use crate::chat::{ChatMessage, Messages, Rule, n_system};
use crate::engine::{Edits, MessageEdit, edits_of};
use std::collections::HashMap;
use std::sync::Arc;

const PAIRED: Rule = Rule::new("adk: paired");

/// The request of the messages so far.
#[derive(Clone, Debug, Default)]
struct Paired {
    /// Number of messages.
    n: usize,
    /// Position of the first call with each id.
    first: HashMap<Arc<str>, usize>,
    /// Changes of the messages.
    edits: Edits,
}

/// Returns the changes that make a conversation a request; `None` if messages have other positions in it.
pub(super) fn paired(messages: &Messages) -> Option<Edits> {
    let mut is_whole = false;
    let paired = messages.updated_state(PAIRED, |paired: &mut Paired, messages| {
        is_whole = paired.extend(messages);
    });
    is_whole.then(|| paired.edits.clone())
}

impl Paired {
    /// Adds the new messages. Returns whether edits express their request.
    fn extend(&mut self, messages: &[ChatMessage]) -> bool {
        let start = self.start(messages);
        if start < self.n {
            let n_kept = self.edits.partition_point(|edit| edit.at < start);
            if n_kept < self.edits.len() {
                self.edits.list_mut().truncate(n_kept);
            }
            self.n = start;
        }
        let new = &messages[start..];
        let request = assemble(&events(new));
        let request = request.iter().flat_map(|event| event.messages.iter());
        let request: Vec<ChatMessage> = request.cloned().collect();
        let Some(edits) = edits_of(new, &request) else {
            return false;
        };
        if !edits.is_empty() {
            self.edits
                .grow(edits.into_iter().map(|edit| MessageEdit { at: start + edit.at, ..edit }));
        }
        for (at, message) in (start..).zip(new) {
            let ids = message.calls().iter().filter_map(|call| call.id.clone());
            for id in ids {
                self.first.entry(id).or_insert(at);
            }
        }
        self.n = messages.len();
        true
    }

    /// Returns the first message that new ones affect: they share no call with those before it. New messages may answer
    /// an old call, and the messages since that call may answer older ones, so the search repeats until it finds no
    /// older call.
    fn start(&self, messages: &[ChatMessage]) -> usize {
        let n_system = n_system(messages);
        let mut start = self.n.max(n_system);
        let mut end = messages.len();
        loop {
            // All responses to an answer are one event.
            while start > n_system && messages.get(start).is_some_and(|m| m.is("tool")) {
                start -= 1;
            }
            let ids = messages[start..end].iter().flat_map(ids);
            let earliest = ids.filter_map(|id| self.first.get(id)).min();
            match earliest {
                Some(earliest) if *earliest < start => (start, end) = (*earliest, start),
                _ => return start,
            }
        }
    }
}

/// Returns the events of messages, without their turns.
fn events(messages: &[ChatMessage]) -> Vec<AdkEvent> {
    let mut events: Vec<AdkEvent> = Vec::new();
    for message in messages {
        let kind = AdkEventKind::of(message);
        match events.last_mut() {
            Some(last) if kind == AdkEventKind::Responses && last.kind == kind => last.add(message),
            _ => events.push(AdkEvent::new(kind, message)),
        }
    }
    events
}

/// Returns the ids of the calls of a message, or of the call that it answers.
fn ids(message: &ChatMessage) -> impl Iterator<Item = &Arc<str>> {
    let calls = message.calls().iter().filter_map(|call| call.id.as_ref());
    calls.chain(message.call_id.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Call, Content, Fields, Rest, Text};

    fn answer(ids: &[&str]) -> ChatMessage {
        let call = |id: &&str| Call {
            part: None,
            id: Some((*id).into()),
            function: None,
            rest: Rest::default(),
        };
        ChatMessage::new("assistant", "").with_calls(ids.iter().map(call).collect())
    }

    fn response(id: &str) -> ChatMessage {
        ChatMessage::from(Fields {
            call_id: Some(id.into()),
            content: Content::text(id),
            ..ChatMessage::new("tool", "").into_fields()
        })
    }

    /// Returns the requests of a conversation that grows by the lengths in `steps`.
    fn requests(all: &[ChatMessage], steps: &[usize]) -> Vec<Option<Vec<MessageEdit>>> {
        let mut messages = Messages::default();
        let mut left = all.iter().cloned();
        let mut request = |n: &usize| {
            messages.grow(left.by_ref().take(*n));
            paired(&messages).map(|edits| edits.to_vec())
        };
        steps.iter().map(&mut request).collect()
    }

    /// Returns a conversation in which every message has a part.
    fn conversation() -> Vec<ChatMessage> {
        let messages = [
            ChatMessage::new("system", "be brief"),
            ChatMessage::new("user", "a"),
            answer(&["1"]),
            ChatMessage::new("user", "b"),
            response("unknown"),
            answer(&["2"]),
            response("2"),
            answer(&["1"]),
            response("1"),
            ChatMessage::new("user", ""),
            answer(&["3", "4"]),
            response("3"),
            ChatMessage::new("user", "c"),
            response("4"),
        ];
        let with_part = |(at, message): (u32, ChatMessage)| {
            let text = Text { text: message.text().unwrap_or_default().into(), part: Some(at) };
            ChatMessage::from(Fields { content: Content::Text(text), ..message.into_fields() })
        };
        (0..).zip(messages).map(with_part).collect()
    }

    #[test]
    fn a_request_that_grows_is_the_request_of_all_messages() {
        let all = conversation();
        let steps = [2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1];
        let grown = requests(&all, &steps);
        let mut n = 0;
        for (step, grown) in steps.iter().zip(grown) {
            n += step;
            assert_eq!(grown, requests(&all, &[n])[0], "{n} messages");
        }
        assert_eq!(n, all.len());
    }

    #[test]
    fn a_later_call_with_the_same_id_changes_an_earlier_part() {
        let places = |n: usize| {
            let edits = requests(&conversation(), &[7, n - 7]).remove(1)?;
            Some(edits.iter().map(|edit| edit.at).collect::<Vec<_>>())
        };
        assert_eq!(places(7), Some(vec![2, 4]));
        assert_eq!(places(9), Some(vec![4]));
    }

    #[test]
    fn a_response_that_moves_is_no_edit() {
        let requests = requests(&conversation(), &[13, 1]);
        assert!(requests[0].is_some());
        assert_eq!(requests[1], None);
    }
}
