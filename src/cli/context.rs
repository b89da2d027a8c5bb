//! `plimsoll context`: the context of a call as a conversation file.

use super::args::{FileArg, GlobalOptions, is_stdin, ordinal};
use super::compact::{self, OutputFormat};
use super::lanes::{self, Lane, LaneArgs};
use super::model;
use super::output::{clean, grouped, json, print_wrapped, tokens};
use super::status::Status;
use crate::engine::Schedule;
use crate::exec::{
    Claim, ExportJob, Exported, Loaded, Summarizer, default_context_path, export_context,
};
use crate::formats::{Availability, Format, RecordedData, availability};
use crate::units::Tokens;
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Write the context of a call, as recorded or under a policy
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("policies", |arg| arg.help("Preset or policy file (at most one) [default: as recorded]")),
    after_help = "The conversation ends before the answer of that call. The written file is read again and checked; exit code 1 if a check fails. The source is never modified, nothing is overwritten.\n\nExamples:\n  plimsoll context sample_sessions/compacted.jsonl --at-call 35 -o call-35.jsonl"
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
    /// Author of summaries: digest (offline) or text:SUMMARY
    #[arg(long, value_name = "NAME", value_parser = model::offline, default_value = "digest")]
    summarizer: Summarizer,
    /// New file [default: NAME-call-N in the source's folder, or in the current folder if the source is in an agent's session store]
    #[arg(short, long, value_name = "OUT", value_parser = compact::output)]
    output: Option<PathBuf>,
    #[command(flatten)]
    lanes: LaneArgs,
}

/// The context of a call, written as a conversation.
#[derive(Serialize, JsonSchema)]
pub(super) struct ContextFile<'a> {
    /// Call, from 1.
    call: usize,
    /// Name of the lane; `recorded` without a policy.
    lane: &'a str,
    /// Size of the context in tokens, including what is not recorded.
    tokens: Tokens,
    /// Tokens of the context that the source does not record and the new file does not contain, mostly system prompt and
    /// tool definitions.
    not_recorded: Tokens,
    /// Path of the new file; null if none was written.
    output: Option<Cow<'a, str>>,
    /// Checks of the written file.
    checks: Vec<compact::CheckEntry<'a>>,
    /// Remarks.
    notes: &'a [String],
    /// Format of the new file.
    format: &'a str,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        shared.refuse_what_if("context")?;
        let (file, call) = (&self.file.file, self.at_call);
        let lane = self.lanes.at_most_one("context", shared)?;
        if is_stdin(file) && self.output.is_none() {
            bail!("context of standard input requires -o OUT");
        }
        // The recorded context is exported without any compaction.
        let (schedule, lane) = match lane {
            Some(lane) => (Schedule::Replay, lane),
            None => (Schedule::Now { force: false }, recorded(shared)?),
        };
        let (name, loaded) = (lane.name.clone(), shared.load(file)?);
        lane.checked_reserve(&loaded.case, shared)?;
        lanes::note_without_effect(&loaded.case, std::slice::from_ref(&lane));
        let until = compact::within(&loaded, Some(call))?;
        let not_recorded = not_recorded(&loaded);
        let OutputFormat { format, note: format_note } =
            compact::output_format(&loaded, self.format);
        let claim = output(self.output.clone(), file, format, call)?;
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
        let has_failed = exported.checks.iter().any(|c| !c.ok);
        let written = WrittenContext { exported, lane: name, call, not_recorded, format };
        if shared.json {
            json(&written.json_output())?;
        } else {
            print_wrapped(&written.text())?;
        }
        Ok(if has_failed { Status::CheckFailed } else { Status::Done })
    }
}

/// Returns the names of sent data that the session does not record.
fn not_recorded(loaded: &Loaded) -> Vec<&'static str> {
    let session = &loaded.case.session;
    let data = availability(session, &loaded.conversations, &loaded.report).into_iter();
    let missing = data.filter(|(data, how)| {
        let is_sent = matches!(data, RecordedData::SystemPrompt | RecordedData::Tools);
        is_sent && *how != Availability::Present
    });
    missing.map(|(data, _)| data.name()).collect()
}

/// Returns the lane of the recorded run.
fn recorded(shared: &GlobalOptions) -> anyhow::Result<Lane> {
    let none = lanes::none(shared)?;
    Ok(Lane { name: "recorded".to_owned(), ..none })
}

/// Reserves the path of the new file.
fn output(
    given: Option<PathBuf>,
    source: &Path,
    format: &Format,
    call: usize,
) -> anyhow::Result<Claim> {
    given
        .map(Claim::given)
        .or_else(|| Claim::new(|| default_context_path(source, format, call)))
        .ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's session store; choose the output with -o OUT"
            )
        })
}

/// The result of the command, for text and JSON.
struct WrittenContext {
    exported: Exported,
    /// Name of the lane.
    lane: String,
    /// Index of the call.
    call: usize,
    /// Names of sent data that the session does not record.
    not_recorded: Vec<&'static str>,
    format: &'static Format,
}

impl WrittenContext {
    fn output(&self) -> Option<Cow<'_, str>> {
        let output = self.exported.output.as_ref();
        output.map(|path| path.to_string_lossy())
    }

    fn json_output(&self) -> ContextFile<'_> {
        ContextFile {
            call: self.call + 1,
            lane: &self.lane,
            tokens: self.exported.after,
            not_recorded: self.exported.not_recorded,
            output: self.output(),
            checks: compact::checks(&self.exported),
            notes: &self.exported.notes,
            format: self.format.name,
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "call {} ({}): {} tokens, written to {}\n",
            grouped(self.call as u64 + 1),
            clean(&self.lane),
            tokens(self.exported.after),
            clean(&self.output().unwrap_or_default()),
        );
        let names = match &self.not_recorded[..] {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        if self.exported.not_recorded > Tokens::ZERO {
            let sum = tokens(self.exported.not_recorded);
            let _ = writeln!(text, "  not recorded: {sum} tokens of these{names}");
        }
        compact::checks_text(&mut text, &self.exported);
        text
    }
}
