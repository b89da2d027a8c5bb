//! Time limits, size limits and retries.

use std::time::Duration;

/// Limits of one request. All are mandatory, so that nothing waits forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for the connection, including name lookup, proxy and encryption.
    pub connect: Duration,
    /// Time from the request to the head of the response. Local models process the whole prompt first.
    pub first_byte: Duration,
    /// Time between two pieces of the response.
    pub idle: Duration,
    /// Time for everything, including retries and the waits between them.
    pub total: Duration,
    /// Maximum number of bytes in the head of a response.
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

/// Retry policy. A request is retried if the server is busy or fails, or if the connection breaks before the answer begins.
/// After the first text there is no retry, since that answer must be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of retries.
    pub max_retries: u32,
    /// Wait before the first retry. It doubles with every further one.
    pub first_wait: Duration,
    /// Maximum wait. If the server requests a longer one, there is no retry.
    pub max_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 4,
            first_wait: Duration::from_secs(1),
            max_wait: Duration::from_mins(1),
        }
    }
}
