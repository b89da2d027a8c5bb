//! Items of the Responses API: the units in which the SDK stores and counts a conversation.

use crate::chat::{ChatMessage, Content};
use crate::engine::MessageEdit;
use crate::session::WrittenKind;
use std::collections::HashSet;

/// An item: a part of an answer, or another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredItem {
    /// Position of its message.
    pub(super) message: usize,
    piece: ItemPiece,
}

/// The part of a message that an item holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemPiece {
    Reasoning,
    Content,
    /// A call, by its position.
    Call(usize),
}

/// Returns the items of messages: of an answer its reasoning, its text and each call.
pub(super) fn items(messages: &[ChatMessage]) -> Vec<StoredItem> {
    let mut items = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let mut add = |piece| items.push(StoredItem { message: at, piece });
        if message.reasoning.is_some() {
            add(ItemPiece::Reasoning);
        }
        if !message.content.is_silent() {
            add(ItemPiece::Content);
        }
        (0..message.calls().len()).for_each(|nth| add(ItemPiece::Call(nth)));
    }
    items
}

/// Returns the number of items that compaction counts: all but user messages and compacted history.
pub(super) fn candidates(messages: &[ChatMessage]) -> usize {
    let counted: Vec<bool> = messages.iter().map(is_candidate).collect();
    let items = items(messages);
    items.iter().filter(|item| counted[item.message]).count()
}

fn is_candidate(message: &ChatMessage) -> bool {
    !message.is("user") && !is_compacted(message)
}

/// Returns whether a message is the item that a compaction returned.
pub(super) fn is_compacted(message: &ChatMessage) -> bool {
    message.written == Some(WrittenKind::Summary)
}

impl StoredItem {
    /// Returns the id of the call that the item holds.
    fn call<'a>(&self, messages: &'a [ChatMessage]) -> Option<&'a str> {
        match self.piece {
            ItemPiece::Call(nth) => messages[self.message].calls().get(nth)?.id.as_deref(),
            ItemPiece::Reasoning | ItemPiece::Content => None,
        }
    }

    fn is_call(&self) -> bool {
        matches!(self.piece, ItemPiece::Call(_))
    }

    /// Returns the id of the call whose result the item holds.
    fn result<'a>(&self, messages: &'a [ChatMessage]) -> Option<&'a str> {
        messages[self.message].call_id.as_deref()
    }
}

/// Returns whether each item stays: calls need their result and results their call. Reasoning is removed with the call
/// that follows it.
pub(super) fn paired(items: &[StoredItem], messages: &[ChatMessage]) -> Vec<bool> {
    let results: HashSet<&str> = items.iter().filter_map(|i| i.result(messages)).collect();
    let is_answered =
        |item: &StoredItem| item.call(messages).is_some_and(|id| results.contains(id));
    let mut stays: Vec<bool> =
        items.iter().map(|item| !item.is_call() || is_answered(item)).collect();
    let called = items.iter().zip(&stays).filter(|(_, stays)| **stays);
    let called: HashSet<&str> = called.filter_map(|(i, _)| i.call(messages)).collect();
    let mut is_next_dropped = false;
    for (item, stays) in items.iter().zip(&mut stays).rev() {
        if item.piece == ItemPiece::Reasoning {
            *stays = !is_next_dropped;
            continue;
        }
        is_next_dropped = !*stays;
        if item.result(messages).is_some_and(|id| !called.contains(id)) {
            *stays = false;
        }
    }
    stays
}

/// Returns the edits after which only some items are left. Items of one message are neighbors.
pub(super) fn edits(
    items: &[StoredItem],
    messages: &[ChatMessage],
    stays: impl Fn(usize) -> bool,
) -> Vec<MessageEdit> {
    let mut edits = Vec::new();
    let mut first = 0;
    for of_message in items.chunk_by(|a, b| a.message == b.message) {
        let range = first..first + of_message.len();
        first = range.end;
        let n_kept = range.clone().filter(|nth| stays(*nth)).count();
        if n_kept == of_message.len() {
            continue;
        }
        let at = of_message[0].message;
        let kept = of_message.iter().zip(range);
        let kept = kept.filter_map(|(item, nth)| stays(nth).then_some(item.piece));
        let kept: Vec<ItemPiece> = kept.collect();
        let now = (n_kept > 0).then(|| with_pieces(&messages[at], &kept));
        edits.push(MessageEdit { at, now });
    }
    edits
}

/// Returns an answer with some of its calls and without text. Reasoning stays if it led to the first call.
pub(super) fn only_calls(answer: &ChatMessage, stays: impl Fn(usize) -> bool) -> ChatMessage {
    let calls = (0..answer.calls().len()).filter(|nth| stays(*nth));
    let mut kept: Vec<ItemPiece> = calls.map(ItemPiece::Call).collect();
    if answer.content.is_silent() && stays(0) {
        kept.push(ItemPiece::Reasoning);
    }
    with_pieces(answer, &kept)
}

/// Returns a message with only some of its pieces.
fn with_pieces(message: &ChatMessage, kept: &[ItemPiece]) -> ChatMessage {
    let mut now = message.clone();
    if !kept.contains(&ItemPiece::Reasoning) {
        now.reasoning = None;
    }
    if !kept.contains(&ItemPiece::Content) {
        now.content = Content::Missing;
    }
    let calls = message.calls().iter().enumerate();
    let calls = calls.filter(|(nth, _)| kept.contains(&ItemPiece::Call(*nth)));
    let calls: Vec<_> = calls.map(|(_, call)| call.clone()).collect();
    now.with_calls(calls)
}
