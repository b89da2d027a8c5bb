//! Builds conversations from the entries on the path to a leaf.

use super::entry::{EntryContent, EntryRef, PiCompaction, PiEntry};
use crate::formats::parsed::OriginPlaces;
use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::formats::tree::Tree;
use crate::formats::{Input, ParseError, Parsed, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{CallDraft, Session, Track};
use std::collections::HashSet;
use std::mem;

/// Reads the conversations of a file of this format: the path to its last entry, followed by the abandoned branches.
pub(crate) fn read(
    input: &Input,
    format: &'static str,
    entries: Vec<PiEntry>,
    progress: &Progress,
    mut log: ReadLog,
) -> Result<Parsed, ParseError> {
    let tree = Tree::new(entries.iter().map(|e| (e.id.as_deref(), e.parent.as_deref())));
    let main = tree.path(entries.len().saturating_sub(1));
    let others = tree.others(&main, |at| entries[at].is_context());
    tree.note_orphans(|at| entries[at].span.start, &mut log.notes);
    let mut reader = PiReader { input, format, entries, log };
    reader.count_entries(&main);
    let mut branches = Vec::with_capacity(others.len());
    for (n, leaf) in others.into_iter().enumerate() {
        branches.extend(reader.transcript(&tree.path(leaf), n + 1, progress)?);
    }
    let mut sessions: Vec<Session> = reader.transcript(&main, 0, progress)?.into_iter().collect();
    sessions.append(&mut branches);
    let spans = reader.entries.iter().map(|entry| &entry.span);
    let places = OriginPlaces { folder: &["cwd"], version: &[], id: &["id"] };
    input.set_origin(&mut sessions, &spans, &places);
    reader.log.finish(input, sessions, "a Pi session without a message")
}

impl PiEntry {
    fn is_context(&self) -> bool {
        matches!(
            self.content,
            EntryContent::Message(_)
                | EntryContent::Answer(_, Some(_))
                | EntryContent::Compaction(_)
        )
    }
}

struct PiReader<'a> {
    input: &'a Input,
    format: &'static str,
    entries: Vec<PiEntry>,
    log: ReadLog,
}

impl PiReader<'_> {
    /// Counts the entries by kind and adds notes on those of unknown types.
    fn count_entries(&mut self, main: &[usize]) {
        let is_main: HashSet<usize> = main.iter().copied().collect();
        for (at, entry) in self.entries.iter().enumerate() {
            let on_main = is_main.contains(&at);
            let is_aside = !on_main && entry.id.is_some();
            let branch = if is_aside { " (another branch)" } else { "" };
            self.log
                .report
                .count_record(&format!("{}{branch}", entry.label), on_main && entry.is_context());
            if matches!(entry.content, EntryContent::Unknown) {
                let kind = json::shortened(&entry.label);
                let text = format!("unknown entry type `{kind}`: not counted");
                self.log.notes.once(entry.span.start, text);
            }
        }
    }

    /// Builds the conversation of the entries on a path. `branch` is 0 for the main one.
    fn transcript(
        &mut self,
        path: &[usize],
        branch: usize,
        progress: &Progress,
    ) -> Result<Option<Session>, Cancelled> {
        let mut transcript =
            Transcript::new(self.input, self.format, (branch > 0).then_some(branch + 1));
        let is_mark = |at: &usize| matches!(self.entries[*at].content, EntryContent::Managed(_));
        let n_managed = path.iter().rposition(is_mark).unwrap_or(0);
        // Pairs of an entry on the path and its message, in order.
        let mut messages: Vec<(usize, usize)> = Vec::new();
        for (n, at) in path.iter().enumerate() {
            progress.check_cancelled()?;
            let start = self.entries[*at].span.start;
            // The main conversation is built last and needs no copy.
            let content = if branch > 0 {
                self.entries[*at].content.clone()
            } else {
                mem::replace(&mut self.entries[*at].content, EntryContent::Ignored)
            };
            match content {
                EntryContent::Message(draft) => messages.push((*at, transcript.add_message(draft))),
                EntryContent::Rejected(call, error) => {
                    transcript.builder.call(call);
                    transcript.builder.fail_last_call(&error);
                }
                EntryContent::Answer(call, draft) => {
                    let usage = self.log.notes.usage(start, call.usage).filter(|_| n >= n_managed);
                    let call = CallDraft { usage, ..call };
                    if let Some(draft) = draft {
                        messages.push((*at, transcript.add_answer(call, draft)));
                    } else {
                        if usage.is_some() {
                            transcript.builder.call(call);
                        }
                        transcript.builder.aborted();
                    }
                }
                EntryContent::Compaction(compaction) => {
                    self.compaction(start, compaction, &messages, &mut transcript);
                }
                EntryContent::Title(name) => transcript.title(&name),
                EntryContent::Effort(effort) => transcript.builder.effort(&effort),
                EntryContent::Managed(calibration) => transcript.builder.calibration(calibration),
                EntryContent::Ignored | EntryContent::Unknown => {}
            }
        }
        Ok(transcript.finish().map(|session| named(session, branch)))
    }

    fn compaction(
        &mut self,
        start: usize,
        compaction: PiCompaction,
        messages: &[(usize, usize)],
        transcript: &mut Transcript,
    ) {
        let first = match &compaction.first_kept {
            Some(EntryRef::Index(index)) => Some(*index),
            Some(EntryRef::Id(id)) => {
                let is_first = |e: &PiEntry| e.id.as_ref() == Some(id);
                self.entries.iter().position(is_first)
            }
            None => None,
        };
        // Entries, including those of one branch, are in file order.
        let kept = messages.iter().filter(|(entry, _)| first.is_some_and(|first| *entry >= first));
        let kept: Vec<usize> = kept.map(|(_, message)| *message).collect();
        let before =
            self.log.notes.tokens(start, compaction.before, "the tokens before this compaction");
        let summary = transcript.add_message(compaction.summary);
        let context = std::iter::once(summary).chain(kept).collect();
        transcript.builder.compaction("", before, None, context);
    }
}

fn named(mut session: Session, branch: usize) -> Session {
    if branch > 0 {
        session.title = format!("{} (branch {branch})", session.title);
        session.track = Track::Branch;
    }
    session
}
