//! One row for each file at a recorded compaction or control point: what was known, and whether it was read again.
//!
//! The table holds numbers only, no text of the sessions. A *control point* is a call at which nothing was compacted:
//! it shows how often content that is still there is read again.

use super::model::{FileUse, WINDOW_CALLS};
use std::fmt::Write as _;

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A file that was read. Only these are fitted.
    File,
    /// A command that was run.
    Command,
    /// A search.
    Search,
    /// An address that was fetched.
    Url,
}

impl ItemKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::File, Self::Command, Self::Search, Self::Url];

    /// Returns the name in the table.
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Search => "search",
            Self::Url => "url",
        }
    }

    /// Returns the label of several.
    pub fn label(self) -> &'static str {
        match self {
            Self::File => "files",
            Self::Command => "commands",
            Self::Search => "searches",
            Self::Url => "addresses",
        }
    }
}

/// A file, or what else a tool call named, at a compaction or control point.
#[derive(Clone, Debug, PartialEq)]
pub struct RereadItem {
    /// Its kind.
    pub kind: ItemKind,
    /// Number of the session.
    pub session: u32,
    /// Number of its person: sessions of one person are not independent.
    pub person: u32,
    /// Name of the program that recorded it.
    pub program: String,
    /// Number of the compaction or control point in the session.
    pub point: u32,
    /// Whether nothing was compacted there.
    pub is_control: bool,
    /// Whether the text of the summary is unknown, so that nothing is known about names in the next context.
    pub is_encrypted: bool,
    /// Age, uses and edits of the file.
    pub known: FileUse,
    /// Tokens of its last read.
    pub tokens: f64,
    /// Whether the next context names it; none for control points and unknown summaries.
    pub is_named: Option<bool>,
    /// Calls until it was read (or run) again; none if it was not before the next compaction or the end.
    pub read_again_after: Option<u32>,
    /// Calls for which it was observed.
    pub observed_calls: u32,
}

impl RereadItem {
    /// Returns whether it was read again within a number of calls.
    pub fn is_read_again_within(&self, calls: u32) -> bool {
        self.read_again_after.is_some_and(|after| after <= calls)
    }

    /// Returns whether it was observed for a number of calls, which re-reads must not decide.
    pub fn is_observed_for(&self, calls: u32) -> bool {
        self.observed_calls >= calls
    }

    /// Returns whether it counts for the coefficients: observed for the whole window, with a known context.
    pub(super) fn is_fitted(&self) -> bool {
        self.kind == ItemKind::File && !self.is_encrypted && self.is_observed_for(WINDOW_CALLS)
    }
}

/// Columns that a table must have. Others are ignored.
const COLUMNS: [&str; 15] = [
    "session",
    "person",
    "program",
    "compaction",
    "control",
    "encrypted",
    "kind",
    "age_calls",
    "uses",
    "edits",
    "last_read_tokens",
    "named_in_next_context",
    "refetched_after_calls",
    "calls_until_end",
    "was_read",
];

/// Reads a table of items: comma-separated values with a heading. Files that were only written are left out. `person`
/// is the column that tells persons apart.
///
/// # Errors
/// The line that is not valid, as a sentence.
pub fn parse_items(text: &str, person: &str) -> Result<Vec<RereadItem>, String> {
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let column = if column == "person" { person } else { column };
        let found = heading.iter().position(|name| *name == column);
        *place = found.ok_or_else(|| format!("the column `{column}` is missing"))?;
    }
    let mut numbers = Numbers::default();
    let mut items = Vec::new();
    for (line, text) in (2..).zip(lines) {
        let cells: Vec<&str> = text.split(',').collect();
        let row = places.map(|place| cells.get(place).copied().unwrap_or_default());
        let item =
            numbers.item(row).ok_or_else(|| format!("line {line} is not a row of the table"))?;
        // A file that was only written has no content to read again.
        if item.kind != ItemKind::File || row[COLUMNS.len() - 1] == "1" {
            items.push(item);
        }
    }
    Ok(items)
}

/// Writes a table that [`parse_items`] reads.
pub fn write_items(items: &[RereadItem]) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    let bit = u8::from;
    for item in items {
        let known = item.known;
        let named = item.is_named.map_or_else(String::new, |is| bit(is).to_string());
        let after = item.read_again_after.map_or_else(String::new, |n| n.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{:.1},{named},{after},{},1",
            item.session,
            item.person,
            item.program,
            item.point,
            bit(item.is_control),
            bit(item.is_encrypted),
            item.kind.name(),
            known.age,
            known.uses,
            bit(known.is_edited),
            item.tokens,
            item.observed_calls,
        );
    }
    text
}

/// Numbers of the sessions and persons, in order of their first row.
#[derive(Default)]
struct Numbers {
    sessions: Vec<String>,
    persons: Vec<String>,
}

impl Numbers {
    /// Returns the item of a row; none if a cell is not valid.
    fn item(&mut self, row: [&str; COLUMNS.len()]) -> Option<RereadItem> {
        let [
            session,
            person,
            program,
            point,
            control,
            encrypted,
            kind,
            age,
            uses,
            edits,
            tokens,
            named,
            after,
            observed,
            was_read,
        ] = row;
        let flag = |text: &str| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        let kind = ItemKind::ALL.into_iter().find(|known| known.name() == kind)?;
        flag(was_read)?;
        let optional = |text: &str| match text {
            "" => Some(None),
            text => Some(Some(text.parse::<u32>().ok()?)),
        };
        let tokens: f64 = tokens.parse().ok()?;
        Some(RereadItem {
            kind,
            session: number(&mut self.sessions, session),
            person: number(&mut self.persons, person),
            program: program.to_owned(),
            point: point.parse().ok()?,
            is_control: flag(control)?,
            is_encrypted: flag(encrypted)?,
            known: FileUse {
                age: age.parse().ok()?,
                uses: uses.parse().ok()?,
                is_edited: edits.parse::<u32>().ok()? > 0,
            },
            tokens: tokens.is_finite().then_some(tokens)?,
            is_named: match named {
                "" => None,
                named => Some(flag(named)?),
            },
            read_again_after: optional(after)?,
            observed_calls: observed.parse().ok()?,
        })
    }
}

/// Returns the number of a name, a new one if it is new.
fn number(known: &mut Vec<String>, name: &str) -> u32 {
    let found = known.iter().position(|other| other == name);
    let idx = found.unwrap_or_else(|| {
        known.push(name.to_owned());
        known.len() - 1
    });
    idx as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let item = |is_control| RereadItem {
            kind: ItemKind::File,
            session: 0,
            person: 0,
            program: "claude".to_owned(),
            point: 1,
            is_control,
            is_encrypted: false,
            known: FileUse { age: 3, uses: 2, is_edited: true },
            tokens: 12.5,
            is_named: (!is_control).then_some(true),
            read_again_after: is_control.then_some(7),
            observed_calls: 45,
        };
        let items = vec![item(false), item(true)];
        assert_eq!(parse_items(&write_items(&items), "person"), Ok(items.clone()));
        let written = write_items(&items).replace(",1\n", ",0\n");
        assert_eq!(parse_items(&written, "person"), Ok(Vec::new()));
        let cut = write_items(&items).replace(",12.5,", ",twelve,");
        assert_eq!(parse_items(&cut, "person"), Err("line 2 is not a row of the table".to_owned()));
        assert!(parse_items("", "person").is_err());
    }
}
