//! Columns of tables and their heads.

use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table_copy::Copying;
use crate::app::ui::widgets::text::small;
use egui::{Align, Button, Layout, Response, RichText, Sense, TextStyle, Ui, vec2};
use egui_extras::{Column as Width, TableRow};
use std::borrow::Cow;

/// A column of a table. `K` identifies it in the cells.
pub(crate) struct Column<'a, K> {
    pub(crate) key: K,
    pub(crate) title: Cow<'a, str>,
    help: Cow<'a, str>,
    pub(crate) width: Width,
    is_right: bool,
    is_indented: bool,
    sorting: Sorting,
    pub(crate) least_width: f32,
}

/// The order of a sorted table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl SortOrder {
    /// Returns the order.
    pub(crate) fn new(is_descending: bool) -> Self {
        if is_descending { Self::Descending } else { Self::Ascending }
    }
}

/// Whether a column can sort the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorting {
    Never,
    /// The order, if the table is sorted by this column.
    Possible(Option<SortOrder>),
}

impl<'a, K> Column<'a, K> {
    /// Creates a left-aligned column.
    pub(crate) fn new(key: K, title: impl Into<Cow<'a, str>>, width: Width) -> Self {
        Self {
            key,
            title: title.into(),
            help: Cow::Borrowed(""),
            width,
            is_right: false,
            is_indented: true,
            sorting: Sorting::Never,
            least_width: 0.0,
        }
    }

    /// Aligns the column to the right.
    pub(crate) fn right(mut self) -> Self {
        self.is_right = true;
        self
    }

    /// Sets the hover text of the head.
    pub(crate) fn help(mut self, help: impl Into<Cow<'a, str>>) -> Self {
        self.help = help.into();
        self
    }

    /// Removes the space before left-aligned content, which separates it from right-aligned numbers.
    pub(crate) fn flush(mut self) -> Self {
        self.is_indented = false;
        self
    }

    /// Lets a click on the head sort the table. `sorted` is the order, if the table is sorted by this column.
    pub(crate) fn sortable(mut self, sorted: Option<SortOrder>) -> Self {
        self.sorting = Sorting::Possible(sorted);
        self
    }

    /// Hides the column in tables narrower than this, in points.
    pub(crate) fn hidden_below(mut self, least: f32) -> Self {
        self.least_width = least;
        self
    }

    /// Shows the head. Returns whether it was clicked to sort.
    pub(crate) fn show_head(&self, ui: &mut Ui, copying: &Copying) -> bool {
        match self.sorting {
            Sorting::Possible(sorted) => {
                let head = sort_head(ui, &self.title, &self.help, sorted);
                head.context_menu(|ui| copying.menu(ui, None));
                head.clicked()
            }
            Sorting::Never if self.title.is_empty() => false,
            Sorting::Never => {
                head(ui, &self.title, &self.help);
                false
            }
        }
    }

    /// Shows a cell of the column.
    pub(crate) fn cell(&self, row: &mut TableRow<'_, '_>, content: &mut dyn FnMut(&mut Ui)) {
        aligned_cell(row, self.is_right, self.is_indented, content);
    }
}

// The functions below are not generic: the executable contains each once, not once per table.

fn aligned_cell(
    row: &mut TableRow<'_, '_>,
    is_right: bool,
    is_indented: bool,
    content: &mut dyn FnMut(&mut Ui),
) {
    let layout = if is_right {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    row.col(|ui| {
        ui.with_layout(layout, |ui| {
            if !is_right && is_indented {
                ui.add_space(space::S);
            }
            content(ui);
        });
    });
}

/// Returns a column for message or call numbers up to `largest`.
pub(crate) fn number_column(largest: usize) -> Width {
    Width::exact(number_width(largest))
}

/// Returns the width of such a column, in points.
pub(crate) fn number_width(largest: usize) -> f32 {
    // Five digits fit; each further digit adds its width.
    let more = largest.max(1).ilog10().saturating_sub(4);
    48.0 + 8.0 * more as f32
}

/// Shows the head of a column that cannot be sorted. `help` is its hover text and may be empty.
fn head(ui: &mut Ui, title: &str, help: &str) {
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

/// Shows the head of a sortable column.
fn sort_head(ui: &mut Ui, title: &str, help: &str, sorted: Option<SortOrder>) -> Response {
    let arrow = match sorted {
        Some(SortOrder::Descending) => " ⏷",
        Some(SortOrder::Ascending) => " ⏶",
        None => "",
    };
    let color = if sorted.is_some() { palette(ui).text } else { palette(ui).weak };
    let text = RichText::new(format!("{title}{arrow}")).text_style(TextStyle::Small).color(color);
    fit_row(ui);
    let name = format!("Sort by {}", if title == "#" { "number" } else { title });
    let hint = if help.is_empty() { name.clone() } else { format!("{help}. Click to sort.") };
    let response = ui.add(Button::new(text).frame(false));
    response.on_hover_text(hint).accessible_name(name)
}
