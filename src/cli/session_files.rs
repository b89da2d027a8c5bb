//! Session files of the commands that list many: `sessions` and `usage`.

use super::args::GlobalOptions;

use super::output::note;
use crate::exec::is_taken;
use crate::exec::stores::{Cache, FoundFile, FoundFiles, STORES, UsageCache, find, find_in};
use crate::names::nearest;
use crate::progress::Progress;
use anyhow::{Context as _, bail};
use std::path::PathBuf;

/// Parses the name of an agent.
pub(super) fn agent(given: &str) -> anyhow::Result<&'static str> {
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
pub(super) fn found(
    folders: &[PathBuf],
    progress: &Progress,
) -> anyhow::Result<(Vec<FoundFile>, usize)> {
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

/// Returns the caches of a list; empty ones with `--no-state`.
pub(super) fn caches(shared: &GlobalOptions, has_usage: bool) -> (Cache, Option<UsageCache>) {
    let load = || if shared.no_state { UsageCache::default() } else { UsageCache::load() };
    let summaries = if shared.no_state { Cache::default() } else { Cache::load() };
    (summaries, has_usage.then(load))
}

/// Writes the caches of a list.
pub(super) fn save(summaries: &mut Cache, usage: Option<&mut UsageCache>) {
    let saved = summaries.save().and_then(|()| usage.map_or(Ok(()), UsageCache::save));
    if let Err(error) = saved {
        note(&format!("the list of sessions cannot be cached ({error})"));
    }
}
