//! `plimsoll report`: an HTML page or Markdown about a session, redacted on request.

use super::args::{FileArg, GlobalOptions};
use super::lanes::{self, LaneArgs};
use super::output::{clean, grouped, json, print};
use super::played::play;
use super::session_files::tree_usage;
use super::status::Status;
use crate::exec::{check_is_new, write_file};
use crate::formats;
use crate::report::{Report, ReportSubject, TreeSubject, html, markdown};
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Write a report of a session and each policy as HTML or Markdown
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The report has the curve, settings, figures, findings, expected re-reads, surviving facts, events and removed messages of the lanes of `replay`. An HTML page loads nothing and runs no script. A redacted report keeps roles, kinds, sizes, well-known tools and models, and bundled policies; text becomes its length, names and paths become numbers.\n\nExamples:\n  plimsoll report sample_sessions/compacted.jsonl --policy prune --redact -o report.html"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// New file: .html or .md; - prints Markdown
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Leave out texts, arguments, paths, addresses, names, ids and private models
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    lanes: LaneArgs,
}

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportFormat {
    /// An HTML page.
    Html,
    /// A Markdown file.
    Markdown,
}

impl ReportFormat {
    /// Returns the format that the name of a new file asks for.
    pub(super) fn of_new(output: &Path) -> anyhow::Result<Self> {
        let extension = output.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("html" | "htm") => Self::Html,
            Some("md" | "markdown") => Self::Markdown,
            _ => bail!("-o {}: the name must end in .html or .md", output.display()),
        };
        check_is_new(output).map_err(anyhow::Error::msg)?;
        Ok(format)
    }
}

/// A written report.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReportFile<'a> {
    /// Path of the new file.
    output: Cow<'a, str>,
    /// Format of the report.
    format: ReportFormat,
    /// Whether texts, paths and names were left out.
    redacted: bool,
    /// Size of the new file in bytes.
    bytes: usize,
    /// Number of lanes.
    lanes: usize,
    /// Number of findings.
    findings: usize,
}

impl Args {
    /// Returns where to write (none: standard output) and the report's format.
    fn output(&self, as_json: bool) -> anyhow::Result<(Option<PathBuf>, ReportFormat)> {
        let output = &self.output;
        if output.as_os_str() == "-" {
            if as_json {
                bail!("-o - prints the report itself; leave out --json or name a file");
            }
            return Ok((None, ReportFormat::Markdown));
        }
        Ok((Some(output.clone()), ReportFormat::of_new(output)?))
    }

    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        // Options are checked before a large file is read.
        let (output, report_format) = self.output(shared.json)?;
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let loaded = shared.load(&self.file.file)?;
        let reserve = none.checked_reserve(&loaded.case, shared)?;
        lanes::note_without_effect(&loaded.case, &lanes);
        let played = play(&loaded.case, none, lanes);
        let tree = tree_usage(&loaded, reserve, shared);
        let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        let subject = ReportSubject {
            case: &loaded.case,
            warnings: &warnings,
            format: formats::label(loaded.case.session.source.format),
            output_reserve: reserve,
            lanes: &played,
            records_compactions: formats::records_compactions(&loaded.case.session),
            reread_model: shared.reread_model(),
            tree: tree
                .as_ref()
                .map(|usage| TreeSubject { conversations: &loaded.conversations, usage }),
            notes: &BTreeMap::new(),
        };
        let report = Report::new(&subject, self.redact);
        write(output, report_format, &report, shared.json)
    }
}

/// Renders the report and writes it.
fn write(
    output: Option<PathBuf>,
    format: ReportFormat,
    report: &Report,
    as_json: bool,
) -> anyhow::Result<Status> {
    let text = match format {
        ReportFormat::Html => html(report),
        ReportFormat::Markdown => markdown(report),
    };
    let Some(output) = output else {
        print(&text)?;
        return Ok(Status::Done);
    };
    write_file(&output, text.as_bytes()).map_err(anyhow::Error::msg)?;
    if as_json {
        json(&ReportFile {
            output: output.to_string_lossy(),
            format,
            redacted: report.is_redacted,
            bytes: text.len(),
            lanes: report.lanes.len(),
            findings: report.findings().len(),
        })?;
    } else {
        print(&written(&output, &text))?;
    }
    Ok(Status::Done)
}

/// Returns the sentence about a new file.
pub(super) fn written(output: &Path, text: &str) -> String {
    let (shown, size) = (output.to_string_lossy(), grouped(text.len() as u64));
    format!("written to {} ({size} bytes)\n", clean(&shown))
}
