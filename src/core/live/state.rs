//! The saved state of a live conversation: its messages, and what the program did with them.
//!
//! A restored manager repeats all of it. The engine is deterministic, so it comes to the same decisions with the same answers.

use super::{LiveError, Options};
use serde::{Deserialize, Serialize};
use std::hash::Hasher as _;

/// Version of the state. It changes with its members.
const VERSION: u32 = 1;

/// Something that a program did.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Op {
    /// It pushed the next message.
    Push,
    /// It asked for the next request, after new messages.
    Step {
        /// Time of the request, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time: Option<i64>,
    },
    /// It asked again, after an answer or a rejection.
    Again,
    /// It answered with a summary.
    Answer {
        /// The summary.
        text: String,
    },
    /// It had no summary.
    Fail {
        /// The reason.
        why: String,
    },
    /// It reported usage.
    Report {
        /// Tokens of the whole input.
        input: u64,
        /// Tokens of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<u64>,
    },
    /// It reported a rejection.
    Reject {
        /// The provider's error.
        error: String,
    },
}

/// The saved state.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// Version of these members.
    plimsoll_live: u32,
    pub(super) policy: String,
    pub(super) options: Options,
    /// The messages; none if the program stores them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<String>>,
    /// Number of messages, and a hash of their texts.
    n_messages: usize,
    hash: String,
    pub(super) log: Vec<Op>,
}

impl State {
    pub(super) fn new(
        policy: String,
        options: Options,
        messages: Vec<String>,
        log: Vec<Op>,
    ) -> Self {
        Self {
            plimsoll_live: VERSION,
            policy,
            options,
            n_messages: messages.len(),
            hash: hash_of(messages.iter().map(String::as_str)),
            messages: Some(messages),
            log,
        }
    }

    pub(super) fn without_messages(self) -> Self {
        Self { messages: None, ..self }
    }

    /// Sets the notation of the messages.
    pub(super) fn set_format(&mut self, format: &str) {
        self.options.format = Some(format.to_owned());
    }

    /// Returns the state when there were this many messages.
    ///
    /// Messages that a program adds for one request only (a reminder, the date) vanish before the next one. A rewind that
    /// removes no more than these keeps what the policy decided at that request.
    pub(super) fn truncated(mut self, n_messages: usize) -> Self {
        let mut pushes = 0;
        let end = self.log.iter().position(|op| {
            pushes += usize::from(*op == Op::Push);
            pushes > n_messages
        });
        let mut rest = self.log.split_off(end.unwrap_or(self.log.len()));
        let decided = rest.iter().position(|op| *op != Op::Push).unwrap_or(rest.len());
        rest.drain(..decided);
        if !rest.contains(&Op::Push) {
            self.log.append(&mut rest);
        }
        let mut messages = self.messages.take().unwrap_or_default();
        messages.truncate(n_messages);
        Self::new(self.policy, self.options, messages, self.log)
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are always JSON")
    }

    pub(super) fn from_json(text: &str) -> Result<Self, LiveError> {
        let wrong = |error: serde_json::Error| LiveError::State(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(wrong)?;
        match value.get("plimsoll_live").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {
                serde_json::from_value(value).map_err(wrong)
            }
            Some(version) => Err(LiveError::State(format!(
                "it has version {version}, and this program reads version {VERSION}"
            ))),
            None => Err(LiveError::State("it was not made by a manager".to_owned())),
        }
    }

    /// Returns the messages: its own, or the first of the given ones.
    ///
    /// # Errors
    /// [`LiveError::State`] if the given messages are other ones.
    pub(super) fn known_messages<'a>(
        &'a self,
        given: &[&'a str],
    ) -> Result<Vec<&'a str>, LiveError> {
        let own = self.messages.as_deref().map(|own| own.iter().map(String::as_str).collect());
        let mut messages: Vec<&str> = own.unwrap_or_else(|| given.to_vec());
        if messages.len() < self.n_messages {
            return Err(LiveError::State(format!(
                "it belongs to {} messages, and {} are given",
                self.n_messages,
                messages.len()
            )));
        }
        messages.truncate(self.n_messages);
        if hash_of(messages.iter().copied()) == self.hash {
            Ok(messages)
        } else {
            Err(LiveError::State("the given messages are other ones".to_owned()))
        }
    }
}

/// Returns a hash of texts. Finds other messages, not forged ones.
fn hash_of<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    // FNV-1a, see http://www.isthe.com/chongo/tech/comp/fnv/
    struct Fnv(u64);
    impl std::hash::Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for text in texts {
        hash.write(text.as_bytes());
        hash.write(&[0]);
    }
    format!("{:016x}", hash.finish())
}
