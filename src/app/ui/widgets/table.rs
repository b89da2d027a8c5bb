//! Tables: columns with heads that can sort, and rows that can be selected. Every table can be copied: the menu of its head
//! and of its rows copies a row, or the table as CSV or Markdown.

use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
pub(crate) use crate::app::ui::widgets::table_column::{
    Column, SortOrder, number_column, number_width,
};
use crate::app::ui::widgets::table_copy::{Copying, Format, MAX_COPIED};
use crate::app::ui::widgets::text::small;
use crate::app::ui::widgets::{swatch, table_copy};
use egui::{
    Align, Context, Frame, Id, Label, LayerId, Layout, Margin, Order, Panel, Rect, Response, Sense,
    Ui, UiBuilder, pos2, vec2,
};
use egui_extras::{Column as Width, TableBuilder, TableRow};
use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

/// A table of which only visible rows are laid out.
pub(crate) struct Table<'a, K> {
    id: Id,
    columns: Vec<Column<'a, K>>,
    n_rows: usize,
    row_height: f32,
    margins: [f32; 2],
    is_striped: bool,
    scrolls: bool,
    revealed: Option<usize>,
    offset: Option<f32>,
    has_row_menu: bool,
}

/// The result of showing a table.
pub(crate) struct Shown<K> {
    /// The column whose head was clicked to sort.
    pub(crate) sorted_by: Option<K>,
    /// Scroll offset, in points.
    pub(crate) offset: f32,
}

/// Shows the cells of a row and handles its clicks. A trait object, so that the executable contains the code of tables once.
type ShowRow<'f, K> = dyn FnMut(Row<'_, '_, '_, '_, K>) + 'f;

impl<'a, K: Copy> Table<'a, K> {
    /// Creates a table with rows of the usual height.
    pub(crate) fn new(id: impl Debug + Hash, columns: Vec<Column<'a, K>>, n_rows: usize) -> Self {
        Self {
            id: Id::unique(("table", id)),
            columns,
            n_rows,
            row_height: space::ROW,
            margins: [space::S; 2],
            is_striped: false,
            scrolls: true,
            revealed: None,
            offset: None,
            has_row_menu: false,
        }
    }

    /// Sets the height of a row, in points.
    pub(crate) fn row_height(mut self, height: f32) -> Self {
        self.row_height = height;
        self
    }

    /// Sets the space at the left and right end of each row, in points.
    pub(crate) fn margins(mut self, left: f32, right: f32) -> Self {
        self.margins = [left, right];
        self
    }

    /// Shades every second row.
    pub(crate) fn striped(mut self) -> Self {
        self.is_striped = true;
        self
    }

    /// Shows all rows, because a surrounding area scrolls.
    pub(crate) fn unscrolled(mut self) -> Self {
        self.scrolls = false;
        self
    }

    /// Leaves the menus of the rows to the caller, who adds them with [`Row::menu`].
    pub(crate) fn own_row_menu(mut self) -> Self {
        self.has_row_menu = true;
        self
    }

    /// Scrolls a row into view.
    pub(crate) fn reveal(mut self, row: Option<usize>) -> Self {
        self.revealed = row;
        self
    }

    /// Scrolls to an offset, in points.
    pub(crate) fn offset(mut self, offset: f32) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Shows the table. `show_row` shows the cells of each visible row and handles its clicks.
    pub(crate) fn show(
        self,
        ui: &mut Ui,
        mut show_row: impl FnMut(Row<'_, '_, '_, '_, K>),
    ) -> Shown<K> {
        self.show_rows(ui, &mut show_row)
    }

    fn show_rows(mut self, ui: &mut Ui, show_row: &mut ShowRow<'_, K>) -> Shown<K> {
        let width = ui.available_width();
        self.columns.retain(|column| width >= column.least_width);
        let copying = Copying::default();
        let shown = self.lay_out(ui, show_row, &copying, self.n_rows);
        if let Some((format, row)) = copying.requested.take() {
            let rows = row.map_or(0..self.n_rows.min(MAX_COPIED), |row| row..row + 1);
            let (text, n) = (self.text(ui.ctx(), show_row, format, rows.clone()), rows.len());
            ui.ctx().copy_text(text);
            let copied = if row.is_none() && n < self.n_rows {
                let all = wording::grouped(self.n_rows as u64);
                format!("Copied the first {} of {all} rows", wording::grouped(n as u64))
            } else {
                format!("Copied {}", wording::count(n, "row"))
            };
            ui.data_mut(|data| data.insert_temp(Id::unique("copied table"), copied));
        }
        shown
    }

    /// Lays out rows in a layer that is not shown, and returns the texts of their cells in this format.
    fn text(
        &mut self,
        ctx: &Context,
        show_row: &mut ShowRow<'_, K>,
        format: Format,
        rows: Range<usize>,
    ) -> String {
        const WIDTH: f32 = 4_000.0;
        let collected = Copying {
            collected: Some(RefCell::default()),
            first: rows.start,
            ..Copying::default()
        };
        let height = (rows.len() + 2) as f32 * (self.row_height + 8.0) + space::ROW;
        // Away from the pointer.
        let place = Rect::from_min_size(pos2(-2.0 * WIDTH, 0.0), vec2(WIDTH, height));
        let layer = LayerId::new(Order::Background, Id::unique("copied table"));
        let builder = UiBuilder::new().layer_id(layer).max_rect(place);
        let mut ui = Ui::new(ctx.clone(), Id::unique(("copied table", self.id)), builder);
        self.scrolls = false;
        (self.revealed, self.offset) = (None, None);
        self.lay_out(&mut ui, show_row, &collected, rows.len());
        ctx.graphics_mut(|all| *all.entry(layer) = egui::layers::PaintList::default());
        let head = self.columns.iter().map(|column| column.title.clone().into_owned());
        let rows = collected.collected.map(RefCell::into_inner);
        format.text(&head.collect::<Vec<_>>(), &rows.unwrap_or_default())
    }

    fn lay_out(
        &self,
        ui: &mut Ui,
        show_row: &mut ShowRow<'_, K>,
        copying: &Copying,
        n_rows: usize,
    ) -> Shown<K> {
        let (columns, margins) = (&self.columns, self.margins);
        let mut table = TableBuilder::new(ui)
            .id_salt((self.id, columns.len()))
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
            with_margins(&mut row, margins, &mut |row| {
                for column in columns {
                    column.cell(row, &mut |ui| {
                        if column.show_head(ui, copying) {
                            sorted_by = Some(column.key);
                        }
                    });
                }
            });
            row.response().context_menu(|ui| copying.menu(ui, None));
        });
        let shown = table.body(|body| {
            body.rows(self.row_height, n_rows, |row| {
                show_row(Row {
                    inner: row,
                    columns,
                    margins,
                    copying,
                    has_menu: self.has_row_menu,
                });
            });
        });
        Shown { sorted_by, offset: shown.state.unclamped_offset().y }
    }
}

fn with_margins<'a, 'b>(
    row: &mut TableRow<'a, 'b>,
    [left, right]: [f32; 2],
    cells: &mut dyn FnMut(&mut TableRow<'a, 'b>),
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
pub(crate) struct Row<'r, 't, 'a, 'b, K> {
    inner: TableRow<'a, 'b>,
    columns: &'r [Column<'t, K>],
    margins: [f32; 2],
    copying: &'r Copying,
    has_menu: bool,
}

impl<K: Copy> Row<'_, '_, '_, '_, K> {
    /// Returns the index of the row.
    pub(crate) fn index(&self) -> usize {
        self.copying.first + self.inner.index()
    }

    /// Marks the row as selected or not.
    pub(crate) fn select(&mut self, is_selected: bool) {
        self.inner.set_selected(is_selected);
    }

    /// Shows the cell of each column, and adds the menu of the row.
    pub(crate) fn cells(&mut self, mut content: impl FnMut(&mut Ui, K)) {
        self.show_cells(&mut content);
    }

    fn show_cells(&mut self, content: &mut dyn FnMut(&mut Ui, K)) {
        let (columns, collected) = (self.columns, &self.copying.collected);
        let mut texts = Vec::new();
        with_margins(&mut self.inner, self.margins, &mut |row| {
            for column in columns {
                column.cell(row, &mut |ui| {
                    let before = collected.as_ref().map(|_| table_copy::n_shapes(ui));
                    content(ui, column.key);
                    texts.extend(
                        before.map(|n| table_copy::texts_after(ui.ctx(), ui.layer_id(), n)),
                    );
                });
            }
        });
        if let Some(collected) = collected {
            collected.borrow_mut().push(texts);
        } else if !self.has_menu {
            self.menu(|_| {});
        }
    }

    /// Adds a menu to the row: `items`, and those that copy the row and the table.
    pub(crate) fn menu(&self, items: impl FnOnce(&mut Ui)) {
        let (index, copying) = (self.index(), self.copying);
        self.response().context_menu(|ui| {
            items(ui);
            copying.menu(ui, Some(index));
        });
    }

    /// Returns the response of the row, once its cells are shown.
    pub(crate) fn response(&self) -> Response {
        self.inner.response()
    }
}

/// Shows a lane's color and name in a cell; `None` for the recorded lane.
pub(crate) fn lane_cell(ui: &mut Ui, lane: Option<usize>, name: &str) {
    swatch(ui, palette(ui).lane_or_recorded(lane));
    ui.add(Label::new(name).truncate());
}

/// Height in points below which the notes are hidden in favor of rows.
const LOW: f32 = 150.0;

/// Shows notes below a table if there is enough height. The head of the first column shows them as hover text.
pub(crate) fn notes_below(ui: &mut Ui, id: &'static str, text: &[String]) {
    if ui.available_height() < LOW {
        return;
    }
    let frame = Frame::new().inner_margin(Margin::symmetric(16, 6));
    let panel = Panel::bottom(id).resizable(false);
    panel.show_separator_line(false).frame(frame).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for text in text {
            ui.label(small(ui, text));
        }
    });
}
