//! Functions that the fuzz targets share: reading bytes, and checks of sessions.

mod random_case;
#[path = "../../common/rules.rs"]
mod rules;

pub use random_case::{RandomCase, random_case};

use plimsoll::formats::{Input, ParseError, Parsed};
use plimsoll::progress::Progress;
use plimsoll::session::{Packer, issues};
use plimsoll::tokens::{Counter, TokenLedger, by_name};

/// Creates the input of a format.
pub fn input(bytes: &[u8]) -> Input {
    Input {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec().into(),
    }
}

/// Creates an input with compressed bytes, as for a large file.
pub fn packed(bytes: &[u8]) -> Input {
    let mut packer = Packer::default();
    packer.push(bytes);
    Input {
        bytes: packer.finish(),
        ..input(&[])
    }
}

/// Returns a counter without a vocabulary.
pub fn counter() -> &'static Counter {
    by_name("chars/4").expect("the counter exists")
}

/// Checks the invariants of every session, and that messages for users are short.
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
        TokenLedger::count(session, counter(), &Progress::default())
            .expect("the progress is not cancelled");
    }
}
