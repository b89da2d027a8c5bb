//! Tool results that repeat an earlier one.

use super::{Body, Session, ToolCalls};
use std::collections::{HashMap, HashSet};

/// The results of the history that repeat an earlier one.
///
/// Two calls are the same if they have the same tool and arguments. Two results are identical if their calls are the same
/// and their texts are equal. A result with an image or a document is identical to no other, since the content of media
/// is not compared.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    /// The first result of the same call, by part.
    same_call: Vec<u32>,
    /// The first identical result, by part.
    identical: Vec<u32>,
}

/// The entry of a part that is no result with a known call.
const NONE: u32 = u32::MAX;

impl Repeats {
    /// Compares the results of a session. Hashes only the texts of repeated calls.
    pub fn new(session: &Session, calls: &ToolCalls) -> Self {
        let mut found = Self {
            same_call: vec![NONE; session.parts.len()],
            identical: vec![NONE; session.parts.len()],
        };
        let mut first: HashMap<(&str, &str), u32> = HashMap::with_capacity(calls.n_calls());
        let mut repeated: HashSet<u32> = HashSet::new();
        let mut with_media: HashSet<u32> = HashSet::new();
        for part in session.messages.iter().filter(|m| m.in_history).flat_map(|m| m.parts.clone()) {
            match &session.parts[part].body {
                Body::ToolResult { .. } => {
                    let Some(call) = calls.tool_and_arguments(session, part) else {
                        continue;
                    };
                    let same = *first.entry(call).or_insert(part as u32);
                    found.same_call[part] = same;
                    found.identical[part] = part as u32;
                    if same != part as u32 {
                        repeated.insert(same);
                    }
                }
                Body::Media { within: Some(_), .. } => with_media.extend(calls.number(part)),
                _ => {}
            }
        }
        let mut texts: HashMap<(u32, &str), u32> = HashMap::new();
        for (part, same) in found.same_call.iter().enumerate() {
            let has_media = || calls.number(part).is_some_and(|n| with_media.contains(&n));
            if repeated.contains(same) && !has_media() {
                let text = session.parts[part].body.text();
                found.identical[part] = *texts.entry((*same, text)).or_insert(part as u32);
            }
        }
        found
    }

    /// Returns the part with the first result of the same call; `None` if the part is no result of a known call.
    pub fn same_call(&self, part: usize) -> Option<usize> {
        some(self.same_call[part])
    }

    /// Returns the part with the first identical result: the part itself if it repeats none; `None` if it is no result of
    /// a known call.
    pub fn identical(&self, part: usize) -> Option<usize> {
        some(self.identical[part])
    }

    /// Returns whether an earlier result is identical.
    pub fn repeats_result(&self, part: usize) -> bool {
        self.identical(part).is_some_and(|first| first != part)
    }
}

/// Finds the repeats of a session that grows.
#[derive(Debug, Default)]
pub struct GrowingRepeats {
    /// The first result of each call, by tool and arguments.
    first: HashMap<(Box<str>, Box<str>), u32>,
    /// The first result with each text, for repeated calls by their first result.
    texts: HashMap<(u32, Box<str>), u32>,
    /// Numbers of the calls whose results have media.
    with_media: HashSet<u32>,
}

impl GrowingRepeats {
    /// Adds the messages of a session from this one on, which must be the first that is not added yet. `found` has the
    /// repeats so far, and `calls` all calls.
    pub fn grow(
        &mut self,
        found: &mut Repeats,
        (session, calls): (&Session, &ToolCalls),
        from_message: usize,
    ) {
        found.same_call.resize(session.parts.len(), NONE);
        found.identical.resize(session.parts.len(), NONE);
        for message in session.messages[from_message..].iter().filter(|m| m.in_history) {
            let bodies = message.parts.clone().map(|part| (part, &session.parts[part].body));
            let media =
                bodies.clone().filter(|(_, b)| matches!(b, Body::Media { within: Some(_), .. }));
            self.with_media.extend(media.filter_map(|(part, _)| calls.number(part)));
            for (part, body) in bodies {
                let Body::ToolResult { text, .. } = body else {
                    continue;
                };
                let Some((tool, arguments)) = calls.tool_and_arguments(session, part) else {
                    continue;
                };
                let part = part as u32;
                let first = *self.first.entry((tool.into(), arguments.into())).or_insert(part);
                found.same_call[part as usize] = first;
                found.identical[part as usize] = part;
                let has_media = |part: u32| {
                    calls.number(part as usize).is_some_and(|n| self.with_media.contains(&n))
                };
                if first == part || has_media(part) {
                    continue;
                }
                if !has_media(first) {
                    let text_of_first = session.parts[first as usize].body.text();
                    self.texts.entry((first, text_of_first.into())).or_insert(first);
                }
                let same = *self.texts.entry((first, text.as_ref().into())).or_insert(part);
                found.identical[part as usize] = same;
            }
        }
    }
}

fn some(part: u32) -> Option<usize> {
    (part != NONE).then_some(part as usize)
}
