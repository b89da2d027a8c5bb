//! Replays a policy of your own and compares it with the recorded session, call by call.
//!
//! ```sh
//! cargo run -p plimsoll-core --example preset_of_your_own -- sample_sessions/compacted.jsonl
//! cargo run -p plimsoll-core --example preset_of_your_own -- sample_sessions/compacted.jsonl policy.toml
//! ```
//!
//! `docs/presets.md` describes the policy language.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use plimsoll_core::{Case, Input, Progress, TokenLedger};
use plimsoll_core::{default_counter, parse, parse_policy, recorded, simulate, window_plan};
use std::error::Error;
use std::sync::Arc;
use std::{env, fs};

/// The policy that is replayed if no file is given.
const POLICY: &str = r#"
name = "ours"
label = "Ours"
help = "Clears the results of tools when the context is half full, except the newest five."

[settings.trigger]
value = 0.5
range = [0.05, 1.0]
step = 0.05
unit = "share of usable"
help = "Acts when the context reaches this share of the usable window."

[settings.output_reserve]
role = "output_reserve"
value = 32000
range = [0, 200000]
step = 500
unit = "tokens"
help = "Part of the window kept for the answer."

[[stage]]
id = "clear-results"
at = "before_call"
when = "used >= trigger * (window - output_reserve)"
take = { what = "tool_results", keep = ["last_results(5)"] }
do = { clear = { marker = "[result cleared]" } }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: preset_of_your_own FILE [POLICY.toml]")?;
    let toml = arguments.next().map_or_else(|| Ok(POLICY.to_owned()), fs::read_to_string)?;
    // An error names the line and what is wrong there.
    let policy = parse_policy(&toml)?;

    let input = Input { bytes: fs::read(&path)?.into(), name: path };
    let session = parse(&input)?.sessions.remove(0);
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())?;
    let windows = window_plan(&session, None);
    let case = Case::new(Arc::new(session), ledger, windows);

    // Defaults come from the file; a setting may be changed within its range.
    let settings = policy.defaults();
    let replayed = simulate(&case, &policy, &settings, None);
    let recorded = recorded(&case, policy.output_reserve(&settings, &case, 0), None);

    println!("{:>6} {:>10} {:>10}", "call", "recorded", policy.name);
    for (before, after) in recorded.samples.iter().zip(&replayed.samples) {
        let (before_tokens, after_tokens) = (before.tokens.short(), after.tokens.short());
        println!("{:>6} {before_tokens:>10} {after_tokens:>10}", before.call + 1);
    }
    let (before, after) = (recorded.tokens_sent(), replayed.tokens_sent());
    println!("{:>6} {:>10} {:>10}", "sent", before.short(), after.short());
    println!("compactions {}, overflows {}", replayed.compactions, replayed.overflows);
    Ok(())
}
