//! Shared elements of tables: cells, sortable heads and notes.

use super::text::small;
use crate::app::theme::{palette, space};
use egui::{Align, Button, Frame, Layout, Margin, Panel, RichText, Sense, TextStyle, Ui, vec2};
use egui_extras::{Column, TableRow};

/// Horizontal alignment of a column's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Side {
    Left,
    Right,
}

/// Returns a column for message or call numbers up to `largest`.
pub(in crate::app) fn number_column(largest: usize) -> Column {
    Column::exact(number_width(largest))
}

/// Returns the width of such a column, in points.
pub(in crate::app) fn number_width(largest: usize) -> f32 {
    // Five digits fit; each further digit adds its width.
    let more = largest.max(1).ilog10().saturating_sub(4);
    48.0 + 8.0 * more as f32
}

/// Shows a cell. Adds space before left-aligned content to separate it from right-aligned numbers.
pub(in crate::app) fn cell(row: &mut TableRow<'_, '_>, side: Side, content: impl FnOnce(&mut Ui)) {
    row.col(|ui| {
        ui.with_layout(layout(side), |ui| {
            if side == Side::Left {
                ui.add_space(space::S);
            }
            content(ui);
        });
    });
}

fn layout(side: Side) -> Layout {
    match side {
        Side::Left => Layout::left_to_right(Align::Center),
        Side::Right => Layout::right_to_left(Align::Center),
    }
}

/// Shows the head of a column that cannot be sorted. `help` is its hover text and may be empty.
pub(in crate::app) fn head(ui: &mut Ui, title: &str, help: &str) {
    fit_row(ui);
    let button = Button::new(small(ui, title)).frame(false);
    let response = ui.add(button.sense(Sense::hover()));
    if !help.is_empty() {
        response.on_hover_text(help);
    }
}

/// Shrinks a head to its row, including its focus ring.
fn fit_row(ui: &mut Ui) {
    let spacing = ui.spacing_mut();
    spacing.button_padding = vec2(0.0, 0.0);
    spacing.interact_size.y = space::ROW - 6.0;
}

/// Height in points below which the notes are hidden in favor of rows.
const LOW: f32 = 150.0;

/// Shows notes below a table if there is enough height. The head of the first column shows them as hover text.
pub(in crate::app) fn notes_below(ui: &mut Ui, id: &'static str, said: &[String]) {
    if ui.available_height() < LOW {
        return;
    }
    let frame = Frame::new().inner_margin(Margin::symmetric(16, 6));
    let panel = Panel::bottom(id).resizable(false);
    panel
        .show_separator_line(false)
        .frame(frame)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for said in said {
                ui.label(small(ui, said));
            }
        });
}

/// Shows the head of a sortable column. `sorted` is set for the active sort key and is true for descending order.
/// Returns whether the head was clicked.
pub(in crate::app) fn sort_head(
    ui: &mut Ui,
    title: &str,
    help: &str,
    sorted: Option<bool>,
) -> bool {
    let arrow = match sorted {
        Some(true) => " ⏷",
        Some(false) => " ⏶",
        None => "",
    };
    let color = if sorted.is_some() {
        palette(ui).text
    } else {
        palette(ui).weak
    };
    let text = RichText::new(format!("{title}{arrow}"))
        .text_style(TextStyle::Small)
        .color(color);
    fit_row(ui);
    let name = format!("Sort by {}", if title == "#" { "number" } else { title });
    let hint = if help.is_empty() {
        name.clone()
    } else {
        format!("{help}. Click to sort.")
    };
    let response = ui.add(Button::new(text).frame(false));
    let response = response.on_hover_text(hint).accessible_name(name);
    response.clicked()
}
