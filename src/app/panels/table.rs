//! What tables have in common: cells at the left or right of their column, heads that sort, and words for nothing.

use super::small;
use crate::app::theme::{palette, space};
use egui::{Align, Button, Frame, Layout, Margin, Panel, RichText, Sense, TextStyle, Ui, vec2};
use egui_extras::{Column, TableRow};

/// Where the content of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A column for numbers of messages or calls up to this one.
pub(super) fn number_column(largest: usize) -> Column {
    Column::exact(number_width(largest))
}

/// Width of such a column.
pub(super) fn number_width(largest: usize) -> f32 {
    // Five figures fit; each more takes its width.
    let more = largest.max(1).ilog10().saturating_sub(4);
    48.0 + 8.0 * more as f32
}

/// A cell; what begins at the left is set apart from figures that end there.
pub(super) fn cell(row: &mut TableRow<'_, '_>, side: Side, content: impl FnOnce(&mut Ui)) {
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

/// The head of a column that cannot be sorted by; `help` says what it means where its title does not.
pub(super) fn head(ui: &mut Ui, title: &str, help: &str) {
    fit_row(ui);
    let button = Button::new(small(ui, title)).frame(false);
    let response = ui.add(button.sense(Sense::hover()));
    if !help.is_empty() {
        response.on_hover_text(help);
    }
}

/// Makes a head small enough for its row, with its focus ring.
fn fit_row(ui: &mut Ui) {
    let spacing = ui.spacing_mut();
    spacing.button_padding = vec2(0.0, 0.0);
    spacing.interact_size.y = space::ROW - 6.0;
}

/// In less height than this rows need the room more than what is said of their figures.
const LOW: f32 = 150.0;

/// Says below a table how its figures are known, where there is room; the head of its first column tells the same.
pub(super) fn notes_below(ui: &mut Ui, id: &'static str, said: &[String]) {
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

/// The head of a column that can be sorted by: whether it is sorted by, largest first. Whether it was clicked.
pub(super) fn sort_head(ui: &mut Ui, title: &str, help: &str, sorted: Option<bool>) -> bool {
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
