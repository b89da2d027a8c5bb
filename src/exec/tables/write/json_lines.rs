//! Tables as JSON Lines.

use super::csv::time;
use crate::exec::tables::column::CellRef;
use crate::exec::tables::schema::Rows;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use std::io;

/// Appends a line for each row.
pub(super) fn write(out: &mut Vec<u8>, rows: &Rows, with_text: bool) -> io::Result<()> {
    let mut columns: Vec<_> =
        rows.written(with_text).map(|(spec, column)| (spec.name, column.values())).collect();
    for _ in 0..rows.len {
        let row = columns.iter_mut().map(|(name, column)| (*name, column.next().flatten()));
        serde_json::to_writer(&mut *out, &Line(row.collect()))?;
        out.push(b'\n');
    }
    Ok(())
}

struct Line<'a>(Vec<(&'static str, Option<CellRef<'a>>)>);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for CellRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CellRef::Int(n) => serializer.serialize_i64(*n),
            CellRef::Float(n) => serializer.serialize_f64(*n),
            CellRef::Bool(is_so) => serializer.serialize_bool(*is_so),
            CellRef::Text(text) => serializer.serialize_str(text),
            CellRef::TextList(names) => names.serialize(serializer),
            CellRef::Time(millis) => serializer.serialize_str(&time(*millis)),
            CellRef::Hash(hash) => serializer.collect_str(hash),
        }
    }
}
