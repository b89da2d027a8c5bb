//! The columns of all tables as Markdown.

use crate::exec::tables::{ColumnSpec, TABLES};
use std::fmt::Write as _;

/// Returns a section for each table.
pub(super) fn text() -> String {
    let mut text = String::new();
    for table in TABLES {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "## {}\n\n{}\n", table.name, table.help.trim());
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for column in table.columns {
            let _ = writeln!(text, "| `{}` | {} | {} |", column.name, kind(column), help(column));
        }
    }
    text
}

fn kind(column: &ColumnSpec) -> String {
    let null = if column.is_nullable { "" } else { " NOT NULL" };
    format!("{}{null}", column.kind.name())
}

fn help(column: &ColumnSpec) -> String {
    let only = if column.is_text { " Only with `--text`." } else { "" };
    format!("{}{only}", column.help.trim())
}
