//! Codex's sub-agents: separate rollouts in the folder of sessions (one subfolder per day). The first line names the
//! thread that started them.

use super::SubAgentLayout;
use super::scan::{ChildFile, FoundSubAgent, conversations, entries, is_folder, name_of, open};
use crate::formats::{self, ImportReport, SessionIdentity, SubAgentFiles};
use crate::session::Session;
use crate::units;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const LAYOUT: SubAgentLayout =
    SubAgentLayout { location: SubAgentFiles::DayFolders, find, ..SubAgentLayout::DEFAULT };

/// Maximum number of files whose first line is read. It bounds the time to open a session of a person who keeps
/// thousands.
const MAX_FILES: usize = 2_000;
/// Maximum number of day folders that are searched: a session that was resumed for three months.
const MAX_DAYS: usize = 100;
/// Maximum length of a first line, in bytes. It contains the instructions. The longest one of the recorded sessions
/// that we have is 43,199 bytes long.
const MAX_LINE_BYTES: u64 = 512 << 10;
/// Tolerance for the last day of a session. Folders have the local date, messages have UTC, which differ by up to 14
/// hours; a sub-agent that starts with the last message may also write after midnight.
const TOLERANCE: Duration = Duration::from_hours(36);

/// Finds the sub-agents of the rollout at `path`, the oldest first.
fn find(path: &Path, main: &Session, report: &ImportReport) -> Vec<FoundSubAgent> {
    let Some(identity) = formats::identity_of(&main.source) else {
        return Vec::new();
    };
    if !is_rollout(path) || identity.id.is_empty() {
        return Vec::new();
    }
    let start = start_time(path);
    let mut files: Vec<PathBuf> = folders(path, main)
        .iter()
        .flat_map(|folder| entries(folder))
        // Names sort by time, and no sub-agent is older than its parent.
        .filter(|file| file != path && is_rollout(file) && start_time(file) >= start)
        .take(MAX_FILES)
        .collect();
    files.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    let mut children: Vec<ChildFile> = Vec::new();
    for path in files {
        let child = first_line(&path).and_then(|line| formats::identity(main.source.format, &line));
        let child = child.filter(|child| child.parent.as_ref() == Some(&identity.id));
        let is_new =
            |child: &SessionIdentity| children.iter().all(|known| known.identity.id != child.id);
        if let Some(identity) = child.filter(is_new) {
            children.push(ChildFile { path, identity });
        }
    }
    conversations(main, report, children)
}

fn is_rollout(path: &Path) -> bool {
    name_of(path).starts_with("rollout-")
        && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Returns the start time in a rollout's file name.
fn start_time(path: &Path) -> &str {
    let digits = name_of(path).strip_prefix("rollout-").unwrap_or_default();
    digits.get(..19).unwrap_or_default()
}

/// Returns the session's own folder. If it is a day folder, the later days up to the session's last day follow.
fn folders(path: &Path, main: &Session) -> Vec<PathBuf> {
    let Some(own) = path.parent() else {
        return Vec::new();
    };
    let date: Vec<&str> = own.ancestors().take(3).map(name_of).collect();
    let is_number = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let last = main.messages.iter().rev().find_map(|message| message.time);
    let last = last.and_then(|time| {
        let last_time = Duration::from_millis(u64::try_from(time.0).ok()?) + TOLERANCE;
        let text = units::rfc3339(last_time)?;
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
                if date > first && date <= last && days.len() < MAX_DAYS {
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
    let mut start = BufReader::new(file.take(MAX_LINE_BYTES));
    start.read_until(b'\n', &mut line).ok()?;
    Some(line)
}
