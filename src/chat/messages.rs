//! A conversation that is cheap to hand on, grows at its end, and remembers what rules found out about it.
//!
//! A replay shows the whole conversation to rules before every call, and mostly it has only grown since the last. So
//! copies share the list until one of them is changed, and a rule goes on with what it found out before.

use super::{ChatMessage, Rule};
use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages in order. Copies share the list until one of them is changed.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    list: Vec<ChatMessage>,
    /// The same as long as the list only grows.
    line: Arc<()>,
    notes: Mutex<Vec<Note>>,
}

/// What a rule found out.
type Note = (Rule, Arc<dyn Any + Send + Sync>);

/// How far a conversation had come.
#[derive(Clone, Debug)]
pub struct Mark {
    line: Arc<()>,
    n: usize,
}

impl Messages {
    /// How far it has come.
    pub fn mark(&self) -> Mark {
        Mark {
            line: Arc::clone(&self.0.line),
            n: self.0.list.len(),
        }
    }

    /// What was added since; none if it is another conversation or was changed.
    pub fn since(&self, mark: &Mark) -> Option<&[ChatMessage]> {
        let is_same = Arc::ptr_eq(&mark.line, &self.0.line);
        is_same.then(|| self.0.list.get(mark.n..)).flatten()
    }

    /// Adds messages behind those there are. What rules found out about these is still true.
    pub fn grow(&mut self, new: impl IntoIterator<Item = ChatMessage>) {
        Arc::make_mut(&mut self.0).list.extend(new);
    }

    /// What a rule finds out about the messages: it goes on from what it found when there were fewer, and notes itself
    /// how many those were.
    pub fn find_out<T>(&self, rule: Rule, go_on: impl FnOnce(&mut T, &[ChatMessage])) -> Arc<T>
    where
        T: Any + Clone + Default + Send + Sync,
    {
        let known = self.take_note(rule);
        let mut found: Arc<T> = known
            .and_then(|known| known.downcast().ok())
            .unwrap_or_default();
        go_on(Arc::make_mut(&mut found), &self.0.list);
        let note: Arc<T> = Arc::clone(&found);
        self.notes().push((rule, note));
        found
    }

    /// What a rule weighs all messages together.
    pub fn weigh(&self, rule: Rule, weigh: impl Fn(&ChatMessage) -> u64) -> u64 {
        /// How many messages, and their weight.
        #[derive(Clone, Default)]
        struct Sum(usize, u64);
        let sum = self.find_out(rule, |Sum(n, sum), messages| {
            *sum += messages[*n..].iter().map(weigh).sum::<u64>();
            *n = messages.len();
        });
        sum.1
    }

    /// The list itself, to be changed or taken apart.
    pub fn into_vec(self) -> Vec<ChatMessage> {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.list.clone(), |own| own.list)
    }

    fn take_note(&self, rule: Rule) -> Option<Arc<dyn Any + Send + Sync>> {
        let mut notes = self.notes();
        let at = notes.iter().position(|(known, _)| known.is(rule))?;
        Some(notes.swap_remove(at).1)
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.0.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Shared {
    /// A copy goes its own way: what is known holds for both.
    fn clone(&self) -> Self {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            list: self.list.clone(),
            line: Arc::default(),
            notes: Mutex::new(notes.clone()),
        }
    }
}

impl From<Vec<ChatMessage>> for Messages {
    fn from(list: Vec<ChatMessage>) -> Self {
        Self(Arc::new(Shared {
            list,
            ..Shared::default()
        }))
    }
}

impl Deref for Messages {
    type Target = Vec<ChatMessage>;

    fn deref(&self) -> &Vec<ChatMessage> {
        &self.0.list
    }
}

impl DerefMut for Messages {
    /// What rules found out is forgotten: it is about to change.
    fn deref_mut(&mut self) -> &mut Vec<ChatMessage> {
        let shared = Arc::make_mut(&mut self.0);
        shared.line = Arc::default();
        shared.notes = Mutex::default();
        &mut shared.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        name: "length",
        by: 0,
    };

    fn said(texts: &[&str]) -> Vec<ChatMessage> {
        let said = texts.iter().map(|text| ChatMessage::new("user", *text));
        said.collect()
    }

    fn length(messages: &Messages) -> u64 {
        messages.weigh(RULE, |m| m.text().map_or(0, |text| text.len() as u64))
    }

    #[test]
    fn a_rule_goes_on_where_it_stopped() {
        let mut messages = Messages::from(said(&["a", "bc"]));
        assert_eq!(length(&messages), 3);
        messages.grow(said(&["def"]));
        assert_eq!(messages.weigh(RULE, |_| 100), 103);
    }

    #[test]
    fn what_was_found_is_forgotten_with_a_change() {
        let mut messages = Messages::from(said(&["a", "bc"]));
        assert_eq!(length(&messages), 3);
        messages.remove(0);
        assert_eq!(length(&messages), 2);
    }

    #[test]
    fn copies_grow_apart() {
        let mut messages = Messages::from(said(&["a"]));
        let mut copy = messages.clone();
        let mark = messages.mark();
        copy.grow(said(&["b"]));
        messages.grow(said(&["cd"]));
        assert_eq!((length(&copy), length(&messages)), (2, 3));
        let added = |m: &Messages| m.since(&mark).map(<[_]>::len);
        assert_eq!((added(&copy), added(&messages)), (None, Some(1)));
    }

    #[test]
    fn nothing_was_merely_added_to_what_was_changed() {
        let mut messages = Messages::from(said(&["a"]));
        let mark = messages.mark();
        messages.push(ChatMessage::new("user", "b"));
        assert!(messages.since(&mark).is_none());
    }
}
