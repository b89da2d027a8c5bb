//! The messages of a thread in the order in which its checkpoints have them, and the changes of the context.

use super::checkpoint::Encoded;
use crate::formats::folder::json_object;
use crate::session::MAX_KEPT;
use crate::units::Millis;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Maximum length of the written messages in bytes, as of the text of a query.
const MAX_BYTES: usize = 256 << 20;
/// Maximum number of messages that are read again, because their checkpoint does not repeat them. A long one counts for
/// each kilobyte.
// Chosen: some seconds. A thread of 5,000 messages that stores differences reads half as many.
const MAX_REPEATED: usize = 25_000_000;

/// The records of a thread.
#[derive(Debug, Default)]
pub(super) struct History<'a> {
    /// Number of each message, by its identity.
    numbers: HashMap<(Option<Encoded<'a>>, Encoded<'a>), usize>,
    /// Messages of the latest checkpoint.
    context: Vec<(usize, Encoded<'a>)>,
    n_messages: usize,
    records: Vec<Vec<u8>>,
    n_bytes: usize,
    /// Number of messages that all changes keep, which a session limits.
    n_kept: usize,
    n_repeated: usize,
    /// Changes of the context are left out.
    pub(super) is_incomplete: bool,
}

impl<'a> History<'a> {
    /// Adds a checkpoint. `messages` are those that it has. If it does not repeat them, `written` changed those of the
    /// checkpoint before it. `is_input` states that the user added something.
    pub(super) fn add(
        &mut self,
        messages: Option<Vec<Encoded<'a>>>,
        written: impl Iterator<Item = (&'a str, &'a [u8])>,
        time: Option<Millis>,
        is_input: bool,
    ) {
        let Some(messages) = messages.or_else(|| self.changed(written)) else { return };
        let n_known = self.n_messages;
        let context = self.numbered(messages);
        let is_new = |number: usize| number >= n_known;
        let n_before = self.context.len();
        let is_longer = context.len() >= n_before
            && self.context.iter().zip(&context).all(|(before, now)| before.0 == now.0)
            && context[n_before..].iter().all(|(number, _)| is_new(*number));
        let rest = if is_longer {
            n_before
        } else {
            // New messages behind all others are no part of the change. A summary alone is.
            let last_old = context.iter().rposition(|(number, _)| !is_new(*number));
            let first_answer = || context.iter().position(|(_, message)| !message.is_of_user());
            let rest = match last_old {
                Some(last) => last + 1,
                None if is_input => 0,
                None => first_answer().unwrap_or(context.len()),
            };
            for (_, message) in context[..rest].iter().filter(|(number, _)| is_new(*number)) {
                self.push(*message, time, true);
            }
            self.n_kept += rest;
            if self.n_kept > MAX_KEPT {
                self.is_incomplete = true;
            } else {
                let numbers = context[..rest].iter().map(|(number, _)| number.to_string());
                let numbers = format!("[{}]", numbers.collect::<Vec<_>>().join(","));
                let record = [("context", numbers.into_bytes())].into_iter();
                self.records.push(json_object(record.chain(time_member(time))));
            }
            rest
        };
        for (_, message) in &context[rest..] {
            self.push(*message, time, false);
        }
        self.context = context;
    }

    /// Returns the messages of a checkpoint with their numbers. A message is one of the context at the same position, or
    /// one that the thread had before, or a new one.
    fn numbered(&mut self, messages: Vec<Encoded<'a>>) -> Vec<(usize, Encoded<'a>)> {
        let mut used = HashSet::new();
        let mut context = Vec::with_capacity(messages.len());
        for (position, message) in messages.into_iter().enumerate() {
            let identity = message.identity();
            let is_same =
                |old: &Encoded<'a>| old.identity() == identity || old.is_short_for(message);
            let before = self.context.get(position).filter(|(_, old)| is_same(old));
            let known = before.map(|(number, _)| *number);
            let known = known.or_else(|| self.numbers.get(&identity).copied());
            let number = known.filter(|number| !used.contains(number)).unwrap_or(self.n_messages);
            self.n_messages = self.n_messages.max(number + 1);
            self.numbers.insert(identity, number);
            used.insert(number);
            context.push((number, message));
        }
        context
    }

    /// Returns the messages after these writes, as `add_messages` changes them. Returns `None` if nothing is written or
    /// beyond the limit.
    fn changed(
        &mut self,
        written: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> Option<Vec<Encoded<'a>>> {
        let mut written = written.peekable();
        written.peek()?;
        let cost = |message: &Encoded<'a>| 1 + message.bytes().len() / 1024;
        self.n_repeated += self.context.iter().map(|(_, message)| cost(message)).sum::<usize>();
        if self.n_repeated > MAX_REPEATED {
            self.is_incomplete = true;
            return None;
        }
        // A removed message leaves its position empty.
        let mut messages: Vec<Option<Encoded<'a>>> =
            self.context.iter().map(|(_, message)| Some(*message)).collect();
        let ids = self.context.iter().enumerate();
        let ids = ids.filter_map(|(at, (_, message))| Some((message.identity().0?, at)));
        let mut positions: HashMap<Encoded<'a>, usize> = ids.collect();
        for (encoding, bytes) in written {
            let Some(value) = Encoded::new(encoding, bytes) else { continue };
            let all = value.elements().filter(|_| !value.is_message());
            let all = all.unwrap_or_else(|| vec![value]);
            let (removals, others): (Vec<Encoded<'a>>, Vec<Encoded<'a>>) =
                all.into_iter().partition(|message| message.removal().is_some());
            for id in removals.into_iter().filter_map(Encoded::removal) {
                if id.is_all() {
                    messages.clear();
                    positions.clear();
                } else if let Some(at) = positions.remove(&id) {
                    messages[at] = None;
                }
            }
            for message in others {
                match message.identity().0.map(|id| positions.entry(id)) {
                    Some(Entry::Occupied(at)) => messages[*at.get()] = Some(message),
                    id => {
                        if let Some(Entry::Vacant(id)) = id {
                            id.insert(messages.len());
                        }
                        messages.push(Some(message));
                    }
                }
            }
        }
        Some(messages.into_iter().flatten().collect())
    }

    fn push(&mut self, message: Encoded<'a>, time: Option<Millis>, is_inserted: bool) {
        let mut json = String::new();
        let left = MAX_BYTES.saturating_sub(self.n_bytes);
        if message.write_json(&mut json, left).is_none() || !is_json(&json) {
            // The reader reports it. The number of messages stays right.
            "null".clone_into(&mut json);
        }
        self.n_bytes += json.len();
        let mut members = vec![("message", json.into_bytes())];
        members.extend(time_member(time));
        members.extend(is_inserted.then(|| ("is_inserted", b"true".to_vec())));
        self.records.push(json_object(members.into_iter()));
    }

    /// Returns the records.
    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.records
    }
}

fn is_json(text: &str) -> bool {
    crate::formats::json::is_one_value(text.as_bytes())
}

fn time_member(time: Option<Millis>) -> Option<(&'static str, Vec<u8>)> {
    time.map(|time| ("time", time.0.to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    /// Returns the records of checkpoints in JSON: the text or the context of each.
    fn records(checkpoints: &[&str]) -> Vec<String> {
        let mut history = History::default();
        for checkpoint in checkpoints {
            let messages = Encoded::Json(checkpoint.as_bytes()).elements();
            history.add(messages, std::iter::empty(), None, false);
        }
        let record = |record: Vec<u8>| {
            let value: Value = serde_json::from_slice(&record).unwrap();
            let inserted = if value.get("is_inserted").is_some() { "+" } else { "" };
            match (value.get("context"), value.pointer("/message/content")) {
                (Some(context), _) => context.to_string(),
                (None, Some(content)) => format!("{inserted}{}", content.as_str().unwrap()),
                _ => value["message"][1].as_str().unwrap().to_owned(),
            }
        };
        history.finish().into_iter().map(record).collect()
    }

    #[test]
    fn a_change_keeps_messages_and_inserts_a_summary() {
        let a = r#"{"type":"human","id":"1","content":"a"}"#;
        let b = r#"{"type":"ai","id":"2","content":"b"}"#;
        let c = r#"{"type":"human","id":"3","content":"c"}"#;
        let s = r#"{"type":"human","id":"4","content":"s"}"#;
        let list = |messages: &[&str]| format!("[{}]", messages.join(","));
        let all = [list(&[a, b]), list(&[a, b, c]), list(&[s, c]), list(&[s, c, a])];
        let all: Vec<&str> = all.iter().map(|text| &**text).collect();
        assert_eq!(records(&all[..3]), ["a", "b", "c", "+s", "[3,2]"]);
        // A message that comes back is no new one.
        assert_eq!(records(&all), ["a", "b", "c", "+s", "[3,2]", "[3,2,0]"]);
    }

    #[test]
    fn messages_without_an_id_are_distinguished_by_position() {
        let twice = r#"[["user","go"],["user","go"]]"#;
        assert_eq!(records(&[r#"[["user","go"]]"#, twice]), ["go", "go"]);
        let with_ids = r#"[{"type":"human","id":"1","content":"go"},{"type":"human","id":"2","content":"go"}]"#;
        assert_eq!(records(&[twice, with_ids]), ["go", "go"]);
    }
}
