//! Tables: columns with heads that can sort, and rows that can be selected.

use super::swatch;
use super::text::small;
use crate::app::theme::{palette, space};
use egui::{
    Align, Button, Frame, Label, Layout, Margin, Panel, Response, RichText, Sense, TextStyle, Ui,
    vec2,
};
use egui_extras::{Column as Width, TableBuilder, TableRow};
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

/// A column of a table. `K` identifies it in the cells.
pub(in crate::app) struct Column<'a, K> {
    key: K,
    title: Cow<'a, str>,
    help: Cow<'a, str>,
    width: Width,
    is_right: bool,
    is_indented: bool,
    sorting: Sorting,
    least_width: f32,
}

/// Whether a column can sort the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorting {
    Never,
    /// The active order is true for descending.
    Possible(Option<bool>),
}

impl<'a, K> Column<'a, K> {
    /// Creates a left-aligned column.
    pub(in crate::app) fn new(key: K, title: impl Into<Cow<'a, str>>, width: Width) -> Self {
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
    pub(in crate::app) fn right(mut self) -> Self {
        self.is_right = true;
        self
    }

    /// Sets the hover text of the head.
    pub(in crate::app) fn help(mut self, help: impl Into<Cow<'a, str>>) -> Self {
        self.help = help.into();
        self
    }

    /// Removes the space before left-aligned content, which separates it from right-aligned numbers.
    pub(in crate::app) fn flush(mut self) -> Self {
        self.is_indented = false;
        self
    }

    /// Lets a click on the head sort the table. `sorted` is set if it is sorted by this column: true for descending.
    pub(in crate::app) fn sortable(mut self, sorted: Option<bool>) -> Self {
        self.sorting = Sorting::Possible(sorted);
        self
    }

    /// Hides the column in tables narrower than this, in points.
    pub(in crate::app) fn hidden_below(mut self, least: f32) -> Self {
        self.least_width = least;
        self
    }

    /// Shows the head. Returns whether it was clicked to sort.
    fn show_head(&self, ui: &mut Ui) -> bool {
        match self.sorting {
            Sorting::Possible(sorted) => sort_head(ui, &self.title, &self.help, sorted),
            Sorting::Never if self.title.is_empty() => false,
            Sorting::Never => {
                head(ui, &self.title, &self.help);
                false
            }
        }
    }

    /// Shows a cell of the column.
    fn cell<R>(&self, row: &mut TableRow<'_, '_>, content: impl FnOnce(&mut Ui) -> R) -> Option<R> {
        let layout = if self.is_right {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        };
        let mut result = None;
        row.col(|ui| {
            ui.with_layout(layout, |ui| {
                if !self.is_right && self.is_indented {
                    ui.add_space(space::S);
                }
                result = Some(content(ui));
            });
        });
        result
    }
}

/// A table of which only visible rows are laid out.
pub(in crate::app) struct Table<'a, I, K> {
    id: I,
    columns: Vec<Column<'a, K>>,
    n_rows: usize,
    row_height: f32,
    margins: [f32; 2],
    is_striped: bool,
    scrolls: bool,
    revealed: Option<usize>,
    offset: Option<f32>,
}

/// The result of showing a table.
pub(in crate::app) struct Shown<K> {
    /// The column whose head was clicked to sort.
    pub(in crate::app) sorted_by: Option<K>,
    /// Scroll offset, in points.
    pub(in crate::app) offset: f32,
}

impl<'a, I: Debug + Hash, K: Copy> Table<'a, I, K> {
    /// Creates a table with rows of the usual height.
    pub(in crate::app) fn new(id: I, columns: Vec<Column<'a, K>>, n_rows: usize) -> Self {
        Self {
            id,
            columns,
            n_rows,
            row_height: space::ROW,
            margins: [space::S; 2],
            is_striped: false,
            scrolls: true,
            revealed: None,
            offset: None,
        }
    }

    /// Sets the height of a row, in points.
    pub(in crate::app) fn row_height(mut self, height: f32) -> Self {
        self.row_height = height;
        self
    }

    /// Sets the space at the left and right end of each row, in points.
    pub(in crate::app) fn margins(mut self, left: f32, right: f32) -> Self {
        self.margins = [left, right];
        self
    }

    /// Shades every second row.
    pub(in crate::app) fn striped(mut self) -> Self {
        self.is_striped = true;
        self
    }

    /// Shows all rows, because a surrounding area scrolls.
    pub(in crate::app) fn unscrolled(mut self) -> Self {
        self.scrolls = false;
        self
    }

    /// Scrolls a row into view.
    pub(in crate::app) fn reveal(mut self, row: Option<usize>) -> Self {
        self.revealed = row;
        self
    }

    /// Scrolls to an offset, in points.
    pub(in crate::app) fn offset(mut self, offset: f32) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Shows the table. `show_row` shows the cells of each visible row and handles its clicks.
    pub(in crate::app) fn show(
        mut self,
        ui: &mut Ui,
        mut show_row: impl FnMut(Row<'_, '_, '_, '_, K>),
    ) -> Shown<K> {
        let width = ui.available_width();
        self.columns.retain(|column| width >= column.least_width);
        let (columns, margins) = (&self.columns, self.margins);
        let mut table = TableBuilder::new(ui)
            .id_salt((&self.id, columns.len()))
            .striped(self.is_striped)
            .sense(Sense::CLICK)
            .vscroll(self.scrolls)
            .auto_shrink(!self.scrolls)
            .min_scrolled_height(0.0)
            .cell_layout(Layout::left_to_right(Align::Center));
        if let Some(row) = self.revealed {
            table = table.scroll_to_row(row, None).animate_scrolling(false);
        }
        if let Some(offset) = self.offset {
            table = table.vertical_scroll_offset(offset);
        }
        let margin = |points: f32| (points > 0.0).then(|| Width::exact(points));
        let widths = columns.iter().map(|column| column.width);
        let widths = margin(margins[0]).into_iter().chain(widths);
        for width in widths.chain(margin(margins[1])) {
            table = table.column(width);
        }
        let mut sorted_by = None;
        let table = table.header(space::ROW, |mut row| {
            with_margins(&mut row, margins, |row| {
                for column in columns {
                    if column.cell(row, |ui| column.show_head(ui)) == Some(true) {
                        sorted_by = Some(column.key);
                    }
                }
            });
        });
        let shown = table.body(|body| {
            body.rows(self.row_height, self.n_rows, |row| {
                show_row(Row {
                    inner: row,
                    columns,
                    margins,
                });
            });
        });
        Shown {
            sorted_by,
            offset: shown.state.unclamped_offset().y,
        }
    }
}

fn with_margins<'a, 'b>(
    row: &mut TableRow<'a, 'b>,
    [left, right]: [f32; 2],
    cells: impl FnOnce(&mut TableRow<'a, 'b>),
) {
    if left > 0.0 {
        row.col(|_| {});
    }
    cells(row);
    if right > 0.0 {
        row.col(|_| {});
    }
}

/// A row of a table.
pub(in crate::app) struct Row<'r, 't, 'a, 'b, K> {
    inner: TableRow<'a, 'b>,
    columns: &'r [Column<'t, K>],
    margins: [f32; 2],
}

impl<K: Copy> Row<'_, '_, '_, '_, K> {
    /// Returns the index of the row.
    pub(in crate::app) fn index(&self) -> usize {
        self.inner.index()
    }

    /// Marks the row as selected or not.
    pub(in crate::app) fn select(&mut self, is_selected: bool) {
        self.inner.set_selected(is_selected);
    }

    /// Shows the cell of each column.
    pub(in crate::app) fn cells(&mut self, mut content: impl FnMut(&mut Ui, K)) {
        let columns = self.columns;
        with_margins(&mut self.inner, self.margins, |row| {
            for column in columns {
                column.cell(row, |ui| content(ui, column.key));
            }
        });
    }

    /// Returns the response of the row, once its cells are shown.
    pub(in crate::app) fn response(&self) -> Response {
        self.inner.response()
    }
}

/// Returns a column for message or call numbers up to `largest`.
pub(in crate::app) fn number_column(largest: usize) -> Width {
    Width::exact(number_width(largest))
}

/// Returns the width of such a column, in points.
pub(in crate::app) fn number_width(largest: usize) -> f32 {
    // Five digits fit; each further digit adds its width.
    let more = largest.max(1).ilog10().saturating_sub(4);
    48.0 + 8.0 * more as f32
}

/// Shows a lane's color and name in a cell; `None` for the recorded lane.
pub(in crate::app) fn lane_cell(ui: &mut Ui, lane: Option<usize>, name: &str) {
    swatch(ui, palette(ui).lane_or_recorded(lane));
    ui.add(Label::new(name).truncate());
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

/// Height in points below which the notes are hidden in favor of rows.
const LOW: f32 = 150.0;

/// Shows notes below a table if there is enough height. The head of the first column shows them as hover text.
pub(in crate::app) fn notes_below(ui: &mut Ui, id: &'static str, text: &[String]) {
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
            for text in text {
                ui.label(small(ui, text));
            }
        });
}

/// Shows the head of a sortable column. `sorted` is set for the active sort key and is true for descending order.
/// Returns whether the head was clicked.
fn sort_head(ui: &mut Ui, title: &str, help: &str, sorted: Option<bool>) -> bool {
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
