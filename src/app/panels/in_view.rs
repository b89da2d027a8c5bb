//! Keeps the selected row of a list in view: whatever moves it, the list follows within the same frame.

use egui::{Context, Id};

/// How a list of rows of one height was shown in the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct InView {
    /// What the list was scrolled to.
    pub(super) offset: f32,
    /// Height of what was seen of it.
    height: f32,
    /// The selected row as its list knows it, to notice that it moved.
    key: Option<(usize, usize)>,
    /// The selected row was seen whole.
    is_seen: bool,
    /// The selected row is to be brought into view as soon as there is one.
    is_due: bool,
}

/// Rows of one height, of which some are seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rows {
    /// Number of rows.
    pub(super) len: usize,
    /// Height of each.
    pub(super) row: f32,
    /// Height of what is seen of them.
    pub(super) height: f32,
}

impl Default for InView {
    fn default() -> Self {
        Self {
            offset: 0.0,
            height: 0.0,
            key: None,
            is_seen: false,
            is_due: true,
        }
    }
}

impl InView {
    /// Loads what the list left in the last frame; a list that is shown for the first time is due.
    pub(super) fn load(ctx: &Context, id: Id) -> Self {
        ctx.data(|data| data.get_temp(id)).unwrap_or_default()
    }

    /// Keeps it for the next frame: the list was scrolled to `offset`.
    pub(super) fn store(
        mut self,
        ctx: &Context,
        id: Id,
        offset: f32,
        selected: Option<(usize, Rows)>,
    ) {
        self.offset = offset;
        if let Some((row, rows)) = selected {
            self.is_seen = rows.shows(row, offset);
        }
        if Self::load(ctx, id) != self {
            ctx.data_mut(|data| data.insert_temp(id, self));
        }
    }

    /// Asks for the selected row, wherever the list was scrolled to.
    pub(super) fn ask(&mut self) {
        self.is_due = true;
    }

    /// The selected row as its list knew it in the last frame.
    pub(super) fn row(&self) -> Option<usize> {
        self.key.map(|(row, _)| row)
    }

    /// Whether the selected row is still to be brought into view.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns the offset that brings the selected row to the middle, where it has to be brought into view: when it was
    /// asked for, and when it was seen and has been moved. What was scrolled away by hand stays away.
    pub(super) fn follow(
        &mut self,
        selected: Option<(usize, (usize, usize))>,
        rows: Rows,
    ) -> Option<f32> {
        let key = selected.map(|(_, key)| key);
        let is_new = self.key.is_none() && key.is_some();
        let has_moved = self.key != key || (self.height - rows.height).abs() > 0.5;
        let is_wanted = self.is_due || is_new || self.is_seen && has_moved;
        (self.key, self.height) = (key, rows.height);
        let Some((row, _)) = selected else {
            self.is_seen = false;
            return None;
        };
        self.is_due = false;
        (is_wanted && !rows.shows(row, self.offset)).then(|| rows.centered(row))
    }
}

impl Rows {
    /// Whether a row is seen whole.
    fn shows(self, row: usize, offset: f32) -> bool {
        let top = row as f32 * self.row - offset;
        top > -0.5 && top + self.row < self.height + 0.5
    }

    /// The offset that has a row in the middle, as far as the list can be scrolled; a whole number of rows.
    fn centered(self, row: usize) -> f32 {
        let most = (self.len as f32 * self.row - self.height).max(0.0);
        let above = ((self.height / self.row - 1.0) / 2.0).floor().max(0.0);
        ((row as f32 - above).max(0.0) * self.row).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Rows = Rows {
        len: 100,
        row: 10.0,
        height: 50.0,
    };

    /// Scrolls the list where it wants to be; whether the row is seen then.
    fn shown(view: &mut InView, row: usize, rows: Rows) -> bool {
        if let Some(offset) = view.follow(Some((row, (row, 0))), rows) {
            view.offset = offset;
        }
        view.is_seen = rows.shows(row, view.offset);
        view.is_seen
    }

    #[test]
    fn a_row_that_was_asked_for_comes_to_the_middle_and_one_that_is_seen_stays() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        assert_eq!(view.offset, 480.0);
        view.ask();
        assert!(shown(&mut view, 52, ROWS));
        assert_eq!(view.offset, 480.0);
        for (row, offset) in [(0, 0.0), (99, 950.0)] {
            view.ask();
            assert!(shown(&mut view, row, ROWS));
            assert_eq!(view.offset, offset);
        }
    }

    #[test]
    fn a_row_that_is_seen_is_followed_and_one_that_was_scrolled_away_is_not() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        // Sorted anew, then less room.
        assert!(shown(&mut view, 7, ROWS));
        assert!(shown(&mut view, 9, ROWS));
        let low = Rows {
            height: 20.0,
            ..ROWS
        };
        assert!(shown(&mut view, 9, low));
        (view.offset, view.is_seen) = (700.0, false);
        assert!(!shown(&mut view, 10, ROWS));
        assert_eq!(view.offset, 700.0);
    }

    #[test]
    fn a_row_that_was_filtered_out_is_brought_back_with_it() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        assert_eq!(view.follow(None, ROWS), None);
        view.offset = 0.0;
        assert!(shown(&mut view, 50, ROWS));
    }
}
