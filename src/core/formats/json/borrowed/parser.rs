//! Parses a JSON text into values that borrow from it.

use super::char_search::{Backslashes, CharSearch, Special};
use super::{BorrowedValue, Text};

/// Nesting depth at which a text is rejected, as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// Character of each one-letter escape that `serde_json` also writes, by its letter; else 0.
const ESCAPES: [u8; 256] = {
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
pub(super) fn unescaped(raw: &str, len: usize) -> String {
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
fn escaped(bytes: &[u8], at: usize) -> Option<(char, usize)> {
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

/// Parses values from the start of a text.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    special: CharSearch<'a, Special>,
}

impl<'a> Parser<'a> {
    /// Parses a text that is one value.
    pub(super) fn whole(text: &'a str) -> Option<BorrowedValue<'a>> {
        let special = CharSearch::of(text.as_bytes());
        let mut reader = Self { text, at: 0, special };
        let value = reader.value(MAX_DEPTH)?;
        reader.skip_space();
        (reader.at == text.len()).then_some(value)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips this character and the whitespace around it. Returns whether it was there.
    fn eat(&mut self, sign: u8) -> bool {
        self.skip_space();
        let is_there = self.peek() == Some(sign);
        if is_there {
            self.at += 1;
            self.skip_space();
        }
        is_there
    }

    /// Parses a value nested less than `depth` levels deep.
    fn value(&mut self, depth: usize) -> Option<BorrowedValue<'a>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(BorrowedValue::Text),
            b'{' => self.object(depth - 1),
            b'[' => self.list(depth - 1),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", BorrowedValue::Bool(true)),
            b'f' => self.word("false", BorrowedValue::Bool(false)),
            b'n' => self.word("null", BorrowedValue::Null),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<BorrowedValue<'a>> {
        let mut members = Vec::with_capacity(8);
        if depth == 0 || !self.eat(b'{') {
            return None;
        }
        if self.eat(b'}') {
            return Some(BorrowedValue::Object(members));
        }
        loop {
            let name = self.string()?;
            if !self.eat(b':') {
                return None;
            }
            members.push((name, self.value(depth)?));
            if self.eat(b'}') {
                return Some(BorrowedValue::Object(members));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<BorrowedValue<'a>> {
        let mut elements = Vec::new();
        if depth == 0 || !self.eat(b'[') {
            return None;
        }
        if self.eat(b']') {
            return Some(BorrowedValue::List(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.eat(b']') {
                return Some(BorrowedValue::List(elements));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<Text<'a>> {
        let bytes = self.text.as_bytes();
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let (mut at, mut escape_bytes, mut is_usual) = (start, 0, true);
        loop {
            at = self.special.next(at);
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => {}
                // Control characters must be escaped.
                _ => return None,
            }
            if ESCAPES[usize::from(*bytes.get(at + 1)?)] != 0 {
                (at, escape_bytes) = (at + 2, escape_bytes + 1);
            } else {
                let (sign, end) = escaped(bytes, at)?;
                escape_bytes += end - at - sign.len_utf8();
                (at, is_usual) = (end, false);
            }
        }
        self.at = at + 1;
        Some(Text {
            raw: &self.text[start..at],
            escape_bytes: u32::try_from(escape_bytes).ok()?,
            is_usual,
        })
    }

    fn number(&mut self) -> Option<BorrowedValue<'a>> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        // No digit may follow a leading zero.
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(BorrowedValue::Number(&self.text[start..self.at]))
    }

    /// Skips one or more digits.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &str, value: BorrowedValue<'a>) -> Option<BorrowedValue<'a>> {
        let is_there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_there.then_some(value)
    }
}
