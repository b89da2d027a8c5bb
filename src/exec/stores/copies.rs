//! Sessions that repeat calls of another file: a program that resumes a session may write its calls to a new file
//! again.

use crate::analysis::usage::call_identities;
use crate::exec::files::file_name;
use crate::exec::load::{is_piece, parse_file};
use crate::progress::Progress;
use crate::session::Session;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Calls of a session that another file has too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedCalls {
    /// Number of these calls.
    pub calls: usize,
    /// Name of the other file.
    pub file: String,
    /// The other file.
    pub path: PathBuf,
}

/// The calls of a session, to find them in other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallIds {
    /// Time of the first call with a time, in milliseconds since 1970.
    pub(super) begun: Option<i64>,
    /// Hashes of the calls whose answer has an id.
    pub(super) ids: Vec<u64>,
}

impl CallIds {
    /// Returns the calls of a session.
    pub(super) fn of(session: &Session) -> Self {
        let identities = call_identities(session).into_iter().flatten();
        Self {
            begun: session.calls.iter().find_map(|call| call.time.map(|time| time.0)),
            ids: identities.collect(),
        }
    }

    fn shared(&self, other: &Self) -> usize {
        let known: HashSet<_> = other.ids.iter().collect();
        self.ids.iter().filter(|id| known.contains(id)).count()
    }
}

/// A session among those whose calls are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedCalls<'a> {
    /// See [`CallIds::begun`].
    pub(super) begun: Option<i64>,
    /// Time of the last change of its file.
    pub(super) modified: Option<SystemTime>,
    /// Its file.
    pub(super) path: &'a Path,
    /// See [`CallIds::ids`].
    pub(super) ids: &'a [u64],
}

/// Returns the sessions that repeat calls of an earlier one, by index.
pub(super) fn copies(sessions: &[ComparedCalls<'_>]) -> Vec<(usize, RepeatedCalls)> {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_key(|idx| {
        let session = &sessions[*idx];
        (session.begun, session.modified, session.path)
    });
    let mut owners: HashMap<u64, usize> = HashMap::new();
    let mut copies = Vec::new();
    for idx in order {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for id in sessions[idx].ids {
            let owner = *owners.entry(*id).or_insert(idx);
            if owner != idx {
                *shared.entry(owner).or_default() += 1;
            }
        }
        // Of equal numbers, the first file.
        let most = shared.into_iter().max_by_key(|(owner, n)| (*n, Reverse(*owner)));
        copies.extend(most.map(|(owner, calls)| {
            let path = sessions[owner].path;
            (idx, RepeatedCalls { calls, file: file_name(path), path: path.to_owned() })
        }));
    }
    copies
}

/// Maximum number of files next to a session that are searched for its calls. Only the beginning of most is read, so it
/// bounds the reading to 500 MB.
const MAX_FILES: usize = 500;
/// Bytes at the beginning of a file in which the first call is searched: a resumed session repeats the beginning, in
/// which pasted files and instructions precede the first call.
const BEGINNING: u64 = 1 << 20;

/// Returns the calls of a session that another file of its folder has too, from before it.
pub fn repeated_calls(path: &Path, session: &Session) -> Option<RepeatedCalls> {
    let own = CallIds::of(session);
    let first = session.messages.iter().find(|m| m.call.is_some())?;
    let first = first.id.as_deref().filter(|_| !own.ids.is_empty() && !is_piece(path))?;
    let mut others: Vec<_> = fs::read_dir(path.parent()?).ok()?.flatten().collect();
    others.retain(|other| {
        let other = other.path();
        other.extension() == path.extension()
            && other.file_name() != path.file_name()
            && !is_piece(&other)
    });
    others.sort_by_key(fs::DirEntry::file_name);
    let shared = others.iter().take(MAX_FILES).filter_map(|other| {
        let other = other.path();
        let mut start = Vec::new();
        let file = File::open(&other).ok().filter(|_| other.is_file())?;
        file.take(BEGINNING).read_to_end(&mut start).ok()?;
        String::from_utf8_lossy(&start).find(first)?;
        let parsed = parse_file(&other, &Progress::default()).ok()?;
        let ids = CallIds::of(parsed.sessions.first()?);
        let calls = own.shared(&ids);
        (calls > 0 && ids.begun <= own.begun).then(|| RepeatedCalls {
            calls,
            file: file_name(&other),
            path: other,
        })
    });
    shared.max_by_key(|repeated| repeated.calls)
}
