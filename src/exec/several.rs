//! A file as the sessions that it holds side by side (a database, a log or data set of many): it is read once, and each of
//! them is made ready when its turn comes.

use super::database::{self, Snapshot};
use super::load::{
    LoadError, LoadOptions, case_of, file_name, must_exist, no_such_conversation, parsed, read_all,
    read_file,
};
use super::session_folder;
use crate::engine::Case;
use crate::formats::Entry;
use crate::progress::Progress;
use crate::session::{FileBytes, Session, Track};
use crate::units::Bytes;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sessions of a file. Conversations that belong to another one (of a sub-agent, a branch that was left) are no
/// sessions of their own here.
#[derive(Debug)]
pub struct Several {
    /// For messages.
    name: String,
    of: Of,
    /// Which conversations of the file they are, from 0, as [`LoadOptions::conversation`] chooses them.
    numbers: Vec<usize>,
}

#[derive(Debug)]
enum Of {
    Database(PathBuf, Box<Snapshot>),
    Text {
        sessions: Vec<Arc<Session>>,
        /// The file's, while each of several may be asked for its own.
        _bytes: Option<Arc<Vec<u8>>>,
    },
}

impl Several {
    /// Reads a file. Blocks.
    ///
    /// # Errors
    /// A [`LoadError`] when there is no such file, it cannot be read, or it holds no conversation.
    pub fn open(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        let metadata = must_exist(path)?;
        if let Some((name, bytes)) = session_folder::session_at(path)? {
            return Self::of_text(name, bytes.into(), progress);
        }
        if !database::is_database(path) {
            let bytes = read_file(path, &metadata, progress)?;
            return Self::of_text(file_name(path), bytes, progress);
        }
        let snapshot = Snapshot::open(path, progress)?;
        Ok(Self {
            name: file_name(path),
            numbers: mains(snapshot.entries()),
            of: Of::Database(path.to_owned(), Box::new(snapshot)),
        })
    }

    /// The same for what comes from a stream.
    ///
    /// # Errors
    /// A [`LoadError`] when it cannot be read, is too large, or holds no conversation.
    pub fn read(name: &str, stream: impl Read, progress: &Progress) -> Result<Self, LoadError> {
        let bytes = read_all(stream, name, Bytes(0), progress)?;
        Self::of_text(name.to_owned(), bytes, progress)
    }

    fn of_text(name: String, bytes: FileBytes, progress: &Progress) -> Result<Self, LoadError> {
        let sessions = parsed(&name, bytes, progress)?.sessions;
        let is_main = |number: &usize| sessions[*number].track == Track::Main;
        let mut numbers: Vec<usize> = (0..sessions.len()).filter(is_main).collect();
        if numbers.len() < 2 {
            // Whatever it is to others: it is what the file opens with.
            numbers = vec![0];
        }
        let first = sessions.first().filter(|_| numbers.len() > 1);
        let bytes = first.map(|session| session.source.bytes.whole());
        Ok(Self {
            name,
            of: Of::Text {
                sessions: sessions.into_iter().map(Arc::new).collect(),
                _bytes: bytes,
            },
            numbers,
        })
    }

    /// Which conversations of the file they are, from 0; at least one.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Whether a number is needed to tell one of them. In a database it is, however few there are by now.
    pub fn are_numbered(&self) -> bool {
        self.numbers.len() > 1 || matches!(self.of, Of::Database(..))
    }

    /// Makes one of them ready to be replayed, whatever the options choose.
    ///
    /// # Errors
    /// A [`LoadError`] when it holds no message, cannot be read any more, or `progress` says to stop.
    pub fn case(
        &self,
        number: usize,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Case, LoadError> {
        let one = LoadOptions {
            conversation: number,
            ..*options
        };
        match &self.of {
            Of::Database(path, snapshot) => Ok(snapshot.load(path, &one, progress)?.case),
            Of::Text { sessions, .. } => {
                let session = sessions
                    .get(number)
                    .ok_or_else(|| no_such_conversation(&self.name, sessions.len()))?;
                case_of(&self.name, Arc::clone(session), &one, progress)
            }
        }
    }
}

/// The sessions that no other one started; all where they go round in a ring.
fn mains(entries: &[Entry]) -> Vec<usize> {
    let ids: HashSet<&str> = entries.iter().map(|entry| &*entry.id).collect();
    let is_main = |n: &usize| {
        let parent = entries[*n].parent.as_deref();
        parent.is_none_or(|parent| !ids.contains(parent))
    };
    let mains: Vec<usize> = (0..entries.len()).filter(is_main).collect();
    if mains.is_empty() {
        return (0..entries.len()).collect();
    }
    mains
}
