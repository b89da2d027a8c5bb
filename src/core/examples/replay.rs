//! Replays a preset over a recorded session and prints what it would have removed.
//!
//! ```sh
//! cargo run -p plimsoll-core --example replay -- sample_sessions/compacted.jsonl claude-code
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use plimsoll_core::{Case, Input, Progress, TokenLedger};
use plimsoll_core::{default_counter, parse, preset, preset_names, simulate, window_plan};
use std::error::Error;
use std::sync::Arc;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: replay FILE [PRESET]")?;
    let name = arguments.next().unwrap_or_else(|| "truncate".to_owned());

    // The format is detected from the content. A file may hold several conversations.
    let input = Input { bytes: fs::read(&path)?.into(), name: path };
    let session = parse(&input)?.sessions.remove(0);

    // Tokens are counted once and calibrated to the reported usage. The windows are those of the recorded models.
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())?;
    let windows = window_plan(&session, None);
    let case = Case::new(Arc::new(session), ledger, windows);

    let policy = preset(&name)
        .ok_or_else(|| format!("no preset {name}; choose one of {}", preset_names()))?;
    let outcome = simulate(&case, &policy, &policy.defaults(), None);

    for event in &outcome.events {
        let (before, after) = (event.before.short(), event.after.short());
        println!("call {}: {} {before} -> {after} tokens", event.call + 1, event.stage);
    }
    let peak = outcome.peak().map_or_else(String::new, |peak| peak.tokens.short());
    println!("peak {peak}, compactions {}, overflows {}", outcome.compactions, outcome.overflows);
    Ok(())
}
