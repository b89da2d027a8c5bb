//! Undo and redo of a value. A drag is one undo: nothing is remembered while a pointer is down.

/// The earlier and later states of a value.
#[derive(Clone, Debug)]
pub(crate) struct History<T> {
    undo: Vec<T>,
    redo: Vec<T>,
    settled: T,
}

/// Maximum number of states; older ones are dropped.
const MAX: usize = 200;

impl<T: Clone + PartialEq> History<T> {
    /// Creates a history with this initial value.
    pub(crate) fn new(now: T) -> Self {
        Self { undo: Vec::new(), redo: Vec::new(), settled: now }
    }

    /// Records the value. Call this once a frame while nothing is being dragged.
    pub(crate) fn settle(&mut self, now: &T) {
        if *now == self.settled {
            return;
        }
        self.undo.push(std::mem::replace(&mut self.settled, now.clone()));
        if self.undo.len() > MAX {
            self.undo.remove(0);
        }
        self.redo.clear();
    }

    /// Returns the value before the last change.
    pub(crate) fn undo(&mut self, now: &T) -> Option<T> {
        self.settle(now);
        let before = self.undo.pop()?;
        self.redo.push(std::mem::replace(&mut self.settled, before.clone()));
        Some(before)
    }

    /// Returns the value before the last undo.
    pub(crate) fn redo(&mut self, now: &T) -> Option<T> {
        self.settle(now);
        let after = self.redo.pop()?;
        self.undo.push(std::mem::replace(&mut self.settled, after.clone()));
        Some(after)
    }

    /// Returns whether the value differs from the last recorded one; that change can be undone too.
    pub(crate) fn is_ahead(&self, now: &T) -> bool {
        *now != self.settled
    }

    /// Returns the value before the current drag.
    pub(crate) fn settled(&self) -> &T {
        &self.settled
    }

    /// Returns whether there is a change to undo.
    pub(crate) fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Returns whether there is a change to redo.
    pub(crate) fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drag_through_many_values_is_one_undo() {
        let mut history = History::new(0);
        // 1 to 8 occur while the pointer is down and are never recorded.
        history.settle(&9);
        assert_eq!(history.undo(&9), Some(0));
        assert_eq!(history.undo(&0), None);
        assert_eq!(history.redo(&0), Some(9));
    }

    #[test]
    fn a_new_change_discards_undone_changes() {
        let mut history = History::new(0);
        history.settle(&1);
        assert_eq!(history.undo(&1), Some(0));
        history.settle(&2);
        assert!(!history.can_redo());
        assert_eq!(history.undo(&2), Some(0));
    }

    #[test]
    fn undo_during_a_change_reverts_that_change() {
        let mut history = History::new(0);
        assert_eq!(history.undo(&5), Some(0));
        assert_eq!(history.redo(&0), Some(5));
    }
}
