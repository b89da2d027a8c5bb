//! Reads a session file and makes it ready to be replayed: bytes, session, weights, windows.
//!
//! Every failure is one line that names the file and says what to do.

mod large;
mod read;

pub use read::{MOST_BYTES, must_exist};
pub(super) use read::{read_all, read_bounded, read_file, read_text};

use super::{database, session_folder, sub_agents};
use crate::engine::Case;
use crate::formats::{self, ImportReport, Input, Parsed, Warning};
use crate::presets::models;
use crate::progress::{Phase, Progress};
use crate::session::{Conversation, FileBytes, Session, Track};
use crate::tokens::{Counter, TokenLedger};
use crate::units::{Bytes, Tokens};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to read a file.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// What counts.
    pub counter: &'static Counter,
    /// A context window set by hand.
    pub window: Option<Tokens>,
    /// Which conversation of a file that holds several, from 0.
    pub conversation: usize,
}

/// A session ready to be replayed.
#[derive(Debug)]
pub struct Loaded {
    /// The file, if it was one.
    pub path: Option<PathBuf>,
    /// Session, weights, windows.
    pub case: Case,
    /// What did not read as it should.
    pub warnings: Vec<Warning>,
    /// How the file was understood.
    pub report: ImportReport,
    /// All conversations of the file, this one included, and those of sub-agents that have files beside it.
    pub conversations: Vec<Conversation>,
}

impl Loaded {
    /// The file holds other conversations that stand side by side with this one.
    pub fn are_several(&self) -> bool {
        let all = self.conversations.iter();
        all.filter(|c| c.track == Track::Main).nth(1).is_some()
    }

    /// Packs the file's bytes where they are many: for a session that stays in memory.
    pub fn pack(&mut self) {
        if let Some(session) = Arc::get_mut(&mut self.case.session) {
            session.source.bytes.pack();
        }
    }
}

/// Why a file could not be opened: one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// Reads, parses and counts a file. Blocks; call it off the UI thread.
///
/// # Errors
/// A [`LoadError`] when there is no such file, it cannot be read, or it holds no conversation.
pub fn load(path: &Path, options: &LoadOptions, progress: &Progress) -> Result<Loaded, LoadError> {
    must_exist(path)?;
    get_ready(options.counter);
    if database::is_database(path) {
        return database::load(path, options, progress);
    }
    let (name, bytes) = bytes_of(path, progress)?;
    let mut loaded = ready(&name, bytes, Some(path), options, progress)?;
    loaded.path.get_or_insert_with(|| path.to_owned());
    Ok(loaded)
}

/// What a file says that is no database, without weights and without the files of sub-agents beside it.
pub(super) fn parsed_alone(path: &Path, progress: &Progress) -> Result<Parsed, LoadError> {
    let (name, bytes) = bytes_of(path, progress)?;
    parsed(&name, bytes, progress)
}

/// The bytes of a session's file, or of the files of its folder as one, with a name for messages.
fn bytes_of(path: &Path, progress: &Progress) -> Result<(String, FileBytes), LoadError> {
    let metadata = must_exist(path)?;
    if let Some((name, bytes)) = session_folder::session_at(path)? {
        return Ok((name, bytes.into()));
    }
    let bytes = read_file(path, &metadata, progress)?;
    Ok((file_name(path), bytes))
}

/// A file's name for messages.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The same for what comes from a stream (standard input), which may never end.
///
/// # Errors
/// A [`LoadError`] when it cannot be read, is too large, or holds no conversation.
pub fn load_stream(
    name: &str,
    stream: impl Read,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    get_ready(options.counter);
    let bytes = read_all(stream, name, Bytes(0), progress)?;
    ready(name, bytes, None, options, progress)
}

/// Has a counter load its vocabulary, which takes a while, and the models be read, on another core while the file is read.
fn get_ready(counter: &'static Counter) {
    rayon::spawn(move || {
        (counter.count)("");
    });
    rayon::spawn(|| {
        models::lookup("");
    });
}

/// The same for bytes that are already here (a bundled sample).
///
/// # Errors
/// A [`LoadError`] when the bytes hold no conversation.
pub fn load_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    ready(name, bytes.into(), None, options, progress)
}

/// The same for bytes of the file at `path`, beside which more of the session may lie.
fn ready(
    name: &str,
    bytes: FileBytes,
    path: Option<&Path>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    let mut parsed = parsed(name, bytes, progress)?;
    let mut conversations = Conversation::all(&parsed.sessions);
    let beside = path.map(|path| sub_agents::beside(path, &mut parsed, &mut conversations));
    let mut place = options.conversation;
    let mut path = path.map(Path::to_owned);
    if let Some(file) = beside.and_then(|mut beside| beside.remove(&place)) {
        parsed = sub_agents::read(&file, &parsed.sessions[0], &parsed.report, progress)?;
        (place, path) = (0, Some(file));
    }
    let session = parsed
        .sessions
        .into_iter()
        .nth(place)
        .ok_or_else(|| no_such_conversation(name, conversations.len()))?;
    Ok(Loaded {
        path,
        case: case_of(name, Arc::new(session), options, progress)?,
        warnings: parsed.warnings,
        report: parsed.report,
        conversations,
    })
}

/// What the bytes of a file say.
pub(super) fn parsed(
    name: &str,
    bytes: FileBytes,
    progress: &Progress,
) -> Result<Parsed, LoadError> {
    if bytes.is_blank() {
        return Err(LoadError(format!(
            "{name} is empty; give a session file that holds a conversation"
        )));
    }
    let input = Input {
        name: name.to_owned(),
        bytes,
    };
    let size = input.bytes.len() as u64;
    progress.begin(Phase::Reading, Bytes(size * 2));
    progress.advance(size);
    formats::parse_with(&input, progress).map_err(|unread| LoadError(format!("{name}: {unread}")))
}

/// A session with its weights and windows.
pub(super) fn case_of(
    name: &str,
    session: Arc<Session>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Case, LoadError> {
    let ledger = TokenLedger::count(&session, options.counter, progress)
        .map_err(|cancelled| LoadError(format!("{name}: {cancelled}")))?;
    let windows = models::window_plan(&session, options.window);
    Ok(Case::new(session, ledger, windows))
}

pub(super) fn no_such_conversation(name: &str, count: usize) -> LoadError {
    LoadError(match count {
        1 => format!("{name} holds one conversation; choose 1"),
        _ => format!("{name} holds {count} conversations; choose one from 1 to {count}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::default_counter;
    use std::fs::{self, File};
    use std::io;

    fn options() -> LoadOptions {
        LoadOptions {
            counter: default_counter(),
            window: None,
            conversation: 0,
        }
    }

    fn refusal(path: &Path) -> String {
        load(path, &options(), &Progress::default())
            .expect_err("it is no session")
            .to_string()
    }

    #[test]
    fn a_stream_that_never_ends_is_refused_by_its_first_bytes() {
        let error = load_stream(
            "standard input",
            io::repeat(0),
            &options(),
            &Progress::default(),
        )
        .expect_err("it is no session");
        assert!(
            error
                .to_string()
                .starts_with("standard input: this looks like binary data")
        );
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
        let here = tempfile::tempdir().expect("a folder");
        let path = here.path().join("sparse.jsonl");
        let file = File::create(&path).expect("it can be made");
        file.set_len(20 << 30).expect("it is sparse");
        let said = refusal(&path);
        assert!(
            said.ends_with(
                "is larger than 4 GiB, the most that is read; give a smaller session file"
            ),
            "{said}"
        );
    }

    #[test]
    fn an_empty_path_says_so() {
        assert_eq!(
            refusal(Path::new("")),
            "the path is empty; give the path of a file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_itself_or_to_nothing_says_so() {
        let here = tempfile::tempdir().expect("a folder");
        for target in ["around", "nowhere"] {
            let path = here.path().join("around");
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(here.path().join(target), &path).expect("a link");
            let said = refusal(&path);
            assert!(said.contains("is a link that leads to no file"), "{said}");
            assert_eq!(said.lines().count(), 1);
        }
    }

    #[test]
    fn progress_reads_then_weighs_and_cancel_stops_before_anything_is_parsed() {
        let chat = br#"[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]"#;
        let progress = Progress::default();
        load_stream("c", &chat[..], &options(), &progress).expect("a conversation");
        assert_eq!(progress.phase(), Phase::Weighing);
        progress.cancel();
        let error = load_bytes("c", chat.to_vec(), &options(), &progress).expect_err("cancelled");
        assert_eq!(error.to_string(), "c: cancelled");
        assert_eq!(progress.phase(), Phase::Reading);
    }
}
