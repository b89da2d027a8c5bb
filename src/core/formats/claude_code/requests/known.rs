//! Finds messages by their hashes: those recorded for requests, and those that the records of a conversation are.
//!
//! A message is one that was recorded on its own, or the beginning of a *run*: consecutive `user` records, or the records
//! of an answer. Other records between them do not end a run, except for the boundary of a compaction.

use super::super::entry::{ClaudeEntry, EntryKind};
use super::super::hash::Hash;
use super::canonical::{push_blocks, push_message};
use crate::json::BorrowedValue;
use crate::progress::{Cancelled, Progress};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Place of a message's content in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageSource {
    /// In a record of its own, with this index.
    Blob(usize),
    /// In consecutive records of the conversation.
    Rows(Box<[usize]>),
}

/// Reads records of a file.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub bytes: &'a [u8],
    pub entries: &'a [ClaudeEntry],
}

impl<'a> Reader<'a> {
    /// Parses the record with this index.
    pub(super) fn record(&self, at: usize) -> Option<BorrowedValue<'a>> {
        let text = self.bytes.get(self.entries[at].span.clone())?;
        BorrowedValue::parse(std::str::from_utf8(text).ok()?)
    }

    /// Finds the messages with these hashes, by their numbers.
    pub(super) fn find(
        &self,
        wanted: &HashMap<Hash, u32>,
        progress: &Progress,
    ) -> Result<Vec<Option<MessageSource>>, Cancelled> {
        let rows = self.runs().into_par_iter().map(|run| {
            progress.check_cancelled()?;
            Ok(self.rows_of(&run, wanted))
        });
        let rows: Vec<Vec<(u32, MessageSource)>> = rows.collect::<Result<_, _>>()?;
        let blobs = self.entries.par_iter().enumerate().map(|(at, entry)| {
            progress.check_cancelled()?;
            Ok(self.blob(at, entry, wanted))
        });
        let blobs: Vec<Option<(u32, MessageSource)>> = blobs.collect::<Result<_, _>>()?;
        let mut sources = vec![None; wanted.len()];
        for (number, source) in rows.into_iter().flatten().chain(blobs.into_iter().flatten()) {
            sources[number as usize] = Some(source);
        }
        Ok(sources)
    }

    /// Returns the runs of records.
    fn runs(&self) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for (at, entry) in self.entries.iter().enumerate() {
            let kind = match &entry.kind {
                EntryKind::Boundary(_) => {
                    last = None;
                    continue;
                }
                EntryKind::Answer(answer) => Some(answer.group.as_deref()),
                _ if entry.label.starts_with("user") => None,
                _ if entry.label.starts_with("assistant") => Some(None),
                _ => continue,
            };
            match runs.last_mut() {
                Some(run) if last == Some(kind) && kind != Some(None) => run.push(at),
                _ => runs.push(vec![at]),
            }
            last = Some(kind);
        }
        runs
    }

    /// Returns the wanted messages that are the beginning of a run.
    fn rows_of(&self, run: &[usize], wanted: &HashMap<Hash, u32>) -> Vec<(u32, MessageSource)> {
        let mut found = Vec::new();
        let mut state = Sha256::new_with_prefix("{\"content\":[");
        let (mut n_blocks, mut json) = (0, String::new());
        for (n, at) in (1..).zip(run) {
            let record = self.record(*at);
            let message = record.as_ref().and_then(|record| record.get("message"));
            let Some((message, content)) = message.and_then(|it| Some((it, it.get("content")?)))
            else {
                break;
            };
            json.clear();
            n_blocks += push_blocks(content, n_blocks, &[], &mut json);
            state.update(&json);
            let is_answer = message.is_str_at(&["role"], "assistant");
            let role = if is_answer { "assistant" } else { "user" };
            let end = format!("],\"role\":\"{role}\"}}");
            let hash = Hash(state.clone().chain_update(end).finalize().into());
            if let Some(number) = wanted.get(&hash) {
                found.push((*number, MessageSource::Rows(run[..n].into())));
            }
        }
        found
    }

    /// Returns a wanted message with a record of its own, whose content has its hash.
    fn blob(
        &self,
        at: usize,
        entry: &ClaudeEntry,
        wanted: &HashMap<Hash, u32>,
    ) -> Option<(u32, MessageSource)> {
        let EntryKind::Blob(hash) = &entry.kind else {
            return None;
        };
        let number = wanted.get(hash)?;
        let record = self.record(at)?;
        let mut json = String::new();
        push_message(record.get("message")?, &[], &mut json);
        let found = Hash(Sha256::digest(&json).into());
        (found == *hash).then_some((*number, MessageSource::Blob(at)))
    }
}
