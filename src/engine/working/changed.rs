//! What of a context is not what the last call saw there. What was added behind is no change.

/// Where a context differs from what the last call saw.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Changed {
    /// The first entry that the call did not see, or not so.
    first: usize,
    /// Entries that were edited where they stand, in the order they were.
    edited: Vec<u32>,
    /// Entries came, went or were replaced too.
    is_moved: bool,
}

impl Default for Changed {
    fn default() -> Self {
        Self {
            first: usize::MAX,
            edited: Vec::new(),
            is_moved: false,
        }
    }
}

impl Changed {
    /// The first entry that the last call did not see, or not so; beyond all of them if there is none.
    pub(in crate::engine) fn first(&self) -> usize {
        self.first
    }

    /// Entries came, went or were replaced from this one on.
    pub(in crate::engine) fn move_from(&mut self, entry: usize) {
        self.first = self.first.min(entry);
        self.is_moved = true;
    }

    /// An entry was edited where it stands.
    pub(in crate::engine) fn edit(&mut self, entry: usize) {
        self.first = self.first.min(entry);
        self.edited.push(entry as u32);
    }

    /// So many more will be edited.
    pub(in crate::engine) fn reserve(&mut self, n: usize) {
        self.edited.reserve(n);
    }

    /// What was edited, perhaps more than once, if that was all that happened.
    pub(in crate::engine) fn edits(&self) -> Option<&[u32]> {
        (!self.is_moved).then_some(&*self.edited)
    }

    /// A call saw all of it: nothing differs from now on.
    pub(in crate::engine) fn settle(&mut self) {
        self.first = usize::MAX;
        self.edited.clear();
        self.is_moved = false;
    }
}
