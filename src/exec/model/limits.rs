//! Time limits, size limits and retries.

use std::time::Duration;

/// Limits of one request. All are mandatory, so that nothing waits forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
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

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            // Systems send a lost first packet again after 1, 3 and 7 seconds.
            connect: Duration::from_secs(15),
            // A local model without a graphics card reads a few hundred tokens a second, so a long prompt takes
            // minutes.
            first_byte: Duration::from_mins(5),
            // Reasoning that a provider does not stream can be silent for a minute.
            idle: Duration::from_mins(2),
            // A summary of 8,000 tokens at five tokens a second takes 27 minutes.
            total: Duration::from_mins(30),
            // Proxies such as nginx reject heads of more than 8 KiB by default, so no provider sends as much.
            head_bytes: 64 << 10,
        }
    }
}

/// Retry policy. A request is retried if the server is busy or fails, or if the connection breaks before the answer
/// begins. After the first text there is no retry, since that answer must be paid for.
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
            // With waits of 1, 2, 4 and 8 seconds a request outlasts a restart of a server, but not an outage.
            max_retries: 4,
            first_wait: Duration::from_secs(1),
            // Limits of requests per minute are over after a minute. Longer waits are daily limits, which no retry
            // outlasts.
            max_wait: Duration::from_mins(1),
        }
    }
}
