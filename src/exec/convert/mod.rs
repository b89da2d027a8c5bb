//! Writes a session in another format, nothing managed and nothing left out: the whole history, as it was said. What was
//! written is read again and compared with the session, so that what the format cannot hold is found rather than assumed.

mod compare;
mod contents;
mod said;

use super::load::Loaded;
use super::new_file::refuse_output;
use super::place::{Staged, cannot_create};
use crate::formats::{FORMATS, Format, Input};
use crate::progress::Progress;
use crate::session::{Managed, ManagedEntry, Session, SessionBuilder, Source};
use std::path::{Path, PathBuf};

/// A session that was written in a format.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The file.
    pub output: PathBuf,
    /// Its size in bytes.
    pub bytes: usize,
    /// It is the source, byte for byte.
    pub is_copy: bool,
    /// What the session holds and what of it the file does, what was said first.
    pub aspects: Vec<Aspect>,
}

/// Something that a session holds, counted in it and in what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aspect {
    /// What it is, to follow its number.
    pub what: &'static str,
    /// The same of a single one.
    pub one: &'static str,
    /// How many there are in the session.
    pub held: usize,
    /// How many of these are in what was written.
    pub kept: usize,
    /// It was said: words, calls, results and pictures, which a conversion is for.
    pub is_said: bool,
    /// The first messages whose own is missing, by their indices.
    pub messages: Vec<usize>,
    /// More about it, or nothing.
    pub detail: String,
}

impl Aspect {
    /// Nothing of it is missing.
    pub fn is_whole(&self) -> bool {
        self.kept == self.held
    }
}

/// Writes a session in a format, into a new file.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn convert(
    loaded: &Loaded,
    format: &'static Format,
    output: &Path,
) -> Result<Converted, String> {
    refuse_output(output)?;
    let session = &loaded.case.session;
    let is_copy = format.name == session.source.format;
    let bytes = if is_copy {
        session.source.bytes.whole()
    } else {
        written(session, format)?.into()
    };
    let (n_bytes, unwritten) = (bytes.len(), |error| cannot_create(output, &error));
    let staged = Staged::new(output, &bytes).map_err(unwritten)?;
    let aspects = if is_copy {
        if !staged.holds(&bytes).map_err(unwritten)? {
            return Err(format!(
                "{} does not hold what was written to it; write elsewhere",
                output.display()
            ));
        }
        Vec::new()
    } else {
        drop(bytes);
        let back = staged.read().map_err(unwritten)?;
        let read = read_again(back, format, &Progress::default())?;
        compare::aspects(loaded, &read)
    };
    staged
        .put_in_place(output, Vec::new())
        .map_err(|error| cannot_create(output, &error))?;
    Ok(Converted {
        output: output.to_owned(),
        bytes: n_bytes,
        is_copy,
        aspects,
    })
}

/// What a session would be in a format, found as [`convert`] finds it but in memory alone: nothing is written. A copy in
/// the session's own format is whole and has no aspects.
///
/// # Errors
/// One line that says what to do, or that it was stopped.
pub fn would_convert(
    loaded: &Loaded,
    format: &'static Format,
    progress: &Progress,
) -> Result<Vec<Aspect>, String> {
    let session = &loaded.case.session;
    if format.name == session.source.format {
        return Ok(Vec::new());
    }
    let bytes = written(session, format)?;
    progress.go_on().map_err(|stopped| stopped.to_string())?;
    let read = read_again(bytes, format, progress)?;
    Ok(compare::aspects(loaded, &read))
}

/// Formats in which a session of any other can be written.
pub fn targets() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| takes_any(format))
}

fn takes_any(format: &Format) -> bool {
    let nobodys = SessionBuilder::new(Source {
        name: String::new(),
        format: "",
        bytes: Vec::new().into(),
    });
    let nothing = Managed::default();
    format
        .export
        .is_some_and(|export| export(&nobodys.finish(), &nothing).is_ok())
}

/// The whole history. What the source's own compactions wrote stands for messages that are in it.
fn written(session: &Session, format: &Format) -> Result<Vec<u8>, String> {
    let all = (0..session.messages.len()).filter(|idx| session.messages[*idx].in_history);
    let managed = Managed {
        entries: all.map(|message| ManagedEntry::Kept { message }).collect(),
        ..Managed::default()
    };
    let Some(export) = format.export.filter(|_| takes_any(format)) else {
        let known: Vec<&str> = targets().map(|format| format.name).collect();
        return Err(format!(
            "sessions of other formats cannot be written as {}; choose {}",
            format.label,
            known.join(" or ")
        ));
    };
    // Its records are looked up one by one.
    let _held = session.source.bytes.whole();
    export(session, &managed).map_err(|error| error.to_string())
}

/// Read as this format, whatever else it could be taken for: texts alone look alike in many.
fn read_again(bytes: Vec<u8>, format: &Format, progress: &Progress) -> Result<Session, String> {
    let input = Input {
        name: String::new(),
        bytes: bytes.into(),
    };
    let unread = |why: &str| {
        format!(
            "nothing was written: the content for {} cannot be read again ({why})",
            format.label
        )
    };
    let parsed = (format.parse)(&input, progress);
    let parsed = parsed.map_err(|why| unread(&why.to_string()))?;
    let read = parsed.sessions.into_iter().next();
    read.ok_or_else(|| unread("it holds no conversation"))
}
