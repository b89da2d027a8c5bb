//! A conversation that is cheap to clone, grows at its end, and caches the state of rules.
//!
//! A replay passes the whole conversation to rules before every call, and usually it has only grown since the last.
//! Clones therefore share the list until one of them is changed, and a rule continues from its cached state.

use super::{ChatMessage, Rule};
use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages in order. Clones share the list until one of them is changed.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    list: Vec<ChatMessage>,
    /// Identity of the list; unchanged while the list only grows.
    identity: Arc<()>,
    states: Mutex<Vec<CachedState>>,
}

/// Cached state of a rule.
type CachedState = (Rule, Arc<dyn Any + Send + Sync>);

/// A position at the end of a conversation.
#[derive(Clone, Debug)]
pub struct Mark {
    identity: Arc<()>,
    n: usize,
}

impl Messages {
    /// Returns the current end.
    pub fn mark(&self) -> Mark {
        Mark { identity: Arc::clone(&self.0.identity), n: self.0.list.len() }
    }

    /// Returns the messages added since `mark`, or `None` if this is another conversation or it was changed otherwise.
    pub fn since(&self, mark: &Mark) -> Option<&[ChatMessage]> {
        let is_same = Arc::ptr_eq(&mark.identity, &self.0.identity);
        is_same.then(|| self.0.list.get(mark.n..)).flatten()
    }

    /// Appends messages. Cached states remain valid.
    pub fn grow(&mut self, new: impl IntoIterator<Item = ChatMessage>) {
        Arc::make_mut(&mut self.0).list.extend(new);
    }

    /// Updates the cached state of a rule with the messages and returns it. The state itself records how many messages
    /// it covers.
    pub fn updated_state<T>(
        &self,
        rule: Rule,
        update: impl FnOnce(&mut T, &[ChatMessage]),
    ) -> Arc<T>
    where
        T: Any + Clone + Default + Send + Sync,
    {
        let known = self.take_state(rule);
        let mut found: Arc<T> = known.and_then(|known| known.downcast().ok()).unwrap_or_default();
        update(Arc::make_mut(&mut found), &self.0.list);
        let state: Arc<T> = Arc::clone(&found);
        self.states().push((rule, state));
        found
    }

    /// Returns the sum of a rule's counts of all messages.
    pub fn weigh(&self, rule: Rule, weigh: impl Fn(&ChatMessage) -> u64) -> u64 {
        /// Number of messages, and the sum of their counts.
        #[derive(Clone, Default)]
        struct Sum(usize, u64);
        let sum = self.updated_state(rule, |Sum(n, sum), messages| {
            *sum += messages[*n..].iter().map(weigh).sum::<u64>();
            *n = messages.len();
        });
        sum.1
    }

    /// Returns the list, cloned if it is shared.
    pub fn into_vec(self) -> Vec<ChatMessage> {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.list.clone(), |own| own.list)
    }

    fn take_state(&self, rule: Rule) -> Option<Arc<dyn Any + Send + Sync>> {
        let mut states = self.states();
        let at = states.iter().position(|(known, _)| known.is(rule))?;
        Some(states.swap_remove(at).1)
    }

    fn states(&self) -> MutexGuard<'_, Vec<CachedState>> {
        self.0.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Shared {
    /// Copies the cached states, which are valid for both lists.
    fn clone(&self) -> Self {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            list: self.list.clone(),
            identity: Arc::default(),
            states: Mutex::new(states.clone()),
        }
    }
}

impl From<Vec<ChatMessage>> for Messages {
    fn from(list: Vec<ChatMessage>) -> Self {
        Self(Arc::new(Shared { list, ..Shared::default() }))
    }
}

impl Deref for Messages {
    type Target = Vec<ChatMessage>;

    fn deref(&self) -> &Vec<ChatMessage> {
        &self.0.list
    }
}

impl DerefMut for Messages {
    /// Clears the cached states, because the list is about to change.
    fn deref_mut(&mut self) -> &mut Vec<ChatMessage> {
        let shared = Arc::make_mut(&mut self.0);
        shared.identity = Arc::default();
        shared.states = Mutex::default();
        &mut shared.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule::new("length");

    fn messages_of(texts: &[&str]) -> Vec<ChatMessage> {
        let messages = texts.iter().map(|text| ChatMessage::new("user", *text));
        messages.collect()
    }

    fn length(messages: &Messages) -> u64 {
        messages.weigh(RULE, |m| m.text().map_or(0, |text| text.len() as u64))
    }

    #[test]
    fn continues_from_the_cached_state() {
        let mut messages = Messages::from(messages_of(&["a", "bc"]));
        assert_eq!(length(&messages), 3);
        messages.grow(messages_of(&["def"]));
        assert_eq!(messages.weigh(RULE, |_| 100), 103);
    }

    #[test]
    fn a_change_clears_the_cached_state() {
        let mut messages = Messages::from(messages_of(&["a", "bc"]));
        assert_eq!(length(&messages), 3);
        messages.remove(0);
        assert_eq!(length(&messages), 2);
    }

    #[test]
    fn clones_grow_independently() {
        let mut messages = Messages::from(messages_of(&["a"]));
        let mut copy = messages.clone();
        let mark = messages.mark();
        copy.grow(messages_of(&["b"]));
        messages.grow(messages_of(&["cd"]));
        assert_eq!((length(&copy), length(&messages)), (2, 3));
        let added = |m: &Messages| m.since(&mark).map(<[_]>::len);
        assert_eq!((added(&copy), added(&messages)), (None, Some(1)));
    }

    #[test]
    fn since_returns_none_after_a_change() {
        let mut messages = Messages::from(messages_of(&["a"]));
        let mark = messages.mark();
        messages.push(ChatMessage::new("user", "b"));
        assert!(messages.since(&mark).is_none());
    }
}
