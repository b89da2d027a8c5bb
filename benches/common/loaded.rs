//! Loads the file of a benchmark.

use plimsoll::exec::{LoadOptions, Loaded, load_bytes};
use plimsoll::tokens::{Progress, default_counter};
use plimsoll::units::Tokens;

/// Loads a session and counts its tokens.
pub(crate) fn loaded(bytes: Vec<u8>) -> Loaded {
    let options =
        LoadOptions { counter: default_counter(), window: Some(Tokens(200_000)), conversation: 0 };
    load_bytes("bench.jsonl", bytes, &options, &Progress::default()).expect("a session")
}
