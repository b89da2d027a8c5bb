//! Converts a session to another format: the whole history, unmanaged. The written file is read again and compared with
//! the session, so that losses are found and not assumed.

mod aspect;
mod compare;
mod metadata;

pub use aspect::Aspect;

use super::agent_store::{AgentStore, Resumed};
use super::export::commit_marked;
use super::files::{StagedFile, check_is_new, write_error};
use super::load::Loaded;
use crate::figure::counted;
use crate::formats::{self, Format, Input, Resume};
use crate::progress::Progress;
use crate::session::{Managed, ManagedEntry, Session};
use std::path::{Path, PathBuf};

/// A converted session.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The written file.
    pub output: PathBuf,
    /// Size in bytes.
    pub bytes: usize,
    /// The file equals the source byte for byte, or for a new session of the same program except for its id and folder.
    pub is_copy: bool,
    /// Aspects of the session that the file kept or lost, content first.
    pub aspects: Vec<Aspect>,
    /// The session in a program's store, if it was added to one.
    pub resumed: Option<Resumed>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Converts a session to a new file.
///
/// # Errors
/// Returns one line if the conversion fails; then nothing was written.
pub fn convert(
    loaded: &Loaded,
    format: &'static Format,
    output: &Path,
) -> Result<Converted, String> {
    check_is_new(output)?;
    let session = &loaded.case.session;
    let is_copy = format.name == session.source.format;
    let bytes =
        if is_copy { session.source.bytes.whole() } else { converted(session, format)?.into() };
    let failed = |error| write_error(output, &error);
    let staged = StagedFile::private(output, &bytes).map_err(failed)?;
    let (aspects, bytes) = if is_copy {
        if !staged.has_bytes(&bytes).map_err(failed)? {
            return Err(format!(
                "{} differs from the bytes written to it; choose another path",
                output.display()
            ));
        }
        (Vec::new(), bytes)
    } else {
        drop(bytes);
        let back = staged.read().map_err(failed)?;
        let read = read_again(back.clone(), format, &Progress::default())?;
        (compare::aspects(loaded, &read, format), back.into())
    };
    commit_marked(staged, &bytes, output, ("convert", session, format))?;
    Ok(Converted {
        output: output.to_owned(),
        bytes: bytes.len(),
        is_copy,
        aspects,
        resumed: None,
        notes: Vec::new(),
    })
}

/// Converts a session to a new session in the store of the format's program. Without another program, it is a copy with
/// a new id. `import` is the path of the new file if the program imports files.
///
/// # Errors
/// Returns one line if the conversion fails or the store cannot be written; then nothing was written.
pub fn convert_resumable(
    loaded: &Loaded,
    format: &'static Format,
    import: &Path,
) -> Result<Converted, String> {
    let session = &loaded.case.session;
    let store = AgentStore::of(format, session)?;
    let is_copy = format.name == session.source.format;
    let new = if is_copy {
        store.convert(&session.source.bytes.whole())?
    } else {
        let _held = session.source.bytes.whole();
        let bytes = format.write(session, &whole_history(session));
        store.convert(&bytes.map_err(|error| error.to_string())?)?
    };
    let read = read_again(new.bytes.clone(), format, &Progress::default())?;
    let aspects = if is_copy { Vec::new() } else { compare::aspects(loaded, &read, format) };
    let resumed = store.add(&new, import)?;
    let mut notes = store.notes(is_copy);
    if !is_copy && !session.compactions.is_empty() {
        notes.push(format!(
            "this is the whole history, also what {} removed; `compact --policy none --resumable --to {}` writes the last context",
            counted(session.compactions.len(), "compaction"),
            format.resume.as_ref().map_or(format.name, Resume::name)
        ));
    }
    Ok(Converted {
        output: resumed.path.clone(),
        bytes: new.bytes.len(),
        is_copy,
        aspects,
        resumed: Some(resumed),
        notes,
    })
}

/// Returns the aspects of a conversion without writing a file. A copy in the session's own format has none.
///
/// # Errors
/// Returns one line if the conversion fails or is cancelled.
pub fn would_convert(
    loaded: &Loaded,
    format: &'static Format,
    progress: &Progress,
) -> Result<Vec<Aspect>, String> {
    let session = &loaded.case.session;
    if format.name == session.source.format {
        return Ok(Vec::new());
    }
    let bytes = converted(session, format)?;
    progress.check_cancelled().map_err(|cancelled| cancelled.to_string())?;
    let read = read_again(bytes, format, progress)?;
    Ok(compare::aspects(loaded, &read, format))
}

/// Writes the whole history without the summaries of recorded compactions, since the messages that they replace are
/// included.
fn converted(session: &Session, format: &Format) -> Result<Vec<u8>, String> {
    if !format.accepts_any_source() && format.resume.is_some() {
        return Err(format!(
            "converting to {} is not supported without --resumable, which adds a new session to the store of its program; choose {}",
            format.label,
            formats::accepting_any_source()
                .map(|format| format.name)
                .collect::<Vec<_>>()
                .join(" or ")
        ));
    }
    if !format.accepts_any_source() {
        let known: Vec<&str> = formats::accepting_any_source().map(|format| format.name).collect();
        return Err(format!(
            "converting to {} is not supported; choose {}",
            format.label,
            known.join(" or ")
        ));
    }
    // Keeps the bytes decompressed while records are read one by one.
    let _held = session.source.bytes.whole();
    format.write(session, &whole_history(session)).map_err(|error| error.to_string())
}

/// Returns the history of a session as a managed conversation.
fn whole_history(session: &Session) -> Managed {
    let all = (0..session.messages.len()).filter(|idx| session.messages[*idx].in_history);
    Managed {
        entries: all.map(|message| ManagedEntry::Kept { message }).collect(),
        ..Managed::default()
    }
}

/// Parses the result as this format, without detection.
fn read_again(bytes: Vec<u8>, format: &Format, progress: &Progress) -> Result<Session, String> {
    let input = Input { name: String::new(), bytes: bytes.into() };
    let failed = |reason: &str| {
        format!(
            "nothing was written: the result as {} cannot be read again ({reason})",
            format.label
        )
    };
    let parsed = format.read(&input, progress);
    let parsed = parsed.map_err(|error| failed(&error.to_string()))?;
    let read = parsed.sessions.into_iter().next();
    read.ok_or_else(|| failed("it contains no conversation"))
}
