//! Reads sessions of the repository.

use plimsoll_core::engine::Case;
use plimsoll_core::formats::{self, Input};
use plimsoll_core::presets::models;
use plimsoll_core::tokens::{Progress, TokenLedger, default_counter};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Reads the first conversation of a file and counts its tokens.
pub(crate) fn case_in(path: &Path) -> Case {
    let bytes = fs::read(path).expect("the file is there");
    let input = Input { name: path.display().to_string(), bytes: bytes.into() };
    let parsed = formats::parse(&input).expect("a session");
    let session = Arc::new(parsed.sessions.into_iter().next().expect("a conversation"));
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default());
    let windows = models::window_plan(&session, None);
    Case::new(session, ledger.expect("nobody cancels"), windows)
}
