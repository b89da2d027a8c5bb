//! Differences of a context from that of the last call. Appended entries are not differences.

/// Differences of a context from that of the last call.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Changed {
    /// The first entry that is new or changed.
    first: usize,
    /// Entries that were edited in place, in the order of the edits.
    edited: Vec<u32>,
    /// Whether entries were also added, removed or replaced.
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
    /// Returns the first entry that is new or changed; `usize::MAX` if none.
    pub(in crate::engine) fn first(&self) -> usize {
        self.first
    }

    /// Records that entries from this one on were added, removed or replaced.
    pub(in crate::engine) fn move_from(&mut self, entry: usize) {
        self.first = self.first.min(entry);
        self.is_moved = true;
    }

    /// Records that an entry was edited in place.
    pub(in crate::engine) fn edit(&mut self, entry: usize) {
        self.first = self.first.min(entry);
        self.edited.push(entry as u32);
    }

    /// Reserves capacity for more edits.
    pub(in crate::engine) fn reserve(&mut self, n: usize) {
        self.edited.reserve(n);
    }

    /// Returns the edited entries, possibly with duplicates, if there were no other changes.
    pub(in crate::engine) fn edits(&self) -> Option<&[u32]> {
        (!self.is_moved).then_some(&*self.edited)
    }

    /// Resets the differences after a call received the context.
    pub(in crate::engine) fn settle(&mut self) {
        self.first = usize::MAX;
        self.edited.clear();
        self.is_moved = false;
    }
}
