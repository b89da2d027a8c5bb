//! `plimsoll sessions --search`: sessions with messages that match a query.

use super::json_output::{SessionLocation, UnreadableEntry};
use super::{TITLE_CHARS, UNREAD, last_call, recorded_time, rfc3339, shown};
use crate::cli::args::GlobalOptions;
use crate::cli::found::{self, FoundEntry, SNIPPET};
use crate::cli::many_files::FilesProgress;
use crate::cli::output::{clean, counted, json, note, print};
use crate::exec::search::{FoundSession, SearchOptions, SearchResult, search};
use crate::exec::stores::FoundFile;
use crate::exec::{IndexFolder, Inputs};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Maximum number of messages that are listed per session.
const MAX_MESSAGES: usize = 3;

/// Sessions with messages that match a query, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionSearch<'a> {
    /// The query.
    query: &'a str,
    /// Number of sessions that were searched.
    searched: usize,
    /// Whether the search index was used.
    uses_index: bool,
    /// Number of sessions with a match.
    sessions_with_matches: usize,
    /// Number of messages that match.
    messages: usize,
    /// Number of matches.
    matches: usize,
    /// Sessions with a match.
    sessions: Vec<FoundSessionEntry<'a>>,
    /// Files that cannot be opened as a session.
    unreadable: Vec<UnreadableEntry<'a>>,
    /// Number of older sessions with a match that `--limit` excluded.
    not_listed: usize,
}

/// A session with a match.
#[derive(Serialize, JsonSchema)]
struct FoundSessionEntry<'a> {
    #[serde(flatten)]
    location: SessionLocation<'a>,
    /// Number of messages that match.
    messages: usize,
    /// Number of matches.
    matches: usize,
    /// The first messages that match.
    found: Vec<FoundEntry<'a>>,
}

/// Searches these files and prints the result. Without a session, prints `nothing`.
pub(super) fn run(
    (inputs, files): (&Inputs, &[FoundFile]),
    given: &str,
    limit: usize,
    nothing: &dyn Fn() -> String,
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    let options = SearchOptions {
        query: found::query(given)?,
        counter: shared.counter,
        most: MAX_MESSAGES,
        snippet: SNIPPET,
    };
    let has_index = !shared.no_state && !inputs.has_temporary_files();
    let index = if has_index { IndexFolder::here() } else { IndexFolder::default() };
    let progress = FilesProgress::default();
    let mut result = progress.show(|| search(files, &options, &index, &progress.files, |_| {}))?;
    inputs.show_in_search(&mut result);
    if let Some(warning) = result.warning() {
        note(&warning);
    }
    let n_shown = limit.min(result.sessions.len());
    if shared.json {
        json(&json_output(&result, n_shown, given))
    } else {
        print(&search_text(&result, n_shown, nothing))
    }
}

fn json_output<'a>(result: &'a SearchResult, n_shown: usize, query: &'a str) -> SessionSearch<'a> {
    let unreadable = result.unread.iter();
    let unreadable = unreadable.map(|file| UnreadableEntry::new(&file.found, &file.reason));
    SessionSearch {
        query,
        searched: result.n_searched,
        uses_index: result.uses_index,
        sessions_with_matches: result.sessions.len(),
        messages: result.n_messages(),
        matches: result.n_hits(),
        sessions: result.sessions[..n_shown].iter().map(entry).collect(),
        unreadable: unreadable.collect(),
        not_listed: result.sessions.len() - n_shown,
    }
}

fn entry(session: &FoundSession) -> FoundSessionEntry<'_> {
    FoundSessionEntry {
        location: SessionLocation {
            path: shown(&session.found.path),
            conversation: session.conversation.map(|idx| idx + 1),
            agent: session.found.agent,
            title: &session.title,
            project: session.project.as_deref(),
            format: &session.format,
            start_time: session.times.and_then(|(start, _)| recorded_time(start)),
            end_time: session.times.and_then(|(_, end)| recorded_time(end)),
            modified: session.found.modified.and_then(rfc3339),
        },
        messages: session.n_messages,
        matches: session.n_hits,
        found: session.messages.iter().map(FoundEntry::from).collect(),
    }
}

fn search_text(result: &SearchResult, n_shown: usize, nothing: &dyn Fn() -> String) -> String {
    if result.n_searched == 0 {
        return nothing() + &unread(result);
    }
    let searched = counted(result.n_searched, "session");
    if result.sessions.is_empty() {
        return format!("no match in {searched}\n{}", unread(result));
    }
    let mut text = format!(
        "{} in {} of {} of {searched}\n\n",
        counted(result.n_hits(), "match"),
        counted(result.n_messages(), "message"),
        result.sessions.len(),
    );
    for session in &result.sessions[..n_shown] {
        row(&mut text, session);
    }
    if n_shown < result.sessions.len() {
        let more = counted(result.sessions.len() - n_shown, "older session");
        let _ = writeln!(text, "{more} with a match (--limit 0 lists all)");
    }
    text + &unread(result)
}

/// Returns a line about files that could not be read, if there are any.
fn unread(result: &SearchResult) -> String {
    match result.unread.len() {
        0 => String::new(),
        n => format!("{}: {UNREAD}\n", counted(n, "file")),
    }
}

fn row(text: &mut String, session: &FoundSession) {
    let title: String = session.title.chars().take(TITLE_CHARS).collect();
    let path = shown(&session.found.path);
    let number =
        session.conversation.map_or_else(String::new, |idx| format!(" --conversation {}", idx + 1));
    let _ = writeln!(
        text,
        "{:<16}  {:<14}  {} in {}\n    {}\n    {}{number}",
        last_call(session.times.map(|(_, end)| end)),
        clean(session.agent_label()),
        counted(session.n_hits, "match"),
        counted(session.n_messages, "message"),
        clean(&title),
        clean(&path),
    );
    for message in &session.messages {
        found::message_row(text, message, "      ");
    }
    let more = session.n_messages - session.messages.len();
    if more > 0 {
        let more = counted(more, "more message");
        let _ = writeln!(text, "      {more} (`plimsoll find` lists all)");
    }
    text.push('\n');
}
