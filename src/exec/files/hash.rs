//! SHA-256 hashes in hexadecimal.

use ring::digest::{Context, Digest, SHA256, digest};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns the hash of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&digest(&SHA256, bytes))
}

/// Returns the 32 bytes of the hash of bytes.
pub(crate) fn sha256_bytes(bytes: &[u8]) -> [u8; 32] {
    array(&digest(&SHA256, bytes))
}

/// Incremental hash.
pub(crate) struct Hasher(Context);

impl Hasher {
    /// Creates the hash of no bytes.
    pub(crate) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    /// Adds the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes.
    pub(crate) fn finish(self) -> String {
        hexadecimal(&self.0.finish())
    }

    /// Returns the 32 bytes of the hash of all bytes.
    pub(crate) fn finish_bytes(self) -> [u8; 32] {
        array(&self.0.finish())
    }
}

fn array(digest: &Digest) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

fn hexadecimal(digest: &Digest) -> String {
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest.as_ref()) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incremental_hash_equals_the_hash_of_the_whole() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
        let mut hasher = Hasher::new();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), known);
    }
}
