//! Rows of tables, each a type whose fields are the columns.

use super::column::{Column, ColumnSpec};

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name, also of its folder.
    pub name: &'static str,
    /// Meaning of a row.
    pub help: &'static str,
    /// Columns, in order.
    pub columns: &'static [ColumnSpec],
}

impl Table {
    /// Returns the columns that are written.
    pub fn written(&self, with_text: bool) -> impl Iterator<Item = &'static ColumnSpec> {
        self.columns.iter().filter(move |column| with_text || !column.is_text)
    }
}

/// A row of a table.
pub(super) trait Row {
    /// The table.
    const TABLE: Table;

    /// Appends the fields to the columns of the table.
    fn put(self, columns: &mut [Column]);
}

/// Declares the type of a row: the name of its table and the columns, whose types are [`super::column::Cell`]s.
macro_rules! row {
    (
        $(#[doc = $help:literal])+
        $Row:ident in $table:literal {
            $($(#[doc = $column_help:literal])+ $column:ident: $Type:ty,)+
        }
    ) => {
        $(#[doc = $help])+
        pub(in crate::exec::tables) struct $Row {
            $($(#[doc = $column_help])+ pub(in crate::exec::tables) $column: $Type,)+
        }

        impl $crate::exec::tables::schema::Row for $Row {
            const TABLE: $crate::exec::tables::schema::Table = $crate::exec::tables::schema::Table {
                name: $table,
                help: concat!($($help),+),
                columns: &[$($crate::exec::tables::column::ColumnSpec {
                    name: stringify!($column),
                    kind: <$Type as $crate::exec::tables::column::Cell>::KIND,
                    is_nullable: <$Type as $crate::exec::tables::column::Cell>::IS_NULLABLE,
                    is_text: <$Type as $crate::exec::tables::column::Cell>::IS_TEXT,
                    help: concat!($($column_help),+),
                }),+],
            };

            fn put(self, columns: &mut [$crate::exec::tables::column::Column]) {
                let mut columns = columns.iter_mut();
                $(if let Some(column) = columns.next() {
                    $crate::exec::tables::column::Cell::put(self.$column, column);
                })+
            }
        }
    };
}
pub(super) use row;

/// Some rows of a table, by column.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The table.
    pub(super) table: Table,
    /// One per column of the table.
    pub(super) columns: Vec<Column>,
    /// Number of rows.
    pub(super) len: usize,
}

impl Rows {
    pub(super) fn new(table: Table) -> Self {
        Self { table, columns: table.columns.iter().map(Column::new).collect(), len: 0 }
    }

    pub(super) fn push(&mut self, row: impl Row) {
        row.put(&mut self.columns);
        self.len += 1;
    }

    pub(super) fn append(&mut self, other: Self) {
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            column.append(more);
        }
        self.len += other.len;
    }

    /// Removes the rows from this index on and returns them.
    pub(super) fn split_off(&mut self, row: usize) -> Self {
        let columns = self.columns.iter_mut().map(|column| column.split_off(row)).collect();
        let len = self.len - row;
        self.len = row;
        Self { table: self.table, columns, len }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.columns.iter_mut().for_each(Column::shrink_to_fit);
    }

    /// Returns the written columns.
    pub(super) fn written(
        &self,
        with_text: bool,
    ) -> impl Iterator<Item = (&'static ColumnSpec, &Column)> {
        let columns = self.table.columns.iter().zip(&self.columns);
        columns.filter(move |(spec, _)| with_text || !spec.is_text)
    }
}
