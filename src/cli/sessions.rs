//! `plimsoll sessions`: lists the sessions of this machine or of a folder.

use super::Status;
use super::args::Shared;
use super::nearest::nearest;
use super::output::{clean, counted, grouped, json, note, percent, print, tokens};
use crate::exec::is_taken;
use crate::exec::stores::{
    Cache, FoundFile, Listed, Listing, PeakBasis, STORES, SessionSummary, existing_folders, find,
    find_in, list,
};
use crate::progress::Progress;
use crate::units::{self, Share, Tokens};
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// List the sessions of the agents on this machine, or of a folder, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a folder, only the agents' own folders are searched, by file name; links are not followed. Results are cached\nby size and modification time. Sessions of a database or of a file with many are listed separately, with the\n--conversation that opens them.\nThe peak is the largest context, including the one at the end, as a share of its window: reported by the provider, or (≈) estimated from samples\nwithout instructions and tools that are not recorded."
)]
pub(super) struct Args {
    /// Folders or session files [default: the agents' own folders]
    #[arg(value_name = "FOLDER|FILE")]
    folders: Vec<PathBuf>,
    /// One agent only, such as claude-code or codex
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with = "folders")]
    agent: Option<&'static str>,
    /// Number of sessions, the newest first; 0: all
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
}

/// Maximum characters of a title.
const TITLE_CHARS: usize = 72;

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        let limit = if self.limit == 0 {
            usize::MAX
        } else {
            self.limit
        };
        let progress = Progress::default();
        let mut files = found(&self.folders, &progress)?;
        files.retain(|file| self.agent.is_none_or(|agent| file.agent == Some(agent)));
        let mut cache = if shared.no_state {
            Cache::default()
        } else {
            Cache::load()
        };
        let mut listing = list(&files, limit, &mut cache, &progress, |_| {})?;
        // Files are read in parallel.
        listing.left += listing.sessions.len().saturating_sub(limit);
        listing.sessions.truncate(limit);
        if let Err(error) = cache.save() {
            note(&format!("the list of sessions cannot be cached ({error})"));
        }
        if shared.json {
            json(&shape(&listing, &self.folders))?;
        } else {
            print(&text(&listing, &self.folders))?;
        }
        Ok(Status::Done)
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

fn found(folders: &[PathBuf], progress: &Progress) -> anyhow::Result<Vec<FoundFile>> {
    if folders.is_empty() {
        return Ok(find(progress)?);
    }
    let mut files = Vec::new();
    for folder in folders {
        if !folder.as_os_str().is_empty() && !is_taken(folder) {
            bail!(
                "{}: no such folder or file; check the path",
                folder.display()
            );
        }
        files.append(&mut find_in(folder, progress)?);
    }
    Ok(files)
}

fn text(listing: &Listing, folders: &[PathBuf]) -> String {
    let mut text = String::new();
    for listed in &listing.sessions {
        if let Ok(summary) = &listed.summary {
            row(&mut text, listed, summary);
        }
    }
    match (&listing.sessions[..], &listing.unread[..]) {
        ([], [only]) if only.found.is_named => {
            let why = only.summary.as_ref().err();
            let _ = writeln!(text, "{}", clean(why.map_or("", String::as_str)));
            return text;
        }
        ([], _) => text.push_str(&nothing(folders)),
        _ => {}
    }
    let more = [
        (
            listing.left,
            "older session",
            "not read (--limit 0 reads all)",
        ),
        (
            listing.unread.len(),
            "file",
            "not a session that can be opened (--json says why)",
        ),
    ];
    for (n, what, why) in more {
        if n > 0 {
            let _ = writeln!(text, "{}: {why}", counted(n, what));
        }
    }
    text
}

fn row(text: &mut String, listed: &Listed, summary: &SessionSummary) {
    let about = match summary.peak_basis {
        PeakBasis::Reported => "",
        PeakBasis::Estimated => "≈",
    };
    let peak = percent(Share(summary.peak_share));
    let about = if peak.starts_with('<') { "" } else { about };
    let peak = format!("{about}{peak}");
    let mut line = format!(
        "{:<16}  {:<14}  peak {peak:>5} ({})  {}",
        time(listed.found.modified),
        listed.found.agent.unwrap_or(summary.format_label()),
        tokens(Tokens(summary.peak)),
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
    let _ = writeln!(
        text,
        "    {}{}{behind}{}",
        clean(&title),
        parent.unwrap_or_default(),
        clean(project)
    );
    let number = listed
        .conversation
        .map(|n| format!(" --conversation {}", n + 1));
    let _ = writeln!(
        text,
        "    {}{}\n",
        clean(&shown(&listed.found.path)),
        number.unwrap_or_default()
    );
}

fn nothing(folders: &[PathBuf]) -> String {
    if !folders.is_empty() {
        return "No session in this folder that can be opened.\n".to_owned();
    }
    let known: Vec<_> = STORES.iter().map(|store| store.agent).collect();
    let places = existing_folders();
    if places.is_empty() {
        return format!(
            "No folder of {} is on this machine. `plimsoll sessions FOLDER` looks elsewhere.\n",
            known.join(", ")
        );
    }
    let mut text = "No session in\n".to_owned();
    for (agent, folder) in places {
        let _ = writeln!(text, "  {agent:<14}  {}", clean(&shown(&folder)));
    }
    text
}

fn shape(listing: &Listing, folders: &[PathBuf]) -> Value {
    let sessions: Vec<_> = listing.sessions.iter().filter_map(session).collect();
    let unread: Vec<_> = listing
        .unread
        .iter()
        .map(|listed| {
            json!({
                "path": shown(&listed.found.path),
                "agent": listed.found.agent,
                "why": listed.summary.as_ref().err(),
            })
        })
        .collect();
    let given = folders.iter().map(|folder| (None, folder.clone()));
    let places: Vec<_> = if folders.is_empty() {
        let stores = existing_folders().into_iter();
        stores
            .map(|(agent, folder)| (Some(agent), folder))
            .collect()
    } else {
        given.collect()
    };
    let place = |(agent, folder): &(_, PathBuf)| json!({"agent": agent, "folder": shown(folder)});
    let places: Vec<_> = places.iter().map(place).collect();
    json!({
        "sessions": sessions,
        "unread": unread,
        "looked_into": places,
        "not_read": listing.left,
    })
}

fn session(listed: &Listed) -> Option<Value> {
    let summary = listed.summary.as_ref().ok()?;
    let modified = listed.found.modified;
    Some(json!({
        "path": shown(&listed.found.path),
        "conversation": listed.conversation.map(|n| n + 1),
        "agent": listed.found.agent,
        "title": summary.title,
        "project": summary.project,
        "format": summary.format,
        "modified": modified.and_then(rfc3339),
        "bytes": listed.found.size.0,
        "messages": summary.messages,
        "calls": summary.calls,
        // Null if the format does not record compactions.
        "compactions": summary.records_compactions().then_some(summary.compactions),
        "peak_tokens": summary.peak,
        "peak_basis": match summary.peak_basis {
            PeakBasis::Reported => "reported",
            PeakBasis::Estimated => "estimated",
        },
        "peak_share": summary.peak_share,
        "conversations": summary.conversations,
        "parent": listed.parent.as_ref().map(|parent| json!({"id": parent.id, "title": parent.title})),
    }))
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
