//! What tells bytes from others: SHA-256, in hexadecimal.

use ring::digest::{SHA256, digest};
use std::fmt::Write as _;

/// The hash of some bytes.
pub(in crate::exec) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
