//! A list of messages. Old ones that can only stay excluded are settled: strategies do not process them again.

use super::marked::Marked;
use crate::chat::ChatMessage;
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Messages in order. Dereferences to those that are not settled.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    settled: Settled,
    recent: Vec<Marked>,
    /// Notices of the last call, which strategies usually write again.
    pub(super) notices: Vec<ChatMessage>,
}

/// The first messages of a history: all are excluded, and no group or pair of call and result reaches beyond them.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    blocks: Vec<Arc<Block>>,
    /// Number of messages.
    pub(super) n: usize,
}

/// Messages that were settled at once.
#[derive(Debug)]
struct Block {
    messages: Vec<Marked>,
    ids: HashSet<Arc<str>>,
    /// Ids of their calls.
    calls: HashSet<Arc<str>>,
}

/// Minimum number of messages that are settled at once.
// Chosen: each block is searched for an id at every call, so that many small blocks would be slow. Larger ones leave
// more messages to the strategies.
const AT_ONCE: usize = 64;

impl Settled {
    /// Returns whether a message has this id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.blocks.iter().any(|block| block.ids.contains(id))
    }
}

impl History {
    /// Returns the settled messages and the others.
    pub(super) fn parts(&mut self) -> (&Settled, &mut [Marked]) {
        (&self.settled, &mut self.recent)
    }

    /// Settles the first messages if there are enough that can only stay excluded.
    pub(super) fn settle(&mut self) {
        let group = |at: usize| self.recent[at].group.as_ref().map(|group| &group.id);
        let excluded = self.recent.iter().take_while(|message| message.is_excluded);
        let n = excluded.count();
        // The next message belongs to a known group, which later ones may join.
        if n < AT_ONCE || n == self.recent.len() || group(n).is_none() || group(n - 1) == group(n) {
            return;
        }
        let (old, recent) = self.recent.split_at(n);
        let calls: HashSet<Arc<str>> =
            old.iter().flat_map(Marked::call_ids).map(Arc::from).collect();
        let is_answer = |message: &Marked| message.result_ids().any(|id| calls.contains(id));
        if recent.iter().any(is_answer) {
            return;
        }
        let ids = old.iter().filter_map(|message| message.id.clone());
        self.settled.n += n;
        self.settled.blocks.push(Arc::new(Block {
            ids: ids.collect(),
            calls,
            messages: self.recent.drain(..n).collect(),
        }));
    }

    /// Returns a notice with this text: that of the last call if it is equal.
    pub(super) fn notice(&self, text: String) -> ChatMessage {
        let mut known = self.notices.iter();
        let known = known.find(|known| known.text() == Some(&text));
        known.map_or_else(|| ChatMessage::notice("assistant", text), ChatMessage::clone)
    }

    /// Settles no message any more if the result of a call affects settled ones.
    pub(super) fn reach(&mut self, call: Option<&Arc<str>>) {
        let mut blocks = self.settled.blocks.iter();
        if call.is_some_and(|call| blocks.any(|block| block.calls.contains(call))) {
            self.unsettle();
        }
    }

    /// Settles no message any more.
    pub(super) fn unsettle(&mut self) {
        let settled = std::mem::take(&mut self.settled);
        let messages = settled.blocks.iter().flat_map(|block| &block.messages);
        self.recent.splice(..0, messages.cloned());
    }
}

impl Deref for History {
    type Target = Vec<Marked>;

    fn deref(&self) -> &Vec<Marked> {
        &self.recent
    }
}

impl DerefMut for History {
    fn deref_mut(&mut self) -> &mut Vec<Marked> {
        &mut self.recent
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::annotate;
    use super::*;
    use crate::chat::{Call, Rest};

    /// Returns 100 calls with their results, of which the first 75 are excluded.
    fn history() -> History {
        let mut history = History::default();
        for n in 0..100 {
            let call = Call {
                part: None,
                id: Some(format!("call_{n}").into()),
                function: None,
                rest: Rest::default(),
            };
            let result = ChatMessage::notice_result(&call, "done");
            let answer = ChatMessage::new("assistant", "").with_calls(vec![call]);
            history.push(Marked::new(answer));
            history.push(Marked::new(result));
        }
        annotate(&mut history, None);
        for message in history.iter_mut().take(150) {
            message.is_excluded = true;
        }
        history
    }

    #[test]
    fn settled_messages_count_for_new_ids() {
        let (mut settled, mut whole) = (history(), history());
        settled.settle();
        assert_eq!((settled.len(), whole.len()), (50, 200));
        for list in [&mut settled, &mut whole] {
            list.push(Marked::new(ChatMessage::new("user", "next")));
            annotate(list, None);
        }
        let newest = |list: &History| list.last().and_then(|message| message.id.clone());
        assert_eq!(newest(&whole).as_deref(), Some("msg_200"));
        assert_eq!(newest(&settled), newest(&whole));
    }

    #[test]
    fn settled_messages_return_with_a_result_that_belongs_to_them() {
        let mut history = history();
        history.settle();
        history.reach(Some(&"call_80".into()));
        assert_eq!(history.len(), 50);
        history.reach(Some(&"call_3".into()));
        assert_eq!(history.len(), 200);
    }
}
