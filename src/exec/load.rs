//! Reads a session file and makes it ready to be replayed: bytes, session, weights, windows.
//!
//! Every failure is one line that names the file and says what to do.

use crate::engine::Case;
use crate::formats::{self, ImportReport, Input, Warning};
use crate::presets::models;
use crate::tokens::{Counter, Progress, TokenLedger};
use crate::units::Tokens;
use std::fs::{self, Metadata};
use std::io;
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
    /// Titles of all conversations of the file, this one included.
    pub conversations: Vec<String>,
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
    let metadata = must_exist(path)?;
    refuse_folders_and_devices(path, &metadata)?;
    let bytes = fs::read(path).map_err(|error| cannot_read(path, &error))?;
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let mut loaded = load_bytes(&name, bytes, options, progress)?;
    loaded.path = Some(path.to_owned());
    Ok(loaded)
}

/// The same for bytes that are already here (standard input, a bundled sample).
///
/// # Errors
/// A [`LoadError`] when the bytes hold no conversation.
pub fn load_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &LoadOptions,
    progress: &Progress,
) -> Result<Loaded, LoadError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError(format!(
            "{name} is empty; give a session file that holds a conversation"
        )));
    }
    let input = Input {
        name: name.to_owned(),
        bytes: Arc::from(bytes),
    };
    let parsed =
        formats::parse(&input).map_err(|refused| LoadError(format!("{name}: {refused}")))?;
    let conversations: Vec<String> = parsed.sessions.iter().map(|s| s.title.clone()).collect();
    let session = parsed
        .sessions
        .into_iter()
        .nth(options.conversation)
        .ok_or_else(|| no_such_conversation(name, conversations.len()))?;
    let ledger = TokenLedger::count(&session, options.counter, progress)
        .map_err(|cancelled| LoadError(format!("{name}: {cancelled}")))?;
    let windows = models::window_plan(&session, options.window);
    Ok(Loaded {
        path: None,
        case: Case::new(Arc::new(session), ledger, windows),
        warnings: parsed.warnings,
        report: parsed.report,
        conversations,
    })
}

/// The file's metadata, following links.
///
/// # Errors
/// A [`LoadError`] that says what to do when there is nothing at this path.
pub fn must_exist(path: &Path) -> Result<Metadata, LoadError> {
    fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            LoadError(format!("{}: no such file; check the path", path.display()))
        }
        _ => cannot_read(path, &error),
    })
}

fn cannot_read(path: &Path, error: &io::Error) -> LoadError {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "; check its permissions",
        _ => "",
    };
    LoadError(format!(
        "{} cannot be read ({error}){advice}",
        path.display()
    ))
}

fn no_such_conversation(name: &str, count: usize) -> LoadError {
    LoadError(match count {
        1 => format!("{name} holds one conversation; choose 1"),
        _ => format!("{name} holds {count} conversations; choose one from 1 to {count}"),
    })
}

/// A pipe can be read, which `<(command)` needs; an endless device cannot.
fn refuse_folders_and_devices(path: &Path, metadata: &Metadata) -> Result<(), LoadError> {
    if metadata.is_dir() {
        return Err(LoadError(format!(
            "{} is a folder; give a session file in it",
            path.display()
        )));
    }
    if is_device(metadata) {
        return Err(LoadError(format!(
            "{} is a device; give a session file",
            path.display()
        )));
    }
    Ok(())
}

#[cfg(unix)]
fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_metadata: &Metadata) -> bool {
    false
}
