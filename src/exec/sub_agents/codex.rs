//! Codex's sub-agents: rollouts of their own in the same folder of sessions (a folder a day), whose first line names the
//! thread that started them.

use super::{Found, entries, is_folder, name_of, open, told};
use crate::formats::{self, ImportReport, SessionIdentity};
use crate::session::Session;
use crate::units;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No more files are asked whose they are, nor more days looked into.
const MOST_ASKED: usize = 2_000;
const MOST_DAYS: usize = 100;
/// The first line holds the instructions; it is not longer, in bytes.
const LINE: u64 = 512 << 10;
/// A session's last day may be the next one by another clock.
const SLACK: Duration = Duration::from_hours(36);

/// The sub-agents of the rollout at `path`, the oldest first.
pub(super) fn found(path: &Path, main: &Session, report: &ImportReport) -> Vec<Found> {
    let Some(identity) = formats::identity_of(&main.source) else {
        return Vec::new();
    };
    if !is_rollout(path) || identity.id.is_empty() {
        return Vec::new();
    }
    let began = stamp(path);
    let mut files: Vec<PathBuf> = folders(path, main)
        .iter()
        .flat_map(|folder| entries(folder))
        // By their names they are sorted by time, and no sub-agent is older than its parent.
        .filter(|file| file != path && is_rollout(file) && stamp(file) >= began)
        .take(MOST_ASKED)
        .collect();
    files.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    let mut children: Vec<(PathBuf, SessionIdentity)> = Vec::new();
    for file in files {
        let child = first_line(&file).and_then(|line| formats::identity(main.source.format, &line));
        let child = child.filter(|child| child.parent.as_ref() == Some(&identity.id));
        let is_new =
            |child: &SessionIdentity| children.iter().all(|(_, known)| known.id != child.id);
        if let Some(child) = child.filter(is_new) {
            children.push((file, child));
        }
    }
    told(main, report, children)
}

fn is_rollout(path: &Path) -> bool {
    name_of(path).starts_with("rollout-") && path.extension().is_some_and(|end| end == "jsonl")
}

/// When it was begun, as its name says.
fn stamp(path: &Path) -> &str {
    let digits = name_of(path).strip_prefix("rollout-").unwrap_or_default();
    digits.get(..19).unwrap_or_default()
}

/// The session's own folder, and where it is one of a day, those of the later days up to the session's last.
fn folders(path: &Path, main: &Session) -> Vec<PathBuf> {
    let Some(own) = path.parent() else {
        return Vec::new();
    };
    let date: Vec<&str> = own.ancestors().take(3).map(name_of).collect();
    let is_number = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let last = main.messages.iter().rev().find_map(|message| message.time);
    let last = last.and_then(|time| {
        let since = Duration::from_millis(u64::try_from(time.0).ok()?) + SLACK;
        let text = units::rfc3339(since)?;
        Some(text.get(..10)?.replace('-', "/"))
    });
    let root = own.ancestors().nth(3);
    let (true, [day, month, year], Some(last), Some(root)) =
        (date.iter().all(is_number), &date[..], last, root)
    else {
        return vec![own.to_owned()];
    };
    let first = format!("{year}/{month}/{day}");
    let mut days = vec![own.to_owned()];
    for year in entries(root).iter().filter(|y| is_folder(y)) {
        for month in entries(year).iter().filter(|m| is_folder(m)) {
            for day in entries(month).iter().filter(|d| is_folder(d)) {
                let date = [year, month, day].map(|path| name_of(path)).join("/");
                if date > first && date <= last && days.len() < MOST_DAYS {
                    days.push(day.clone());
                }
            }
        }
    }
    days
}

fn first_line(path: &Path) -> Option<Vec<u8>> {
    let file = open(path)?;
    let mut line = Vec::new();
    let mut start = BufReader::new(file.take(LINE));
    start.read_until(b'\n', &mut line).ok()?;
    Some(line)
}
