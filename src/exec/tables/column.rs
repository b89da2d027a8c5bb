//! Columns of tables: typed cells without their unknown values.

use crate::units::{Millis, Share, Tokens, Usd};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// SHA-256 of a content. Rows of one file share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContentHash(Arc<[u8; 32]>);

impl ContentHash {
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ContentHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(Arc::new(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A name, mostly one of a few.
pub(crate) type Name = Cow<'static, str>;

/// A text of the session, which only `--text` writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionText(pub(crate) String);

/// Texts of the session, which only `--text` writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionTexts(pub(crate) Vec<Name>);

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Integer of 32 bits.
    Int32,
    /// Integer of 64 bits.
    Int64,
    /// Float of 64 bits.
    Float,
    /// True or false.
    Bool,
    /// UTF-8 text.
    Text,
    /// List of texts.
    TextList,
    /// Time in UTC.
    Time,
    /// 32 bytes.
    Hash,
}

impl ColumnType {
    /// Returns the name as `DuckDB` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int32 => "INTEGER",
            Self::Int64 => "BIGINT",
            Self::Float => "DOUBLE",
            Self::Bool => "BOOLEAN",
            Self::Text => "VARCHAR",
            Self::TextList => "VARCHAR[]",
            Self::Time => "TIMESTAMP WITH TIME ZONE",
            Self::Hash => "BLOB",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    /// Name.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnType,
    /// Whether a value may be unknown.
    pub is_nullable: bool,
    /// Whether it holds text of the session, which only `--text` writes.
    pub is_text: bool,
    /// Meaning, as one or more sentences.
    pub help: &'static str,
}

/// Values of a column without the unknown ones.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<Name>),
    TextList(Vec<Vec<Name>>),
    /// In milliseconds since 1970.
    Time(Vec<i64>),
    Hash(Vec<ContentHash>),
}

/// A value of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellRef<'a> {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(&'a str),
    TextList(&'a [Name]),
    /// In milliseconds since 1970.
    Time(i64),
    Hash(&'a ContentHash),
}

/// Applies an expression to the vector of any variant.
macro_rules! each_variant {
    ($cells:expr, $values:ident => $result:expr) => {
        match $cells {
            Cells::Int32($values) => $result,
            Cells::Int64($values) => $result,
            Cells::Float($values) => $result,
            Cells::Bool($values) => $result,
            Cells::Text($values) => $result,
            Cells::TextList($values) => $result,
            Cells::Time($values) => $result,
            Cells::Hash($values) => $result,
        }
    };
}

impl Cells {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Int32 => Self::Int32(Vec::new()),
            ColumnType::Int64 => Self::Int64(Vec::new()),
            ColumnType::Float => Self::Float(Vec::new()),
            ColumnType::Bool => Self::Bool(Vec::new()),
            ColumnType::Text => Self::Text(Vec::new()),
            ColumnType::TextList => Self::TextList(Vec::new()),
            ColumnType::Time => Self::Time(Vec::new()),
            ColumnType::Hash => Self::Hash(Vec::new()),
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Int32(all), Self::Int32(more)) => all.extend(more),
            (Self::Int64(all), Self::Int64(more)) | (Self::Time(all), Self::Time(more)) => {
                all.extend(more);
            }
            (Self::Float(all), Self::Float(more)) => all.extend(more),
            (Self::Bool(all), Self::Bool(more)) => all.extend(more),
            (Self::Text(all), Self::Text(more)) => all.extend(more),
            (Self::TextList(all), Self::TextList(more)) => all.extend(more),
            (Self::Hash(all), Self::Hash(more)) => all.extend(more),
            _ => unreachable!("the type of a column does not change"),
        }
    }

    /// Removes the values from this index on and returns them.
    fn split_off(&mut self, at: usize) -> Self {
        match self {
            Self::Int32(all) => Self::Int32(all.split_off(at)),
            Self::Int64(all) => Self::Int64(all.split_off(at)),
            Self::Float(all) => Self::Float(all.split_off(at)),
            Self::Bool(all) => Self::Bool(all.split_off(at)),
            Self::Text(all) => Self::Text(all.split_off(at)),
            Self::TextList(all) => Self::TextList(all.split_off(at)),
            Self::Time(all) => Self::Time(all.split_off(at)),
            Self::Hash(all) => Self::Hash(all.split_off(at)),
        }
    }

    fn get(&self, at: usize) -> CellRef<'_> {
        match self {
            Self::Int32(all) => CellRef::Int(all[at].into()),
            Self::Int64(all) => CellRef::Int(all[at]),
            Self::Float(all) => CellRef::Float(all[at]),
            Self::Bool(all) => CellRef::Bool(all[at]),
            Self::Text(all) => CellRef::Text(&all[at]),
            Self::TextList(all) => CellRef::TextList(&all[at]),
            Self::Time(all) => CellRef::Time(all[at]),
            Self::Hash(all) => CellRef::Hash(&all[at]),
        }
    }

    fn shrink_to_fit(&mut self) {
        each_variant!(self, values => values.shrink_to_fit());
    }
}

/// A column with its values.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Values without the unknown ones.
    pub(super) cells: Cells,
    /// Whether the value of each row is known.
    pub(super) known: Vec<bool>,
}

impl Column {
    pub(super) fn new(spec: &ColumnSpec) -> Self {
        Self { cells: Cells::new(spec.kind), known: Vec::new() }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.cells.append(other.cells);
        self.known.extend(other.known);
    }

    /// Removes the rows from this index on and returns them.
    pub(super) fn split_off(&mut self, row: usize) -> Self {
        let at = self.known[..row].iter().filter(|is_known| **is_known).count();
        Self { cells: self.cells.split_off(at), known: self.known.split_off(row) }
    }

    /// Releases unused memory: most sessions have few rows.
    pub(super) fn shrink_to_fit(&mut self) {
        self.cells.shrink_to_fit();
        self.known.shrink_to_fit();
    }

    /// Returns the value of each row; `None` if unknown.
    pub(super) fn values(&self) -> impl Iterator<Item = Option<CellRef<'_>>> {
        let mut next = 0;
        self.known.iter().map(move |is_known| {
            is_known.then(|| {
                next += 1;
                self.cells.get(next - 1)
            })
        })
    }
}

/// A value that a field of a row can have.
pub(super) trait Cell: Sized {
    /// Type of the column.
    const KIND: ColumnType;
    /// Whether the value may be unknown.
    const IS_NULLABLE: bool = false;
    /// Whether it is text of the session.
    const IS_TEXT: bool = false;

    /// Appends the value to the cells of a column.
    fn add_to(self, cells: &mut Cells);

    /// Appends the value to a column.
    fn put(self, column: &mut Column) {
        self.add_to(&mut column.cells);
        column.known.push(true);
    }
}

impl<T: Cell> Cell for Option<T> {
    const KIND: ColumnType = T::KIND;
    const IS_NULLABLE: bool = true;
    const IS_TEXT: bool = T::IS_TEXT;

    fn add_to(self, cells: &mut Cells) {
        if let Some(value) = self {
            value.add_to(cells);
        }
    }

    fn put(self, column: &mut Column) {
        column.known.push(self.is_some());
        self.add_to(&mut column.cells);
    }
}

/// Implements [`Cell`] for a type: its column type, and the conversion of `value`.
macro_rules! cell {
    ($Type:ty: $Kind:ident, $value:ident => $cell:expr $(, IS_TEXT = $is_text:literal)?) => {
        impl Cell for $Type {
            const KIND: ColumnType = ColumnType::$Kind;
            $(const IS_TEXT: bool = $is_text;)?

            fn add_to(self, cells: &mut Cells) {
                let $value = self;
                if let Cells::$Kind(values) = cells {
                    values.push($cell);
                }
            }
        }
    };
}

cell!(usize: Int32, n => i32::try_from(n).unwrap_or(i32::MAX));
cell!(u32: Int32, n => i32::try_from(n).unwrap_or(i32::MAX));
cell!(u64: Int64, n => i64::try_from(n).unwrap_or(i64::MAX));
cell!(i64: Int64, n => n);
cell!(Tokens: Int64, tokens => i64::try_from(tokens.0).unwrap_or(i64::MAX));
cell!(f64: Float, number => number);
cell!(Usd: Float, usd => usd.0);
cell!(Share: Float, share => share.0);
cell!(bool: Bool, is_so => is_so);
cell!(Name: Text, name => name);
cell!(SessionText: Text, text => text.0.into(), IS_TEXT = true);
cell!(Vec<Name>: TextList, names => names);
cell!(SessionTexts: TextList, texts => texts.0, IS_TEXT = true);
cell!(Millis: Time, time => time.0);
cell!(ContentHash: Hash, hash => hash);

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(column: &Column) -> Vec<String> {
        column.values().map(|value| format!("{value:?}")).collect()
    }

    #[test]
    fn a_column_keeps_unknown_values_when_it_is_appended_and_split() {
        let spec = ColumnSpec {
            name: "n",
            kind: <Option<usize> as Cell>::KIND,
            is_nullable: true,
            is_text: false,
            help: "",
        };
        let column = |values: &[Option<usize>]| {
            let mut column = Column::new(&spec);
            for value in values {
                value.put(&mut column);
            }
            column
        };
        let mut all = column(&[None, Some(1)]);
        all.append(column(&[Some(2), None, Some(usize::MAX)]));
        let rest = all.split_off(2);
        assert_eq!(shown(&all), ["None", "Some(Int(1))"]);
        assert_eq!(shown(&rest), ["Some(Int(2))", "None", "Some(Int(2147483647))"]);
    }
}
