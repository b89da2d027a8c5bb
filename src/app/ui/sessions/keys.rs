//! Keys of the lists: the arrow keys move the highlight, Enter opens the highlighted row.

use egui::{EventFilter, Id, Key, Modifiers, Popup, Rect, Role, Sense, Ui, WidgetInfo};

/// Keys that move the highlight, each with its number of rows.
const MOVES: [(Key, isize); 6] = [
    (Key::ArrowUp, -1),
    (Key::ArrowDown, 1),
    (Key::PageUp, -10),
    (Key::PageDown, 10),
    (Key::Home, isize::MIN),
    (Key::End, isize::MAX),
];

/// The effect of the keys in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListKeys {
    /// Row to highlight and scroll to.
    pub(crate) moved_to: Option<usize>,
    /// Enter was pressed while a row is highlighted.
    pub(crate) is_entered: bool,
}

/// Reads the keys. They work in the list, in the text field that belongs to it, and while no control has the focus.
pub(crate) fn read(
    ui: &Ui,
    list: Id,
    field: Id,
    n_rows: usize,
    highlighted: Option<usize>,
) -> ListKeys {
    let focused = ui.memory(egui::Memory::focused);
    let is_typing = focused == Some(field);
    let is_covered = ui.memory(|m| m.top_modal_layer().is_some()) || Popup::is_any_open(ui.ctx());
    if is_covered || !(is_typing || focused.is_none_or(|id| id == list)) {
        return ListKeys::default();
    }
    let pressed = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    let is_entered = highlighted.is_some() && pressed(Key::Enter);
    // In the field, Home and End move the cursor.
    let is_read = |key: Key| !(is_typing && matches!(key, Key::Home | Key::End));
    let mut moves = MOVES.into_iter();
    let by = moves.find_map(|(key, by)| (is_read(key) && pressed(key)).then_some(by));
    ListKeys { moved_to: by.and_then(|by| moved(highlighted, by, n_rows)), is_entered }
}

/// Returns the row to highlight; `None` without rows.
fn moved(highlighted: Option<usize>, by: isize, n_rows: usize) -> Option<usize> {
    let end = n_rows.checked_sub(1)?;
    let to = match highlighted {
        Some(at) => at.saturating_add_signed(by),
        None if by == isize::MAX => end,
        None => 0,
    };
    Some(to.min(end))
}

/// Makes the area of a list focusable. Assistive tools read `name` and `highlighted`, the text of the highlighted row.
pub(crate) fn make_focusable(ui: &Ui, list: Id, area: Rect, name: &str, highlighted: Option<&str>) {
    let list = ui.interact(area, list, Sense::FOCUSABLE);
    list.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ListBox, true, name);
        info.current_text_value = highlighted.map(str::to_owned);
        info
    });
    if list.has_focus() {
        let arrows = EventFilter { vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|m| m.set_focus_lock_filter(list.id, arrows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_highlight_end_goes_to_the_last_row_and_other_keys_to_the_first() {
        let first = MOVES.map(|(key, by)| (key, moved(None, by, 30)));
        for (key, row) in first {
            let expected = if key == Key::End { 29 } else { 0 };
            assert_eq!(row, Some(expected), "{key:?}");
        }
        assert_eq!(moved(Some(25), 10, 30), Some(29));
        assert_eq!(moved(Some(5), -10, 30), Some(0));
        assert_eq!(moved(None, isize::MAX, 0), None);
    }
}
