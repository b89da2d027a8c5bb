//! `plimsoll state`: lists and clears the files that the program keeps between runs.

mod index;

use super::args::GlobalOptions;
use super::output::{clean, counted, grouped, json, print};
use super::status::Status;
use crate::exec::hooks::{clear_hook_files, kept_hook_files, kept_hook_record};
use crate::exec::stores::{Cache, UsageCache};
use crate::exec::{
    IndexFolder, KeptPrice, LogFile, OwnPresets, State, Workspaces, clear_logs, kept_tables, logs,
};
use crate::units::Rate;
use anyhow::{Context as _, bail};
pub(super) use index::EnabledIndex;
use index::IndexFile;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// List or clear the files that Plimsoll keeps between runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Plimsoll keeps recent files, the theme, the zoom factor and typed prices; a cache of `sessions`; logs of runs in which a model wrote summaries (never a key); workspaces of sessions (lanes, settings, marks, notes and view; no text of the session); if you installed hooks, what they changed, their log, and your instructions in compacted sessions, for 7 days; your presets; and, only if you switch it on, a search index with the text of your sessions, readable by you alone. It also reads tables of models and prices that you put next to the state file: litellm's model_prices_and_context_window.json, models.toml or prices.toml (see docs/models.md). With --no-state it keeps none of them and reads only your presets.\n\nExamples:\n  plimsoll state list\n  plimsoll state clear logs"
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<StateAction>,
}

/// Operations on the state.
#[derive(Debug, clap::Subcommand)]
enum StateAction {
    /// List the kept files (default)
    #[command(after_help = "Examples:\n  plimsoll state list --json")]
    List,
    /// Switch on the search index
    #[command(
        after_help = "The index stores the text of the agents' sessions in the data folder, readable by you alone.\n\nExamples:\n  plimsoll state enable index"
    )]
    Enable {
        /// Part of the state to switch on
        #[arg(value_parser = ["index"])]
        kind: String,
    },
    /// Switch off the search index and remove it
    #[command(after_help = "Examples:\n  plimsoll state disable index")]
    Disable {
        /// Part of the state to switch off
        #[arg(value_parser = ["index"])]
        kind: String,
    },
    /// Remove the kept files except your presets, or only one kind
    #[command(
        after_help = "Removing the index switches it off.\n\nExamples:\n  plimsoll state clear logs"
    )]
    Clear {
        /// Only this kind
        kind: Option<StateFileKind>,
    },
}

/// Kinds of files that can be removed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StateFileKind {
    Hooks,
    Index,
    Logs,
    Presets,
    Workspaces,
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
    /// Path of the cached usage of sessions; null if it does not exist.
    usage: Option<Cow<'a, str>>,
    /// Your own tables of models and prices, in the order in which they apply.
    tables: Vec<String>,
    /// Your own presets; null if there are none.
    presets: Option<PresetFolder>,
    /// Workspaces of sessions; null if there are none.
    workspaces: Option<WorkspaceFolder<'a>>,
    /// Search index; null if it is switched off.
    index: Option<IndexFile>,
    /// Record of installed hooks, their log, and files with constraints of compacted sessions, with their locks.
    hooks: Vec<String>,
    /// Logs of runs in which a model wrote summaries.
    logs: Vec<LogEntry<'a>>,
}

/// Typed prices in USD per million tokens.
#[derive(Serialize, JsonSchema)]
struct PriceEntry<'a> {
    /// Price of prompt tokens outside of the cache.
    input: Rate,
    /// Price of prompt tokens read from the cache.
    cache_read: Rate,
    /// Price of prompt tokens written to the cache.
    cache_write: Rate,
    /// Price of prompt tokens written to the cache for the longer lifetime; null if it is the same.
    cache_write_hour: Option<Rate>,
    /// Price of answers.
    output: Rate,
    /// Name of the caching rule.
    caching: &'a str,
}

/// The folder of your own presets.
#[derive(Serialize, JsonSchema)]
struct PresetFolder {
    /// Path of the folder.
    path: String,
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
    /// Size of all workspaces in bytes.
    bytes: u64,
}

/// A log.
#[derive(Serialize, JsonSchema)]
struct LogEntry<'a> {
    /// Path of the log.
    path: Cow<'a, str>,
    /// Size of the log in bytes.
    bytes: u64,
}

/// The removed parts of the program's state.
#[derive(Serialize, JsonSchema)]
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
    /// Number of files of hooks removed.
    hooks_cleared: usize,
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
            None | Some(StateAction::List) => list(&path, shared)?,
            Some(StateAction::Enable { .. }) => index::enable(shared)?,
            Some(StateAction::Disable { .. }) => clear(&path, Some(StateFileKind::Index), shared)?,
            Some(StateAction::Clear { kind }) => clear(&path, *kind, shared)?,
        }
        Ok(Status::Done)
    }
}

fn list(path: &Path, shared: &GlobalOptions) -> anyhow::Result<()> {
    let (kept, sessions, logs) = (State::kept(), Cache::kept(), logs());
    let usage = UsageCache::kept();
    let tables = kept_tables();
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
        usage: usage.as_ref().map(|path| path.to_string_lossy()),
        tables: tables.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        presets: own_presets(),
        workspaces: folder.map(|folder| WorkspaceFolder {
            path: folder.to_string_lossy(),
            count: size.n_files,
            bytes: size.bytes,
        }),
        index: IndexFile::of(&index),
        hooks: kept_hook_files().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        logs: logs.iter().map(log_entry).collect(),
    };
    if shared.json { json(&list) } else { print(&state_text(&list)) }
}

fn log_entry(log: &LogFile) -> LogEntry<'_> {
    LogEntry { path: log.path.to_string_lossy(), bytes: log.bytes }
}

fn state_text(list: &StateList<'_>) -> String {
    let mut text = format!("{}\n", clean(&list.path));
    let is_any_folder = list.presets.is_some()
        || !list.tables.is_empty()
        || list.workspaces.is_some()
        || list.index.is_some()
        || !list.hooks.is_empty();
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
    if let Some(usage) = &list.usage {
        let _ = writeln!(text, "  usage   {}", clean(usage));
    }
    for table in &list.tables {
        let _ = writeln!(text, "  table   {}", clean(table));
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
    for file in &list.hooks {
        let _ = writeln!(text, "  hooks   {}", clean(file));
    }
    for log in &list.logs {
        let bytes = grouped(log.bytes);
        let _ = writeln!(text, "  log     {} ({bytes} bytes)", clean(&log.path));
    }
    text
}

/// Returns the folder of your own presets; `None` if there are none.
fn own_presets() -> Option<PresetFolder> {
    let own = OwnPresets::here();
    let count = own.all().iter().filter(|own| own.policy.is_ok()).count();
    let folder = own.folder().filter(|_| count > 0)?;
    Some(PresetFolder { path: folder.to_string_lossy().into_owned(), count })
}

/// Formats a price per million tokens.
fn usd(rate: Rate) -> String {
    format!("${}", rate.0)
}

/// Removes the files of a kind (default: all except presets) and prints what was removed.
fn clear(path: &Path, kind: Option<StateFileKind>, shared: &GlobalOptions) -> anyhow::Result<()> {
    let shown = path.to_string_lossy();
    let cannot = |what: &str| format!("{what} cannot be removed; check its permissions");
    let is_meant = |one: StateFileKind| kind.is_none_or(|kind| kind == one);
    let is_all = kind.is_none();
    let cleared = ClearedState {
        cleared: is_all && State::clear().with_context(|| cannot(&shown))?,
        // Both are read anew from the sessions.
        sessions_cleared: is_all
            && Cache::clear()
                .and_then(|cleared| Ok(UsageCache::clear()? | cleared))
                .with_context(|| cannot("the list of sessions"))?,
        logs_cleared: if is_meant(StateFileKind::Logs) {
            clear_logs().with_context(|| cannot("a log"))?
        } else {
            0
        },
        presets_cleared: if kind == Some(StateFileKind::Presets) {
            OwnPresets::here().clear()?
        } else {
            0
        },
        workspaces_cleared: if is_meant(StateFileKind::Workspaces) {
            let cleared = Workspaces::here().clear();
            cleared.with_context(|| cannot("a workspace"))?
        } else {
            0
        },
        index_cleared: is_meant(StateFileKind::Index) && {
            let cleared = IndexFolder::here().clear();
            cleared.with_context(|| cannot("the search index"))?
        },
        hooks_cleared: if is_meant(StateFileKind::Hooks) {
            clear_hook_files().with_context(|| cannot("a file of hooks"))?
        } else {
            0
        },
        path: shown,
    };
    if shared.json {
        return json(&cleared);
    }
    print(&match kind {
        None => all_cleared_text(&cleared),
        Some(StateFileKind::Hooks) => {
            removed(cleared.hooks_cleared, "file", " of hooks") + &kept_record_text()
        }
        Some(StateFileKind::Index) if cleared.index_cleared => INDEX_REMOVED.to_owned(),
        Some(StateFileKind::Index) => "the search index is off\n".to_owned(),
        Some(StateFileKind::Logs) => removed(cleared.logs_cleared, "log", ""),
        Some(StateFileKind::Presets) => removed(cleared.presets_cleared, "preset", " of your own"),
        Some(StateFileKind::Workspaces) => removed(cleared.workspaces_cleared, "workspace", ""),
    })
}

/// Text after the search index was removed.
const INDEX_REMOVED: &str = "removed the search index and switched it off\n";

fn removed(n: usize, what: &str, rest: &str) -> String {
    format!("removed {}{rest}\n", counted(n, what))
}

/// Returns the line about the record of installed hooks; empty if none is installed.
fn kept_record_text() -> String {
    let record = kept_hook_record().map(|path| path.to_string_lossy().into_owned());
    let line =
        |path: String| format!("kept {}; `plimsoll hook uninstall AGENT` needs it\n", clean(&path));
    record.map(line).unwrap_or_default()
}

/// Returns the text after all kinds except presets were removed.
fn all_cleared_text(cleared: &ClearedState<'_>) -> String {
    let action = if cleared.cleared { "removed" } else { "nothing to remove:" };
    let mut text = format!("{action} {}\n", clean(&cleared.path));
    if cleared.sessions_cleared {
        text.push_str("removed the list of sessions\n");
    }
    if cleared.logs_cleared > 0 {
        text.push_str(&removed(cleared.logs_cleared, "log", ""));
    }
    if cleared.workspaces_cleared > 0 {
        text.push_str(&removed(cleared.workspaces_cleared, "workspace", ""));
    }
    if cleared.index_cleared {
        text.push_str(INDEX_REMOVED);
    }
    if cleared.hooks_cleared > 0 {
        text.push_str(&removed(cleared.hooks_cleared, "file", " of hooks"));
    }
    text.push_str(&kept_record_text());
    if let Some(presets) = own_presets() {
        let _ = writeln!(
            text,
            "kept {} of your own in {}; `plimsoll state clear presets` removes your presets",
            counted(presets.count, "preset"),
            clean(&presets.path)
        );
    }
    text
}
