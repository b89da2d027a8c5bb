//! `plimsoll sessions`: lists the sessions of this machine or of a folder.

mod json_output;
mod search;

use super::args::{GlobalOptions, row_limit};
use super::output::{clean, counted, grouped, json, note, percent, print_wrapped, tokens};
use super::status::Status;
use crate::engine::WindowSource;
use crate::exec::is_taken;
use crate::exec::stores::{
    AgentFolder, Cache, FoundFile, FoundFiles, ListedSession, Listing, PeakAccuracy, STORES,
    SessionSummary, existing_folders, find, find_in, list,
};
use crate::names::nearest;
use crate::presets::default_output_reserve;
use crate::progress::Progress;
use crate::units::{self, Tokens};
use anyhow::{Context as _, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) use json_output::SessionList;
use json_output::json_output;
pub(super) use search::SessionSearch;

/// List the sessions of the agents on this machine, or of a folder, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a folder, only the agents' own folders are searched, by file name; links are not followed. Results are cached by size and modification time. Sessions of a database or of a file with several are listed separately, with the --conversation that opens them. The peak is the largest context as a share of the context window, including the context at the end. ≈ marks a peak that is estimated at least in part; without recorded usage, it lacks what is not recorded. --search reads every file, or the search index if you switched it on (`plimsoll state enable index`).\n\nExamples:\n  plimsoll sessions sample_sessions\n  plimsoll sessions --search 'kind:result tokens>2000 error' sample_sessions"
)]
pub(super) struct Args {
    /// Folders or session files [default: the agents' own folders]
    #[arg(value_name = "FOLDER|FILE")]
    folders: Vec<PathBuf>,
    /// One agent only, such as claude-code or codex
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with = "folders")]
    agent: Option<&'static str>,
    /// Only sessions with a message that matches, such as 'kind:result tokens>2000 error' (see `plimsoll help find`)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    search: Option<String>,
    /// Number of sessions, the newest first; 0: all
    #[arg(long, value_name = "N", value_parser = row_limit, default_value = "40")]
    limit: usize,
}

/// Remark about files that are listed in `--json` only.
const UNREAD: &str = "not a session that can be opened (--json says why)";

/// Maximum characters of a title.
const TITLE_CHARS: usize = 72;

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let limit = self.limit;
        let progress = Progress::default();
        let (mut files, n_own_outputs) = found(&self.folders, &progress)?;
        files.retain(|file| self.agent.is_none_or(|agent| file.agent == Some(agent)));
        if let Some(query) = &self.search {
            let nothing = || self.nothing();
            search::run(&files, query, limit, &nothing, shared)?;
            return Ok(Status::Done);
        }
        let mut cache = if shared.no_state { Cache::default() } else { Cache::load() };
        let mut listing = list(&files, limit, &mut cache, &progress, |_| {})?;
        // Files are read in parallel.
        listing.left += listing.sessions.len().saturating_sub(limit);
        listing.sessions.truncate(limit);
        if let Err(error) = cache.save() {
            note(&format!("the list of sessions cannot be cached ({error})"));
        }
        let output_reserve = shared.output_reserve.unwrap_or_else(default_output_reserve);
        if shared.json {
            let counts = (output_reserve, n_own_outputs);
            json(&json_output(&listing, &self.folders, counts))?;
        } else {
            print_wrapped(&self.text(&listing, output_reserve))?;
        }
        Ok(Status::Done)
    }

    fn text(&self, listing: &Listing, output_reserve: Tokens) -> String {
        let mut text = String::new();
        for listed in &listing.sessions {
            if let Ok(summary) = &listed.summary {
                row(&mut text, listed, summary, output_reserve);
            }
        }
        let (calls, distinct) = listing.calls();
        if distinct < calls {
            let _ = writeln!(
                text,
                "{}, {distinct} of them distinct: some sessions repeat calls of another file",
                counted(calls, "call")
            );
        }
        match (&listing.sessions[..], &listing.unread[..]) {
            ([], [only]) if only.found.is_named => {
                let why = only.summary.as_ref().err();
                let _ = writeln!(text, "{}", clean(why.map_or("", String::as_str)));
                return text;
            }
            ([], _) => text.push_str(&self.nothing()),
            _ => {}
        }
        let more = [
            (listing.left, "older session", "not read (--limit 0 reads all)"),
            (listing.unread.len(), "file", UNREAD),
        ];
        for (n, what, why) in more {
            if n > 0 {
                let _ = writeln!(text, "{}: {why}", counted(n, what));
            }
        }
        text
    }

    /// Returns a text that says where no session was found, and where to look.
    fn nothing(&self) -> String {
        let elsewhere = "`plimsoll sessions FOLDER` looks elsewhere.";
        let mut text = "No session that can be opened in\n".to_owned();
        if !self.folders.is_empty() {
            for folder in &self.folders {
                let _ = writeln!(text, "  {}", clean(&shown(folder)));
            }
            return text;
        }
        let is_meant = |agent: &str| self.agent.is_none_or(|only| only == agent);
        let mut places = existing_folders();
        places.retain(|place| is_meant(place.agent));
        if places.is_empty() {
            let known = STORES.iter().map(|store| store.agent);
            let known: Vec<_> = known.filter(|agent| is_meant(agent)).collect();
            return format!("No folder of {} is on this machine. {elsewhere}\n", known.join(", "));
        }
        for AgentFolder { agent, folder } in places {
            let _ = writeln!(text, "  {agent:<14}  {}", clean(&shown(&folder)));
        }
        let _ = writeln!(text, "{elsewhere}");
        text
    }
}

/// Parses the name of an agent.
fn agent(given: &str) -> anyhow::Result<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace([' ', '_'], "-");
    let known = STORES.iter().map(|store| store.agent);
    let names: Vec<_> = known.clone().map(plain).collect();
    let found = known.into_iter().find(|name| plain(name) == plain(given));
    found.with_context(|| match nearest(given, &names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known agents are {}", names.join(", ")),
    })
}

/// Finds the files of these folders, or of all agents, and the number of files that Plimsoll wrote. Prints warnings.
fn found(folders: &[PathBuf], progress: &Progress) -> anyhow::Result<(Vec<FoundFile>, usize)> {
    let (mut files, mut n_own_outputs) = (Vec::new(), 0);
    let mut add = |mut found: FoundFiles| {
        found.notes().for_each(|text| note(&text));
        n_own_outputs += found.own_outputs.len();
        files.append(&mut found.files);
    };
    if folders.is_empty() {
        add(find(progress)?);
    }
    for folder in folders {
        if !folder.as_os_str().is_empty() && !is_taken(folder) {
            bail!("{}: no such folder or file; check the path", folder.display());
        }
        add(find_in(folder, progress)?);
    }
    Ok((files, n_own_outputs))
}

fn row(
    text: &mut String,
    listed: &ListedSession,
    summary: &SessionSummary,
    output_reserve: Tokens,
) {
    let about = match summary.peak_accuracy {
        PeakAccuracy::Reported => "",
        PeakAccuracy::Estimated => "≈",
    };
    let peak = percent(summary.peak_share(output_reserve));
    let about = if peak.starts_with('<') { "" } else { about };
    let (peak, size) = (format!("{about}{peak}"), tokens(Tokens(summary.peak)));
    let context = if summary.calls > 0 {
        let source = match summary.window_source {
            WindowSource::Assumed => ", window assumed",
            _ => "",
        };
        format!("peak {peak:>5} of usable ({size}{source})")
    } else {
        format!("no calls ({size} tokens)")
    };
    let mut line = format!(
        "{:<16}  {:<14}  {context}  {}",
        time(listed.found.modified),
        listed.found.agent.unwrap_or(summary.format_label()),
        counted(summary.messages, "message"),
    );
    if summary.compactions > 0 {
        let _ = write!(line, ", {}", counted(summary.compactions, "compaction"));
    }
    if summary.conversations > 1 {
        let _ = write!(line, ", first of {} conversations", summary.conversations);
    }
    let _ = writeln!(text, "{line}, {} bytes", grouped(listed.found.size.0));
    let title: String = summary.title.chars().take(TITLE_CHARS).collect();
    let project = summary.project.as_deref().unwrap_or_default();
    let behind = if project.is_empty() { "" } else { "  in " };
    let parent = listed.parent.as_ref().map(|parent| {
        let name: String = parent.name().chars().take(TITLE_CHARS).collect();
        format!("  (sub-agent of {})", clean(&name))
    });
    let repeats = listed.repeats_text();
    let repeats = repeats.map(|text| format!("  ({})", clean(&text)));
    let _ = writeln!(
        text,
        "    {}{}{}{behind}{}",
        clean(&title),
        parent.unwrap_or_default(),
        repeats.unwrap_or_default(),
        clean(project)
    );
    let number = listed.conversation.map(|n| format!(" --conversation {}", n + 1));
    let _ =
        writeln!(text, "    {}{}\n", clean(&shown(&listed.found.path)), number.unwrap_or_default());
}

fn rfc3339(time: SystemTime) -> Option<String> {
    units::rfc3339(time.duration_since(UNIX_EPOCH).ok()?)
}

/// Formats a time to the minute, in UTC; empty if unknown.
fn time(time: Option<SystemTime>) -> String {
    let text = time.and_then(rfc3339).unwrap_or_default();
    text.get(..16).unwrap_or_default().replace('T', " ")
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
