//! `plimsoll replay`: replays policies over a recorded session, call by call.

mod json_output;
mod text;

use super::args::{FileArg, GlobalOptions};
use super::curve::CurveArgs;
use super::lanes::{self, LaneArgs};
use super::output::{json, print, print_wrapped};
use super::played::play;
use super::rereads::expected_rereads;
use super::status::Status;
use crate::analysis::cost::Billing;
use crate::presets::prices::Prices;
use crate::report::series;
pub(super) use json_output::Replay;
use json_output::json_output;
use text::table;

/// Replay policies over a session, call by call, and compare them with the recorded run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always shown.\n\nExamples:\n  plimsoll replay sample_sessions/compacted.jsonl --policy prune --policy claude-code\n  plimsoll replay sample_sessions/compacted.jsonl --set keep_recent=20 --curve curve.svg"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// Print one line per lane and call
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    curve: CurveArgs,
}

impl Args {
    pub(super) fn run(self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let curve = self.curve.checked()?;
        // Options are checked before a large file is read.
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let loaded = shared.load(&self.file.file)?;
        let reserve = none.checked_reserve(&loaded.case, shared)?;
        lanes::note_without_effect(&loaded.case, &lanes);
        let played = play(&loaded.case, none, lanes);
        if self.csv {
            print(&series(&played))?;
        } else {
            let expected = expected_rereads(
                &loaded.case,
                Billing::at(Prices::in_use()),
                shared.reread_model(),
                &played,
            );
            if shared.json {
                json(&json_output(&loaded, reserve, &played, &expected))?;
            } else {
                print_wrapped(&table(&loaded, reserve, &played, &expected))?;
            }
        }
        match curve {
            Some(curve) => curve.write(&loaded, reserve, &played),
            None => Ok(Status::Done),
        }
    }
}
