//! Lists sessions: the newest first, what is known at once, the rest as it is read, on all cores.

use super::{Cache, Found, SessionSummary};
use crate::progress::{Cancelled, Progress};
use rayon::prelude::*;
use std::sync::atomic::Ordering;

/// Files read at a time: between two such bunches the newest are already told.
const BUNCH: usize = 8;

/// A file of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The file.
    pub found: Found,
    /// What it holds, or why it cannot be opened, in one line.
    pub summary: Result<SessionSummary, String>,
}

/// What became of a search.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Files that hold a conversation, newest first.
    pub sessions: Vec<Listed>,
    /// Those that cannot be opened.
    pub unread: Vec<Listed>,
    /// How many older files were not looked at.
    pub left: usize,
}

/// Reads files in order, up to about so many sessions, and tells of each; `progress` counts files. Blocks.
///
/// # Errors
/// [`Cancelled`] when `progress` says to stop; what was read by then is in the cache.
pub fn list(
    files: &[Found],
    most: usize,
    cache: &mut Cache,
    progress: &Progress,
    mut tell: impl FnMut(&Listed),
) -> Result<Listing, Cancelled> {
    progress.total.store(files.len() as u64, Ordering::Relaxed);
    let mut listing = Listing::default();
    for bunch in files.chunks(BUNCH) {
        progress.go_on()?;
        if listing.sessions.len() >= most {
            break;
        }
        let summary = |found: &Found| match cache.get(found) {
            Some(known) => (known.clone(), false),
            // Its own progress: bytes are no files.
            None => (
                SessionSummary::read(&found.path, &Progress::default()),
                true,
            ),
        };
        let read: Vec<_> = bunch.par_iter().map(summary).collect();
        for (found, (summary, is_new)) in bunch.iter().zip(read) {
            if is_new {
                cache.put(found, &summary);
            }
            let listed = Listed {
                found: found.clone(),
                summary,
            };
            tell(&listed);
            let of = match listed.summary {
                Ok(_) => &mut listing.sessions,
                Err(_) => &mut listing.unread,
            };
            of.push(listed);
        }
        progress.advance(bunch.len() as u64);
    }
    listing.left = files.len() - listing.sessions.len() - listing.unread.len();
    Ok(listing)
}
