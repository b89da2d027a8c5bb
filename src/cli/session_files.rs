//! Session files of the commands that list many, and what the conversations of one used.

use super::args::{GlobalOptions, InputArgs, is_stdin};
use super::many_files::FilesProgress;
use super::output::note;
use crate::analysis::usage::TreeUsage;
use crate::exec::stores::{
    Cache, FoundFile, ListCaches, ListedSession, Listing, STORES, TreeLimits, UsageCache,
    conversation_tree, find, list,
};
use crate::exec::{Inputs, Loaded, is_taken, warm_up};
use crate::names::nearest;
use crate::progress::Progress;
use crate::tokens::sampling_counter;
use crate::units::Tokens;
use anyhow::{Context as _, bail};
use std::cmp::Reverse;
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

/// Finds the files of the given paths, or of all agents, newest first. Prints warnings.
pub(super) fn found(args: &InputArgs, shared: &GlobalOptions) -> anyhow::Result<Inputs> {
    // With a cache, few files are read.
    if shared.no_state || Cache::kept().is_none() {
        warm_up(sampling_counter());
    }
    let is_missing =
        |path: &&PathBuf| !path.as_os_str().is_empty() && !is_stdin(path) && !is_taken(path);
    if let Some(missing) = args.files.iter().find(is_missing) {
        bail!("{}: no such folder or file; check the path", missing.display());
    }
    let mut inputs = args.find()?;
    if args.are_empty() {
        inputs.add_found(find(&Progress::default())?);
    }
    inputs.files.sort_by_key(|file| Reverse(file.found.modified));
    inputs.notes().for_each(|text| note(&text));
    Ok(inputs)
}

/// Lists the sessions of these files and shows the progress. `window` is the context window of all calls, if given.
pub(super) fn listed(
    inputs: &Inputs,
    files: &[FoundFile],
    most: usize,
    caches: ListCaches<'_>,
    window: Option<Tokens>,
) -> anyhow::Result<Listing> {
    let progress = FilesProgress::default();
    let count = |listed: &ListedSession| {
        if listed.summary.is_err() {
            progress.file_failed();
        }
    };
    let mut listing = progress.show(|| list(files, most, caches, &progress.files, count))?;
    inputs.show_in(&mut listing);
    if let Some(window) = window {
        listing.set_window(window);
    }
    Ok(listing)
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

/// Returns what the conversations of a session used, if it has sub-agents or branches.
pub(super) fn tree_usage(
    loaded: &Loaded,
    output_reserve: Tokens,
    shared: &GlobalOptions,
) -> Option<TreeUsage> {
    let limits = TreeLimits { window: shared.window, output_reserve };
    // Nothing cancels it.
    conversation_tree(loaded, limits, &Progress::default()).ok().flatten()
}
