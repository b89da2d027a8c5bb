//! One line of talk: records in file order become messages, model calls and compactions.

use super::answers::{answered, with_names_of_tools};
use super::entry::{Answer, Beside, Boundary, Entry, Said, What};
use super::id::Id;
use super::records;
use super::tree::{Place, uuid};
use crate::formats::json::member;
use crate::formats::{Input, Warning, counts, title};
use crate::progress::{Cancelled, Progress};
use crate::session::{Draft, Part, Role, Session, SessionBuilder, Source, StepDraft, Usage};
use crate::units::Tokens;
use std::collections::HashMap;

/// One conversation, told from its records.
pub(super) struct Told {
    pub session: Session,
    /// Whether each record is context of it.
    pub is_context: Vec<bool>,
    /// What is odd about single records.
    pub warnings: Vec<Warning>,
}

/// The conversation of the records that have their place in it; `parts` are what they say. A file that holds several
/// gives them numbers from 2 on.
pub(super) fn tell(
    input: &Input,
    number: Option<usize>,
    entries: &[Entry],
    parts: Vec<Vec<Part>>,
    places: &[Place],
    progress: &Progress,
) -> Result<Told, Cancelled> {
    let name = match number {
        Some(number) => format!("{} #{number}", input.name),
        None => input.name.clone(),
    };
    let source = Source {
        name,
        format: super::FORMAT.name,
        bytes: input.bytes.clone(),
    };
    let parts = with_names_of_tools(parts, entries, places);
    let mut line = Line::new(SessionBuilder::new(source), entries, parts, places);
    let mut is_context = Vec::with_capacity(entries.len());
    for (at, (entry, place)) in entries.iter().zip(places).enumerate() {
        progress.go_on()?;
        is_context.push(*place == Place::Main && line.add(at, entry));
    }
    line.close_compaction();
    Ok(Told {
        warnings: std::mem::take(&mut line.warnings),
        session: line.finish(title(entries)),
        is_context,
    })
}

/// A session being put together.
struct Line<'a> {
    builder: SessionBuilder,
    entries: &'a [Entry],
    /// What the records say, until it is moved into a message.
    parts: Vec<Vec<Part>>,
    /// Records of each answer.
    answers: HashMap<&'a str, Vec<usize>>,
    /// Messages by the records they were read from, if a compaction names any.
    messages: Option<HashMap<&'a Id, usize>>,
    /// A compaction whose context is still being read.
    compaction: Option<Compaction<'a>>,
    has_history: bool,
    first_prompt: Option<String>,
    warnings: Vec<Warning>,
    /// Records before this one were managed by us.
    managed_end: usize,
}

/// A compaction, and the messages it wrote.
struct Compaction<'a> {
    boundary: Option<&'a Boundary>,
    before: Option<Tokens>,
    after: Option<Tokens>,
    /// What was before it is in another file: what it wrote is all that this one holds of it.
    is_first: bool,
    written: Vec<usize>,
}

impl<'a> Line<'a> {
    fn new(
        mut builder: SessionBuilder,
        entries: &'a [Entry],
        parts: Vec<Vec<Part>>,
        places: &[Place],
    ) -> Self {
        let n_answered = answered(entries, places).count();
        let mut answers: HashMap<&str, Vec<usize>> = HashMap::with_capacity(n_answered);
        for (at, answer) in answered(entries, places) {
            if let Some(group) = &answer.group {
                answers.entry(group).or_default().push(at);
            }
        }
        let n_said = parts.iter().filter(|parts| !parts.is_empty()).count();
        let n_parts = parts.iter().map(Vec::len).sum();
        builder.reserve(n_said, answers.len(), n_parts);
        let names_messages = |entry: &Entry| match &entry.what {
            What::Boundary(it) => !it.preserved.is_empty() || it.preserved_range.is_some(),
            _ => false,
        };
        Self {
            builder,
            entries,
            parts,
            answers,
            messages: entries.iter().any(names_messages).then(HashMap::new),
            compaction: None,
            has_history: false,
            first_prompt: None,
            warnings: Vec::new(),
            managed_end: entries
                .iter()
                .rposition(|entry| matches!(entry.what, What::Managed(_)))
                .unwrap_or(0),
        }
    }

    /// Adds a record; false if it is no context.
    fn add(&mut self, at: usize, entry: &'a Entry) -> bool {
        match &entry.what {
            What::Said(said) => self.say(at, entry, said),
            What::Answered(answer) => self.answer(at, entry, answer),
            What::Boundary(boundary) => {
                self.close_compaction();
                // What we managed begins with a boundary of ours.
                if self.has_history || at >= self.managed_end {
                    self.compaction = Some(Compaction {
                        before: self.checked(
                            entry,
                            boundary.before,
                            "the tokens before this compaction",
                        ),
                        after: self.checked(
                            entry,
                            boundary.after,
                            "the tokens after this compaction",
                        ),
                        boundary: Some(boundary),
                        is_first: !self.has_history,
                        written: Vec::new(),
                    });
                }
                false
            }
            What::Managed(calibration) => {
                self.builder.calibration(calibration.clone());
                false
            }
            What::Leaf(_) | What::Title(..) | What::Microcompaction | What::Aside => false,
        }
    }

    fn say(&mut self, at: usize, entry: &'a Entry, said: &Said) -> bool {
        if self.parts[at].is_empty() {
            return false;
        }
        if let Some(effort) = &said.effort {
            self.builder.effort(effort);
        }
        if records::is_abort(&self.parts[at]) {
            self.builder.aborted();
        }
        let is_root = entry.node.as_ref().is_some_and(|n| n.parent.is_none());
        if said.is_summary && self.compaction.is_none() && self.has_history && is_root {
            // Old versions start over with a summary and mark no boundary.
            self.compaction = Some(Compaction {
                boundary: None,
                before: None,
                after: None,
                is_first: false,
                written: Vec::new(),
            });
        }
        let is_written = match &self.compaction {
            Some(compaction) if said.is_summary => compaction.written.is_empty(),
            // What it attaches right behind its summary is there for the second time.
            Some(compaction) => said.beside == Beside::Attachment && !compaction.written.is_empty(),
            None => false,
        };
        if !is_written {
            self.close_compaction();
        }
        let draft = Draft {
            id: uuid(entry).map(|id| id.to_string().into()),
            time: entry.time,
            is_injected: said.is_injected,
            is_summary: said.is_summary,
            in_history: !is_written || self.compaction.as_ref().is_some_and(|c| c.is_first),
            raw: vec![entry.span.clone()],
            ..Draft::new(Role::User, std::mem::take(&mut self.parts[at]))
        };
        if self.first_prompt.is_none() && !said.is_injected && !said.is_summary {
            self.first_prompt = records::own_words(&draft.parts).and_then(title::of);
        }
        let idx = self.message(entry, draft);
        if let Some(compaction) = self.compaction.as_mut().filter(|_| is_written) {
            compaction.written.push(idx);
        }
        true
    }

    /// The first record of an answer brings the whole answer; the others are in it.
    fn answer(&mut self, at: usize, entry: &'a Entry, answer: &'a Answer) -> bool {
        let lines = match &answer.group {
            Some(group) => self.answers.remove(&**group).unwrap_or_default(),
            None => vec![at],
        };
        if lines.is_empty() {
            return true;
        }
        self.close_compaction();
        let usage = self.usage(&lines);
        self.builder.step(StepDraft {
            model: answer.model.as_deref().map(Into::into),
            window: None,
            usage,
            time: entry.time,
        });
        let mut draft = Draft::new(Role::Assistant, Vec::new());
        draft.id = answer.group.as_deref().map(Into::into);
        draft.time = entry.time;
        for (record, at) in lines.iter().enumerate() {
            let record = u32::try_from(record).unwrap_or(u32::MAX);
            draft.raw.push(self.entries[*at].span.clone());
            let parts = std::mem::take(&mut self.parts[*at]);
            draft
                .parts
                .extend(parts.into_iter().map(|part| Part { record, ..part }));
        }
        let idx = self.message(entry, draft);
        let entries = self.entries;
        if let Some(messages) = &mut self.messages {
            let uuids = lines.iter().filter_map(|at| uuid(&entries[*at]));
            messages.extend(uuids.map(|uuid| (uuid, idx)));
        }
        true
    }

    /// The count of a record, unless it cannot be right.
    fn checked(&mut self, entry: &Entry, tokens: Option<Tokens>, what: &str) -> Option<Tokens> {
        counts::checked(tokens, what).unwrap_or_else(|why| {
            self.warn(entry, why);
            None
        })
    }

    /// What the call of an answer of these records took. The last record has the whole count; earlier ones were
    /// written while the answer came in.
    fn usage(&mut self, lines: &[usize]) -> Option<Usage> {
        let entries = self.entries;
        let reported = lines.iter().filter_map(|at| match &entries[*at].what {
            What::Answered(answer) if *at >= self.managed_end => {
                Some((&entries[*at], answer.usage?))
            }
            _ => None,
        });
        let (mut found, mut odd) = (Vec::new(), None);
        for (entry, usage) in reported {
            match counts::checked_usage(Some(usage)) {
                Ok(usage) => found.extend(usage),
                Err(why) => odd = odd.or(Some((entry, why))),
            }
        }
        if let Some((entry, why)) = odd {
            self.warn(entry, why);
        }
        found.into_iter().max_by_key(|usage| usage.output)
    }

    fn warn(&mut self, entry: &Entry, text: String) {
        self.warnings.push(Warning {
            line: Some(entry.line),
            text,
        });
    }

    fn message(&mut self, entry: &'a Entry, draft: Draft) -> usize {
        self.has_history |= draft.in_history;
        let idx = self.builder.message(draft);
        if let Some(messages) = &mut self.messages {
            messages.extend(uuid(entry).map(|uuid| (uuid, idx)));
        }
        idx
    }

    /// The context after a compaction is complete once something else follows.
    fn close_compaction(&mut self) {
        let Some(Compaction {
            boundary,
            before,
            after,
            is_first: _,
            written,
        }) = self.compaction.take()
        else {
            return;
        };
        let Some(boundary) = boundary else {
            self.builder.compaction("", None, None, written);
            return;
        };
        let preserved = self.preserved(boundary);
        let kept = if boundary.preserved_first {
            preserved.into_iter().chain(written).collect()
        } else {
            // The summary, what was carried over, what is attached.
            let split = written.len().min(1);
            [&written[..split], &preserved, &written[split..]].concat()
        };
        self.builder
            .compaction(boundary.trigger.as_str(), before, after, kept);
    }

    /// The messages a compaction carried over, in their order.
    fn preserved(&self, boundary: &Boundary) -> Vec<usize> {
        let message = |uuid: &Id| self.messages.as_ref()?.get(uuid).copied();
        let mut found: Vec<usize> = boundary.preserved.iter().filter_map(message).collect();
        if let Some((first, last)) = &boundary.preserved_range
            && let (Some(first), Some(last)) = (message(first), message(last))
        {
            let messages = &self.builder.session().messages;
            found.extend((first..=last).filter(|idx| messages[*idx].in_history));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn finish(mut self, title: Option<String>) -> Session {
        if let Some(title) = title.or(self.first_prompt) {
            self.builder.title(title);
        }
        let mut session = self.builder.finish();
        session.project = project(&session, self.entries);
        session
    }
}

/// Every record of a conversation says in which folder it was written; some others do not.
fn project(session: &Session, entries: &[Entry]) -> Option<String> {
    let folder = |entry: &Entry| {
        let text = session.raw(&entry.span);
        let place = member(&text, &(0..text.len()), "cwd")?;
        Some(serde_json::from_slice(&text[place]).ok())
    };
    let mut named = entries.iter().filter(|entry| entry.names_folder);
    named.find_map(folder)?
}

/// What a record says, moved out of it.
pub(super) fn take_parts(entry: &mut Entry) -> Vec<Part> {
    match &mut entry.what {
        What::Said(said) => std::mem::take(&mut said.parts),
        What::Answered(answer) => std::mem::take(&mut answer.parts),
        _ => Vec::new(),
    }
}

/// The last title a person gave, else the last one the program gave.
fn title(entries: &[Entry]) -> Option<String> {
    let last = |by_person: bool| {
        entries.iter().rev().find_map(|entry| match &entry.what {
            What::Title(title, by) if *by == by_person => Some(title.to_string()),
            _ => None,
        })
    };
    last(true).or_else(|| last(false))
}
