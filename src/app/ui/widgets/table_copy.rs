//! Copies of tables: the menu, the texts of cells as displayed, and the formats that hold them.

use crate::report::quoted;
use egui::{Context, Id, LayerId, Shape, Ui};
use std::cell::{Cell, RefCell};

/// The state of copying a table.
#[derive(Default)]
pub(crate) struct Copying {
    /// The choice in a menu: a format and, for a single row, its index.
    pub(crate) requested: Cell<Option<(Format, Option<usize>)>>,
    /// The texts of the cells of each row, while they are collected.
    pub(crate) collected: Option<RefCell<Vec<Vec<String>>>>,
    /// Index of the first row that is laid out.
    pub(crate) first: usize,
}

impl Copying {
    /// Shows the items that copy the row with this index, if any, and the table.
    pub(crate) fn menu(&self, ui: &mut Ui, row: Option<usize>) {
        let row = row.map(|row| ("Copy this row", Format::Row, Some(row)));
        let table = [
            ("Copy table as CSV", Format::Csv, None),
            ("Copy table as Markdown", Format::Markdown, None),
        ];
        for (name, format, row) in row.into_iter().chain(table) {
            if ui.button(name).clicked() {
                self.requested.set(Some((format, row)));
                ui.close();
            }
        }
    }
}

/// Maximum number of copied rows, which are laid out in one frame.
pub(crate) const MAX_COPIED: usize = 10_000;

/// Returns the message about a table that was copied in this frame, if any.
pub(crate) fn take_copied_table(ctx: &Context) -> Option<String> {
    ctx.data_mut(|data| data.remove_temp(Id::unique("copied table")))
}

/// A format of a copied table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One row, its cells separated by tabs.
    Row,
    /// Comma-separated values (RFC 4180).
    Csv,
    /// A Markdown table.
    Markdown,
}

impl Format {
    /// Formats a table. A row has no head.
    pub(crate) fn text(self, head: &[String], rows: &[Vec<String>]) -> String {
        let lines: Vec<String> = match self {
            Self::Row => rows.iter().map(|row| row.join("\t")).collect(),
            Self::Csv => {
                let line = |cells: &[String]| -> String {
                    let cells: Vec<String> = cells.iter().map(|cell| csv(cell)).collect();
                    cells.join(",")
                };
                let rows = rows.iter().map(|row| line(row));
                std::iter::once(line(head)).chain(rows).collect()
            }
            Self::Markdown => {
                let line = |cells: &[String]| {
                    let cells: Vec<String> = cells.iter().map(|cell| markdown(cell)).collect();
                    format!("| {} |", cells.join(" | "))
                };
                let rule = format!("|{}", "---|".repeat(head.len()));
                let rows = rows.iter().map(|row| line(row));
                [line(head), rule].into_iter().chain(rows).collect()
            }
        };
        lines.join("\n") + "\n"
    }
}

/// Returns a cell as a CSV field that is no formula. A negative number stays a number.
fn csv(cell: &str) -> String {
    if cell.parse::<f64>().is_ok() { cell.to_owned() } else { quoted(cell) }
}

/// Escapes a cell, on one line.
fn markdown(cell: &str) -> String {
    let cell = cell.replace('\\', "\\\\").replace('|', "\\|");
    cell.replace(['\n', '\r'], " ")
}

/// Writes a number as other programs read it: `−12,804` becomes `-12804`. Other text stays.
pub(crate) fn plain(cell: &str) -> String {
    let plain = cell.replace(',', "").replace('\u{2212}', "-");
    let whole = cell.split('.').next().unwrap_or_default();
    let is_grouped = whole.split(',').skip(1).all(|group| group.len() == 3);
    let is_number = is_grouped && plain.parse::<f64>().is_ok();
    if is_number { plain } else { cell.to_owned() }
}

/// Returns the number of shapes in the layer of a `Ui`.
pub(crate) fn n_shapes(ui: &Ui) -> usize {
    let layer = ui.layer_id();
    let count = |list: &egui::layers::PaintList| list.all_entries().len();
    ui.ctx().graphics(|all| all.get(layer).map_or(0, count))
}

/// Returns the texts that a layer has after a number of shapes, in full even where they are truncated.
pub(crate) fn texts_after(ctx: &Context, layer: LayerId, n_before: usize) -> String {
    let mut texts = Vec::new();
    ctx.graphics(|all| {
        let Some(list) = all.get(layer) else { return };
        for clipped in list.all_entries().skip(n_before) {
            collect(&clipped.shape, &mut texts);
        }
    });
    plain(texts.join(" ").trim())
}

fn collect(shape: &Shape, texts: &mut Vec<String>) {
    match shape {
        Shape::Text(text) => texts.push(text.galley.text().to_owned()),
        Shape::Vec(all) => {
            for shape in all {
                collect(shape, texts);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_escaped() {
        let head = ["call", "why"].map(str::to_owned);
        let rows = [vec!["3".to_owned(), "a \"b\", c|d".to_owned()]];
        let text = |format: Format| format.text(&head, &rows);
        assert_eq!(text(Format::Row), "3\ta \"b\", c|d\n");
        assert_eq!(text(Format::Csv), "call,why\n3,\"a \"\"b\"\", c|d\"\n");
        assert_eq!(["-3", "=A1"].map(csv), ["-3", "'=A1"]);
        let markdown = "| call | why |\n|---|---|\n| 3 | a \"b\", c\\|d |\n";
        assert_eq!(text(Format::Markdown), markdown);
    }

    #[test]
    fn only_numbers_lose_their_separators() {
        let cells = ["12,804", "\u{2212}3", "cat 1,000", "1,5", "–"].map(plain);
        assert_eq!(cells, ["12804", "-3", "cat 1,000", "1,5", "–"]);
    }
}
