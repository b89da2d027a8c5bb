//! Verifies requests: the program recorded a hash of each whole request.

use super::super::hash::Hash;
use super::canonical::{CacheMark, push, push_blocks, push_message, push_name, sort};
use super::chain::Chain;
use super::known::{MessageSource, Reader};
use crate::json::BorrowedValue;
use crate::progress::{Cancelled, Progress};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Members of a request that its hash does not cover.
const LEFT_OUT: [&str; 6] =
    ["data_flow", "diagnostics", "metadata", "safeguards", "stream", "thread"];
/// Maximum number of marks for the cache in a request.
// Anthropic allows four. Double that number, with room for a future limit, keeps the time linear.
const MAX_MARKS: usize = 16;
/// Factor of the file's size that limits the bytes that are hashed, and their minimum limit.
// Measured: 3 for sessions of 10 to 50 calls, since each request hashes only what it adds, and its instructions.
// Chosen: requests beyond it are not verified. Half would leave out sessions of many calls with long instructions.
const MAX_HASHED: (usize, usize) = (16, 64 << 20);

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Equal,
    Different,
}

/// A request to verify.
pub(super) struct RecordedRequest {
    /// Index of its record.
    pub at: usize,
    /// Index of the record with its instructions and tool definitions.
    pub shape: usize,
    /// Its number in the chain.
    pub number: usize,
}

/// Verifies requests in the order of the file.
pub(super) struct Verifier<'a> {
    reader: Reader<'a>,
    sources: &'a [Option<MessageSource>],
    chain: Chain<'a>,
    /// The record with the latest instructions.
    shape: Option<(usize, BorrowedValue<'a>)>,
    /// The latest request before its messages.
    head: String,
    /// States of the hash: before the first message of the latest request, and after each, up to the first one with
    /// a mark.
    states: Vec<Sha256>,
    bytes_left: usize,
    json: String,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(
        reader: Reader<'a>,
        sources: &'a [Option<MessageSource>],
        chain: Chain<'a>,
    ) -> Self {
        let (factor, least) = MAX_HASHED;
        let bytes_left = reader.bytes.len().saturating_mul(factor).max(least);
        let (head, states, json) = (String::new(), Vec::new(), String::new());
        Self { reader, sources, chain, shape: None, head, states, bytes_left, json }
    }

    /// Verifies a request. Returns `None` if a part of it is not known.
    pub(super) fn verify(
        &mut self,
        request: &RecordedRequest,
        progress: &Progress,
    ) -> Result<Option<Verdict>, Cancelled> {
        progress.check_cancelled()?;
        let Some(common) = self.chain.go_to(request.number) else {
            self.states.clear();
            return Ok(None);
        };
        self.states.truncate(common + 1);
        let verdict = self.verdict(request);
        if verdict.is_none() {
            self.states.clear();
        }
        Ok(verdict)
    }

    fn verdict(&mut self, request: &RecordedRequest) -> Option<Verdict> {
        let record = self.reader.record(request.at)?;
        let digest = Hash::parse(&record.str_at(&["requestDigest"])?)?;
        let listed = record.get("cacheControl").map(BorrowedValue::elements).unwrap_or_default();
        let mark = |mark: &'_ BorrowedValue<'a>| {
            Some((mark.get("path")?.clone(), mark.get("value")?.clone()))
        };
        let marks: Vec<_> = listed.iter().take(MAX_MARKS + 1).map(mark).collect::<Option<_>>()?;
        if marks.len() > MAX_MARKS {
            return None;
        }
        let marks: Vec<_> =
            marks.iter().map(|(path, value)| CacheMark { path: path.elements(), value }).collect();
        if self.shape.as_ref().is_none_or(|(at, _)| *at != request.shape) {
            self.shape = Some((request.shape, self.reader.record(request.shape)?));
        }
        let (_, shape) = self.shape.take()?;
        let (head, tail) = around_messages(record.get("params")?, shape.get("shape")?, &marks);
        self.shape = Some((request.shape, shape));
        if self.states.is_empty() || head != self.head {
            self.states = vec![Sha256::new_with_prefix(&head)];
            self.spend(head.len())?;
            self.head = head;
        }
        let state = self.with_messages(&marks)?;
        self.spend(tail.len())?;
        let found = Hash(state.chain_update(tail).finalize().into());
        Some(if found == digest { Verdict::Equal } else { Verdict::Different })
    }

    /// Returns the state of the hash after the messages.
    fn with_messages(&mut self, marks: &[CacheMark<'_, '_>]) -> Option<Sha256> {
        let marks: Vec<_> =
            marks.iter().filter_map(|mark| mark.within_member("messages")).collect();
        let n = self.chain.messages().len();
        let marks_of = |idx: usize| -> Vec<_> {
            marks.iter().filter_map(|mark| mark.within_element(idx)).collect()
        };
        let first_marked = (0..n).find(|idx| !marks_of(*idx).is_empty()).unwrap_or(n);
        self.states.truncate(first_marked + 1);
        let start = self.states.len().checked_sub(1)?;
        let mut state = self.states.last()?.clone();
        for idx in start..n {
            let number = self.chain.messages()[idx];
            self.json.clear();
            self.json.push_str(if idx == 0 { "" } else { "," });
            self.push_message(number, &marks_of(idx))?;
            state.update(&self.json);
            self.spend(self.json.len())?;
            if idx < first_marked {
                self.states.push(state.clone());
            }
        }
        Some(state)
    }

    /// Appends a message.
    fn push_message(&mut self, number: u32, marks: &[CacheMark<'_, '_>]) -> Option<()> {
        match self.sources[number as usize].as_ref()? {
            MessageSource::Blob(at) => {
                let record = self.reader.record(*at)?;
                push_message(record.get("message")?, marks, &mut self.json);
            }
            MessageSource::Rows(rows) => {
                let mut role = None;
                self.json.push_str("{\"content\":[");
                let mut n_blocks = 0;
                let within: Vec<_> =
                    marks.iter().filter_map(|mark| mark.within_member("content")).collect();
                for at in rows {
                    let record = self.reader.record(*at)?;
                    let content = record.at(&["message", "content"])?;
                    n_blocks += push_blocks(content, n_blocks, &within, &mut self.json);
                    role = record.str_at(&["message", "role"]);
                }
                self.json.push_str("],\"role\":");
                crate::json::push_text(&role?, &mut self.json);
                self.json.push('}');
            }
        }
        Some(())
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        Some(())
    }
}

/// Returns the canonical request before and after its messages.
fn around_messages(
    params: &BorrowedValue<'_>,
    shape: &BorrowedValue<'_>,
    marks: &[CacheMark<'_, '_>],
) -> (String, String) {
    let mut members = shape.members();
    let is_new = |name: &str| shape.get(name).is_none();
    members.extend(params.members().into_iter().filter(|(name, _)| is_new(name)));
    members.retain(|(name, _)| name != "messages" && !LEFT_OUT.contains(&&**name));
    members.push((Cow::Borrowed("messages"), &BorrowedValue::Null));
    sort(&mut members);
    let (mut head, mut tail) = ("{".to_owned(), "]".to_owned());
    let mut json = &mut head;
    let mut is_first = true;
    for (name, value) in &members {
        json.push_str(if is_first { "" } else { "," });
        is_first = false;
        push_name(name, json);
        if name == "messages" {
            json.push('[');
            json = &mut tail;
            continue;
        }
        let marks: Vec<_> = marks.iter().filter_map(|mark| mark.within_member(name)).collect();
        push(value, &marks, json);
    }
    tail.push('}');
    (head, tail)
}
