//! Loads a session: reads its bytes, detects and parses the format, attaches sub-agents, and counts tokens.
//!
//! Every error is one line that names the file and the remedy.

mod archive;
mod file_sessions;
mod session_folder;
mod source;
mod sub_agents;

pub(super) use archive::is_session as is_archived_session;
pub use file_sessions::FileSessions;
pub(super) use file_sessions::OpenedConversation;
pub(super) use session_folder::{events_in, files_of, is_piece, stamp_of};
pub(super) use sub_agents::{parent_name, started_by};

use super::database::Snapshot;
use super::files::{LoadError, is_folder, read_all};
use crate::engine::Case;
use crate::formats::{self, ImportReport, Input, Parsed, Warning};
use crate::presets::models;
use crate::progress::{Phase, Progress};
use crate::session::{Conversation, Session, Track};
use crate::tokens::{Counter, TokenLedger, default_counter};
use crate::units::{Bytes, Tokens};
use source::FileSource;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to read a file.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// The tokenizer.
    pub counter: &'static Counter,
    /// Context window set by the user, if any.
    pub window: Option<Tokens>,
    /// Index of the conversation in a file with several.
    pub conversation: usize,
}

impl LoadOptions {
    /// Returns the name of the tokenizer if it is not the default one.
    pub fn chosen_counter(&self) -> Option<&'static str> {
        let name = self.counter.name;
        (name != default_counter().name).then_some(name)
    }
}

/// A session that can be replayed.
#[derive(Debug)]
pub struct Loaded {
    /// The file, unless the session came from a stream or from memory.
    pub path: Option<PathBuf>,
    /// Session, token counts and context windows.
    pub case: Case,
    /// Problems found while reading.
    pub warnings: Vec<Warning>,
    /// Detected format and counts of records.
    pub report: ImportReport,
    /// The file that contains the main conversation, if it has a path.
    pub main_file: Option<PathBuf>,
    /// Files of the sub-agents with a file of their own, by the index of the conversation.
    pub sub_agent_files: BTreeMap<usize, PathBuf>,
    /// All conversations of the file, including this one, and those of sub-agents with files of their own.
    pub conversations: Vec<Conversation>,
}

impl Loaded {
    /// Returns true if the file contains several main conversations.
    pub fn has_several_conversations(&self) -> bool {
        let all = self.conversations.iter();
        all.filter(|c| c.track == Track::Main).nth(1).is_some()
    }

    /// Compresses the bytes of a large file, for a session that stays in memory.
    pub fn pack(&mut self) {
        if let Some(session) = Arc::get_mut(&mut self.case.session) {
            session.source.bytes.pack();
        }
    }
}

/// Loads a session from a path. Blocks; do not call it on the UI thread.
///
/// # Errors
/// Returns a [`LoadError`] if the path does not exist, cannot be read, or contains no conversation.
pub fn load(path: &Path, options: &LoadOptions, progress: &Progress) -> Result<Loaded, LoadError> {
    warm_up(options.counter);
    let document = match FileSource::open(path, progress)? {
        FileSource::Document(document) => document,
        FileSource::Database(snapshot) => return load_from(&snapshot, path, options, progress),
    };
    let mut file = ParsedFile::parse(document, progress)?;
    file.path = Some(path.to_owned());
    let files = sub_agents::attach(path, &mut file.parsed, &mut file.conversations);
    let loaded = match files.get(&options.conversation) {
        None => file.select(options.conversation, options, progress)?,
        Some(own) => {
            file.parsed =
                sub_agents::read(own, &file.parsed.sessions[0], &file.parsed.report, progress)?;
            file.path = Some(own.clone());
            file.select(0, options, progress)?
        }
    };
    Ok(Loaded { main_file: Some(path.to_owned()), sub_agent_files: files, ..loaded })
}

/// Loads a session of a database, with the list of all conversations of the database.
fn load_from(
    snapshot: &Snapshot,
    path: &Path,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    let mut loaded = load_entry(snapshot, path, options, progress)?;
    loaded.conversations = sub_agents::in_database(
        snapshot.entries(),
        options.conversation,
        &loaded.case.session,
        &loaded.report,
    );
    Ok(loaded)
}

/// Loads a session of a database as if it were the only one.
pub(super) fn load_entry(
    snapshot: &Snapshot,
    path: &Path,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    let number = options.conversation;
    let (document, notes) = snapshot.document(number, progress)?;
    let name = document.name.clone();
    let file = ParsedFile::parse(document, progress);
    let loaded = file.and_then(|file| file.select(0, options, progress));
    let mut loaded = loaded.map_err(|error| {
        if notes.is_empty {
            LoadError(format!("{name}: conversation {} has no messages", number + 1))
        } else {
            error
        }
    })?;
    let warnings = notes.warnings.into_iter();
    let warnings = warnings.map(|text| Warning { line: None, text });
    loaded.warnings.splice(0..0, warnings);
    loaded.report.recognized_by = notes.recognized_by;
    loaded.path = Some(path.to_owned());
    Ok(loaded)
}

/// Loads a session from a stream such as standard input, which may never end.
///
/// # Errors
/// Returns a [`LoadError`] if the stream cannot be read, is too large, or contains no conversation.
pub fn load_stream(
    name: &str,
    stream: impl Read,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    warm_up(options.counter);
    let document =
        Input { name: name.to_owned(), bytes: read_all(stream, name, Bytes(0), progress)? };
    ParsedFile::parse(document, progress)?.select(options.conversation, options, progress)
}

/// Loads a session from bytes in memory, such as a bundled sample.
///
/// # Errors
/// Returns a [`LoadError`] if the bytes contain no conversation.
pub fn load_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    let document = Input { name: name.to_owned(), bytes: bytes.into() };
    ParsedFile::parse(document, progress)?.select(options.conversation, options, progress)
}

/// Returns true if the path is a folder that may contain sessions and is not a session itself.
pub fn is_folder_of_sessions(path: &Path) -> bool {
    is_folder(path) && !session_folder::is_session(path)
}

/// Loads the vocabulary of a tokenizer and the list of models on other cores while files are searched or read.
pub fn warm_up(counter: &'static Counter) {
    rayon::spawn(move || {
        (counter.count)("");
    });
    rayon::spawn(|| {
        models::lookup("");
    });
}

/// Parses a file that is not a database, without token counts and sub-agents.
pub(super) fn parse_file(path: &Path, progress: &Progress) -> Result<Parsed, LoadError> {
    parse(&FileSource::document(path, progress)?, progress)
}

/// Parses bytes in memory, without token counts and sub-agents.
pub(super) fn parse_bytes(
    name: &str,
    bytes: Vec<u8>,
    progress: &Progress,
) -> Result<Parsed, LoadError> {
    parse(&Input { name: name.to_owned(), bytes: bytes.into() }, progress)
}

/// Detects the format of a document and parses it.
fn parse(document: &Input, progress: &Progress) -> Result<Parsed, LoadError> {
    let name = &document.name;
    if document.bytes.is_blank() {
        return Err(LoadError(format!(
            "{name} is empty; give a session file that holds a conversation"
        )));
    }
    let size = document.bytes.len() as u64;
    progress.begin(Phase::Reading, Bytes(size * 2));
    progress.advance(size);
    formats::parse_with(document, progress).map_err(|error| LoadError(format!("{name}: {error}")))
}

/// A parsed file of which one conversation will be selected.
struct ParsedFile {
    name: String,
    path: Option<PathBuf>,
    parsed: Parsed,
    conversations: Vec<Conversation>,
}

impl ParsedFile {
    fn parse(document: Input, progress: &Progress) -> Result<Self, LoadError> {
        let parsed = parse(&document, progress)?;
        Ok(Self {
            name: document.name,
            path: None,
            conversations: Conversation::all(&parsed.sessions),
            parsed,
        })
    }

    /// Selects a session by its index among those parsed and counts its tokens.
    fn select(
        self,
        number: usize,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Loaded, LoadError> {
        let Self { name, parsed, .. } = self;
        let session = parsed.sessions.into_iter().nth(number);
        let session = session
            .ok_or_else(|| LoadError::no_such_conversation(&name, self.conversations.len()))?;
        Ok(Loaded {
            main_file: self.path.clone(),
            sub_agent_files: BTreeMap::new(),
            path: self.path,
            case: case_of(&name, Arc::new(session), options, progress)?,
            warnings: parsed.warnings,
            report: parsed.report,
            conversations: self.conversations,
        })
    }
}

/// Counts the tokens of a session and determines its context windows.
pub(super) fn case_of(
    name: &str,
    session: Arc<Session>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Case, LoadError> {
    let ledger = TokenLedger::count(&session, options.counter, progress)
        .map_err(|cancelled| LoadError::cancelled(name, cancelled))?;
    let windows = models::window_plan(&session, options.window);
    Ok(Case::new(session, ledger, windows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io;

    fn options() -> LoadOptions {
        LoadOptions { counter: default_counter(), window: None, conversation: 0 }
    }

    fn load_error(path: &Path) -> String {
        load(path, &options(), &Progress::default()).expect_err("it is not a session").to_string()
    }

    #[test]
    fn binary_data_is_rejected_by_its_first_bytes() {
        let error = load_stream("standard input", io::repeat(0), &options(), &Progress::default())
            .expect_err("it is not a session");
        assert!(error.to_string().starts_with("standard input: this looks like binary data"));
    }

    #[test]
    fn a_file_beyond_the_limit_is_rejected_before_it_is_read() {
        let here = tempfile::tempdir().expect("a folder");
        let path = here.path().join("sparse.jsonl");
        let file = File::create(&path).expect("it can be made");
        file.set_len(20 << 30).expect("it is sparse");
        let error = load_error(&path);
        assert!(
            error.ends_with("is larger than the limit of 4 GiB; give a smaller session file"),
            "{error}"
        );
    }

    #[test]
    fn an_empty_path_is_an_error() {
        assert_eq!(load_error(Path::new("")), "the path is empty; give the path of a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_broken_link_is_an_error() {
        let here = tempfile::tempdir().expect("a folder");
        for target in ["around", "nowhere"] {
            let path = here.path().join("around");
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(here.path().join(target), &path).expect("a link");
            let error = load_error(&path);
            assert!(error.contains("is a broken link"), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }

    #[test]
    fn progress_goes_from_reading_to_counting_and_cancelling_stops_before_parsing() {
        let chat = br#"[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]"#;
        let progress = Progress::default();
        load_stream("c", &chat[..], &options(), &progress).expect("a conversation");
        assert_eq!(progress.phase(), Phase::Counting);
        progress.cancel();
        let error = load_bytes("c", chat.to_vec(), &options(), &progress).expect_err("cancelled");
        assert_eq!(error.to_string(), "c: cancelled");
        assert_eq!(progress.phase(), Phase::Reading);
    }
}
