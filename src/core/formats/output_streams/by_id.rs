//! The conversations of a stream by their ids, in order of appearance.

use std::collections::HashMap;

/// Conversations by id.
#[derive(Debug)]
pub(super) struct ById<T> {
    indices: HashMap<Box<str>, usize>,
    conversations: Vec<T>,
}

impl<T> ById<T> {
    /// Creates an empty collection.
    pub(super) fn new() -> Self {
        Self { indices: HashMap::new(), conversations: Vec::new() }
    }

    /// Returns the conversation with this id. Creates it with its number from 1, which is `None` for the first.
    pub(super) fn get(&mut self, id: &str, new: impl FnOnce(Option<usize>) -> T) -> &mut T {
        let at = if let Some(at) = self.indices.get(id) {
            *at
        } else {
            let at = self.conversations.len();
            self.conversations.push(new((at > 0).then_some(at + 1)));
            self.indices.insert(id.into(), at);
            at
        };
        &mut self.conversations[at]
    }

    /// Returns the conversations.
    pub(super) fn finish(self) -> Vec<T> {
        self.conversations
    }
}
