//! `plimsoll compare`: compares two sessions and lists what only one contains.

mod figure_text;
mod json_output;
mod text;

use super::args::{GlobalOptions, is_stdin, ordinal};
use super::billing::BillingArgs;
use super::lanes;
use super::output::{json, print_wrapped};
use super::status::Status;
use crate::analysis::comparison::{ComparedSession, Comparison};
use crate::exec::Loaded;
use crate::formats::records_compactions;
use crate::presets::prices::Prices;
use anyhow::bail;
pub(super) use json_output::ComparisonOutput;
use std::path::{Path, PathBuf};

/// Compare two sessions: size, composition, cost, tools, and what only one contains
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Compares what the files record, without any policy. Messages match by their content, wherever they are; a message of the same tool call (by its id) with other content is changed. Files and other facts match by their text. Differences are B minus A. --json lists everything, with the context of each call.\n\nExamples:\n  plimsoll compare sample_sessions/compacted.jsonl sample_sessions/slow-growth.jsonl"
)]
pub(super) struct Args {
    /// First session file
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Second session file
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Conversation of B, from 1 [default: that of --conversation]
    #[arg(long, value_name = "N", value_parser = ordinal)]
    conversation_b: Option<usize>,
    /// List all messages, files and facts, not only the first
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    billing: BillingArgs,
}

/// The result of the command, for text and JSON.
struct Compared<'a> {
    paths: [&'a Path; 2],
    conversations: [usize; 2],
    sessions: &'a [Loaded; 2],
    found: Comparison,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        if shared.refers_to_one_session() {
            bail!("--restart, --error, --pin, --clear and --drop apply to one session");
        }
        if is_stdin(&self.a) && is_stdin(&self.b) {
            bail!("only one of the sessions can be standard input");
        }
        let none = lanes::none(shared)?;
        let prices = Prices::in_use();
        let billing = self.billing.billing(prices)?;
        let of_b = GlobalOptions {
            conversation: self.conversation_b.or(shared.conversation),
            ..shared.clone()
        };
        let sessions = [shared.load(&self.a)?, of_b.load(&self.b)?];
        let reserve = |loaded: &Loaded| none.checked_reserve(&loaded.case, shared);
        let reserves = [reserve(&sessions[0])?, reserve(&sessions[1])?];
        let session = |side: usize| ComparedSession {
            case: &sessions[side].case,
            output_reserve: reserves[side],
            billing,
            records_compactions: records_compactions(&sessions[side].case.session),
        };
        let compared = Compared {
            paths: [&self.a, &self.b],
            conversations: [shared, &of_b].map(|options| options.conversation.unwrap_or(0)),
            sessions: &sessions,
            found: Comparison::new([session(0), session(1)]),
        };
        if shared.json {
            json(&compared.json_output())?;
        } else {
            print_wrapped(&compared.text(self.all))?;
        }
        // The program ends here. Freeing large sessions would only take time.
        std::mem::forget(sessions);
        Ok(Status::Done)
    }
}
