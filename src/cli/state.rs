//! `plimsoll state`: lists and clears what the program keeps between runs.

use super::Status;
use super::args::Shared;
use super::output::{clean, counted, grouped, json, print};
use crate::exec::stores::Cache;
use crate::exec::{OwnPresets, State, clear_logs, logs};
use crate::units::Rate;
use anyhow::{Context as _, bail};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// List or clear what Plimsoll keeps between runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Plimsoll keeps recent files, the theme and prices that you typed; what `sessions` read about session files; logs of\nruns in which a model wrote summaries (never a key); and your presets. With --no-state it keeps nothing."
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// Operations on the state.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List what is kept (default)
    List,
    /// Remove everything except your presets, or only one kind
    Clear {
        /// Only this kind
        #[arg(value_parser = ["logs", "presets"])]
        kind: Option<String>,
    },
}

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        if shared.no_state {
            bail!("--no-state excludes the state: remove it to list or clear the state");
        }
        let path = State::path().context("there is no home folder, so nothing is kept")?;
        match &self.action {
            None | Some(Action::List) => list(&path, shared.json)?,
            Some(Action::Clear { kind }) => match kind.as_deref() {
                Some("presets") => clear_presets(&path, shared.json)?,
                kind => clear(&path, shared.json, kind.is_none())?,
            },
        }
        Ok(Status::Done)
    }
}

fn list(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let kept = State::kept();
    let (state, theme) = match &kept {
        Some(state) => (
            state.clone(),
            Some(&state.theme).filter(|theme| !theme.is_empty()),
        ),
        None => (State::default(), None),
    };
    let recent: Vec<_> = state.recent.iter().map(|p| p.to_string_lossy()).collect();
    let logs = logs();
    let sessions = Cache::kept();
    let sessions = sessions.map(|path| path.to_string_lossy().into_owned());
    let presets = own_presets();
    if as_json {
        return json(&json!({
            "path": path.to_string_lossy(),
            "exists": kept.is_some(),
            "recent": recent,
            "theme": theme,
            "price": state.price,
            "sessions": sessions,
            "presets": presets.as_ref().map(|(folder, n)| json!({"path": folder.to_string_lossy(), "count": n})),
            "logs": logs.iter().map(|log| json!({"path": log.path.to_string_lossy(), "bytes": log.bytes})).collect::<Vec<_>>(),
        }));
    }
    let mut text = format!("{}\n", clean(&path.to_string_lossy()));
    if kept.is_none() && sessions.is_none() && logs.is_empty() && presets.is_none() {
        text.push_str("  nothing is kept\n");
    }
    for file in &recent {
        let _ = writeln!(text, "  recent  {}", clean(file));
    }
    if let Some(theme) = theme {
        let _ = writeln!(text, "  theme   {}", clean(theme));
    }
    if let Some(price) = &state.price {
        let _ = writeln!(
            text,
            "  prices  {} in, {} out, {} cache read, {} cache write, as {} caches",
            usd(price.input),
            usd(price.output),
            usd(price.cache_read),
            usd(price.cache_write),
            clean(&price.caching)
        );
    }
    if let Some(sessions) = &sessions {
        let _ = writeln!(text, "  list    {}", clean(sessions));
    }
    if let Some((folder, n)) = &presets {
        let (folder, n) = (folder.to_string_lossy(), counted(*n, "preset"));
        let _ = writeln!(text, "  presets {} ({n})", clean(&folder));
    }
    for log in &logs {
        let (path, bytes) = (log.path.to_string_lossy(), grouped(log.bytes));
        let _ = writeln!(text, "  log     {} ({bytes} bytes)", clean(&path));
    }
    print(&text)
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
    if as_json {
        return json(&json!({
            "path": shown,
            "cleared": cleared,
            "sessions_cleared": of_sessions,
            "logs_cleared": n_logs,
            "presets_cleared": 0,
        }));
    }
    let mut said = match (state_too, cleared) {
        (true, true) => format!("removed {}\n", clean(&shown)),
        (true, false) => format!("nothing to remove: {}\n", clean(&shown)),
        (false, _) => String::new(),
    };
    if of_sessions {
        said.push_str("removed the list of sessions\n");
    }
    if n_logs > 0 || !state_too {
        let _ = writeln!(said, "removed {}", counted(n_logs, "log"));
    }
    if let Some((folder, n)) = own_presets().filter(|_| state_too) {
        let (n, folder) = (counted(n, "preset"), folder.to_string_lossy());
        let _ = writeln!(
            said,
            "kept {n} of your own in {}; `plimsoll state clear presets` removes your presets",
            clean(&folder)
        );
    }
    print(&said)
}

fn clear_presets(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let n = OwnPresets::here().clear()?;
    if as_json {
        return json(&json!({
            "path": path.to_string_lossy(),
            "cleared": false,
            "sessions_cleared": false,
            "logs_cleared": 0,
            "presets_cleared": n,
        }));
    }
    print(&format!("removed {} of your own\n", counted(n, "preset")))
}
