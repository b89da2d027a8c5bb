//! `plimsoll table`: typed tables of many sessions, for `DuckDB`, Spark and others.

mod columns;
mod json_output;

use super::args::{GlobalOptions, InputArgs, number};
use super::json_values::Settings;
use super::lanes::{self, Lane, LaneArgs};
use super::many_files::FilesProgress;
use super::output::{clean, counted, grouped, json, note, print};
use super::status::Status;
use crate::exec::tables::{
    Shard, TABLES, TableFormat, TableLane, TableOptions, TableSummary, write_tables,
};
use crate::exec::{OwnPresets, policy_text};
use anyhow::{Context as _, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
pub(super) use json_output::TableOutput;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Write typed tables of many sessions: Parquet, JSON Lines or CSV
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("policies", |arg| arg.help("Preset, policy file or recorded; @LANE names it (repeatable) [default: none, truncate, prune, summarize]")),
    after_help = "Files are TABLE/day=YYYY-MM-DD/PART.parquet, by the UTC day of the session's start. PART is a hash of the contents and of everything that the rows depend on: the same work replaces the same files. `--columns` lists the columns. A file that fails is a row of `failures`.\n\nExit code 1: a file failed, with --strict. 2: nothing could be read or written.\n\nExamples:\n  plimsoll table sample_sessions -o tables --format jsonl\n  plimsoll table sample_sessions -o tables --format csv --tables sessions,calls --shard 1/4"
)]
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    /// Folder of the tables
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "columns")]
    output: Option<PathBuf>,
    /// Tables, separated by commas [default: all]
    #[arg(long, value_name = "TABLES", value_delimiter = ',', value_parser = table(), hide_possible_values = true)]
    tables: Vec<&'static str>,
    /// Format of the files
    #[arg(long, value_enum, default_value = "parquet")]
    format: Format,
    /// Write texts too: titles, messages and facts
    #[arg(long)]
    text: bool,
    /// Read only part K of N, by the hash of the path
    #[arg(long, value_name = "K/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Skip contents that the folder already has under the same conditions
    #[arg(long)]
    resume: bool,
    /// Give up a file after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout_per_file: Option<Duration>,
    /// Exit with 1 if a file fails
    #[arg(long)]
    strict: bool,
    /// List the columns of the tables, and write nothing
    #[arg(long)]
    columns: bool,
    #[command(flatten)]
    lanes: LaneArgs,
}

/// Format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Parquet,
    Jsonl,
    Csv,
}

impl From<Format> for TableFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Parquet => Self::Parquet,
            Format::Jsonl => Self::JsonLines,
            Format::Csv => Self::Csv,
        }
    }
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        if self.columns {
            print(&columns::text())?;
            return Ok(Status::Done);
        }
        let options = self.options(shared)?;
        if self.inputs.are_empty() {
            bail!(
                "table needs a session file or a folder of them: plimsoll table FOLDER -o TABLES"
            );
        }
        let inputs = self.inputs.find_all()?;
        inputs.notes().for_each(|text| note(&text));
        let mut empty = inputs.failures.iter().filter(|one| one.is_named && !one.is_damaged);
        if let Some(empty) = empty.next() {
            bail!("{}; give another folder", empty.reason);
        }
        let (output, format) = (options.output.clone(), options.format);
        let progress = FilesProgress::default();
        let summary = progress.show(|| {
            write_tables(&inputs, &self.inputs.files, options, |at| {
                progress.set(at.done, at.total, at.failed);
            })
        });
        let summary = summary?;
        let (nothing_read, first) = (summary.read + summary.skipped == 0, &summary.first_failure);
        if let (true, Some((path, reason))) = (nothing_read, first) {
            bail!(
                "none of {} could be read, see the table failures; the first: {path}: {reason}",
                counted(summary.files, "file")
            );
        }
        if shared.json {
            json(&TableOutput::new(&output, format, self.text, &summary))?;
        } else {
            print(&text(&clean(&output.to_string_lossy()), &summary))?;
        }
        let has_failed = self.strict && summary.failures + summary.known_failures > 0;
        Ok(if has_failed { Status::CheckFailed } else { Status::Done })
    }

    fn options(&self, shared: &GlobalOptions) -> anyhow::Result<TableOptions> {
        if shared.conversation.is_some() || shared.refers_to_one_session() {
            bail!(
                "--conversation, --restart, --error, --pin, --clear and --drop apply to one session; table reads all"
            );
        }
        shared.refuse_what_if("table")?;
        let format = TableFormat::from(self.format);
        if !format.is_built() {
            bail!(
                "this build writes no Parquet; give --format jsonl or csv, or build it with the feature `tables`"
            );
        }
        let none = lanes::none(shared)?;
        let lanes = if self.lanes.first() == Some("--policy") {
            self.lanes.required("table", shared)?
        } else {
            let strategies = self.lanes.lanes(shared)?;
            std::iter::once(none.clone()).chain(strategies).collect()
        };
        let own = OwnPresets::here();
        let mut tables: Vec<_> = TABLES.iter().map(|table| table.name).collect();
        tables.retain(|table| self.tables.is_empty() || self.tables.contains(table));
        Ok(TableOptions {
            output: self.output.clone().context("table needs -o FOLDER")?,
            tables,
            lanes: lanes
                .into_iter()
                .map(|lane| table_lane(lane, &own))
                .collect::<Result<_, _>>()?,
            none: table_lane(none, &own)?,
            load: shared.load_options(),
            reread_model: shared.reread_model().clone(),
            format,
            with_text: self.text,
            shard: self.shard,
            resumes: self.resume,
            timeout: self.timeout_per_file,
        })
    }
}

fn table_lane(lane: Lane, own: &OwnPresets) -> anyhow::Result<TableLane> {
    Ok(TableLane {
        text: policy_text(&lane.word, own)?,
        settings_json: serde_json::to_string(&Settings::from(&lane.knobs))?,
        name: lane.name,
        policy: lane.policy,
        knobs: lane.knobs,
    })
}

/// Parser of a table's name.
fn table() -> impl TypedValueParser<Value = &'static str> {
    let names = PossibleValuesParser::new(TABLES.iter().map(|table| table.name));
    names.map(|name| TableOptions::table(&name).map_or("", |table| table.name))
}

/// Parses `2/8`.
fn shard(text: &str) -> anyhow::Result<Shard> {
    let numbers = text.split_once('/');
    let numbers = numbers.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
        _ => bail!("give a part and the number of parts, such as 2/8"),
    }
}

fn seconds(text: &str) -> anyhow::Result<Duration> {
    match number(text.trim_end_matches('s')).map(Duration::try_from_secs_f64) {
        Some(Ok(time)) if !time.is_zero() => Ok(time),
        _ => bail!("give a number of seconds, such as 60"),
    }
}

/// Returns what was written, in a few lines.
fn text(output: &str, summary: &TableSummary) -> String {
    let mut text = String::new();
    for table in &summary.tables {
        let (rows, files) = (grouped(table.rows as u64), counted(table.files, "file"));
        let kilobytes = grouped(table.bytes.div_ceil(1_000));
        let _ =
            writeln!(text, "{:<17} {rows:>12} rows  {files:>10}  {kilobytes:>10} kB", table.name);
    }
    let mut parts = vec![format!("{} read", counted(summary.read, "file"))];
    for (n, what) in [
        (summary.skipped, "already in the folder"),
        (summary.known_failures, "failed in earlier runs"),
        (summary.duplicates, "with the content of another"),
        (summary.failed, "failed"),
    ] {
        if n > 0 {
            parts.push(format!("{} {what}", grouped(n as u64)));
        }
    }
    let conversations = counted(summary.conversations, "conversation");
    let _ = writeln!(text, "{output}: {conversations}; {}", parts.join(", "));
    if let Some((path, reason)) = &summary.first_failure {
        let _ = writeln!(text, "first failure: {}: {}", clean(path), clean(reason));
    }
    text
}
