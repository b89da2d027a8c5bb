//! `plimsoll report`: a run told as a page or as Markdown, redacted where asked.

use super::args::{Shared, Words, one_file};
use super::lanes::{self, LaneArgs};
use super::output::{clean, grouped, json, note, print};
use super::played::play;
use super::{Status, Verb};
use crate::exec::{refuse_output, write_file};
use crate::formats;
use crate::report::{Report, Subject, html, markdown};
use anyhow::bail;
use serde_json::json;
use std::path::PathBuf;

pub(super) const VERB: Verb = Verb {
    name: "report",
    summary: "Write what happened and what each policy would have done as a page or as Markdown.",
    help: "\
plimsoll report FILE [--policy NAME|FILE.toml]... [--set KNOB=VALUE]... -o OUT.html|OUT.md [--redact]

The curve, settings, figures, findings, events and what was removed, of the same lanes as `replay`.

  --policy NAME[@LANE] a preset, or a FILE.toml; again for more lanes; LANE tells two of one preset apart
  --set KNOB=VALUE     sets a knob of every policy that has it; LANE.KNOB=VALUE of one lane only;
                       strategy=NAME plays another preset
  -o, --output OUT     a new file: a page (.html) or Markdown (.md); - prints Markdown
  --redact             texts, arguments, paths, addresses, names, ids and private models never go into the report;
                       what stands for them is a number (path-1) or a length (text (1,234 characters)).
                       Stays: roles, kinds, sizes, well-known tools (Read, Bash, ...) and models, bundled policies;
                       of a system's own messages the numbers and well-known words

The page needs nothing from elsewhere and runs nothing. Markdown stays whole when it is pasted into an issue.

JSON: output, format (html or markdown), redacted, bytes, lanes, findings.
",
    run,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
}

/// The options as typed.
#[derive(Default)]
struct Wanted {
    lanes: LaneArgs,
    output: Option<PathBuf>,
    redacts: bool,
}

impl Wanted {
    fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--redact" => self.redacts = true,
            "-o" | "--output" => self.output = Some(PathBuf::from(words.raw_value(option)?)),
            _ => return self.lanes.take(option, words),
        }
        Ok(true)
    }

    /// Where to and how; no place is standard output.
    fn output(&self, as_json: bool) -> anyhow::Result<(Option<PathBuf>, Form)> {
        let Some(output) = &self.output else {
            bail!("report needs a new file to write to: -o OUT.html or -o OUT.md");
        };
        if output.as_os_str() == "-" {
            if as_json {
                bail!("-o - prints the report itself; leave out --json or name a file");
            }
            return Ok((None, Form::Markdown));
        }
        let extension = output.extension().unwrap_or_default().to_ascii_lowercase();
        let form = match extension.to_str() {
            Some("html" | "htm") => Form::Html,
            Some("md" | "markdown") => Form::Markdown,
            _ => bail!("-o {}: the name must end in .html or .md", output.display()),
        };
        refuse_output(output).map_err(anyhow::Error::msg)?;
        Ok((Some(output.clone()), form))
    }
}

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut wanted = Wanted::default();
    let files = words.read(VERB.name, &mut shared, |option, words| {
        wanted.take(option, words)
    })?;
    let file = one_file(VERB.name, files)?;
    // What was typed is checked before a long file is read.
    let (output, form) = wanted.output(shared.json)?;
    let (lanes, none) = (wanted.lanes.lanes(&shared)?, lanes::none(&shared)?);
    let loaded = shared.load(&file)?;
    let reserve = lanes.first().unwrap_or(&none).output_reserve(&loaded.case);
    if let Some(text) = lanes::check_reserve(&loaded.case, reserve, &shared)? {
        note(&text);
    }
    let played = play(&loaded.case, none, lanes, reserve);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let format = formats::by_name(loaded.case.session.source.format);
    let subject = Subject {
        case: &loaded.case,
        warnings: &warnings,
        format: format.map_or(loaded.case.session.source.format, |f| f.label),
        output_reserve: reserve,
        lanes: &played,
        records_compactions: formats::records_compactions(&loaded.case.session),
    };
    let report = Report::new(&subject, wanted.redacts);
    told(output, form, &report, shared.json)
}

/// Renders the report and puts it where it was wanted.
fn told(
    output: Option<PathBuf>,
    form: Form,
    report: &Report,
    as_json: bool,
) -> anyhow::Result<Status> {
    let text = match form {
        Form::Html => html(report),
        Form::Markdown => markdown(report),
    };
    let Some(output) = output else {
        print(&text)?;
        return Ok(Status::Done);
    };
    write_file(&output, text.as_bytes()).map_err(anyhow::Error::msg)?;
    if as_json {
        json(&json!({
            "output": output.to_string_lossy(),
            "format": if form == Form::Html { "html" } else { "markdown" },
            "redacted": report.is_redacted,
            "bytes": text.len(),
            "lanes": report.lanes.len(),
            "findings": report.findings().len(),
        }))?;
    } else {
        let (shown, size) = (output.to_string_lossy(), grouped(text.len() as u64));
        print(&format!("written to {} ({size} bytes)\n", clean(&shown)))?;
    }
    Ok(Status::Done)
}
