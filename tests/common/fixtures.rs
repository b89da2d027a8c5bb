//! Loads the fixtures of all formats.
#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::repository::repository;
use plimsoll::formats::{self, Format, Input, Parsed};
use plimsoll::session::{Managed, ManagedEntry, Session};
use std::path::{Path, PathBuf};

/// A file under `tests/fixtures/FORMAT`.
pub(crate) struct Fixture {
    /// Path below `tests/fixtures`.
    pub(crate) name: String,
    /// Name of the format.
    pub(crate) format: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Fixture {
    /// Returns whether the file has one record per line.
    pub(crate) fn is_lines(&self) -> bool {
        self.name.ends_with("jsonl")
    }

    /// Returns its format if sessions can be written in it.
    pub(crate) fn writer(&self) -> Option<&'static Format> {
        formats::by_name(self.format).filter(|format| format.is_writable())
    }
}

/// Returns all fixtures by format and name.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let root = repository().join("tests/fixtures");
    let mut found = Vec::new();
    for format in formats::FORMATS {
        for path in files_in(&root.join(format.name)) {
            let name = path.strip_prefix(&root).unwrap_or(&path);
            found.push(Fixture {
                name: name.to_string_lossy().into_owned(),
                format: format.name,
                bytes: std::fs::read(&path).unwrap_or_default(),
            });
        }
    }
    found
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|end| end != "expected"))
        .collect();
    files.sort();
    files
}

/// Parses a file.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Parsed, String> {
    let parsed = formats::parse(&Input { name: name.to_owned(), bytes: bytes.to_vec().into() });
    parsed.map_err(|error| error.to_string())
}

/// Makes a managed conversation that keeps every message.
pub(crate) fn all_kept(session: &Session) -> Managed {
    let kept = |message| ManagedEntry::Kept { message };
    Managed { entries: (0..session.messages.len()).map(kept).collect(), ..Managed::default() }
}

/// Returns the content of every part with the role of its message.
pub(crate) fn said(session: &Session) -> Vec<String> {
    let parts = session.messages.iter().flat_map(|message| {
        let parts = session.parts_of(message).iter();
        parts.map(|part| format!("{}: {:?}", message.role.name(), part.body))
    });
    parts.collect()
}
