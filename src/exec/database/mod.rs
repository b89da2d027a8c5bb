//! Sessions in databases: a copy is opened, the list of sessions is read, and then the rows of one session, which
//! [`formats`] turns into a document. An agent's database is never written or locked.

mod copy;
mod tables;

use super::files::{LoadError, file_name, unpacked};
use crate::figure::counted;
use crate::formats::{self, Database, DatabaseSession, Input, Rows, Table, TableQuery};
use crate::progress::Progress;
use copy::DatabaseCopy;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tables::{QueryError, QueryResult, TableReader};

/// First bytes of every `SQLite` database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Returns true if the path is a `SQLite` database, compressed or not.
pub fn is_database(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut head = [0; MAGIC.len()];
    let mut read = || unpacked(File::open(path)?)?.bytes.read_exact(&mut head);
    is_file && read().is_ok() && head == *MAGIC
}

/// A copy of a database at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Name for messages.
    name: String,
    database: OpenDatabase,
    // Removed after the database is closed.
    _copy: DatabaseCopy,
}

/// Properties of a session's document that the document itself does not contain.
#[derive(Debug)]
pub(super) struct DocumentNotes {
    /// Problems found while reading the rows.
    pub(super) warnings: Vec<String>,
    /// The detected database, for people.
    pub(super) recognized_by: String,
    /// The session has no rows besides its entry in the list.
    pub(super) is_empty: bool,
}

/// A readable database with its list of sessions.
#[derive(Debug)]
struct OpenDatabase {
    reader: Mutex<TableReader>,
    kind: &'static Database,
    tables: Vec<Table>,
    /// Sessions, the oldest first.
    entries: Vec<DatabaseSession>,
    warnings: Vec<String>,
}

/// Reason why a database yields no session.
#[derive(Debug, thiserror::Error)]
enum DatabaseError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(
        "this looks like a SQLite database of another kind ({0}). Sessions are read from those of {known}",
        known = formats::supported_databases()
    )]
    Unknown(String),
    #[error("it contains no session yet")]
    Empty,
}

impl DatabaseError {
    /// Returns true if opening without the write-ahead log may help: `SQLite` does not verify that a log belongs to a
    /// database.
    fn may_be_the_log(&self) -> bool {
        !matches!(self, Self::Query(QueryError::Cancelled))
    }
}

impl Snapshot {
    /// Copies a database and reads its list of sessions. Blocks.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if the database cannot be copied, is damaged, or is of an unknown kind.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        let mut copy = DatabaseCopy::new(path, progress)?;
        let mut opened = OpenDatabase::open(&copy, progress);
        let mut warnings = std::mem::take(&mut copy.warnings);
        if copy.has_log && opened.as_ref().is_err_and(DatabaseError::may_be_the_log) {
            copy.remove_log().map_err(|error| LoadError(format!("{}: {error}", path.display())))?;
            if let Ok(again) = OpenDatabase::open(&copy, progress) {
                warnings.push(copy::FOREIGN_LOG.to_owned());
                opened = Ok(again);
            }
        }
        let mut database =
            opened.map_err(|error| LoadError(format!("{}: {error}", path.display())))?;
        database.warnings.splice(0..0, warnings);
        Ok(Self { name: file_name(path), database, _copy: copy })
    }

    /// Returns the list of sessions, the oldest first.
    pub(super) fn entries(&self) -> &[DatabaseSession] {
        &self.database.entries
    }

    /// Reads the rows of a session as a document.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if there is no such session or its rows cannot be read.
    pub(super) fn document(
        &self,
        number: usize,
        progress: &Progress,
    ) -> Result<(Input, DocumentNotes), LoadError> {
        let (database, name) = (&self.database, &self.name);
        let entry = database.entries.get(number);
        let entry =
            entry.ok_or_else(|| LoadError::no_such_conversation(name, database.entries.len()))?;
        let (rows, row_warnings) = database
            .rows_of(entry, progress)
            .map_err(|error| LoadError(format!("{name}: {error}")))?;
        let document =
            Input { name: name.clone(), bytes: (database.kind.document)(entry, &rows).into() };
        let notes = DocumentNotes {
            warnings: [&database.warnings[..], &row_warnings].concat(),
            recognized_by: database.recognized_by(),
            is_empty: rows.iter().skip(1).all(|rows| rows.rows.is_empty()),
        };
        Ok((document, notes))
    }
}

impl OpenDatabase {
    fn open(copy: &DatabaseCopy, progress: &Progress) -> Result<Self, DatabaseError> {
        let mut reader = TableReader::open(&copy.path(), copy.bytes, progress)?;
        let known = formats::databases().flat_map(|database| database.tables);
        let mut names: Vec<&str> = known.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let tables = reader.tables(&names)?;
        let Some(kind) = formats::database_of(&tables) else {
            return Err(DatabaseError::Unknown(reader.describe_tables()?));
        };
        reader.restrict_to_reading()?;
        let mut database = Self {
            reader: Mutex::new(reader),
            kind,
            tables,
            entries: Vec::new(),
            warnings: Vec::new(),
        };
        let listed = database.query(&kind.listing);
        database.entries = kind.entries_of(&listed.rows);
        if database.entries.is_empty() {
            return Err(listed.error.map_or(DatabaseError::Empty, DatabaseError::Query));
        }
        database.warnings = warnings(&kind.listing, &listed);
        Ok(database)
    }

    fn query(&self, query: &TableQuery) -> QueryResult {
        let table = self.tables.iter().find(|table| table.name == query.table);
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.rows(query, table, self.kind.binary)
    }

    /// Reads the rows of a session, with warnings.
    fn rows_of(
        &self,
        entry: &DatabaseSession,
        progress: &Progress,
    ) -> Result<(Vec<Rows>, Vec<String>), DatabaseError> {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for query in (self.kind.queries)(entry) {
            if progress.is_cancelled() {
                return Err(QueryError::Cancelled.into());
            }
            let result = self.query(&query);
            match &result.error {
                Some(error) if result.rows.rows.is_empty() => return Err(error.clone().into()),
                Some(QueryError::Cancelled) => return Err(QueryError::Cancelled.into()),
                _ => problems.extend(warnings(&query, &result)),
            }
            all.push(result.rows);
        }
        Ok((all, problems))
    }

    fn recognized_by(&self) -> String {
        let names: Vec<&str> = self.kind.identifying_tables().collect();
        let (s, names) = match &names[..] {
            [only] => ("", (*only).to_owned()),
            [rest @ .., last] => ("s", format!("{} and {last}", rest.join(", "))),
            [] => ("", String::new()),
        };
        format!("a SQLite database with the table{s} {names}")
    }
}

fn warnings(query: &TableQuery, result: &QueryResult) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(error) = &result.error {
        let n = counted(result.rows.rows.len(), "row");
        warnings.push(format!("only {n} of the table {} could be read: {error}", query.table));
    }
    if result.n_omitted > 0 {
        let n = counted(result.n_omitted, "row");
        let has = if result.n_omitted == 1 { "has" } else { "have" };
        warnings.push(format!(
            "{n} of the table {} {has} a value longer than {} MiB, which was left out",
            query.table,
            tables::MAX_VALUE_BYTES >> 20
        ));
    }
    if result.n_invalid > 0 {
        let n = counted(result.n_invalid, "text");
        let are = if result.n_invalid == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{n} of the table {} {are} not valid UTF-8; invalid bytes are replaced by \u{fffd}",
            query.table
        ));
    }
    warnings
}
