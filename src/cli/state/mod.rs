//! `plimsoll state`: lists and clears the files that the program keeps between runs.

mod index;

use super::args::GlobalOptions;
use super::output::{clean, counted, grouped, json, print};
use super::status::Status;
use crate::exec::stores::Cache;
use crate::exec::{
    IndexFolder, KeptPrice, LogFile, OwnPresets, State, Workspaces, clear_logs, logs,
};
use crate::units::Rate;
use anyhow::{Context as _, bail};
pub(super) use index::EnabledIndex;
use index::IndexFile;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// List or clear the files that Plimsoll keeps between runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Plimsoll keeps recent files, the theme, the zoom factor and typed prices; a cache of `sessions`; logs of runs in which a model wrote summaries (never a key); workspaces of sessions (lanes, settings, marks, notes and view; no text of the session); your presets; and, only if you switch it on, a search index with the text of your sessions, readable by you alone. With --no-state it keeps nothing."
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// Operations on the state.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the kept files (default)
    List,
    /// Switch on the search index: it stores the text of the agents' sessions in the data folder, readable by you alone
    Enable {
        /// Part of the state to switch on
        #[arg(value_parser = ["index"])]
        kind: String,
    },
    /// Switch off the search index and remove it
    Disable {
        /// Part of the state to switch off
        #[arg(value_parser = ["index"])]
        kind: String,
    },
    /// Remove everything except your presets, or only one kind; clearing the index switches it off
    Clear {
        /// Only this kind
        #[arg(value_parser = ["index", "logs", "presets", "workspaces"])]
        kind: Option<String>,
    },
}

/// The program's state.
#[derive(Serialize, JsonSchema)]
pub(super) struct StateList<'a> {
    /// Path of the state file.
    path: Cow<'a, str>,
    /// Whether the state file exists.
    #[serde(rename = "exists")]
    found: bool,
    /// Recent files, newest first.
    recent: Vec<Cow<'a, str>>,
    /// Theme: `dark`, `light` or `system`; null if none was chosen.
    theme: Option<&'a str>,
    /// Zoom factor of the window's interface; null for the usual one.
    zoom: Option<f32>,
    /// Prices typed last; null if none were.
    price: Option<PriceEntry<'a>>,
    /// Path of the cached list of sessions; null if it does not exist.
    sessions: Option<Cow<'a, str>>,
    /// Your own presets; null if there are none.
    presets: Option<PresetFolder<'a>>,
    /// Workspaces of sessions; null if there are none.
    workspaces: Option<WorkspaceFolder<'a>>,
    /// Search index; null if it is switched off.
    index: Option<IndexFile>,
    /// Logs of runs in which a model wrote summaries.
    logs: Vec<LogEntry<'a>>,
}

/// Typed prices in USD per million tokens.
#[derive(Serialize, JsonSchema)]
struct PriceEntry<'a> {
    /// Prompt tokens outside of the cache.
    input: Rate,
    /// Prompt tokens read from the cache.
    cache_read: Rate,
    /// Prompt tokens written to the cache.
    cache_write: Rate,
    /// Prompt tokens written to the cache for the longer lifetime; null if they cost the same.
    cache_write_hour: Option<Rate>,
    /// Answers.
    output: Rate,
    /// Name of the caching rule.
    caching: &'a str,
}

/// The folder of your own presets.
#[derive(Serialize, JsonSchema)]
struct PresetFolder<'a> {
    /// Path of the folder.
    path: Cow<'a, str>,
    /// Number of presets.
    count: usize,
}

/// The folder of workspaces.
#[derive(Serialize, JsonSchema)]
struct WorkspaceFolder<'a> {
    /// Path of the folder.
    path: Cow<'a, str>,
    /// Number of workspaces.
    count: usize,
    /// Size of all workspaces.
    bytes: u64,
}

/// A log.
#[derive(Serialize, JsonSchema)]
struct LogEntry<'a> {
    /// Path of the log.
    path: Cow<'a, str>,
    /// Size of the log.
    bytes: u64,
}

/// The removed parts of the program's state.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct ClearedState<'a> {
    /// Path of the state file.
    path: Cow<'a, str>,
    /// Whether the state file was removed.
    cleared: bool,
    /// Whether the cached list of sessions was removed.
    sessions_cleared: bool,
    /// Number of logs removed.
    logs_cleared: usize,
    /// Number of presets removed.
    presets_cleared: usize,
    /// Number of workspaces removed.
    workspaces_cleared: usize,
    /// Whether the search index was removed and switched off.
    index_cleared: bool,
}

impl<'a> From<&'a KeptPrice> for PriceEntry<'a> {
    fn from(price: &'a KeptPrice) -> Self {
        Self {
            input: price.input,
            cache_read: price.cache_read,
            cache_write: price.cache_write,
            cache_write_hour: price.cache_write_hour,
            output: price.output,
            caching: &price.caching,
        }
    }
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        if shared.no_state {
            bail!("--no-state excludes the state: remove it to list or clear the state");
        }
        let path = State::path().context("there is no home folder, so nothing is kept")?;
        match &self.action {
            None | Some(Action::List) => list(&path, shared.json)?,
            Some(Action::Enable { .. }) => index::enable(shared.json)?,
            Some(Action::Disable { .. }) => index::clear(&path, shared.json)?,
            Some(Action::Clear { kind }) => match kind.as_deref() {
                Some("index") => index::clear(&path, shared.json)?,
                Some("presets") => clear_presets(&path, shared.json)?,
                Some("workspaces") => clear_workspaces(&path, shared.json)?,
                kind => clear(&path, shared.json, kind.is_none())?,
            },
        }
        Ok(Status::Done)
    }
}

fn list(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let (kept, sessions, presets, logs) = (State::kept(), Cache::kept(), own_presets(), logs());
    let workspaces = Workspaces::here();
    let size = workspaces.size();
    let folder = workspaces.folder().filter(|_| size.n_files > 0);
    let index = IndexFolder::here();
    let found = kept.is_some();
    let state = kept.unwrap_or_default();
    let list = StateList {
        path: path.to_string_lossy(),
        found,
        recent: state.recent.iter().map(|p| p.to_string_lossy()).collect(),
        theme: Some(&*state.theme).filter(|theme| !theme.is_empty()),
        zoom: state.zoom,
        price: state.price.as_ref().map(PriceEntry::from),
        sessions: sessions.as_ref().map(|path| path.to_string_lossy()),
        presets: presets.as_ref().map(|(folder, count)| PresetFolder {
            path: folder.to_string_lossy(),
            count: *count,
        }),
        workspaces: folder.map(|folder| WorkspaceFolder {
            path: folder.to_string_lossy(),
            count: size.n_files,
            bytes: size.bytes,
        }),
        index: IndexFile::of(&index),
        logs: logs.iter().map(log_entry).collect(),
    };
    if as_json {
        json(&list)
    } else {
        print(&text(&list))
    }
}

fn log_entry(log: &LogFile) -> LogEntry<'_> {
    LogEntry {
        path: log.path.to_string_lossy(),
        bytes: log.bytes,
    }
}

fn text(list: &StateList<'_>) -> String {
    let mut text = format!("{}\n", clean(&list.path));
    let is_any_folder = list.presets.is_some() || list.workspaces.is_some() || list.index.is_some();
    if !list.found && list.sessions.is_none() && list.logs.is_empty() && !is_any_folder {
        text.push_str("  nothing is kept\n");
    }
    for file in &list.recent {
        let _ = writeln!(text, "  recent  {}", clean(file));
    }
    if let Some(theme) = list.theme {
        let _ = writeln!(text, "  theme   {}", clean(theme));
    }
    if let Some(zoom) = list.zoom {
        let _ = writeln!(text, "  zoom    {zoom}");
    }
    if let Some(price) = &list.price {
        let _ = writeln!(
            text,
            "  prices  {} in, {} out, {} cache read, {} cache write, as {} caches",
            usd(price.input),
            usd(price.output),
            usd(price.cache_read),
            usd(price.cache_write),
            clean(price.caching)
        );
    }
    if let Some(sessions) = &list.sessions {
        let _ = writeln!(text, "  list    {}", clean(sessions));
    }
    if let Some(presets) = &list.presets {
        let n = counted(presets.count, "preset");
        let _ = writeln!(text, "  presets {} ({n})", clean(&presets.path));
    }
    if let Some(workspaces) = &list.workspaces {
        let n = counted(workspaces.count, "workspace");
        let (path, bytes) = (clean(&workspaces.path), grouped(workspaces.bytes));
        let _ = writeln!(text, "  workspaces {path} ({n}, {bytes} bytes)");
    }
    if let Some(index) = &list.index {
        let _ = writeln!(text, "  index   {index}");
    }
    for log in &list.logs {
        let bytes = grouped(log.bytes);
        let _ = writeln!(text, "  log     {} ({bytes} bytes)", clean(&log.path));
    }
    text
}

/// Returns the folder of the user's own presets and their number; `None` if there are none.
fn own_presets() -> Option<(PathBuf, usize)> {
    let own = OwnPresets::here();
    let n = own.all().iter().filter(|own| own.policy.is_ok()).count();
    let folder = own.folder().filter(|_| n > 0)?;
    Some((folder.to_owned(), n))
}

/// Formats a price per million tokens.
fn usd(rate: Rate) -> String {
    format!("${}", rate.0)
}

fn clear(path: &Path, as_json: bool, state_too: bool) -> anyhow::Result<()> {
    let shown = path.to_string_lossy();
    let cannot = |what: &str| format!("{what} cannot be removed; check its permissions");
    let cleared = state_too && State::clear().with_context(|| cannot(&shown))?;
    let of_sessions =
        state_too && Cache::clear().with_context(|| cannot("the list of sessions"))?;
    let n_logs = clear_logs().with_context(|| cannot("a log"))?;
    let n_workspaces = if state_too {
        Workspaces::here()
            .clear()
            .with_context(|| cannot("a workspace"))?
    } else {
        0
    };
    let index_cleared = state_too && index::remove()?;
    if as_json {
        return json(&ClearedState {
            path: shown,
            cleared,
            sessions_cleared: of_sessions,
            logs_cleared: n_logs,
            workspaces_cleared: n_workspaces,
            index_cleared,
            ..ClearedState::default()
        });
    }
    let mut text = match (state_too, cleared) {
        (true, true) => format!("removed {}\n", clean(&shown)),
        (true, false) => format!("nothing to remove: {}\n", clean(&shown)),
        (false, _) => String::new(),
    };
    if of_sessions {
        text.push_str("removed the list of sessions\n");
    }
    if n_logs > 0 || !state_too {
        let _ = writeln!(text, "removed {}", counted(n_logs, "log"));
    }
    if n_workspaces > 0 {
        let _ = writeln!(text, "removed {}", counted(n_workspaces, "workspace"));
    }
    if index_cleared {
        text.push_str(index::REMOVED);
    }
    if let Some((folder, n)) = own_presets().filter(|_| state_too) {
        let (n, folder) = (counted(n, "preset"), folder.to_string_lossy());
        let _ = writeln!(
            text,
            "kept {n} of your own in {}; `plimsoll state clear presets` removes your presets",
            clean(&folder)
        );
    }
    print(&text)
}

fn clear_presets(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let n = OwnPresets::here().clear()?;
    if as_json {
        return json(&ClearedState {
            path: path.to_string_lossy(),
            presets_cleared: n,
            ..ClearedState::default()
        });
    }
    print(&format!("removed {} of your own\n", counted(n, "preset")))
}

fn clear_workspaces(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let cleared = Workspaces::here().clear();
    let n = cleared.context("a workspace cannot be removed; check its permissions")?;
    if as_json {
        return json(&ClearedState {
            path: path.to_string_lossy(),
            workspaces_cleared: n,
            ..ClearedState::default()
        });
    }
    print(&format!("removed {}\n", counted(n, "workspace")))
}
