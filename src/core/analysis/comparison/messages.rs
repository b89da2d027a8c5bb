//! Matches the messages of two sessions by their content.

use crate::engine::Case;
use crate::session::{Body, Message, Session, kind_of};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The messages of two sessions, matched by their content. Messages that only a recorded compaction copied are left
/// out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageMatches {
    /// Messages with the same content, in the order of A.
    pub same: Vec<[u32; 2]>,
    /// Messages that have other content but belong to the same tool call, in the order of A.
    pub changed: Vec<[u32; 2]>,
    /// Messages that only A contains and messages that only B contains, in their order.
    pub only: [Vec<u32>; 2],
    /// Number of messages of A and of B that only a recorded compaction copied. They are not compared.
    pub copied: [usize; 2],
    /// Number of messages with the same content at the start of both sessions.
    pub same_start: usize,
}

impl MessageMatches {
    /// Matches the messages of two sessions. Each message matches at most one. Equal messages match in their order.
    pub fn new(cases: [&Case; 2]) -> Self {
        let sessions = cases.map(|case| &*case.session);
        let [a, b] = sessions.map(compared);
        let hashes = [hashes(sessions[0], &a), hashes(sessions[1], &b)];
        let hash_pairs = hashes[0].iter().zip(&hashes[1]);
        let same_start = hash_pairs.take_while(|(x, y)| x == y).count();
        let partners = partners(&hashes[0], &hashes[1], same_start);
        let matched: HashSet<usize> = partners.iter().flatten().copied().collect();
        let (mut same, mut only_a) = (Vec::new(), Vec::new());
        for (message, partner) in a.iter().zip(&partners) {
            match partner {
                Some(partner) => same.push([*message, b[*partner]]),
                None => only_a.push(*message),
            }
        }
        let in_b = b.iter().enumerate();
        let only_b = in_b.filter(|(idx, _)| !matched.contains(idx));
        let mut only = [only_a, only_b.map(|(_, message)| *message).collect()];
        let changed = changed(sessions, &only);
        for (side, messages) in only.iter_mut().enumerate() {
            let is_changed: HashSet<u32> = changed.iter().map(|pair| pair[side]).collect();
            messages.retain(|message| !is_changed.contains(message));
        }
        let n_compared = [a.len(), b.len()];
        Self {
            copied: [0, 1].map(|side| sessions[side].messages.len() - n_compared[side]),
            same,
            changed,
            only,
            same_start,
        }
    }

    /// Returns the number of compared messages of A and of B.
    pub fn counts(&self) -> [usize; 2] {
        let matched = self.same.len() + self.changed.len();
        self.only.each_ref().map(|only| only.len() + matched)
    }
}

/// Returns the indices of the messages to compare: the history and summaries.
fn compared(session: &Session) -> Vec<u32> {
    let messages = (0..).zip(&session.messages);
    let compared = messages.filter(|(_, message)| message.in_history || message.is_summary);
    compared.map(|(idx, _)| idx).collect()
}

/// Returns the hash of the content of each message.
fn hashes(session: &Session, messages: &[u32]) -> Vec<u64> {
    let hash = |idx: &u32| content_hash(session, &session.messages[*idx as usize]);
    messages.par_iter().map(hash).collect()
}

/// Returns a hash of what the model reads: kinds and texts, without ids.
fn content_hash(session: &Session, message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in session.parts_of(message) {
        kind_of(message, part).hash(&mut hasher);
        part.body.tool().hash(&mut hasher);
        part.body.text().hash(&mut hasher);
        match &part.body {
            Body::Media { mime, bytes, pixels, .. } => (mime, bytes, pixels).hash(&mut hasher),
            Body::Thinking { sealed_bytes, .. } => sealed_bytes.hash(&mut hasher),
            _ => {}
        }
    }
    hasher.finish()
}

/// Returns the index in B of the message that matches each message of A, given the hashes of their contents.
///
/// Equal messages at the start and at the end of both sessions match by position, the others by their first equal
/// message that is not matched yet.
fn partners(a: &[u64], b: &[u64], same_start: usize) -> Vec<Option<usize>> {
    let shorter_rest = a.len().min(b.len()) - same_start;
    let ends = a.iter().rev().zip(b.iter().rev()).take(shorter_rest);
    let same_end = ends.take_while(|(x, y)| x == y).count();
    let mut unmatched: HashMap<u64, VecDeque<usize>> = HashMap::new();
    let rest = b.iter().enumerate().take(b.len() - same_end);
    for (idx, hash) in rest.skip(same_start) {
        unmatched.entry(*hash).or_default().push_back(idx);
    }
    let partner = |(idx, hash): (usize, &u64)| {
        if idx < same_start {
            Some(idx)
        } else if idx >= a.len() - same_end {
            Some(idx + b.len() - a.len())
        } else {
            unmatched.get_mut(hash).and_then(VecDeque::pop_front)
        }
    };
    a.iter().enumerate().map(partner).collect()
}

/// The first tool call or result of a message, which identifies the message apart from its content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'a> {
    /// The call with this id.
    Call(&'a str),
    /// The result of the call with this id.
    Result(&'a str),
}

/// Returns the pairs of messages with the same identity, in the order of A. Identities that a session has several times
/// are not paired.
fn changed(sessions: [&Session; 2], messages: &[Vec<u32>; 2]) -> Vec<[u32; 2]> {
    let [in_a, in_b] = [0, 1].map(|side| by_identity(sessions[side], &messages[side]));
    let pair = |message: &u32| {
        let identity = identity(sessions[0], *message)?;
        let in_a = in_a.get(&identity).copied().flatten()?;
        let in_b = in_b.get(&identity).copied().flatten()?;
        Some([in_a, in_b])
    };
    messages[0].iter().filter_map(pair).collect()
}

/// Returns messages by their identity; `None` for an identity that several messages have.
fn by_identity<'a>(session: &'a Session, messages: &[u32]) -> HashMap<Identity<'a>, Option<u32>> {
    let mut found = HashMap::new();
    for idx in messages {
        if let Some(identity) = identity(session, *idx) {
            let known = found.entry(identity).or_insert(Some(*idx));
            if *known != Some(*idx) {
                *known = None;
            }
        }
    }
    found
}

fn identity(session: &Session, message: u32) -> Option<Identity<'_>> {
    let parts = session.parts_of(&session.messages[message as usize]).iter();
    let mut identities = parts.filter_map(|part| match &part.body {
        Body::ToolCall { call, .. } if !call.is_empty() => Some(Identity::Call(call)),
        Body::ToolResult { call, .. } if !call.is_empty() => Some(Identity::Result(call)),
        _ => None,
    });
    identities.next()
}
