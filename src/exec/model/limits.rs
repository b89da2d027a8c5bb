//! How long to wait for what, how much to take, and how often to try again.

use std::time::Duration;

/// Limits of one question. None of them can be left out: nothing waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a connection: name, proxy and encryption included.
    pub connect: Duration,
    /// From sending the request to the head of the answer. Local models read the whole prompt first.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For everything: every try and every wait between tries.
    pub total: Duration,
    /// Most bytes in the head of an answer.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(30),
            head_bytes: 64 << 10,
        }
    }
}

/// How a question is asked again when the server is busy, fails, or the connection breaks before the answer begins.
/// Never once text has come: what was paid for is not asked for twice unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Tries after the first.
    pub most: u32,
    /// The wait before the second try; it doubles with every further one.
    pub first_wait: Duration,
    /// The longest wait. A server that asks for a longer one is not asked again.
    pub longest_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_mins(1),
        }
    }
}
