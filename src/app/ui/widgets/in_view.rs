//! Scrolling that keeps the selected row of a list visible within the frame in which it moves.

use egui::{Context, Id};

/// Scroll state of a list with rows of equal height, from the previous frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InView {
    /// Scroll offset, in points.
    pub(crate) offset: f32,
    /// Visible height of the list, in points.
    height: f32,
    /// The selected row, used to detect moves.
    selected: Option<SelectedRow>,
    /// Whether the selected row was fully visible.
    is_seen: bool,
    /// Whether the selected row must be scrolled into view once it exists.
    is_due: bool,
}

/// The selected row of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SelectedRow {
    /// Its index in the list.
    pub(crate) row: usize,
    /// Its position among the displayed rows, some of which may be folded.
    pub(crate) position: usize,
    /// Number of rows above it that a fold contains, open or closed. The row is followed if this number changes, but not
    /// if the user opens a fold.
    pub(crate) n_foldable_above: usize,
}

impl SelectedRow {
    /// Returns a row of a list without folds.
    pub(crate) fn new(row: usize) -> Self {
        Self { row, position: row, n_foldable_above: 0 }
    }

    fn key(self) -> (usize, usize) {
        (self.row, self.n_foldable_above)
    }
}

/// Dimensions of a list with rows of equal height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rows {
    /// Number of rows.
    pub(crate) len: usize,
    /// Height of a row, in points.
    pub(crate) row: f32,
    /// Visible height of the list, in points.
    pub(crate) height: f32,
}

impl Default for InView {
    fn default() -> Self {
        Self { offset: 0.0, height: 0.0, selected: None, is_seen: false, is_due: true }
    }
}

impl InView {
    /// Loads the state of the previous frame. A list shown for the first time scrolls to the selected row.
    pub(crate) fn load(ctx: &Context, id: Id) -> Self {
        ctx.data(|data| data.get_temp(id)).unwrap_or_default()
    }

    /// Stores the state for the next frame with the list's scroll offset, after a call of [`Self::follow`] with these rows.
    pub(crate) fn store(mut self, ctx: &Context, id: Id, offset: f32, rows: Rows) {
        self.offset = offset;
        if let Some(selected) = self.selected {
            self.is_seen = rows.shows(selected.position, offset);
        }
        if Self::load(ctx, id) != self {
            ctx.data_mut(|data| data.insert_temp(id, self));
        }
    }

    /// Requests that the selected row is scrolled into view.
    pub(crate) fn request(&mut self) {
        self.is_due = true;
    }

    /// Returns the index of the selected row in the previous frame.
    pub(crate) fn row(&self) -> Option<usize> {
        self.selected.map(|selected| selected.row)
    }

    /// Returns whether the selected row still has to be scrolled into view.
    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns the offset that centers the selected row if it was requested, or if it was visible and has moved. Rows
    /// that the user scrolled out of view are not followed.
    pub(crate) fn follow(&mut self, selected: Option<SelectedRow>, rows: Rows) -> Option<f32> {
        let is_new = self.selected.is_none() && selected.is_some();
        let has_moved = self.selected.map(SelectedRow::key) != selected.map(SelectedRow::key)
            || (self.height - rows.height).abs() > 0.5;
        let is_requested = self.is_due || is_new || self.is_seen && has_moved;
        (self.selected, self.height) = (selected, rows.height);
        let Some(SelectedRow { position, .. }) = selected else {
            self.is_seen = false;
            return None;
        };
        self.is_due = false;
        (is_requested && !rows.shows(position, self.offset)).then(|| rows.centered(position))
    }
}

impl Rows {
    /// Returns whether a row is fully visible.
    fn shows(self, row: usize, offset: f32) -> bool {
        let top = row as f32 * self.row - offset;
        top > -0.5 && top + self.row < self.height + 0.5
    }

    /// Returns the offset that centers a row, limited to the scroll range and rounded to whole rows.
    fn centered(self, row: usize) -> f32 {
        let most = (self.len as f32 * self.row - self.height).max(0.0);
        let above = ((self.height / self.row - 1.0) / 2.0).floor().max(0.0);
        ((row as f32 - above).max(0.0) * self.row).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Rows = Rows { len: 100, row: 10.0, height: 50.0 };

    /// Scrolls the list to its requested offset and returns whether the row is visible.
    fn shown(view: &mut InView, row: usize, rows: Rows) -> bool {
        if let Some(offset) = view.follow(Some(SelectedRow::new(row)), rows) {
            view.offset = offset;
        }
        view.is_seen = rows.shows(row, view.offset);
        view.is_seen
    }

    #[test]
    fn centers_a_requested_row_and_does_not_move_a_visible_one() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        assert_eq!(view.offset, 480.0);
        view.request();
        assert!(shown(&mut view, 52, ROWS));
        assert_eq!(view.offset, 480.0);
        for (row, offset) in [(0, 0.0), (99, 950.0)] {
            view.request();
            assert!(shown(&mut view, row, ROWS));
            assert_eq!(view.offset, offset);
        }
    }

    #[test]
    fn follows_a_visible_row_but_not_one_that_was_scrolled_away() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        // Sorted again, then less height.
        assert!(shown(&mut view, 7, ROWS));
        assert!(shown(&mut view, 9, ROWS));
        let low = Rows { height: 20.0, ..ROWS };
        assert!(shown(&mut view, 9, low));
        (view.offset, view.is_seen) = (700.0, false);
        assert!(!shown(&mut view, 10, ROWS));
        assert_eq!(view.offset, 700.0);
    }

    #[test]
    fn scrolls_to_a_row_that_reappears_after_filtering() {
        let mut view = InView::default();
        assert!(shown(&mut view, 50, ROWS));
        assert_eq!(view.follow(None, ROWS), None);
        view.offset = 0.0;
        assert!(shown(&mut view, 50, ROWS));
    }
}
