//! Limits of reading.

/// Maximum size of a session file, in bytes. A larger one would fill the memory several times over once it is parsed.
pub const MAX_SESSION_BYTES: u64 = 4 << 30;

/// Bytes that are read between two checks for cancellation: 50 ms of a disk with 80 MB/s. Much smaller ones would spend
/// the time in system calls.
pub(super) const CHUNK: u64 = 4 << 20;
