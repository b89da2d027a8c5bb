//! `plimsoll saw`: what the model saw at a call, as a conversation file.

use super::args::{Shared, Words, one_file, ordinal};
use super::compact;
use super::lanes::{self, Lane, LaneArgs};
use super::model;
use super::output::{clean, grouped, json, note, print, tokens};
use super::{Status, Verb};
use crate::engine::Schedule;
use crate::exec::{Claim, ExportJob, Exported, Summarizer, default_seen_path, export_seen};
use crate::formats::Format;
use anyhow::bail;
use serde_json::json;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) const VERB: Verb = Verb {
    name: "saw",
    summary: "Write what the model saw at a call, really or under a policy, as a conversation.",
    help: "\
plimsoll saw FILE --at STEP [--policy recorded|NAME|FILE.toml] [--set KNOB=VALUE]... [-o OUT]

  --at STEP            the call, from 1
  --policy recorded    what the recorded model really saw (the default), as far as the file tells
  --policy NAME        what it would have seen with this policy from the first call on; `none`: the whole history
  --set KNOB=VALUE     sets a knob;
                       strategy=NAME plays another preset
  --format NAME        how to write: the source's own format unless told, where it can be written
  --summarizer digest  summaries by the offline digest (the default): a replay's predicted text is never written
  --summarizer text:S  S is the summary
  -o, --output OUT     where to, a new file; <name>-call-N beside the source unless told

The conversation ends before the answer to that call. The source is never written and nothing is overwritten; what was
written is read again and checked; exit 1 if a check fails.

JSON: call, lane, tokens, output, checks[{name, ok, warning, detail}], notes[], format.
",
    run,
};

/// The options as typed.
#[derive(Default)]
struct Wanted {
    lanes: LaneArgs,
    at: Option<usize>,
    format: Option<&'static Format>,
    summarizer: Option<Summarizer>,
    output: Option<PathBuf>,
}

impl Wanted {
    fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--at" => self.at = Some(ordinal(option, &words.value(option)?)?),
            "--format" => self.format = Some(compact::format(&words.value(option)?)?),
            "--summarizer" => self.summarizer = Some(model::plain(&words.value(option)?)?),
            "-o" | "--output" => {
                self.output = Some(compact::output(option, words.raw_value(option)?)?);
            }
            _ => return self.lanes.take(option, words),
        }
        Ok(true)
    }
}

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut wanted = Wanted::default();
    let files = words.read(VERB.name, &mut shared, |option, words| {
        wanted.take(option, words)
    })?;
    let file = one_file(VERB.name, files)?;
    let (lane, step) = (wanted.lanes.seen(VERB.name, &shared)?, wanted.at);
    let Some(step) = step else {
        bail!("saw needs a call: --at STEP, from 1");
    };
    if file == "-" && wanted.output.is_none() {
        bail!("saw of standard input needs -o OUT");
    }
    // What really happened is the context that the file tells of, with nothing done to it.
    let (schedule, lane) = match lane {
        Some(lane) => (Schedule::Replay, lane),
        None => (Schedule::Now { force: false }, recorded(&shared)?),
    };
    let (name, loaded) = (lane.name.clone(), shared.load(&file)?);
    let reserve = lane.output_reserve(&loaded.case);
    if let Some(text) = lanes::check_reserve(&loaded.case, reserve, &shared)? {
        note(&text);
    }
    let until = compact::within(&loaded, Some(step))?;
    let (format, format_note) = compact::output_format(&loaded, wanted.format);
    let claim = output(wanted.output, &file, format, step)?;
    let job = ExportJob {
        case: loaded.case,
        policy: lane.policy,
        knobs: lane.knobs,
        schedule,
        until,
        summarizer: wanted.summarizer.unwrap_or(Summarizer::Digest),
        format,
        output: claim.path().to_owned(),
        given: Vec::new(),
        files: None,
    };
    let mut exported = export_seen(&job).map_err(anyhow::Error::msg)?;
    exported.notes.extend(format_note);
    told(&exported, &name, step, format, shared.json)?;
    let has_failed = exported.checks.iter().any(|c| !c.ok);
    Ok(if has_failed {
        Status::CheckFailed
    } else {
        Status::Done
    })
}

fn recorded(shared: &Shared) -> anyhow::Result<Lane> {
    let none = lanes::none(shared)?;
    Ok(Lane {
        name: "recorded".to_owned(),
        ..none
    })
}

fn output(
    told: Option<PathBuf>,
    source: &OsStr,
    format: &Format,
    step: usize,
) -> anyhow::Result<Claim> {
    told.map(Claim::given)
        .or_else(|| Claim::new(|| default_seen_path(Path::new(source), format, step)))
        .ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's own session store; say where to write with -o OUT"
            )
        })
}

fn told(
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
