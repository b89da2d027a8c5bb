//! Heads of the message table's columns. A click sorts the table.

use super::columns::{Col, indent};
use super::order::{Column as Key, Sort};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::widgets::table::{head, sort_head};
use egui::Ui;

/// Shows a head and sorts by its column when clicked.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    column: Col,
    commands: &mut Vec<Command>,
) {
    let sort = input.view.sort;
    let (title, key, help) = column.head();
    ui.with_layout(column.layout(), |ui| {
        indent(ui, column);
        match key {
            Some(key) if sort_head(ui, title, help, sorted(sort, key)) => {
                commands.push(Command::SetSort(sort.clicked(key)));
            }
            Some(_) => {}
            None if help.is_empty() => {}
            None => head(ui, title, help),
        }
    });
}

/// Returns whether the table is sorted by this column, largest first. `None` for other columns and for the session's
/// own order.
fn sorted(sort: Sort, key: Key) -> Option<bool> {
    let is_told = key != Key::Number || sort.is_descending;
    (sort.column == key && is_told).then_some(sort.is_descending)
}
