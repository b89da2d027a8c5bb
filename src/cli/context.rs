//! `plimsoll context`: the context of a call as a conversation file.

use super::Status;
use super::args::{FileArg, Shared, is_stdin, ordinal};
use super::compact;
use super::lanes::{self, Lane, LaneArgs};
use super::model;
use super::output::{clean, grouped, json, note, print, tokens};
use crate::engine::Schedule;
use crate::exec::{Claim, ExportJob, Exported, Summarizer, default_context_path, export_context};
use crate::formats::Format;
use anyhow::bail;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Write the context of a call, as recorded or under a policy, as a conversation file
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The conversation ends before the answer of that call. The written file is read again and checked; exit code 1 if a\ncheck fails. The source is never modified, nothing is overwritten."
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// Call, from 1
    #[arg(long, value_name = "N", value_parser = ordinal)]
    at_call: usize,
    /// Format of the new file [default: the source's if supported]
    #[arg(long, value_name = "FORMAT", value_parser = compact::format)]
    format: Option<&'static Format>,
    /// digest (offline) or text:SUMMARY
    #[arg(long, value_name = "NAME", value_parser = model::offline, default_value = "digest")]
    summarizer: Summarizer,
    /// New file [default: NAME-call-N beside the source]
    #[arg(short, long, value_name = "OUT", value_parser = compact::output)]
    output: Option<PathBuf>,
    #[command(flatten)]
    lanes: LaneArgs,
}

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        let (file, step) = (&self.file.file, self.at_call);
        let lane = self.lanes.seen("context", shared)?;
        if is_stdin(file) && self.output.is_none() {
            bail!("context of standard input requires -o OUT");
        }
        // The recorded context is exported without any compaction.
        let (schedule, lane) = match lane {
            Some(lane) => (Schedule::Replay, lane),
            None => (Schedule::Now { force: false }, recorded(shared)?),
        };
        let (name, loaded) = (lane.name.clone(), shared.load(file)?);
        let reserve = lane.output_reserve(&loaded.case);
        if let Some(text) = lanes::check_reserve(&loaded.case, reserve, shared)? {
            note(&text);
        }
        let until = compact::within(&loaded, Some(step))?;
        let (format, format_note) = compact::output_format(&loaded, self.format);
        let claim = output(self.output.clone(), file, format, step)?;
        let job = ExportJob {
            case: loaded.case,
            policy: lane.policy,
            knobs: lane.knobs,
            schedule,
            until,
            summarizer: self.summarizer.clone(),
            format,
            output: claim.path().to_owned(),
            given: Vec::new(),
            files: None,
        };
        let mut exported = export_context(&job).map_err(anyhow::Error::msg)?;
        exported.notes.extend(format_note);
        report(&exported, &name, step, format, shared.json)?;
        let has_failed = exported.checks.iter().any(|c| !c.ok);
        Ok(if has_failed {
            Status::CheckFailed
        } else {
            Status::Done
        })
    }
}

fn recorded(shared: &Shared) -> anyhow::Result<Lane> {
    let none = lanes::none(shared)?;
    Ok(Lane {
        name: "recorded".to_owned(),
        ..none
    })
}

fn output(
    given: Option<PathBuf>,
    source: &Path,
    format: &Format,
    step: usize,
) -> anyhow::Result<Claim> {
    given
        .map(Claim::given)
        .or_else(|| Claim::new(|| default_context_path(source, format, step)))
        .ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's session store; choose the output with -o OUT"
            )
        })
}

fn report(
    exported: &Exported,
    lane: &str,
    step: usize,
    format: &Format,
    as_json: bool,
) -> anyhow::Result<()> {
    let output = exported.output.as_ref().map(|path| path.to_string_lossy());
    if as_json {
        return json(&json!({
            "call": step + 1,
            "lane": lane,
            "tokens": exported.after,
            "output": output,
            "checks": exported.checks,
            "notes": exported.notes,
            "format": format.name,
        }));
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "call {} ({}): {} tokens, written to {}",
        grouped(step as u64 + 1),
        clean(lane),
        tokens(exported.after),
        clean(&output.unwrap_or_default())
    );
    compact::checked(&mut text, exported);
    print(&text)
}
