//! `plimsoll restore`: restores the source of a managed conversation, byte for byte.

use super::args::{GlobalOptions, is_stdin};
use super::output::{clean, grouped, json, print};
use super::status::Status;
use crate::exec::restore;
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// Restore the source of a managed conversation, byte for byte
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The manifest and the removed records must be in the folder of MANAGED. The manifest is found by hash, so MANAGED may have been renamed. All hashes are checked first: if a file was changed, nothing is written. Nothing is overwritten.\n\nExamples:\n  plimsoll compact sample_sessions/compacted.jsonl --policy truncate --force -o short.jsonl\n  plimsoll restore short.jsonl -o restored.jsonl"
)]
pub(super) struct Args {
    /// Conversation that `compact` wrote
    #[arg(value_name = "MANAGED")]
    file: PathBuf,
    /// New file [default: the source's name in the folder of MANAGED, or NAME-restored if that exists]
    #[arg(short, long, value_name = "ORIGINAL")]
    output: Option<PathBuf>,
}

/// The restored source of a managed conversation.
#[derive(Serialize, JsonSchema)]
pub(super) struct RestoredFile<'a> {
    /// Path of the restored file.
    output: Cow<'a, str>,
    /// Size of the restored file in bytes.
    bytes: usize,
    /// Name of the source.
    source: &'a str,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        if is_stdin(&self.file) {
            bail!("restore needs a file: it reads the sidecars in the same folder");
        }
        let done = restore(&self.file, self.output.as_deref()).map_err(anyhow::Error::msg)?;
        if shared.json {
            json(&RestoredFile {
                output: done.output.to_string_lossy(),
                bytes: done.bytes,
                source: &done.source,
            })?;
        } else {
            let path = clean(&done.output.to_string_lossy()).into_owned();
            print(&format!(
                "{} bytes of {}, written to {path}\n",
                grouped(done.bytes as u64),
                clean(&done.source),
            ))?;
        }
        Ok(Status::Done)
    }
}
