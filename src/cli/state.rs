//! `plimsoll state`: what the program itself keeps between runs, to be looked at and cleared.

use super::args::{Shared, Words};
use super::output::{clean, counted, grouped, json, print};
use super::{Status, Verb};
use crate::exec::stores::Cache;
use crate::exec::{State, clear_logs, logs};
use crate::units::Rate;
use anyhow::{Context as _, bail};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const VERB: Verb = Verb {
    name: "state",
    summary: "List what the program itself keeps between runs, or clear it.",
    help: "\
plimsoll state [list] [--json]
plimsoll state clear [logs] [--json]

One file with recent files, the theme and prices that were typed, what `sessions` found out about session files (titles, sizes), and the logs of runs
in which a model wrote summaries: what was asked and answered, never a key. Nothing else is kept, and nothing with --no-state.
`clear logs` removes the logs alone.

JSON of list: path, exists, recent[], theme (null where none was chosen), price (typed last, USD for a
million tokens: input, cache_read, cache_write, output, and caching, the rule; null where none was), sessions (the file; null where there is none),
logs[{path, bytes}]. JSON of clear: path, cleared, sessions_cleared, logs_cleared.
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let operands = words.read(VERB.name, &mut shared, |_, _| Ok(false))?;
    let operands = operands.iter().map(|word| word.to_string_lossy());
    let operands: Vec<_> = operands.collect();
    if shared.no_state {
        bail!("--no-state leaves the state alone; leave it out to list or clear it");
    }
    let path = State::path().context("there is no home folder, so nothing is kept")?;
    match operands.iter().map(|word| &**word).collect::<Vec<_>>()[..] {
        [] | ["list"] => list(&path, shared.json)?,
        ["clear"] => clear(&path, shared.json, true)?,
        ["clear", "logs"] => clear(&path, shared.json, false)?,
        _ => bail!(
            "state {}: say state list, state clear or state clear logs",
            operands.join(" ")
        ),
    }
    Ok(Status::Done)
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
    if as_json {
        return json(&json!({
            "path": path.to_string_lossy(),
            "exists": kept.is_some(),
            "recent": recent,
            "theme": theme,
            "price": state.price,
            "sessions": sessions,
            "logs": logs.iter().map(|log| json!({"path": log.path.to_string_lossy(), "bytes": log.bytes})).collect::<Vec<_>>(),
        }));
    }
    let mut text = format!("{}\n", clean(&path.to_string_lossy()));
    if kept.is_none() {
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
    for log in &logs {
        let (path, bytes) = (log.path.to_string_lossy(), grouped(log.bytes));
        let _ = writeln!(text, "  log     {} ({bytes} bytes)", clean(&path));
    }
    print(&text)
}

/// A price of a million tokens.
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
        }));
    }
    let mut said = match (state_too, cleared) {
        (true, true) => format!("removed {}\n", clean(&shown)),
        (true, false) => format!("nothing to remove: {}\n", clean(&shown)),
        (false, _) => String::new(),
    };
    if of_sessions {
        said.push_str("removed what was known of session files\n");
    }
    if n_logs > 0 || !state_too {
        let _ = writeln!(said, "removed {}", counted(n_logs, "log"));
    }
    print(&said)
}
