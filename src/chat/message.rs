//! A message that is cheap to hand on and remembers what was worked out of it.
//!
//! A replay shows the whole conversation to rules before every call, and they change little of it. So copies share what
//! they say until one of them is changed, and what a rule weighs a message is kept with the message.

use super::{Content, Fields, Text};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// One message of an agent's own store. Copies share its fields until one of them is changed.
#[derive(Clone, Debug)]
pub struct ChatMessage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    fields: Fields,
    weights: Chain<(Rule, u64)>,
    variants: Chain<ChatMessage>,
}

/// A rule that weighs messages: its name and what else its result depends on (the address of a function or a table).
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// What else the result depends on.
    pub by: usize,
}

impl Rule {
    /// Whether both are one rule.
    pub(super) fn is(self, other: Self) -> bool {
        // Two texts at one place of one length are one text.
        std::ptr::eq(self.name, other.name) && self.by == other.by
    }
}

/// Most that a message remembers of a kind: what does not fit is worked out again.
const MOST: usize = 24;
/// Bytes up to which another text is a marker, which comes back at every call.
const MARKER: usize = 200;

impl ChatMessage {
    /// Its fields, to make another message of.
    pub fn into_fields(self) -> Fields {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.fields.clone(), |own| own.fields)
    }

    /// Whether both are copies of one message.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What a rule weighs it: worked out once.
    pub fn weigh(&self, rule: Rule, weigh: impl FnOnce(&Self) -> u64) -> u64 {
        let find = |(known, weight): &(Rule, u64)| known.is(rule).then_some(*weight);
        self.0
            .weights
            .find(find)
            .unwrap_or_else(|| self.0.weights.keep((rule, weigh(self))).1)
    }

    /// The same message saying something else; the part it came from stays the same.
    #[must_use]
    pub fn with_text(&self, text: impl AsRef<str> + Into<Arc<str>>) -> Self {
        if self.text() == Some(text.as_ref()) {
            return self.clone();
        }
        let is_marker = text.as_ref().len() <= MARKER;
        let says_it = |known: &Self| (known.text() == Some(text.as_ref())).then(|| known.clone());
        if let Some(known) = is_marker.then(|| self.0.variants.find(says_it)).flatten() {
            return known;
        }
        let other = Self::from(Fields {
            content: Content::Text(Text {
                text: text.into(),
                part: self.content.first_part(),
            }),
            ..self.0.fields.clone()
        });
        if is_marker {
            self.0.variants.keep(other)
        } else {
            other
        }
    }
}

impl From<Fields> for ChatMessage {
    fn from(fields: Fields) -> Self {
        Self(Arc::new(Shared::from(fields)))
    }
}

impl From<Fields> for Shared {
    fn from(fields: Fields) -> Self {
        Self {
            fields,
            weights: Chain::default(),
            variants: Chain::default(),
        }
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        Self::from(self.fields.clone())
    }
}

impl Deref for ChatMessage {
    type Target = Fields;

    fn deref(&self) -> &Fields {
        &self.0.fields
    }
}

impl DerefMut for ChatMessage {
    /// What it weighed is forgotten: it is about to change.
    fn deref_mut(&mut self) -> &mut Fields {
        let shared = Arc::make_mut(&mut self.0);
        shared.weights = Chain::default();
        shared.variants = Chain::default();
        &mut shared.fields
    }
}

impl PartialEq for ChatMessage {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || self.0.fields == other.0.fields
    }
}

/// What is found out one after the other and never changes.
#[derive(Debug)]
struct Chain<T>(OnceLock<Box<Link<T>>>);

#[derive(Debug)]
struct Link<T> {
    item: T,
    next: Chain<T>,
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T: Clone> Chain<T> {
    fn find<F>(&self, find: impl Fn(&T) -> Option<F>) -> Option<F> {
        let mut at = self;
        while let Some(link) = at.0.get() {
            if let Some(found) = find(&link.item) {
                return Some(found);
            }
            at = &link.next;
        }
        None
    }

    /// Keeps an item if there is room, and gives it back.
    fn keep(&self, item: T) -> T {
        let mut new = Box::new(Link {
            item: item.clone(),
            next: Self::default(),
        });
        let mut at = self;
        for _ in 0..MOST {
            match at.0.set(new) {
                Ok(()) => break,
                Err(taken) => new = taken,
            }
            let Some(link) = at.0.get() else { break };
            at = &link.next;
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        name: "length",
        by: 0,
    };

    fn length(message: &ChatMessage) -> u64 {
        message.text().map_or(0, |text| text.len() as u64)
    }

    #[test]
    fn a_weight_is_worked_out_once_and_anew_after_a_change() {
        let mut message = ChatMessage::new("user", "abc");
        assert_eq!(message.weigh(RULE, length), 3);
        assert_eq!(message.clone().weigh(RULE, |_| 9), 3);
        let other = Rule { by: 1, ..RULE };
        assert_eq!(message.weigh(other, |_| 7), 7);
        message.content = Content::text("abcd");
        assert_eq!(message.weigh(RULE, length), 4);
    }

    #[test]
    fn a_change_of_a_copy_leaves_the_other_as_it_was() {
        let message = ChatMessage::new("user", "abc");
        let mut copy = message.clone();
        assert!(copy.is_copy_of(&message));
        copy.content = Content::text("d");
        assert_eq!(
            (message.text(), copy.text(), copy == message),
            (Some("abc"), Some("d"), false)
        );
    }

    #[test]
    fn the_same_marker_makes_the_same_message() {
        let message = ChatMessage::new("tool", "abc");
        let cleared = message.with_text("gone");
        assert!(message.with_text("gone".to_owned()).is_copy_of(&cleared));
        assert_eq!(message.with_text("other").text(), Some("other"));
        assert_eq!(cleared.text(), Some("gone"));
    }

    #[test]
    fn what_does_not_fit_is_worked_out_again() {
        let message = ChatMessage::new("user", "abc");
        for by in 0..2 * MOST {
            let rule = Rule { by, ..RULE };
            assert_eq!(message.weigh(rule, |_| by as u64), by as u64);
        }
        let last = Rule {
            by: 2 * MOST - 1,
            ..RULE
        };
        assert_eq!(message.weigh(last, |_| 5), 5);
        assert_eq!(message.weigh(RULE, |_| 5), 0);
    }
}
