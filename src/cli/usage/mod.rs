//! `plimsoll usage`: what the calls of many sessions used, by day, project, model or another key.

mod json_output;
mod text;

use super::args::{DEFAULT_FILES, GlobalOptions, InputArgs, row_limit};
use super::output::{clean, counted, json, print};
use super::session_files::{agent, caches, found, listed, save};
use super::status::Status;
use crate::analysis::usage::{UsageKey, UsageQuery, UsageTable};
use crate::exec::stores::{ListCaches, ListUsage};
use crate::presets::default_output_reserve;
use anyhow::{Context as _, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
pub(super) use json_output::{CallSums, UsageOutput, UsageSums};
pub(super) use text::sums;

/// Sum tokens, cost and cache misses by day, week, project, model or agent
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("files", |arg| arg.help(DEFAULT_FILES)),
    after_help = "Without a folder, the agents' own folders are read. A call counts once, on the day of its own time, even if a resumed or forked session repeats it; a sub-agent's calls count for the session that started it. The results are cached by size and modification time. `cached` is the share of the input that was read from the cache; `misses` are calls that sent again what an earlier call had sent and the cache did not have, with their cost above cache reads; `peak` is the largest context as a share of the usable window; `overflows` are calls above the window. * marks a cost that lacks calls of models without a price.\n\nExamples:\n  plimsoll usage sample_sessions\n  plimsoll usage sample_sessions --by model --csv"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    /// Key of the rows; a block is five hours
    #[arg(long, value_name = "BY", value_parser = key_parser(), default_value = "day")]
    by: UsageKey,
    /// First day, such as 2026-11-01, today or yesterday
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Last day
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Time zone of the days, such as Europe/Berlin or UTC [default: the system's]
    #[arg(long, value_name = "NAME")]
    timezone: Option<String>,
    /// One agent only, such as claude-code or codex
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with_all = ["files", "files_from"])]
    agent: Option<&'static str>,
    /// Number of rows: the newest periods, or the largest of others; 0: all
    #[arg(long, value_name = "N", value_parser = row_limit, default_value = "0")]
    limit: usize,
    /// Print one line per row
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// Parses the name of a key.
fn key_parser() -> impl TypedValueParser<Value = UsageKey> {
    PossibleValuesParser::new(UsageKey::ALL.map(UsageKey::name))
        .map(|name| UsageKey::named(&name).unwrap_or_default())
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let query = self.query(shared)?;
        let inputs = found(&self.inputs, shared)?;
        let mut files = inputs.found_files();
        files.retain(|file| self.agent.is_none_or(|agent| file.agent == Some(agent)));
        // Every conversation of a file counts, whether the file or its folder was named.
        for file in &mut files {
            file.is_named = false;
        }
        let (mut summaries, mut usage) = caches(shared, true);
        let caches = ListCaches { summaries: &mut summaries, usage: usage.as_mut() };
        let listing = listed(&inputs, &files, usize::MAX, caches, shared.window)?;
        save(&mut summaries, usage.as_mut());
        if let (true, [], [first, ..]) =
            (!self.inputs.are_empty(), &listing.sessions[..], &listing.unread[..])
        {
            let reason = first.summary.as_ref().err().map_or("", String::as_str);
            let n = listing.unread.len();
            bail!(
                "{} cannot be opened as a session; the first: {}",
                counted(n, "file"),
                clean(reason)
            );
        }
        let used = ListUsage::new(&listing);
        let mut table = UsageTable::new(&used.sessions(&listing), &query);
        let n_more = self.shorten(&mut table);
        if shared.json {
            json(&UsageOutput::new(self.by.name(), &table, &query, &listing))?;
        } else if self.csv {
            print(&text::csv(self.by.name(), &table))?;
        } else {
            print(&text::text((&table, n_more), &query, &listing))?;
        }
        Ok(Status::Done)
    }

    /// Removes rows beyond the limit, which the sums contain. Returns their number.
    fn shorten(&self, table: &mut UsageTable) -> usize {
        let n = table.rows.len();
        if n <= self.limit {
            return 0;
        }
        if self.by.is_time() {
            table.rows.drain(..n - self.limit);
        } else {
            table.rows.truncate(self.limit);
        }
        n - self.limit
    }

    fn query(&self, shared: &GlobalOptions) -> anyhow::Result<UsageQuery> {
        let zone = match &self.timezone {
            None => TimeZone::system(),
            Some(name) => TimeZone::get(name).map_err(|_unknown| {
                anyhow!(
                    "--timezone: {name} is no time zone; give a name such as Europe/Berlin or UTC"
                )
            })?,
        };
        let today = Zoned::now().with_time_zone(zone.clone()).date();
        let day = |given: &Option<String>, option: &str| -> anyhow::Result<Option<Date>> {
            let parsed = given.as_deref().map(|given| day(given, today));
            parsed.transpose().with_context(|| option.to_owned())
        };
        let (since, until) = (day(&self.since, "--since")?, day(&self.until, "--until")?);
        if let (Some(since), Some(until)) = (since, until)
            && since > until
        {
            return Err(anyhow!("--since {since} is after --until {until}"));
        }
        Ok(UsageQuery {
            key: self.by,
            zone,
            since,
            until,
            output_reserve: shared.output_reserve.unwrap_or_else(default_output_reserve),
        })
    }
}

/// Parses a day.
fn day(given: &str, today: Date) -> anyhow::Result<Date> {
    match given {
        "today" => Ok(today),
        "yesterday" => Ok(today.checked_sub(1.day())?),
        // Without a time, which would have no effect.
        date => Date::strptime("%Y-%m-%d", date).map_err(|_invalid| {
            anyhow!("{given} is no day; give one such as 2026-11-01, today or yesterday")
        }),
    }
}
