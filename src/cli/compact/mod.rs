//! `plimsoll compact`: runs a policy and writes the managed conversation to a new file.

mod json_output;

use super::args::{FileArg, GlobalOptions, is_stdin, ordinal};
use super::lanes::{self, LaneArgs};
use super::model::ModelArgs;
use super::output::{clean, counted, json, note, print, tokens};
use super::status::Status;
use crate::engine::Schedule;
use crate::exec::{
    Claim, ExportJob, Exported, Loaded, Resumed, Summarizer, default_export_path, export,
    export_resumable, request_cost,
};
use crate::formats::{self, Format};
use anyhow::bail;
pub(super) use json_output::{CheckEntry, Compaction, ResumableSession, checks, resumable_session};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Run a policy and write the managed conversation to a new file
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("policies", |arg| arg.help("Preset or policy file (exactly one, required)")),
    after_help = "Nothing is overwritten. The written file is read again and checked. Exit code 1 if a check fails, or if a rejected summary leaves nothing to write. If the policy does not act, nothing is written.\n\nExamples:\n  plimsoll compact sample_sessions/compacted.jsonl --policy prune --schedule replay -o managed.jsonl"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// now: apply the policy once to the last context; replay: as if it had been active from the first call
    #[arg(long, value_parser = ["now", "replay"], default_value = "now", hide_possible_values = true)]
    schedule: String,
    /// Last call to include, from 1 [default: the end of the session]
    #[arg(long, value_name = "N", value_parser = ordinal)]
    at_call: Option<usize>,
    /// Act even if the trigger is not reached (with --schedule now)
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    lanes: LaneArgs,
    /// New file [default: NAME-managed-N in the source's folder, or in the current folder if the source is in an agent's session store]
    #[arg(short, long, value_name = "OUT", value_parser = output, help_heading = "Output")]
    output: Option<PathBuf>,
    /// Format of the new file [default: the source's if supported]; with --resumable also claude, codex, opencode, gemini or pi
    #[arg(long, visible_alias = "to", value_name = "FORMAT", value_parser = format, help_heading = "Output")]
    format: Option<&'static Format>,
    /// Folder for the policy's files [default: OUT.files, without OUT's extension]
    #[arg(long, value_name = "FOLDER", value_parser = output, help_heading = "Output")]
    files: Option<PathBuf>,
    /// Add a new session to the store of the agent, or of another one with --to, and print the command that resumes it; -o only for opencode
    #[arg(long, help_heading = "Output")]
    resumable: bool,
    #[command(flatten)]
    model: ModelArgs,
}

impl Args {
    fn schedule(&self) -> anyhow::Result<Schedule> {
        match (self.schedule == "replay", self.force) {
            (true, true) => {
                bail!("--force requires --schedule now: a replay acts where its trigger is reached")
            }
            (true, false) => Ok(Schedule::Replay),
            (false, force) => Ok(Schedule::Now { force }),
        }
    }

    /// Reserves the path of the output until everything is written.
    fn claim(&self, format: &Format) -> anyhow::Result<Claim> {
        let file = &self.file.file;
        Ok(match &self.output {
            Some(output) => Claim::given(output.clone()),
            // Only files of the policy are written to this folder.
            None if self.resumable && !is_imported(format) => {
                let is_stdin = is_stdin(file);
                let source = if is_stdin { Path::new("session") } else { file };
                let path = default_export_path(source, format);
                Claim::given(path.unwrap_or_else(|| PathBuf::from(source)))
            }
            None => Claim::new(|| default_export_path(file, format)).ok_or_else(|| {
                anyhow::anyhow!(
                    "the current folder is an agent's session store; choose the output with -o OUT"
                )
            })?,
        })
    }

    pub(super) fn run(self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        shared.refuse_what_if("compact")?;
        let file = &self.file.file;
        // Another agent gets the last context also if nothing is removed.
        let lane = if self.resumable {
            let lane = self.lanes.one_or_none("compact", shared)?;
            let is_unchanged = lane.policy.stages.is_empty() && !shared.manual_edits.has_edits();
            if is_unchanged && self.format.is_none() {
                bail!(
                    "without a policy, --resumable needs the agent to continue in: add --to AGENT ({})",
                    agents()
                );
            }
            lane
        } else {
            self.lanes.one("compact", shared)?
        };
        let schedule = self.schedule()?;
        if is_stdin(file) && self.output.is_none() && !self.resumable {
            bail!("compact of standard input requires -o OUT");
        }
        let loaded = shared.load(file)?;
        lane.checked_reserve(&loaded.case, shared)?;
        lanes::note_without_effect(&loaded.case, std::slice::from_ref(&lane));
        let until = within(&loaded, self.at_call)?;
        let OutputFormat { format, note: format_note } = output_format(&loaded, self.format);
        let is_for_program = format.has_own_instructions(&loaded.case.session);
        if is_for_program && !self.resumable {
            bail!(
                "the format {} is written as a new session of its program: add --resumable",
                format.name
            );
        }
        if self.resumable {
            check_output(format, self.output.as_deref())?;
        }
        let claim = self.claim(format)?;
        let name = loaded.case.session.source.name.clone();
        let summarizer = self.model.summarizer(&name, shared)?;
        let job = ExportJob {
            case: loaded.case,
            policy: lane.policy,
            knobs: lane.knobs,
            schedule,
            until,
            summarizer,
            format,
            output: claim.path().to_owned(),
            files: self.files,
            given: Vec::new(),
        };
        announce(&job);
        let written = if self.resumable {
            export_resumable(&job)
        } else {
            export(&job).map(|exported| (exported, None))
        };
        let (mut exported, resumed) = written.map_err(anyhow::Error::msg)?;
        exported.notes.extend(format_note.filter(|_| exported.changed));
        if shared.json {
            json(&json_output::json_output(&job, &exported, resumed.as_ref()))?;
        } else {
            print(&export_text(&job, &exported, resumed.as_ref()))?;
        }
        // The offline digest sends no request. If it saves nothing, there was nothing to compact.
        let mut requests = exported.requests.iter().filter(|r| r.prompts > 0);
        let is_rejected = !exported.changed && requests.any(|r| r.failed.is_some());
        let has_failed = is_rejected || exported.checks.iter().any(|c| !c.ok);
        Ok(if has_failed { Status::CheckFailed } else { Status::Done })
    }
}

/// Prints which data is sent to which server, before it is sent. Choosing a provider is the consent.
fn announce(job: &ExportJob) {
    let (Summarizer::Model(model), Some(sending)) = (&job.summarizer, request_cost(job)) else {
        return;
    };
    if sending.requests == 0 {
        return;
    }
    let endpoint = &model.client.endpoint;
    let how = if endpoint.is_encrypted() { "" } else { ", unencrypted" };
    let log = model
        .log
        .as_ref()
        .map_or_else(|| "not logged".to_owned(), |path| format!("logged in {}", path.display()));
    note(&format!(
        "sends about {} tokens in {} to {} ({}{how}) and gets back at most {}; price: {}; {log}",
        tokens(sending.tokens),
        counted(sending.requests, "request"),
        endpoint.host(),
        endpoint.model,
        tokens(sending.answers),
        sending.quote,
    ));
}

/// Checks that the session has the call.
pub(super) fn within(loaded: &Loaded, at: Option<usize>) -> anyhow::Result<Option<usize>> {
    let n_calls = loaded.case.session.calls.len();
    match at {
        Some(idx) if idx >= n_calls => {
            bail!("--at-call {}: the session has {}", idx + 1, counted(n_calls, "call"))
        }
        at => Ok(at),
    }
}

/// The format of a new file.
pub(super) struct OutputFormat {
    pub(super) format: &'static Format,
    /// Remark if it is not the source's format.
    pub(super) note: Option<String>,
}

/// Returns the source's format if it can be written, otherwise `openai_chat`, which most tools read.
pub(super) fn output_format(loaded: &Loaded, wanted: Option<&'static Format>) -> OutputFormat {
    let source = loaded.case.session.source.format;
    let own = formats::by_name(source);
    let own_or_wanted = wanted.or(own.filter(|own| own.is_writable()));
    if let Some(format) = own_or_wanted {
        return OutputFormat { format, note: None };
    }
    let format = formats::other_format(source);
    let note = own.map(|own| {
        format!("{} cannot be written: this is {} (--to chooses)", own.label, format.label)
    });
    OutputFormat { format, note }
}

/// Parses the name of a format that can be written.
pub(super) fn format(name: &str) -> anyhow::Result<&'static Format> {
    formats::by_name_or_program(name).ok_or_else(|| {
        let known: Vec<_> = formats::writable().map(|f| f.name).collect();
        anyhow::anyhow!(
            "no format is named {name:?}; those that can be written are {}, and with --resumable the sessions of {}",
            known.join(", "),
            agents()
        )
    })
}

/// Returns the names of the agents that continue sessions.
pub(super) fn agents() -> String {
    formats::resumable().map(|(_, resume)| resume.name()).collect::<Vec<_>>().join(", ")
}

/// Returns whether the program of the format imports a file instead of reading its store.
pub(super) fn is_imported(format: &Format) -> bool {
    format.resume.as_ref().is_some_and(|resume| resume.import.is_some())
}

/// Checks that a session for a store has no other path.
pub(super) fn check_output(format: &Format, output: Option<&Path>) -> anyhow::Result<()> {
    if let (Some(resume), Some(_)) = (&format.resume, output)
        && resume.import.is_none()
    {
        bail!(
            "-o does not apply: --resumable writes the session to the store of {}",
            resume.program
        );
    }
    Ok(())
}

/// Parses the path of an export. Standard output is not supported: the written file is read again and checked.
pub(super) fn output(path: &str) -> anyhow::Result<PathBuf> {
    if path.is_empty() {
        bail!("give a path for the new file");
    }
    if path == "-" {
        bail!("an export is read again and checked, so it must be a file");
    }
    Ok(PathBuf::from(path))
}

fn export_text(job: &ExportJob, exported: &Exported, resumed: Option<&Resumed>) -> String {
    let (before, after) = (tokens(exported.before), tokens(exported.after));
    let sizes = match job.schedule {
        Schedule::Now { .. } => format!("context {before} → {after} tokens"),
        Schedule::Replay => format!("history {before} → context {after} tokens"),
    };
    let losses = resumed.map_or(&[][..], |resumed| &resumed.losses);
    let mut text = String::new();
    if !losses.is_empty() {
        text.push_str("not in the new session:\n");
    }
    for loss in losses {
        let _ = writeln!(text, "  {}", clean(loss));
    }
    let _ = match &exported.output {
        Some(path) => {
            writeln!(text, "{sizes}, written to {}", clean(&path.to_string_lossy()))
        }
        None => writeln!(text, "unchanged: {before} tokens"),
    };
    checks_text(&mut text, exported);
    let is_now = job.schedule == Schedule::Now { force: false };
    if exported.output.is_none() && is_now && !job.policy.stages.is_empty() {
        text.push_str("note: --schedule replay applies the policy from the first call on, --force ignores its trigger\n");
    }
    if let Some(resumed) = resumed {
        let _ = writeln!(text, "resume with: {}", clean(&resumed.command));
    }
    text
}

/// Formats the checks and the notes, one per line.
pub(super) fn checks_text(text: &mut String, exported: &Exported) {
    for check in &exported.checks {
        let verdict = match (check.ok, check.warning) {
            (true, false) => "ok",
            (true, true) => "warn",
            (false, _) => "FAILED",
        };
        let _ = writeln!(text, "  {verdict:<6} {:<10}  {}", check.name, clean(&check.detail));
    }
    for note in &exported.notes {
        let _ = writeln!(text, "note: {}", clean(note));
    }
}
