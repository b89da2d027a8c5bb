//! `plimsoll compact`: runs a policy for real and writes the managed conversation beside the source.

use super::args::{Shared, Words, one_file, ordinal};
use super::lanes::{self, LaneArgs};
use super::model::ModelArgs;
use super::output::{clean, counted, json, note, print, tokens};
use super::replay::knobs_shape;
use super::{Status, Verb, resume};
use crate::engine::Schedule;
use crate::exec::{
    Claim, ExportJob, Exported, Loaded, Resumed, Summarizer, default_export_path, export,
    export_resumable, sending,
};
use crate::formats::{self, FORMATS, Format};
use anyhow::bail;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) const VERB: Verb = Verb {
    name: "compact",
    summary: "Run a policy for real and write the managed conversation to a new file.",
    help: "\
plimsoll compact FILE --policy NAME|FILE.toml [--set KNOB=VALUE]... [-o OUT]

  --policy NAME        a preset, or a FILE.toml; none with --clear or --drop, for what you mark and nothing else
  --set KNOB=VALUE     sets a knob;
                       strategy=NAME plays another preset
  --schedule now       apply the policy once to the last real context (the default)
  --schedule replay    as if the policy had been on from the first call
  --at STEP            up to this call, from 1; the session's end unless told
  --force              act even if the trigger is not met (with now)
  --format NAME        how to write: the source's own format unless told, where it can be written
  --summarizer digest  summaries by the offline digest (the default): nothing leaves the machine
  --summarizer text:S  S is the summary
  --summarizer API     a model writes them: what is summarized is SENT to it. API is openai (OpenAI and everything that
                       speaks like it: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter, …), openai-responses or
                       anthropic
    --model NAME       the model, as its server names it (needed)
    --base-url URL     the server; the provider's own unless told
    --key-env VAR      the environment variable that holds the key; the provider's usual one unless told
    --model-window N   its context window; asked of the server unless told
    --prompt FILE      a prompt of your own, for policies whose system brings none
    --temperature T    how freely it chooses words; its own default unless told
    --timeout SECONDS  for each answer as a whole; 1800 unless told
    --wait SECONDS     until an answer begins; 300 unless told
    --tries N          how often a question is asked at most, where the server is busy; 5 unless told
    --ca-file FILE     certificates (PEM) to trust beside the system's
    --proxy URL|none   a proxy, or none; the environment's unless told
    --no-log           keep no log of requests and answers
  --replay-log LOG     the same run again from its log, without a model
  --files FOLDER       where files go that the policy writes; OUT.files beside the output unless told
  -o, --output OUT     where to, a new file; <name>-managed-N beside the source unless told
  --resumable          instead, as a new session into the store of the program that recorded it (Claude Code,
                       Codex), and the command that resumes it; the recorded session stays as it is

The source is never written and nothing is overwritten. Where sidecars of an earlier export to OUT are left, those of this one
get a number (OUT-2.removed.jsonl, …). What was written is read again and checked; exit 1 if a check
fails, or if nothing was written because the answer of a model was refused. If the policy does not act
nothing is written and the reason is printed.

JSON: before, after, changed, output, sidecars{removed, manifest, files}, requests[], checks[{name, ok, warning, detail}], notes[], policy, knobs{}, schedule, format,
resume{id, command, path}|null.
",
    run,
};

/// The options as typed.
#[derive(Default)]
struct Wanted {
    lanes: LaneArgs,
    replay: bool,
    force: bool,
    at: Option<usize>,
    format: Option<&'static Format>,
    model: ModelArgs,
    output: Option<PathBuf>,
    files: Option<PathBuf>,
    resumable: bool,
}

impl Wanted {
    fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--schedule" => self.replay = is_replay(&words.value(option)?)?,
            "--force" => self.force = true,
            "--resumable" => self.resumable = true,
            "--at" => self.at = Some(ordinal(option, &words.value(option)?)?),
            "--format" => self.format = Some(format(&words.value(option)?)?),
            "--files" => self.files = Some(output(option, words.raw_value(option)?)?),
            "-o" | "--output" => self.output = Some(output(option, words.raw_value(option)?)?),
            _ => return Ok(self.model.take(option, words)? || self.lanes.take(option, words)?),
        }
        Ok(true)
    }

    fn schedule(&self) -> anyhow::Result<Schedule> {
        match (self.replay, self.force) {
            (true, true) => {
                bail!("--force belongs to --schedule now: a replay acts where its trigger is met")
            }
            (true, false) => Ok(Schedule::Replay),
            (false, force) => Ok(Schedule::Now { force }),
        }
    }
}

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut wanted = Wanted::default();
    let files = words.read(VERB.name, &mut shared, |option, words| {
        wanted.take(option, words)
    })?;
    let file = one_file(VERB.name, files)?;
    let (lane, schedule) = (wanted.lanes.one(VERB.name, &shared)?, wanted.schedule()?);
    if wanted.resumable && wanted.output.is_some() {
        bail!("--resumable writes into the program's own store: leave out -o, or --resumable");
    }
    if file == "-" && wanted.output.is_none() && !wanted.resumable {
        bail!("compact of standard input needs -o OUT");
    }
    let loaded = shared.load(&file)?;
    if let Some(text) =
        lanes::check_reserve(&loaded.case, lane.output_reserve(&loaded.case), &shared)?
    {
        note(&text);
    }
    let until = within(&loaded, wanted.at)?;
    let (format, format_note) = output_format(&loaded, wanted.format);
    // Held until all is written.
    let claim = match wanted.output {
        Some(output) => Claim::given(output),
        // Nothing is written there but files of the policy, beside it.
        None if wanted.resumable => {
            let source = if file == "-" {
                OsStr::new("session")
            } else {
                &file
            };
            let beside = default_export_path(Path::new(source), format);
            Claim::given(beside.unwrap_or_else(|| PathBuf::from(source)))
        }
        None => Claim::new(|| default_export_path(Path::new(&file), format)).ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's own session store; say where to write with -o OUT"
            )
        })?,
    };
    let name = loaded.case.session.source.name.clone();
    let summarizer = wanted.model.summarizer(&name, shared.no_state)?;
    let job = ExportJob {
        case: loaded.case,
        policy: lane.policy,
        knobs: lane.knobs,
        schedule,
        until,
        summarizer,
        format,
        output: claim.path().to_owned(),
        files: wanted.files,
        given: Vec::new(),
    };
    announce(&job);
    let written = if wanted.resumable {
        export_resumable(&job)
    } else {
        export(&job).map(|exported| (exported, None))
    };
    let (mut exported, resumed) = written.map_err(anyhow::Error::msg)?;
    exported
        .notes
        .extend(format_note.filter(|_| exported.changed));
    if shared.json {
        json(&shape(&job, &exported, resumed.as_ref()))?;
    } else {
        print(&(text(&exported) + &resume::text(resumed.as_ref())))?;
    }
    // The offline digest asks nobody: where it saves nothing, there was nothing to do.
    let mut asked = exported.requests.iter().filter(|r| r.questions > 0);
    let is_refused = !exported.changed && asked.any(|r| r.failed.is_some());
    let has_failed = is_refused || exported.checks.iter().any(|c| !c.ok);
    Ok(if has_failed {
        Status::CheckFailed
    } else {
        Status::Done
    })
}

/// Says what goes where before it does. The provider was named, which is the consent.
fn announce(job: &ExportJob) {
    let (Summarizer::Model(model), Some(sending)) = (&job.summarizer, sending(job)) else {
        return;
    };
    if sending.requests == 0 {
        return;
    }
    let endpoint = &model.client.endpoint;
    let how = if endpoint.is_encrypted() {
        ""
    } else {
        ", unencrypted"
    };
    let log = model.log.as_ref().map_or_else(
        || "no log is kept".to_owned(),
        |path| format!("logged in {}", path.display()),
    );
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

pub(super) fn within(loaded: &Loaded, at: Option<usize>) -> anyhow::Result<Option<usize>> {
    let steps = loaded.case.session.steps.len();
    match at {
        Some(step) if step >= steps => bail!(
            "--at {}: the session has {}; choose one of them",
            step + 1,
            counted(steps, "call")
        ),
        at => Ok(at),
    }
}

/// The source's own format where it can be written, else `OpenAI`'s, which everything reads.
pub(super) fn output_format(
    loaded: &Loaded,
    wanted: Option<&'static Format>,
) -> (&'static Format, Option<String>) {
    if let Some(format) = wanted {
        return (format, None);
    }
    let own = formats::by_name(loaded.case.session.source.format);
    let any = formats::by_name("openai_chat").unwrap_or(&FORMATS[0]);
    match own {
        Some(own) if own.export.is_some() => (own, None),
        Some(own) => (
            any,
            Some(format!(
                "{} cannot be written: this is {} (--format chooses)",
                own.label, any.label
            )),
        ),
        None => (any, None),
    }
}

fn is_replay(text: &str) -> anyhow::Result<bool> {
    match text {
        "now" => Ok(false),
        "replay" => Ok(true),
        _ => bail!("--schedule {text}: choose now or replay"),
    }
}

pub(super) fn format(name: &str) -> anyhow::Result<&'static Format> {
    formats::by_name(name).ok_or_else(|| {
        let known: Vec<_> = FORMATS
            .iter()
            .filter(|f| f.export.is_some())
            .map(|f| f.name)
            .collect();
        anyhow::anyhow!(
            "no format is named {name:?}; those that can be written are {}",
            known.join(", ")
        )
    })
}

/// A checked export is a file that can be read again: standard output is none.
pub(super) fn output(option: &str, path: OsString) -> anyhow::Result<PathBuf> {
    if path.is_empty() {
        bail!("{option} needs the name of the new file: {option} OUT");
    }
    if path == "-" {
        bail!(
            "{option} -: an export is checked by reading it again, so it needs a file; give its name"
        );
    }
    Ok(PathBuf::from(path))
}

fn shape(job: &ExportJob, exported: &Exported, resumed: Option<&Resumed>) -> Value {
    json!({
        "before": exported.before,
        "after": exported.after,
        "changed": exported.changed,
        "output": exported.output.as_ref().map(|path| path.to_string_lossy()),
        "sidecars": exported.sidecars.as_ref().map(|sidecars| json!({
            "removed": sidecars.removed.to_string_lossy(),
            "manifest": sidecars.manifest.to_string_lossy(),
            "files": sidecars.files.as_ref().map(|(folder, n)| json!({"folder": folder.to_string_lossy(), "count": n})),
        })),
        "requests": exported.requests,
        "checks": exported.checks,
        "notes": exported.notes,
        "policy": job.policy.name,
        "knobs": knobs_shape(&job.knobs),
        "schedule": if job.schedule == Schedule::Replay { "replay" } else { "now" },
        "format": job.format.name,
        "resume": resume::shape(resumed),
    })
}

fn text(exported: &Exported) -> String {
    let mut text = match &exported.output {
        Some(path) => {
            let (before, after) = (tokens(exported.before), tokens(exported.after));
            format!(
                "{before} → {after} tokens, written to {}\n",
                clean(&path.to_string_lossy())
            )
        }
        None => format!("unchanged: {} tokens\n", tokens(exported.before)),
    };
    checked(&mut text, exported);
    text
}

/// Checks and notes, a line each.
pub(super) fn checked(text: &mut String, exported: &Exported) {
    for check in &exported.checks {
        let verdict = match (check.ok, check.warning) {
            (true, false) => "ok",
            (true, true) => "warn",
            (false, _) => "FAILED",
        };
        let _ = writeln!(
            text,
            "  {verdict:<6} {:<10}  {}",
            check.name,
            clean(&check.detail)
        );
    }
    for note in &exported.notes {
        let _ = writeln!(text, "note: {}", clean(note));
    }
}
