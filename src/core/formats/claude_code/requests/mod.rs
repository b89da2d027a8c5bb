//! Requests that newer versions record (`api-request`).
//!
//! A request names its messages by hashes. Their content is in records of their own (`api-request-blob`), or in the
//! records of the conversation. Its instructions and tool definitions are in `api-request-shape`. A hash of the whole
//! request proves that all of it was found.
//!
//! Requests before the mark of a managed conversation are ignored: their messages are not those of the file any more.

mod canonical;
mod chain;
mod digest;
mod known;

pub(super) use chain::Chain;

use super::blocks;
use super::entry::{ClaudeAnswer, ClaudeEntry, EntryKind};
use crate::formats::Warning;
use crate::progress::{Cancelled, Progress};
use crate::session::{Part, Role, Span};
use chain::{Link, Links};
use digest::{RecordedRequest, Verdict, Verifier};
use known::{MessageSource, Reader};
use std::collections::{HashMap, HashSet};

/// The recorded requests of a file.
pub(super) struct Requests<'a> {
    reader: Reader<'a>,
    by_id: HashMap<&'a str, usize>,
    links: Links,
    recorded: Vec<Request>,
    /// Sources of the messages, by number.
    sources: Vec<Option<MessageSource>>,
    /// Indices of the records of requests whose digest was verified.
    verified: HashSet<usize>,
    pub warnings: Vec<Warning>,
}

/// A recorded request.
struct Request {
    /// Index of its record.
    at: usize,
    /// Index of the record with its instructions and tool definitions.
    shape: Option<usize>,
    is_cut: bool,
}

impl<'a> Requests<'a> {
    /// Finds and verifies the requests of a file. Returns `None` if there are none.
    pub(super) fn new(
        bytes: &'a [u8],
        entries: &'a [ClaudeEntry],
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let is_mark = |entry: &ClaudeEntry| matches!(entry.kind, EntryKind::Managed(_));
        let start = entries.iter().rposition(is_mark).unwrap_or(0);
        let reader = Reader { bytes, entries };
        let (mut by_id, mut shapes, mut numbers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut links, mut recorded) = (Links::default(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            match &entry.kind {
                EntryKind::Shape(key, _) => {
                    shapes.entry(&**key).or_insert(at);
                }
                EntryKind::Request(record) if at >= start => {
                    let base = record.base.as_deref();
                    let known = base.map(|base| by_id.get(base).copied());
                    let first = links.tails.len();
                    for hash in &record.tail {
                        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                        links.tails.push(*numbers.entry(*hash).or_insert(next));
                    }
                    // Without its base, a request cannot keep any message.
                    let keep = if known == Some(None) { usize::MAX } else { record.keep };
                    let tail = first..links.tails.len();
                    links.links.push(Link { base: known.flatten(), keep, tail });
                    by_id.insert(&*record.id, recorded.len());
                    let shape = shapes.get(&*record.shape).copied();
                    recorded.push(Request { at, shape, is_cut: record.is_cut });
                }
                _ => {}
            }
        }
        if recorded.is_empty() {
            return Ok(None);
        }
        let sources = reader.find(&numbers, progress)?;
        let (verified, warnings) = (HashSet::new(), Vec::new());
        let mut found = Self { reader, by_id, links, recorded, sources, verified, warnings };
        found.verify(progress)?;
        Ok(Some(found))
    }

    /// Verifies all requests.
    fn verify(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        let mut verifier = Verifier::new(self.reader, &self.sources, Chain::new(&self.links));
        let (mut equal, mut failed) = (HashSet::new(), Vec::new());
        for (number, request) in self.recorded.iter().enumerate() {
            let Some(shape) = request.shape.filter(|_| !request.is_cut) else {
                continue;
            };
            let request_record = RecordedRequest { at: request.at, shape, number };
            match verifier.verify(&request_record, progress)? {
                Some(Verdict::Equal) => {
                    equal.insert(request.at);
                }
                Some(Verdict::Different) => failed.push(self.reader.entries[request.at].line),
                None => {}
            }
        }
        self.verified = equal;
        if let Some(line) = failed.first() {
            let of = self.recorded.len();
            let text = match failed.len() {
                1 => format!("1 of {of} recorded requests does not match its hash"),
                n => format!("{n} of {of} recorded requests do not match their hashes"),
            };
            self.warnings.push(Warning { line: Some(*line), text });
        }
        Ok(())
    }

    /// Returns whether the record with this index is a request that has its recorded hash.
    pub(super) fn is_verified(&self, at: usize) -> bool {
        self.verified.contains(&at)
    }

    /// Returns the number of the request that was answered.
    pub(super) fn answered_by(&self, answer: &ClaudeAnswer) -> Option<usize> {
        self.by_id.get(answer.request.as_deref()?).copied()
    }

    /// Returns whether texts were left out of the record of this request.
    pub(super) fn is_cut(&self, request: usize) -> bool {
        self.recorded[request].is_cut
    }

    /// Returns the record with the instructions and tool definitions of a request.
    pub(super) fn shape(&self, request: usize) -> Option<usize> {
        self.recorded[request].shape
    }

    /// Returns a reader of the messages of one request after the other.
    pub(super) fn chain(&self) -> Chain<'_> {
        Chain::new(&self.links)
    }

    /// Returns the role and the parts of a message, if its content is recorded.
    pub(super) fn message(&self, number: u32) -> Option<(Role, Vec<Part>)> {
        let records = match self.sources[number as usize].as_ref()? {
            MessageSource::Blob(at) => std::slice::from_ref(at),
            MessageSource::Rows(rows) => rows,
        };
        let (mut role, mut all) = (Role::User, Vec::new());
        for (nth, at) in (0..).zip(records) {
            let record = self.reader.record(*at)?;
            let message = record.get("message")?;
            if message.is_str_at(&["role"], "assistant") {
                role = Role::Assistant;
            }
            let parts = blocks::parts(message.get("content")?).into_iter();
            all.extend(parts.map(|part| Part { record: nth, ..part }));
        }
        Some((role, all))
    }

    /// Returns the byte range of the record with a message, if it has one of its own.
    pub(super) fn blob(&self, number: u32) -> Option<Span> {
        match self.sources[number as usize] {
            Some(MessageSource::Blob(at)) => Some(self.reader.entries[at].span.clone()),
            _ => None,
        }
    }

    /// Returns the byte ranges of the records with a message.
    pub(super) fn spans(&self, number: u32) -> Vec<Span> {
        let records = match &self.sources[number as usize] {
            Some(MessageSource::Blob(at)) => std::slice::from_ref(at),
            Some(MessageSource::Rows(rows)) => rows,
            None => &[],
        };
        records.iter().map(|at| self.reader.entries[*at].span.clone()).collect()
    }
}
