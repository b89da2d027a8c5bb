//! Tables of many sessions: typed rows in Parquet, JSON Lines or CSV, partitioned by day, for `DuckDB`, Spark and others.
//!
//! One process reads each file once, for all tables, conversations and policies. The rows of a part of the files are
//! written to `TABLE/day=YYYY-MM-DD/PART.parquet`, where PART is a hash of the contents and of everything else that the rows
//! depend on: the same work writes the same files, in any order and by any process.
//!
//! | module | contains |
//! |---|---|
//! | `column`, `schema` | columns, and rows as types whose fields are the columns |
//! | `rows` | the tables, a file each |
//! | `options` | what is written, and the conditions that the rows depend on |
//! | `inputs` | the files to read |
//! | `file_rows`, `workers` | the rows of a file, and the threads that compute them |
//! | `write` | Parquet, JSON Lines, CSV |
//! | `manifest`, `run` | parts |

mod column;
mod file_rows;
mod inputs;
mod manifest;
mod options;
mod rows;
mod run;
mod schema;
mod workers;
mod write;

pub use column::{ColumnSpec, ColumnType};
pub use options::{SCHEMA_VERSION, Shard, TableFormat, TableOptions};
pub use rows::{TABLES, TableLane};
pub use run::{TableProgress, TableSummary, WrittenTable, write_tables};
pub use schema::Table;
