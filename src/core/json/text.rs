//! The text of a string, unescaped when it is used.

use super::char_search::{Backslashes, CharSearch};
use std::borrow::Cow;

/// The content between two quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(super) raw: &'a str,
    /// Number of bytes that unescaping removes; 0 without escapes.
    pub(super) escape_bytes: u32,
    /// All escapes are written as `serde_json` writes them.
    pub(super) is_usual: bool,
}

impl<'a> Text<'a> {
    /// Returns the unescaped text.
    pub(super) fn decoded(self) -> Cow<'a, str> {
        if self.is_plain() {
            Cow::Borrowed(self.raw)
        } else {
            let len = self.raw.len() - self.escape_bytes as usize;
            Cow::Owned(unescaped(self.raw, len))
        }
    }

    fn is_plain(self) -> bool {
        self.escape_bytes == 0
    }

    pub(super) fn is(self, words: &str) -> bool {
        if self.is_plain() { self.raw == words } else { self.decoded() == words }
    }
}

/// Character of each one-letter escape that `serde_json` also writes, by its letter; else 0.
pub(super) const ESCAPES: [u8; 256] = {
    let mut signs = [0; 256];
    signs[b'n' as usize] = b'\n';
    signs[b't' as usize] = b'\t';
    signs[b'r' as usize] = b'\r';
    signs[b'b' as usize] = 0x8;
    signs[b'f' as usize] = 0xc;
    signs[b'"' as usize] = b'"';
    signs[b'\\' as usize] = b'\\';
    signs
};

/// Unescapes a text with valid escapes only, of `len` bytes once unescaped.
fn unescaped(raw: &str, len: usize) -> String {
    let bytes = raw.as_bytes();
    let mut backslashes = CharSearch::<Backslashes>::of(bytes);
    let mut text = vec![0; len];
    let (mut from, mut to) = (0, 0);
    loop {
        let n = backslashes.next(from) - from;
        copy(&bytes[from..], &mut text[to..], n);
        (from, to) = (from + n, to + n);
        let Some(letter) = bytes.get(from + 1) else {
            // The input was UTF-8, and only whole characters were inserted.
            return String::from_utf8(text).unwrap_or_default();
        };
        let sign = ESCAPES[usize::from(*letter)];
        if sign != 0 {
            text[to] = sign;
            (from, to) = (from + 2, to + 1);
        } else if let Some((sign, end)) = escaped(bytes, from) {
            to += sign.encode_utf8(&mut text[to..]).len();
            from = end;
        } else {
            return String::new();
        }
    }
}

/// Copies `n` bytes. Short runs are copied as one block of fixed size, which is faster. The excess bytes are
/// overwritten later.
#[inline]
fn copy(bytes: &[u8], place: &mut [u8], n: usize) {
    const FEW: usize = 32;
    match (bytes.first_chunk::<FEW>(), place.first_chunk_mut()) {
        (Some(few), Some(place)) if n <= FEW => *place = *few,
        _ => place[..n].copy_from_slice(&bytes[..n]),
    }
}

/// Decodes the escape at this position. Returns its character and its end, or `None` for an invalid escape or a lone
/// surrogate.
pub(super) fn escaped(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let sign = match bytes.get(at + 1)? {
        b'/' => '/',
        b'u' => {
            let unit = hexadecimal(bytes, at + 2)?;
            if let Some(sign) = char::from_u32(unit) {
                return Some((sign, at + 6));
            }
            let low = hexadecimal(bytes, at + 8).filter(|_| bytes[at + 6..].starts_with(b"\\u"))?;
            let is_pair = (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(&low);
            let sign = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
            return char::from_u32(sign).filter(|_| is_pair).map(|c| (c, at + 12));
        }
        letter => match ESCAPES[usize::from(*letter)] {
            0 => return None,
            sign => char::from(sign),
        },
    };
    Some((sign, at + 2))
}

/// Parses four hexadecimal digits.
fn hexadecimal(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?.iter();
    digits
        .map(|digit| char::from(*digit).to_digit(16))
        .try_fold(0, |sum, digit| Some(sum << 4 | digit?))
}
