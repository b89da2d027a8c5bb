//! Tables as Parquet, by the writer of single columns: without arrow, whose crates would only convert them.

use crate::exec::tables::column::{Cells, Column, ColumnSpec, ColumnType, Name};
use crate::exec::tables::options::SCHEMA_VERSION;
use crate::exec::tables::schema::{Rows, Table};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io;
use std::sync::Arc;

/// A Parquet file in memory.
pub(super) struct ParquetWriter {
    writer: SerializedFileWriter<Vec<u8>>,
    with_text: bool,
}

impl ParquetWriter {
    pub(super) fn new(table: Table, with_text: bool) -> io::Result<Self> {
        let fields: Result<Vec<_>, ParquetError> =
            table.written(with_text).map(|spec| field(spec).map(Arc::new)).collect();
        let schema = Type::group_type_builder(table.name).with_fields(fields?).build()?;
        let version =
            KeyValue::new("plimsoll.schema_version".to_owned(), SCHEMA_VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_created_by(format!("plimsoll {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![version]))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        Ok(Self { writer, with_text })
    }

    /// Writes a row group.
    pub(super) fn write(&mut self, rows: &Rows) -> io::Result<()> {
        let mut group = self.writer.next_row_group()?;
        for (spec, column) in rows.written(self.with_text) {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, spec, column)?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Returns the file.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self.writer.into_inner()?)
    }
}

fn field(spec: &ColumnSpec) -> Result<Type, ParquetError> {
    let repetition = if spec.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let primitive = |physical| Type::primitive_type_builder(spec.name, physical);
    let builder = match spec.kind {
        ColumnType::Int32 => primitive(PhysicalType::INT32),
        ColumnType::Int64 => primitive(PhysicalType::INT64),
        ColumnType::Float => primitive(PhysicalType::DOUBLE),
        ColumnType::Bool => primitive(PhysicalType::BOOLEAN),
        ColumnType::Text => {
            primitive(PhysicalType::BYTE_ARRAY).with_logical_type(Some(LogicalType::String))
        }
        ColumnType::Time => primitive(PhysicalType::INT64)
            .with_logical_type(Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        ColumnType::Hash => primitive(PhysicalType::FIXED_LEN_BYTE_ARRAY).with_length(32),
        ColumnType::TextList => return list_field(spec.name, repetition),
    };
    builder.with_repetition(repetition).build()
}

fn list_field(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    let element = Type::primitive_type_builder("element", PhysicalType::BYTE_ARRAY)
        .with_logical_type(Some(LogicalType::String))
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_logical_type(Some(LogicalType::List))
        .with_repetition(repetition)
        .with_fields(vec![Arc::new(list)])
        .build()
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    spec: &ColumnSpec,
    column: &Column,
) -> Result<(), ParquetError> {
    let levels: Option<Vec<i16>> =
        spec.is_nullable.then(|| column.known.iter().map(|known| i16::from(*known)).collect());
    let levels = levels.as_deref();
    let text = |text: &Name| ByteArray::from(text.as_bytes().to_vec());
    match &column.cells {
        Cells::Int32(all) => write::<Int32Type>(writer, all, levels),
        Cells::Int64(all) => write::<Int64Type>(writer, all, levels),
        Cells::Float(all) => write::<DoubleType>(writer, all, levels),
        Cells::Bool(all) => write::<BoolType>(writer, all, levels),
        Cells::Text(all) => {
            let all: Vec<ByteArray> = all.iter().map(text).collect();
            write::<ByteArrayType>(writer, &all, levels)
        }
        Cells::Time(all) => {
            let micros: Vec<i64> = all.iter().map(|millis| millis.saturating_mul(1_000)).collect();
            write::<Int64Type>(writer, &micros, levels)
        }
        Cells::Hash(all) => {
            let all = all.iter().map(|hash| FixedLenByteArray::from(hash.bytes().to_vec()));
            write::<FixedLenByteArrayType>(writer, &all.collect::<Vec<_>>(), levels)
        }
        Cells::TextList(all) => {
            let (definition, repetition) = list_levels(spec, column, all);
            let values: Vec<ByteArray> = all.iter().flatten().map(text).collect();
            let writer = writer.typed::<ByteArrayType>();
            writer.write_batch(&values, Some(&definition), Some(&repetition)).map(drop)
        }
    }
}

fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    writer.typed::<T>().write_batch(values, levels, None).map(drop)
}

/// Returns the definition and repetition levels of lists: an unknown list, an empty one, then elements.
fn list_levels(spec: &ColumnSpec, column: &Column, lists: &[Vec<Name>]) -> (Vec<i16>, Vec<i16>) {
    let empty = i16::from(spec.is_nullable);
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    let mut lists = lists.iter();
    for known in &column.known {
        let list = if *known { lists.next() } else { None };
        let n = list.map_or(0, Vec::len);
        if n == 0 {
            definition.push(if *known { empty } else { 0 });
            repetition.push(0);
        }
        for nth in 0..n {
            definition.push(empty + 1);
            repetition.push(i16::from(nth > 0));
        }
    }
    (definition, repetition)
}
