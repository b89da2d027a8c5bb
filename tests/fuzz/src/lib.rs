//! What the fuzz targets share: how bytes are read, what holds for every session, and choices made of bytes.

mod made;
#[path = "../../common/rules.rs"]
mod rules;

pub use made::{Made, made};

use plimsoll::formats::{Input, Parsed, ParseError};
use plimsoll::progress::Progress;
use plimsoll::session::{Packer, issues};
use plimsoll::tokens::{Counter, TokenLedger, by_name};

/// What a format reads.
pub fn input(bytes: &[u8]) -> Input {
    Input {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec().into(),
    }
}

/// The same from bytes that are packed, as those of a large file.
pub fn packed(bytes: &[u8]) -> Input {
    let mut packer = Packer::default();
    packer.push(bytes);
    Input {
        bytes: packer.finish(),
        ..input(&[])
    }
}

/// A counter without a vocabulary to load.
pub fn counter() -> &'static Counter {
    by_name("chars/4").expect("a counter of ours")
}

/// Checks the rules of every session that was read, and that what people are told stays short.
pub fn check(read: &Result<Parsed, ParseError>) {
    let parsed = match read {
        Ok(parsed) => parsed,
        Err(refused) => {
            assert!(refused.to_string().len() < 2_000, "{refused}");
            return;
        }
    };
    for warning in &parsed.warnings {
        assert!(warning.to_string().len() < 1_000, "{warning}");
    }
    for session in &parsed.sessions {
        rules::keeps_the_rules(session);
        let _ = issues(session);
        TokenLedger::count(session, counter(), &Progress::default()).expect("nobody cancels");
    }
}
