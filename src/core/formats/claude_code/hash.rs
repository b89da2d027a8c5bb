//! SHA-256 hashes, by which recorded requests name their messages.

/// A SHA-256 hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hash(pub [u8; 32]);

impl Hash {
    /// Reads 64 hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        let value = |digit: u8| char::from(digit).to_digit(16);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::try_from(value(pair[0])? << 4 | value(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }
}
