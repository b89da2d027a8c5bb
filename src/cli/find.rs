//! `plimsoll find`: messages of a session that match a query.

use super::args::{FileArg, GlobalOptions, row_limit};
use super::found::{self, FoundEntry, SNIPPET};
use super::output::{clean, counted, json, print};
use super::status::Status;
use crate::analysis::query::{FoundMessage, Query, QuerySubject};
use crate::engine::Case;
use crate::report::QUERY_HELP;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Find messages of a session by text, kind, role, tool, size or call
#[derive(Debug, clap::Args)]
#[command(
    after_help = format!("Terms of a query: {QUERY_HELP}. A message matches if it matches every term. Case is ignored. The field of the tab Messages (Ctrl+F) finds the same. `plimsoll sessions --search QUERY` searches all sessions.\n\nExamples:\n  plimsoll find sample_sessions/compacted.jsonl 'kind:result tokens>2000 error'\n  plimsoll find sample_sessions/compacted.jsonl '\"payments ledger\" role:user'")
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// Words and terms
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// Number of messages; 0: all
    #[arg(long, value_name = "N", value_parser = row_limit, default_value = "40")]
    limit: usize,
}

/// Messages of a session that match a query.
#[derive(Serialize, JsonSchema)]
pub(super) struct FindResult<'a> {
    /// The query.
    query: &'a str,
    /// Number of messages that match.
    messages: usize,
    /// Number of matches.
    matches: usize,
    /// Messages that match, in order.
    found: Vec<FoundEntry<'a>>,
    /// Number of messages that `--limit` excluded.
    not_listed: usize,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let query = found::query(&self.query)?;
        let loaded = shared.load(&self.file.file)?;
        let all = messages(&loaded.case, &query);
        let shown = &all[..self.limit.min(all.len())];
        if shared.json {
            json(&FindResult::new(&self.query, &all, shown))?;
        } else {
            print(&find_text(&loaded.case, &query, &all, shown))?;
        }
        Ok(Status::Done)
    }
}

impl<'a> FindResult<'a> {
    /// Creates the result of a query from all messages that match and those that are listed.
    pub(super) fn new(query: &'a str, all: &[FoundMessage], shown: &'a [FoundMessage]) -> Self {
        Self {
            query,
            messages: all.len(),
            matches: n_matches(all),
            found: shown.iter().map(FoundEntry::from).collect(),
            not_listed: all.len() - shown.len(),
        }
    }
}

/// Returns the messages that match, in order.
pub(super) fn messages(case: &Case, query: &Query) -> Vec<FoundMessage> {
    let (session, ledger) = (&case.session, &case.ledger);
    let found = |message: usize| {
        let subject = QuerySubject::new(session, Some(ledger), message);
        query.find_in(&subject, SNIPPET)
    };
    let all = (0..session.messages.len()).into_par_iter();
    all.filter_map(found).collect()
}

fn n_matches(found: &[FoundMessage]) -> usize {
    found.iter().map(|found| found.n_hits).sum()
}

fn find_text(case: &Case, query: &Query, all: &[FoundMessage], shown: &[FoundMessage]) -> String {
    let n = counted(case.session.messages.len(), "message");
    if all.is_empty() {
        let mut text = format!("no match in {n}\n");
        for line in query.valid_values(&case.session) {
            let _ = writeln!(text, "  {}", clean(&line));
        }
        return text;
    }
    let mut text = format!(
        "{} in {} of {n} of {}\n\n",
        counted(n_matches(all), "match"),
        all.len(),
        clean(&case.session.source.name)
    );
    for message in shown {
        found::message_row(&mut text, message, "");
    }
    if shown.len() < all.len() {
        let more = counted(all.len() - shown.len(), "more message");
        let _ = writeln!(text, "\n{more} (--limit 0 lists all)");
    }
    text
}
