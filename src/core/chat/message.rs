//! A message that is cheap to clone and caches derived values.
//!
//! A replay passes the whole conversation to rules before every call, and rules change little of it. Clones therefore
//! share their fields until one of them is changed, and a message caches its token counts.

use super::{Content, Fields, Text};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// One message of an agent's own store. Clones share their fields until one of them is changed.
#[derive(Clone, Debug)]
pub struct ChatMessage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    fields: Fields,
    weights: Chain<(Rule, u64)>,
    variants: Chain<ChatMessage>,
}

/// A rule that counts messages: its name and another value that the result depends on (the address of a function or a
/// table).
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// Another value that the result depends on.
    pub by: usize,
}

impl Rule {
    /// Creates a rule whose result depends on the message only.
    pub const fn new(name: &'static str) -> Self {
        Self { name, by: 0 }
    }

    /// Returns whether both are the same rule.
    pub(super) fn is(self, other: Self) -> bool {
        // Static texts at one address with one length are equal.
        std::ptr::eq(self.name, other.name) && self.by == other.by
    }
}

/// Maximum number of cached values of a kind. Further values are computed each time.
// More than the rules of all bundled presets, which one comparison may run over a message. With 24, the counts of some
// presets were computed again at every call. The list is searched linearly, so a much longer one would be slower.
const MAX_CACHED: usize = 64;
/// Maximum bytes of a marker text, which is repeated at every call.
// Chosen: the systems' markers are shorter. A limit keeps long texts that occur once, such as a cut result, out of
// memory.
const MARKER: usize = 200;

impl ChatMessage {
    /// Returns the fields, for creating another message.
    pub fn into_fields(self) -> Fields {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.fields.clone(), |own| own.fields)
    }

    /// Returns whether both are clones of one message.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the message's count by a rule. Computes it once.
    pub fn weigh(&self, rule: Rule, weigh: impl FnOnce(&Self) -> u64) -> u64 {
        let find = |(known, weight): &(Rule, u64)| known.is(rule).then_some(*weight);
        self.0.weights.find(find).unwrap_or_else(|| self.0.weights.keep((rule, weigh(self))).1)
    }

    /// Returns the message with another text from the same part.
    #[must_use]
    pub fn with_text(&self, text: impl AsRef<str> + Into<Arc<str>>) -> Self {
        if self.text() == Some(text.as_ref()) {
            return self.clone();
        }
        let is_marker = text.as_ref().len() <= MARKER;
        let has_text = |known: &Self| (known.text() == Some(text.as_ref())).then(|| known.clone());
        if let Some(known) = is_marker.then(|| self.0.variants.find(has_text)).flatten() {
            return known;
        }
        let other = Self::from(Fields {
            content: Content::Text(Text {
                text: text.into(),
                part: self.content.first_part().or(self.empty_part()),
            }),
            ..self.0.fields.clone()
        });
        if is_marker { self.0.variants.keep(other) } else { other }
    }
}

impl From<Fields> for ChatMessage {
    fn from(fields: Fields) -> Self {
        Self(Arc::new(Shared::from(fields)))
    }
}

impl From<Fields> for Shared {
    fn from(fields: Fields) -> Self {
        Self { fields, weights: Chain::default(), variants: Chain::default() }
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
    /// Clears the caches, because the message is about to change.
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

/// A lock-free list of cached values that only grows. Each link can be set once, so that readers need no lock, and a
/// thread that loses the race for a link tries the next one.
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

    /// Appends an item if there is space, and returns it.
    fn keep(&self, item: T) -> T {
        let mut new = Box::new(Link { item: item.clone(), next: Self::default() });
        let mut at = self;
        for _ in 0..MAX_CACHED {
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

    const RULE: Rule = Rule::new("length");

    fn length(message: &ChatMessage) -> u64 {
        message.text().map_or(0, |text| text.len() as u64)
    }

    #[test]
    fn counts_once_and_again_after_a_change() {
        let mut message = ChatMessage::new("user", "abc");
        assert_eq!(message.weigh(RULE, length), 3);
        assert_eq!(message.clone().weigh(RULE, |_| 9), 3);
        let other = Rule { by: 1, ..RULE };
        assert_eq!(message.weigh(other, |_| 7), 7);
        message.content = Content::text("abcd");
        assert_eq!(message.weigh(RULE, length), 4);
    }

    #[test]
    fn changing_a_clone_keeps_the_original() {
        let message = ChatMessage::new("user", "abc");
        let mut copy = message.clone();
        assert!(copy.is_copy_of(&message));
        copy.content = Content::text("d");
        assert_eq!((message.text(), copy.text(), copy == message), (Some("abc"), Some("d"), false));
    }

    #[test]
    fn equal_markers_share_a_message() {
        let message = ChatMessage::new("tool", "abc");
        let cleared = message.with_text("gone");
        assert!(message.with_text("gone".to_owned()).is_copy_of(&cleared));
        assert_eq!(message.with_text("other").text(), Some("other"));
        assert_eq!(cleared.text(), Some("gone"));
    }

    #[test]
    fn values_beyond_the_cache_are_computed_again() {
        let message = ChatMessage::new("user", "abc");
        for by in 0..2 * MAX_CACHED {
            let rule = Rule { by, ..RULE };
            assert_eq!(message.weigh(rule, |_| by as u64), by as u64);
        }
        let last = Rule { by: 2 * MAX_CACHED - 1, ..RULE };
        assert_eq!(message.weigh(last, |_| 5), 5);
        assert_eq!(message.weigh(RULE, |_| 5), 0);
    }
}
