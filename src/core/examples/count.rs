//! Counts the tokens of files: of a session by kind of content, of any other file as one text.
//!
//! ```sh
//! cargo run -p plimsoll-core --example count -- README.md sample_sessions/handoff.json
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use plimsoll_core::{Accuracy, Cancelled, Kind, Tokens};
use plimsoll_core::{Input, Progress, Session, TokenLedger, default_counter, parse};
use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    if paths.is_empty() {
        return Err("usage: count FILE...".into());
    }
    for path in paths {
        let bytes = fs::read(&path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match parse(&Input { name: path.clone(), bytes: bytes.into() }) {
            Ok(parsed) => {
                for session in &parsed.sessions {
                    print_session(session)?;
                }
            }
            // A counter needs no session.
            Err(_) => println!("{path}: {} tokens", (default_counter().count)(&text)),
        }
    }
    Ok(())
}

/// Prints the tokens of a session by kind of content, and how accurate they are.
fn print_session(session: &Session) -> Result<(), Cancelled> {
    let ledger = TokenLedger::count(session, default_counter(), &Progress::default())?;
    let accuracy = match ledger.accuracy {
        Accuracy::Reported => "reported",
        Accuracy::Exact => "exact",
        Accuracy::Calibrated(_) => "calibrated",
        Accuracy::Estimated => "estimated",
    };
    let (name, format) = (&session.source.name, session.source.format);
    println!("{name} ({format}): {} tokens, {accuracy}", ledger.total().0);
    for (kind, tokens) in Kind::ALL.iter().zip(ledger.by_kind(session)) {
        if tokens > Tokens::ZERO {
            println!("    {:<12} {:>9}", kind.name(), tokens.0);
        }
    }
    Ok(())
}
