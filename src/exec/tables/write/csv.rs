//! Tables as CSV: an unknown value is an empty field, an empty text is quoted.

use crate::exec::tables::column::{CellRef, Name};
use crate::exec::tables::schema::{Rows, Table};
use jiff::Timestamp;

/// Returns the first line.
pub(super) fn header(table: Table, with_text: bool) -> Vec<u8> {
    let names: Vec<&str> = table.written(with_text).map(|column| column.name).collect();
    format!("{}\n", names.join(",")).into_bytes()
}

/// Appends a line for each row.
pub(super) fn write(out: &mut Vec<u8>, rows: &Rows, with_text: bool) {
    let mut columns: Vec<_> = rows.written(with_text).map(|(_, column)| column.values()).collect();
    for _ in 0..rows.len {
        for (nth, column) in columns.iter_mut().enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            if let Some(cell) = column.next().flatten() {
                out.extend(field(cell).as_bytes());
            }
        }
        out.push(b'\n');
    }
}

fn field(cell: CellRef<'_>) -> String {
    match cell {
        CellRef::Int(n) => n.to_string(),
        CellRef::Float(n) => n.to_string(),
        CellRef::Bool(is_so) => is_so.to_string(),
        CellRef::Text(text) => quoted(text),
        CellRef::TextList(names) => quoted(&list(names)),
        CellRef::Time(millis) => time(millis),
        CellRef::Hash(hash) => hash.to_string(),
    }
}

/// Returns names as a JSON array.
fn list(names: &[Name]) -> String {
    // Writing to memory does not fail.
    serde_json::to_string(names).unwrap_or_default()
}

/// Returns a time as RFC 3339 in UTC; empty outside of the calendar.
pub(super) fn time(millis: i64) -> String {
    let moment = Timestamp::from_millisecond(millis);
    moment.map_or_else(|_| String::new(), |moment| format!("{moment:.3}"))
}

/// Returns a text as a field, quoted if needed. A leading apostrophe keeps spreadsheets from reading it as a formula.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_a_reader_would_split_or_misread_them() {
        let fields = ["a", "", "a,b", "say \"x\"", "=1+1"].map(quoted);
        assert_eq!(fields, ["a", "\"\"", "\"a,b\"", "\"say \"\"x\"\"\"", "'=1+1"]);
        assert_eq!(list(&["a".into(), "b\"".into()]), r#"["a","b\""]"#);
        assert_eq!(time(1_767_311_999_999), "2026-01-01T23:59:59.999Z");
    }
}
