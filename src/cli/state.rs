//! `plimsoll state`: what the program itself keeps between runs, to be looked at and cleared.

use super::args::{Shared, Word, Words, unknown_option};
use super::output::{clean, json, print};
use super::{Status, Verb};
use crate::exec::State;
use anyhow::{Context as _, bail};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const VERB: Verb = Verb {
    name: "state",
    summary: "List what the program itself keeps between runs, or clear it.",
    help: "\
plimsoll state [list] [--json]
plimsoll state clear [--json]

It is one file: recent files and the theme. Nothing else is kept, and nothing with --no-state.

JSON of list: path, exists, recent[], theme (null where none was chosen). JSON of clear: path, cleared.
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut operands = Vec::new();
    while let Some(word) = words.next()? {
        match word {
            Word::Operand(operand) => operands.push(operand.to_string_lossy().into_owned()),
            Word::Option(option) if shared.take(&option, words)? => {}
            Word::Option(option) => return Err(unknown_option(VERB.name, &option)),
        }
    }
    if shared.no_state {
        bail!("--no-state leaves the state alone; leave it out to list or clear it");
    }
    let path = State::path().context("there is no home folder, so nothing is kept")?;
    match operands.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["list"] => list(&path, shared.json)?,
        ["clear"] => clear(&path, shared.json)?,
        _ => bail!(
            "state {}: say state list or state clear",
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
    if as_json {
        return json(&json!({
            "path": path.to_string_lossy(),
            "exists": kept.is_some(),
            "recent": recent,
            "theme": theme,
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
    print(&text)
}

fn clear(path: &Path, as_json: bool) -> anyhow::Result<()> {
    let shown = path.to_string_lossy();
    let cleared = State::clear()
        .with_context(|| format!("{shown} cannot be removed; check its permissions"))?;
    if as_json {
        return json(&json!({ "path": shown, "cleared": cleared }));
    }
    let said = if cleared {
        "removed"
    } else {
        "nothing to remove:"
    };
    print(&format!("{said} {}\n", clean(&shown)))
}
