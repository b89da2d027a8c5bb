//! Edits that name the text they replace, and where each of its lines had been said: the tools of agents differ in the
//! argument that holds it.

use super::names::{Place, answers, own_parts};
use crate::session::{Body, Session};
use rayon::prelude::*;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Shorter lines are everywhere.
const SHORTEST: usize = 12;
/// Share of an edit's lines that must have been said before it.
const KNOWN: (usize, usize) = (80, 100);

/// The edits of a session whose old text had been said before.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// By step.
    found: Vec<Edit>,
    /// Lines of old texts.
    lines: Vec<Box<str>>,
    /// Where each line stands, in order.
    copies: Vec<Vec<Place>>,
}

/// An edit that names its old text.
#[derive(Debug)]
pub(super) struct Edit {
    step: usize,
    /// Index of the message.
    pub(super) message: u32,
    /// The call sees what stands before this message.
    context_end: u32,
    /// Lines of its old text, by their numbers.
    pub(super) lines: Box<[u32]>,
}

impl Edits {
    /// Finds them; a line in more messages than `most` tells nothing.
    pub(super) fn new(session: &Session, texts: &[Cow<'_, str>], most: usize) -> Self {
        let mut edits = Self::default();
        let mut ids: HashMap<String, u32> = HashMap::new();
        for (step, answer) in answers(session).into_iter().enumerate() {
            for (message, part) in own_parts(session, step, answer) {
                let Body::ToolCall { arguments, .. } = &session.parts[part].body else {
                    continue;
                };
                let lines = old_lines(arguments);
                if lines.is_empty() {
                    continue;
                }
                let lines = lines.into_iter().map(|line| {
                    let next = ids.len() as u32;
                    *ids.entry(line).or_insert(next)
                });
                edits.found.push(Edit {
                    step,
                    message: message as u32,
                    context_end: session.steps[step].context_end as u32,
                    lines: lines.collect(),
                });
            }
        }
        let mut lines: Vec<(String, u32)> = ids.into_iter().collect();
        lines.sort_unstable_by_key(|(_, id)| *id);
        edits.lines = lines.into_iter().map(|(line, _)| line.into()).collect();
        edits.locate(session, texts);
        edits.keep_known(session, most);
        edits
    }

    /// The edits of a step.
    pub(super) fn at(&self, step: usize) -> &[Edit] {
        let from = self.found.partition_point(|edit| edit.step < step);
        let edits = &self.found[from..];
        &edits[..edits.partition_point(|edit| edit.step == step)]
    }

    /// A line with the message that uses it.
    pub(super) fn line(&self, line: u32, edit: &Edit) -> (&str, u32) {
        (&self.lines[line as usize], edit.message)
    }

    /// Where a line stood before an edit.
    pub(super) fn copies(&self, line: u32, edit: &Edit) -> &[Place] {
        let copies = &self.copies[line as usize];
        &copies[..copies.partition_point(|place| place.message < edit.context_end)]
    }

    fn locate(&mut self, session: &Session, texts: &[Cow<'_, str>]) {
        self.copies = vec![Vec::new(); self.lines.len()];
        if self.lines.is_empty() {
            return;
        }
        let finder = Finder::new(&self.lines);
        let found: Vec<Vec<u32>> = texts.par_iter().map(|text| finder.find(text)).collect();
        for (idx, message) in session.messages.iter().enumerate() {
            for part in message.parts.clone() {
                for line in &found[part] {
                    self.copies[*line as usize].push(Place {
                        message: idx as u32,
                        part: part as u32,
                    });
                }
            }
        }
    }

    /// Keeps the edits that can be judged: most of their lines had been said before.
    fn keep_known(&mut self, session: &Session, most: usize) {
        let is_history = |place: &Place| session.messages[place.message as usize].in_history;
        let (copies, edits) = (&self.copies, &mut self.found);
        edits.retain_mut(|edit| {
            let tells = |line: &&u32| copies[**line as usize].len() <= most;
            edit.lines = edit.lines.iter().filter(tells).copied().collect();
            let is_known = |line: &&u32| {
                let copies = &copies[**line as usize];
                let n = copies.partition_point(|place| place.message < edit.context_end);
                copies[..n].iter().any(is_history)
            };
            let known = edit.lines.iter().filter(is_known).count();
            known > 0 && known * KNOWN.1 >= edit.lines.len() * KNOWN.0
        });
    }
}

/// Arguments that hold the text to be replaced.
const OLD: [&str; 8] = [
    "old_string",
    "old_str",
    "old_text",
    "oldText",
    "oldString",
    "oldStr",
    "search",
    "old",
];

/// The lines of the text that a call replaces, each once.
fn old_lines(arguments: &str) -> Vec<String> {
    let mut old = Vec::new();
    match serde_json::from_str(arguments) {
        Ok(value) => gather(&value, &mut old),
        Err(_) => patch(arguments, &mut old),
    }
    let mut seen = HashSet::new();
    let lines = old
        .into_iter()
        .filter(|line| line.chars().count() >= SHORTEST);
    lines.filter(|line| seen.insert(line.clone())).collect()
}

fn gather(value: &Value, old: &mut Vec<String>) {
    match value {
        Value::String(text) => patch(text, old),
        Value::Array(items) => items.iter().for_each(|item| gather(item, old)),
        Value::Object(fields) => {
            let has_new = fields
                .keys()
                .any(|key| key.starts_with("new") || key.starts_with("replace"));
            for (key, field) in fields {
                match field {
                    Value::String(text) if has_new && OLD.contains(&key.as_str()) => {
                        old.extend(text.lines().map(|line| line.trim().to_owned()));
                    }
                    _ => gather(field, old),
                }
            }
        }
        _ => {}
    }
}

/// Context and minus lines of a patch, the search half of search blocks.
fn patch(text: &str, old: &mut Vec<String>) {
    #[derive(PartialEq)]
    enum In {
        Nothing,
        Hunk,
        Search,
    }
    let is_envelope = text.contains("*** Begin Patch");
    let mut at = In::Nothing;
    for line in text.lines() {
        let head = line.trim_end();
        if matches!(head, "<<<<<<< SEARCH" | "------- SEARCH") {
            at = In::Search;
        } else if at == In::Search {
            if head == "=======" {
                at = In::Nothing;
            } else {
                old.push(line.trim().to_owned());
            }
        } else if line.starts_with("*** Update File:") && is_envelope || line.starts_with("@@") {
            at = In::Hunk;
        } else if line.starts_with("*** ")
            || line.starts_with("diff --git")
            || line.starts_with("--- ")
        {
            at = In::Nothing;
        } else if at == In::Hunk
            && let Some(line) = line.strip_prefix([' ', '-'])
        {
            old.push(line.trim().to_owned());
        }
    }
}

/// Finds many lines in a text at once: by their first bytes, then by comparing.
struct Finder<'a> {
    lines: &'a [Box<str>],
    by_head: HashMap<u64, Vec<u32>>,
    /// Heads that may be there, a bit each.
    bits: Vec<u64>,
}

/// Bytes of a line that make its head.
const HEAD: usize = 8;

impl<'a> Finder<'a> {
    fn new(lines: &'a [Box<str>]) -> Self {
        let mut by_head: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut bits = vec![0_u64; 1024];
        for (idx, line) in lines.iter().enumerate() {
            let head = line.as_bytes()[..HEAD]
                .iter()
                .fold(0, |head, byte| head << 8 | u64::from(*byte));
            let (word, bit) = bit_of(head);
            bits[word] |= bit;
            by_head.entry(head).or_default().push(idx as u32);
        }
        Self {
            lines,
            by_head,
            bits,
        }
    }

    /// The lines that a text holds, ascending.
    fn find(&self, text: &str) -> Vec<u32> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut head = 0_u64;
        for (at, byte) in bytes.iter().enumerate() {
            head = head << 8 | u64::from(*byte);
            let (word, bit) = bit_of(head);
            if self.bits[word] & bit == 0 || at + 1 < HEAD {
                continue;
            }
            let rest = &bytes[at + 1 - HEAD..];
            let lines = self.by_head.get(&head).into_iter().flatten();
            found.extend(
                lines.filter(|idx| rest.starts_with(self.lines[**idx as usize].as_bytes())),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn bit_of(head: u64) -> (usize, u64) {
    let hash = head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    ((hash >> 6) as usize, 1 << (hash & 63))
}
