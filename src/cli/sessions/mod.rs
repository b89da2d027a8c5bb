//! `plimsoll sessions`: lists the sessions of this machine or of a folder.

mod json_output;
mod search;

use super::args::{DEFAULT_FILES, GlobalOptions, InputArgs, row_limit};
use super::output::{clean, counted, grouped, json, percent, print_wrapped, tokens};
use super::session_files::{agent, caches, found, listed, save};
use super::status::Status;
use super::usage::sums;
use crate::engine::WindowSource;
use crate::exec::stores::{
    AgentFolder, ListCaches, ListedSession, Listing, PeakAccuracy, STORES, SessionSummary,
    SessionTrees, existing_folders,
};
use crate::presets::default_output_reserve;
use crate::units::{self, Tokens};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) use json_output::SessionList;
use json_output::json_output;
pub(super) use search::SessionSearch;

/// List the sessions of the agents on this machine, or of a folder, newest first
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("files", |arg| arg.help(DEFAULT_FILES)),
    after_help = "Without a folder, only the agents' own folders are searched, by file name; links are not followed. Results are cached by size and modification time. Sessions of a database or of a file with several are listed separately, with the --conversation that opens them. The peak is the largest context as a share of the context window, including the context at the end. ≈ marks a peak that is estimated at least in part; without recorded usage, it lacks what is not recorded. --search reads every file, or the search index if you switched it on (`plimsoll state enable index`).\n\nExamples:\n  plimsoll sessions sample_sessions\n  plimsoll sessions --search 'kind:result tokens>2000 error' sample_sessions"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    /// One agent only, such as claude-code or codex
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with_all = ["files", "files_from"])]
    agent: Option<&'static str>,
    /// Only sessions with a message that matches, such as 'kind:result tokens>2000 error' (see `plimsoll help find`)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    search: Option<String>,
    /// Add what each session and its sub-agents used, with the cost
    #[arg(long)]
    usage: bool,
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
        let inputs = found(&self.inputs, shared)?;
        let mut files = inputs.found_files();
        files.retain(|file| self.agent.is_none_or(|agent| file.agent == Some(agent)));
        if let Some(query) = &self.search {
            let nothing = || self.nothing();
            search::run((&inputs, &files), query, limit, &nothing, shared)?;
            return Ok(Status::Done);
        }
        let has_usage = shared.json || self.usage;
        let (mut cache, mut usage) = caches(shared, has_usage);
        let caches = ListCaches { summaries: &mut cache, usage: usage.as_mut() };
        let mut listing = listed(&inputs, &files, limit, caches, shared.window)?;
        save(&mut cache, usage.as_mut());
        let output_reserve = shared.output_reserve.unwrap_or_else(default_output_reserve);
        listing.shorten(limit);
        let trees = SessionTrees::new(&listing, output_reserve);
        if shared.json {
            let counts = (output_reserve, inputs.own_outputs.len());
            json(&json_output(&listing, &trees, &self.inputs, counts))?;
        } else {
            print_wrapped(&self.text(&listing, &trees, output_reserve))?;
        }
        Ok(Status::Done)
    }

    fn text(&self, listing: &Listing, trees: &SessionTrees, output_reserve: Tokens) -> String {
        let mut text = String::new();
        let starters = listing.starters();
        let mut started = vec![0; starters.len()];
        for starter in &starters {
            started[*starter] += 1;
        }
        for (idx, listed) in listing.sessions.iter().enumerate() {
            // A sub-agent is in the line of the session that started it.
            if let (Ok(summary), true) = (&listed.summary, starters[idx] == idx) {
                row(&mut text, (listed, started[idx] - 1), summary, output_reserve);
                if self.usage {
                    usage_lines(&mut text, trees, idx);
                }
                text.push('\n');
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
        if !self.inputs.are_empty() {
            for folder in &self.inputs.files {
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

fn row(
    text: &mut String,
    (listed, sub_agents): (&ListedSession, usize),
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
        last_call(summary.ended),
        listed.agent_name(),
        counted(summary.messages, "message"),
    );
    if summary.compactions > 0 {
        let _ = write!(line, ", {}", counted(summary.compactions, "compaction"));
    }
    if sub_agents > 0 {
        let _ = write!(line, ", {}", counted(sub_agents, "sub-agent"));
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
        writeln!(text, "    {}{}", clean(&shown(&listed.found.path)), number.unwrap_or_default());
}

fn rfc3339(time: SystemTime) -> Option<String> {
    units::rfc3339(time.duration_since(UNIX_EPOCH).ok()?)
}

/// Formats a recorded time, in milliseconds since 1970, as RFC 3339.
fn recorded_time(time: i64) -> Option<String> {
    units::rfc3339(Duration::from_millis(u64::try_from(time).ok()?))
}

/// Formats the time of the last call to the minute, in UTC.
fn last_call(time: Option<i64>) -> String {
    match time.and_then(recorded_time) {
        Some(time) => time.get(..16).unwrap_or_default().replace('T', " "),
        None => "no time".to_owned(),
    }
}

/// Writes what a session and the agents of its tree used.
fn usage_lines(text: &mut String, trees: &SessionTrees, idx: usize) {
    let own = &trees.own[idx];
    let _ = writeln!(text, "    {}", sums(own));
    let Some(tree) = trees.tree(idx) else {
        return;
    };
    let _ = writeln!(
        text,
        "    with {}: {}",
        counted(tree.agents.len() - 1, "other agent"),
        sums(&tree.total)
    );
    for agent in &tree.agents {
        let title: String = agent.conversation().title.chars().take(TITLE_CHARS).collect();
        let _ = writeln!(text, "      {}: {}", clean(&title), sums(&agent.row));
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
