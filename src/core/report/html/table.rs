//! Tables of a page.

use crate::report::escaped::escaped;
use std::fmt::Write as _;

/// A cell: its class and its markup.
pub(super) struct Cell {
    class: &'static str,
    html: String,
}

impl Cell {
    /// Creates a cell with text.
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Self::html("", escaped(text.as_ref()))
    }

    /// Creates a cell with a number.
    pub(super) fn number(text: impl AsRef<str>) -> Self {
        Self::html("n", escaped(text.as_ref()))
    }

    /// Creates a cell with text in a code element.
    pub(super) fn code(text: impl AsRef<str>) -> Self {
        Self::html("", format!("<code>{}</code>", escaped(text.as_ref())))
    }

    /// Creates a cell with markup of the program.
    pub(super) fn html(class: &'static str, html: String) -> Self {
        Self { class, html }
    }

    /// Marks a number as bad.
    pub(super) fn bad(self) -> Self {
        Self { class: "n bad-text", ..self }
    }
}

/// Writes a table. A heading that begins with `#` is for numbers.
pub(super) fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<Cell>>) {
    classed(out, "", head, rows.map(|row| ("", row)));
}

/// Writes a table with a class for the table and for each row.
pub(super) fn classed(
    out: &mut String,
    shape: &str,
    head: &[&str],
    rows: impl Iterator<Item = (&'static str, Vec<Cell>)>,
) {
    let _ = writeln!(out, "<div class=\"wide\"><table class=\"{shape}\">");
    if head.iter().any(|name| !name.is_empty()) {
        out.push_str("<tr>");
        for name in head {
            let _ = match name.strip_prefix('#') {
                Some(name) => write!(out, "<th class=\"n\">{name}</th>"),
                None => write!(out, "<th>{name}</th>"),
            };
        }
        out.push_str("</tr>\n");
    }
    for (class, row) in rows {
        let _ = match class {
            "" => out.write_str("<tr>"),
            class => write!(out, "<tr class=\"{class}\">"),
        };
        for cell in row {
            let _ = match cell.class {
                "" => write!(out, "<td>{}</td>", cell.html),
                class => write!(out, "<td class=\"{class}\">{}</td>", cell.html),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}
