//! Sessions in databases: a copy is opened, what lists its sessions is read, and then the rows of one of them, of which
//! [`formats`] makes a document. Nothing is ever written to a database of an agent's.

mod copy;
mod leftover;
mod sqlite;

use super::load::{LoadError, LoadOptions, Loaded, load_bytes, no_such_conversation};
use super::unpack::unpacked;
use crate::formats::{
    self, DATABASES, Database, Entry, ImportReport, Rows, SessionIdentity, SubAgentCalls, Table,
    TableQuery, Warning,
};
use crate::progress::Progress;
use crate::session::{Conversation, Session, Start};
use copy::Copied;
use sqlite::{Answered, Asked, Trouble};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How a `SQLite` database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// There is a `SQLite` database at this path, whatever it holds, as it is or compressed.
pub fn is_database(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut head = [0; MAGIC.len()];
    let mut read = || unpacked(File::open(path)?)?.bytes.read_exact(&mut head);
    is_file && read().is_ok() && head == *MAGIC
}

/// Reads one session of a database. Blocks.
///
/// # Errors
/// A [`LoadError`] when it is nobody's that we know, is damaged, or has no such session.
pub(super) fn load(
    path: &Path,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    let snapshot = Snapshot::open(path, progress)?;
    let mut loaded = snapshot.load(path, options, progress)?;
    let main = (options.conversation, &*loaded.case.session, &loaded.report);
    loaded.conversations = conversations(snapshot.entries(), main);
    Ok(loaded)
}

/// All conversations of a database, of which this one was read. Those of sub-agents say whose they are.
fn conversations(
    entries: &[Entry],
    (open, main, report): (usize, &Session, &ImportReport),
) -> Vec<Conversation> {
    let numbers = entries.iter().enumerate();
    let numbers: HashMap<&str, usize> = numbers.map(|(n, entry)| (&*entry.id, n)).collect();
    let parent_of = |entry: &Entry| {
        let parent = entry.parent.as_deref().and_then(|id| numbers.get(id));
        parent.copied().filter(|n| entries[*n].id != entry.id)
    };
    let started = SubAgentCalls::new(main, report);
    let agent = |entry: &Entry| {
        let identity = SessionIdentity {
            id: entry.id.as_str().into(),
            ..SessionIdentity::default()
        };
        (entry.title.clone(), started.agent(&identity).0, None)
    };
    let told = Conversation::sub_agents(main, entries.iter().map(agent));
    let whose = |(entry, mut told): (&Entry, Conversation)| match parent_of(entry) {
        None => Conversation::unread(told.title),
        Some(parent) => {
            let is_known = parent == open && told.start.is_some();
            told.start = told.start.filter(|_| is_known).or(Some(Start::Of(parent)));
            told
        }
    };
    entries.iter().zip(told).map(whose).collect()
}

/// A database as it was at a moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    opened: Opened,
    /// Behind what has it open.
    _copied: Copied,
}

/// A database that could be read, with what it lists.
#[derive(Debug)]
struct Opened {
    asked: Mutex<Asked>,
    database: &'static Database,
    tables: Vec<Table>,
    /// The oldest first.
    entries: Vec<Entry>,
    warnings: Vec<String>,
}

/// Why a database gives no session, as half a sentence.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error(transparent)]
    Trouble(#[from] Trouble),
    #[error(
        "this looks like a SQLite database of another kind ({0}). Sessions are read from those of {known}",
        known = formats::supported_databases()
    )]
    Nobodys(String),
    #[error("it holds no session yet")]
    Empty,
}

impl Why {
    /// `SQLite` does not look whether a log goes with a database.
    fn may_be_the_log(&self) -> bool {
        !matches!(self, Self::Trouble(Trouble::Cancelled))
    }
}

impl Snapshot {
    /// Copies a database and reads what lists its sessions. Blocks.
    ///
    /// # Errors
    /// A [`LoadError`] when it cannot be copied, is damaged, or is nobody's that we know.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        let mut copied = Copied::of(path, progress)?;
        let mut opened = Opened::of(&copied, progress);
        let mut warnings = std::mem::take(&mut copied.warnings);
        if copied.has_log && opened.as_ref().is_err_and(Why::may_be_the_log) {
            let left_out = copied.without_log();
            left_out.map_err(|error| LoadError(format!("{}: {error}", path.display())))?;
            if let Ok(again) = Opened::of(&copied, progress) {
                warnings.push(
                    "the write-ahead log (-wal) belongs to another database and was ignored"
                        .to_owned(),
                );
                opened = Ok(again);
            }
        }
        let mut opened = opened.map_err(|why| LoadError(format!("{}: {why}", path.display())))?;
        opened.warnings.splice(0..0, warnings);
        Ok(Self {
            opened,
            _copied: copied,
        })
    }

    /// Its sessions, the oldest first.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.opened.entries
    }

    /// Reads one of its sessions, as if it were the only one.
    ///
    /// # Errors
    /// A [`LoadError`] when there is no such session or it holds no message.
    pub(super) fn load(
        &self,
        path: &Path,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Loaded, LoadError> {
        let opened = &self.opened;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        let number = options.conversation;
        let entry = opened
            .entries
            .get(number)
            .ok_or_else(|| no_such_conversation(&name, opened.entries.len()))?;
        let rows = opened.rows_of(entry, progress);
        let (rows, warnings) = rows.map_err(|why| LoadError(format!("{name}: {why}")))?;
        let document = (opened.database.document)(entry, &rows);
        let is_empty = rows.iter().skip(1).all(|rows| rows.rows.is_empty());
        drop(rows);
        let one = LoadOptions {
            conversation: 0,
            ..*options
        };
        let loaded = load_bytes(&name, document, &one, progress);
        let empty = || {
            LoadError(format!(
                "{name}: conversation {} of it holds no message",
                number + 1
            ))
        };
        let mut loaded = loaded.map_err(|error| if is_empty { empty() } else { error })?;
        let all = opened.warnings.iter().cloned().chain(warnings);
        let all = all.map(|text| Warning { line: None, text });
        loaded.warnings.splice(0..0, all);
        loaded.report.recognized_by = opened.recognized_by();
        loaded.path = Some(path.to_owned());
        Ok(loaded)
    }
}

impl Opened {
    fn of(copied: &Copied, progress: &Progress) -> Result<Self, Why> {
        let mut asked = Asked::open(&copied.path(), copied.bytes, progress)?;
        let known = DATABASES.iter().flat_map(|database| database.tables);
        let mut names: Vec<&str> = known.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let tables = asked.tables(&names)?;
        let Some(database) = formats::database_of(&tables) else {
            return Err(Why::Nobodys(asked.some_tables()?));
        };
        asked.restrict_to_reading()?;
        let mut opened = Self {
            asked: Mutex::new(asked),
            database,
            tables,
            entries: Vec::new(),
            warnings: Vec::new(),
        };
        let listed = opened.rows(&database.listing);
        opened.entries = database.entries_of(&listed.rows);
        if opened.entries.is_empty() {
            return Err(listed.trouble.map_or(Why::Empty, Why::Trouble));
        }
        opened.warnings = warnings(&database.listing, &listed);
        Ok(opened)
    }

    fn rows(&self, ask: &TableQuery) -> Answered {
        let table = self.tables.iter().find(|table| table.name == ask.table);
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.rows(ask, table)
    }

    /// What a session is made of, and what is amiss with it.
    fn rows_of(&self, entry: &Entry, progress: &Progress) -> Result<(Vec<Rows>, Vec<String>), Why> {
        let (mut all, mut amiss) = (Vec::new(), Vec::new());
        for ask in (self.database.queries)(entry) {
            if progress.is_cancelled() {
                return Err(Trouble::Cancelled.into());
            }
            let answered = self.rows(&ask);
            match &answered.trouble {
                Some(trouble) if answered.rows.rows.is_empty() => {
                    return Err(trouble.clone().into());
                }
                Some(Trouble::Cancelled) => return Err(Trouble::Cancelled.into()),
                _ => amiss.extend(warnings(&ask, &answered)),
            }
            all.push(answered.rows);
        }
        Ok((all, amiss))
    }

    fn recognized_by(&self) -> String {
        let names: Vec<&str> = self.database.tables.iter().map(|(name, _)| *name).collect();
        let (s, names) = match &names[..] {
            [only] => ("", (*only).to_owned()),
            [rest @ .., last] => ("s", format!("{} and {last}", rest.join(", "))),
            [] => ("", String::new()),
        };
        format!("a SQLite database with the table{s} {names}")
    }
}

fn warnings(ask: &TableQuery, answered: &Answered) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(trouble) = &answered.trouble {
        let n = super::counted(answered.rows.rows.len(), "row");
        warnings.push(format!(
            "{n} of the table {} could be read, then no more: {trouble}",
            ask.table
        ));
    }
    if answered.n_cut > 0 {
        let n = super::counted(answered.n_cut, "row");
        let has = if answered.n_cut == 1 { "has" } else { "have" };
        warnings.push(format!(
            "{n} of the table {} {has} a value longer than {} MiB, which was left out",
            ask.table,
            sqlite::MOST_VALUE >> 20
        ));
    }
    if answered.n_mended > 0 {
        let n = super::counted(answered.n_mended, "text");
        let are = if answered.n_mended == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{n} of the table {} {are} not in UTF-8: what cannot be read stands as \u{fffd}",
            ask.table
        ));
    }
    warnings
}
