//! The database of the index.
//!
//! `message` has what queries read, compressed. `content` is a contentless full-text index of sequences of three
//! letters by message. The messages of a session have consecutive ids.

use super::IndexError;
use super::stored::StoredSession;
use crate::progress::Progress;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, params};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Version of the stored data. An index of another version or program is built anew.
const VERSION: u32 = 2;
/// Wait for another process that writes. A batch of files is one transaction, and the other process may be reading
/// large files meanwhile.
const WAIT: Duration = Duration::from_secs(10);
/// Steps of `SQLite`'s virtual machine between two checks for cancellation. Ten times as many as for other databases:
/// the program wrote this one itself, so its steps are quick.
const STEPS: i32 = 10_000;

const SCHEMA: &str = "
    CREATE TABLE about (version TEXT NOT NULL);
    CREATE TABLE file (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, text_bytes INTEGER NOT NULL,
        is_left_out INTEGER NOT NULL, problem TEXT
    );
    CREATE TABLE session (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL, head TEXT NOT NULL
    );
    CREATE INDEX session_of_file ON session (file);
    CREATE TABLE message (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE VIRTUAL TABLE content USING fts5 (
        text, tokenize = 'trigram', detail = none, content = '', contentless_delete = 1
    );";

/// A file in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRow {
    pub(super) id: i64,
    pub(super) stamp: String,
    /// Bytes of its text; of a file that is left out, 0 if they are unknown.
    pub(super) text_bytes: u64,
    /// Its text is beyond the limits.
    pub(super) is_left_out: bool,
    /// Reason why it cannot be opened.
    pub(super) problem: Option<String>,
}

impl FileRow {
    /// Returns the bytes of its text in the index.
    pub(super) fn indexed_bytes(&self) -> u64 {
        if self.is_left_out { 0 } else { self.text_bytes }
    }

    /// Returns the bytes of its text if only the limit of all files excludes it.
    pub(super) fn left_out_bytes(&self) -> Option<u64> {
        (self.is_left_out && self.text_bytes > 0).then_some(self.text_bytes)
    }
}

/// A session in the index and the ids of its messages.
#[derive(Clone, Debug)]
pub(super) struct SessionRow {
    pub(super) first: i64,
    pub(super) n: i64,
    pub(super) head: StoredSession,
}

/// A session to add.
#[derive(Debug)]
pub(super) struct NewSession {
    pub(super) head: StoredSession,
    pub(super) messages: Vec<NewMessage>,
}

/// A message to add.
#[derive(Debug)]
pub(super) struct NewMessage {
    /// The encoded message.
    pub(super) data: Vec<u8>,
    /// The text to search, as [`super::narrow::folded`] returns it.
    pub(super) text: String,
}

/// Content of a file to add.
#[derive(Debug)]
pub(super) enum NewContent {
    Sessions(Vec<NewSession>),
    /// Text beyond the limits.
    LeftOut {
        /// Bytes of the text; `None` if it exceeds the limit of a file.
        bytes: Option<u64>,
    },
    /// Reason why the file cannot be opened.
    Unreadable(String),
}

impl NewContent {
    /// Returns the bytes of the messages to add.
    pub(super) fn text_bytes(&self) -> u64 {
        match self {
            Self::Sessions(sessions) => {
                let messages = sessions.iter().flat_map(|session| &session.messages);
                messages.map(|message| message.text.len() as u64).sum()
            }
            Self::LeftOut { .. } | Self::Unreadable(_) => 0,
        }
    }
}

/// An open database.
#[derive(Debug)]
pub(super) struct IndexDatabase {
    connection: Connection,
}

impl IndexDatabase {
    /// Opens an existing file, which may be empty.
    pub(super) fn open(path: &Path) -> Result<Self, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(WAIT)?;
        // Before the first table is created.
        connection.pragma_update(None, "auto_vacuum", "FULL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        for (name, value) in [("synchronous", 1), ("secure_delete", 1), ("trusted_schema", 0)] {
            connection.pragma_update(None, name, value)?;
        }
        let mut database = Self { connection };
        database.create_tables()?;
        Ok(database)
    }

    /// Closes the file. The database is then empty and in memory.
    pub(super) fn close(&mut self) -> Result<(), IndexError> {
        self.connection = Connection::open_in_memory()?;
        Ok(())
    }

    /// Creates the tables of an empty file. Another version is an error, as is a damaged file.
    fn create_tables(&mut self) -> Result<(), IndexError> {
        let transaction = self.connection.transaction()?;
        let sql = "SELECT count(*) FROM sqlite_schema";
        let n: i64 = transaction.query_row(sql, [], |row| row.get(0))?;
        if n == 0 {
            transaction.execute_batch(SCHEMA)?;
            transaction.execute("INSERT INTO about VALUES (?1)", [version()])?;
        }
        let found: String =
            transaction.query_row("SELECT version FROM about", [], |row| row.get(0))?;
        transaction.commit()?;
        if found == version() { Ok(()) } else { Err(IndexError::OtherVersion) }
    }

    /// Stops statements once `progress` is cancelled.
    pub(super) fn stop_with(&mut self, progress: &Progress) -> Result<(), IndexError> {
        let flag = progress.cancel_flag();
        let is_cancelled = move || flag.load(Ordering::Relaxed);
        Ok(self.connection.progress_handler(STEPS, Some(is_cancelled))?)
    }

    /// Returns all files by path.
    pub(super) fn files(&self) -> Result<HashMap<String, FileRow>, IndexError> {
        let sql = "SELECT path, id, stamp, text_bytes, is_left_out, problem FROM file";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let file = FileRow {
                id: row.get(1)?,
                stamp: row.get(2)?,
                text_bytes: u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
                is_left_out: row.get(4)?,
                problem: row.get(5)?,
            };
            Ok((row.get(0)?, file))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the bytes of text in the index.
    pub(super) fn text_bytes(&self) -> Result<u64, IndexError> {
        let sql = "SELECT coalesce(sum(text_bytes), 0) FROM file WHERE NOT is_left_out";
        let bytes: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// Returns the number of sessions.
    pub(super) fn n_sessions(&self) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM session";
        let n: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(usize::try_from(n).unwrap_or_default())
    }

    /// Removes files.
    pub(super) fn remove(&mut self, files: &[i64]) -> Result<(), IndexError> {
        let transaction = self.connection.transaction()?;
        for file in files {
            remove_file(&transaction, *file)?;
        }
        Ok(transaction.commit()?)
    }

    /// Replaces the content of a file, all or nothing.
    pub(super) fn replace(
        &mut self,
        path: &str,
        stamp: &str,
        content: &NewContent,
    ) -> Result<(), IndexError> {
        let transaction = self.connection.transaction()?;
        let sql = "SELECT id FROM file WHERE path = ?1";
        let old: Option<i64> = transaction.query_row(sql, [path], |row| row.get(0)).optional()?;
        if let Some(old) = old {
            remove_file(&transaction, old)?;
        }
        let (sessions, problem) = match content {
            NewContent::Sessions(sessions) => (&sessions[..], None),
            NewContent::LeftOut { .. } => (&[][..], None),
            NewContent::Unreadable(problem) => (&[][..], Some(problem)),
        };
        let left_out = match content {
            NewContent::LeftOut { bytes } => Some(bytes.unwrap_or(0)),
            NewContent::Sessions(_) | NewContent::Unreadable(_) => None,
        };
        let text_bytes = left_out.unwrap_or_else(|| content.text_bytes());
        let sql = "INSERT INTO file (path, stamp, text_bytes, is_left_out, problem) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![path, stamp, text_bytes.cast_signed(), left_out.is_some(), problem];
        transaction.execute(sql, row)?;
        let file = transaction.last_insert_rowid();
        for session in sessions {
            add_session(&transaction, file, session)?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns the sessions of a file, in its order.
    pub(super) fn sessions(&self, file: i64) -> Result<Vec<SessionRow>, IndexError> {
        let sql = "SELECT first, n, head FROM session WHERE file = ?1 ORDER BY id";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([file], |row| {
            let head: String = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, head))
        })?;
        let mut sessions = Vec::new();
        for row in rows {
            let (first, n, head) = row?;
            let head = serde_json::from_str(&head).map_err(|_error| IndexError::Damaged)?;
            sessions.push(SessionRow { first, n, head });
        }
        Ok(sessions)
    }

    /// Returns the ids of the messages that match an expression, in order.
    pub(super) fn matching(&self, expression: &str) -> Result<Vec<i64>, IndexError> {
        let sql = "SELECT rowid FROM content WHERE content MATCH ?1 ORDER BY rowid";
        let mut statement = self.connection.prepare(sql)?;
        let ids = statement.query_map([expression], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Passes the data of these messages to `on_message`.
    pub(super) fn messages(
        &self,
        ids: impl IntoIterator<Item = i64>,
        mut on_message: impl FnMut(&[u8]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let sql = "SELECT data FROM message WHERE id = ?1";
        let mut statement = self.connection.prepare(sql)?;
        for id in ids {
            let mut rows = statement.query([id])?;
            let row = rows.next()?.ok_or(IndexError::Damaged)?;
            let data = row.get_ref(0)?.as_blob();
            on_message(data.map_err(|_error| IndexError::Damaged)?)?;
        }
        Ok(())
    }
}

fn remove_file(transaction: &Transaction<'_>, file: i64) -> Result<(), IndexError> {
    let sql = "SELECT first, first + n FROM session WHERE file = ?1";
    let mut statement = transaction.prepare(sql)?;
    let ranges = statement.query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let ranges: Vec<(i64, i64)> = ranges.collect::<Result<_, _>>()?;
    for range in ranges {
        for sql in [
            "DELETE FROM message WHERE id >= ?1 AND id < ?2",
            "DELETE FROM content WHERE rowid >= ?1 AND rowid < ?2",
        ] {
            transaction.execute(sql, range)?;
        }
    }
    transaction.execute("DELETE FROM session WHERE file = ?1", [file])?;
    transaction.execute("DELETE FROM file WHERE id = ?1", [file])?;
    Ok(())
}

fn add_session(
    transaction: &Transaction<'_>,
    file: i64,
    session: &NewSession,
) -> Result<(), IndexError> {
    let sql = "SELECT coalesce(max(id), 0) + 1 FROM message";
    let first: i64 = transaction.query_row(sql, [], |row| row.get(0))?;
    let head = serde_json::to_string(&session.head).map_err(|_error| IndexError::Damaged)?;
    transaction.execute(
        "INSERT INTO session (file, first, n, head) VALUES (?1, ?2, ?3, ?4)",
        params![file, first, session.messages.len().cast_signed() as i64, head],
    )?;
    let mut message = transaction.prepare("INSERT INTO message (id, data) VALUES (?1, ?2)")?;
    let mut content = transaction.prepare("INSERT INTO content (rowid, text) VALUES (?1, ?2)")?;
    for (id, new) in (first..).zip(&session.messages) {
        message.execute(params![id, new.data])?;
        content.execute(params![id, new.text])?;
    }
    Ok(())
}

/// Returns the version of the program and of the stored data. Others may read or count a file differently.
fn version() -> String {
    format!("{}/{VERSION}", env!("CARGO_PKG_VERSION"))
}
