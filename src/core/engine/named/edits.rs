//! Edits of single messages, as actions return them.
//!
//! A view is rebuilt before every call, and usually its edits of the last call are followed by a few new ones. An
//! action that keeps its list therefore extends and shares it, and the engine processes only the new edits.

use crate::chat::ChatMessage;
use std::ops::Deref;
use std::sync::Arc;

/// A change of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageEdit {
    /// Its position in the conversation that the action received.
    pub at: usize,
    /// The message afterwards; none if it is removed.
    pub now: Option<ChatMessage>,
}

/// Edits, first to last. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    list: Arc<Vec<MessageEdit>>,
    /// Identity of a list that an action keeps; unchanged while the list only grows.
    identity: Option<Arc<()>>,
}

/// The edits of an earlier call.
#[derive(Debug)]
pub(crate) enum KnownEdits {
    /// A list for one call.
    List(Edits),
    /// The identity and length of a list that an action keeps.
    Start(Arc<()>, usize),
}

impl Edits {
    /// Appends edits to a list that an action keeps for later calls.
    pub fn grow(&mut self, new: impl IntoIterator<Item = MessageEdit>) {
        if self.identity.is_none() || Arc::get_mut(&mut self.list).is_none() {
            self.identity = Some(Arc::default());
        }
        Arc::make_mut(&mut self.list).extend(new);
    }

    /// Returns the list for changes. It is a new list for the engine.
    pub fn list_mut(&mut self) -> &mut Vec<MessageEdit> {
        self.identity = None;
        Arc::make_mut(&mut self.list)
    }

    /// Returns what [`Self::added`] needs at a later call.
    pub(crate) fn known(&self) -> KnownEdits {
        match &self.identity {
            Some(identity) => KnownEdits::Start(Arc::clone(identity), self.list.len()),
            None => KnownEdits::List(self.clone()),
        }
    }

    /// Returns the edits that are not among the previous ones; none if a previous edit is missing.
    pub(crate) fn added(&self, before: &KnownEdits) -> Option<Vec<MessageEdit>> {
        let before = match (before, &self.identity) {
            (KnownEdits::List(before), _) => before,
            (KnownEdits::Start(identity, n), Some(now)) if Arc::ptr_eq(identity, now) => {
                return self.list.get(*n..).map(<[MessageEdit]>::to_vec);
            }
            (KnownEdits::Start(..), _) => return None,
        };
        let mut left = before.iter().peekable();
        let mut added = Vec::new();
        for edit in &*self.list {
            match left.next_if(|known| known.at == edit.at) {
                Some(known) => match (&known.now, &edit.now) {
                    (None, None) => {}
                    (Some(known), Some(now)) if known.is_copy_of(now) => {}
                    _ => return None,
                },
                None => added.push(edit.clone()),
            }
        }
        left.next().is_none().then_some(added)
    }
}

impl From<Vec<MessageEdit>> for Edits {
    fn from(list: Vec<MessageEdit>) -> Self {
        Self { list: Arc::new(list), identity: None }
    }
}

impl FromIterator<MessageEdit> for Edits {
    fn from_iter<I: IntoIterator<Item = MessageEdit>>(edits: I) -> Self {
        edits.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Edits {
    type Target = [MessageEdit];

    fn deref(&self) -> &[MessageEdit] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(at: usize) -> MessageEdit {
        MessageEdit { at, now: None }
    }

    fn places(edits: Option<Vec<MessageEdit>>) -> Option<Vec<usize>> {
        edits.map(|edits| edits.iter().map(|edit| edit.at).collect())
    }

    #[test]
    fn a_list_that_grew_adds_only_its_end() {
        let mut edits = Edits::default();
        edits.grow([gone(1)]);
        let known = edits.known();
        edits.grow([gone(4)]);
        assert_eq!(places(edits.added(&known)), Some(vec![4]));
    }

    #[test]
    fn clones_that_grew_apart_are_different_lists() {
        let mut edits = Edits::default();
        edits.grow([gone(1)]);
        let known = edits.known();
        let mut other = edits.clone();
        other.grow([gone(2)]);
        edits.grow([gone(3)]);
        assert_eq!(places(other.added(&known)), None);
    }

    #[test]
    fn a_changed_list_is_another_one() {
        let mut edits = Edits::default();
        edits.grow([gone(1)]);
        let known = edits.known();
        edits.list_mut()[0] = gone(2);
        assert_eq!(places(edits.added(&known)), None);
    }

    #[test]
    fn lists_of_single_calls_are_compared() {
        let before = Edits::from(vec![gone(1), gone(3)]).known();
        let added = |list: &[usize]| {
            let list: Vec<MessageEdit> = list.iter().map(|at| gone(*at)).collect();
            places(Edits::from(list).added(&before))
        };
        assert_eq!(added(&[1, 2, 3]), Some(vec![2]));
        assert_eq!(added(&[1, 2]), None);
    }
}
