//! Finds where the values of a JSON text stand, eight bytes at a time.

use super::{Json, Text};

/// So many lists and objects in one another are one too many, as `serde_json` has it.
const TOO_DEEP: usize = 128;

/// What a text says that has escapes, all of them sound.
pub(super) fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let bytes = raw.as_bytes();
    let mut from = 0;
    loop {
        let at = first_marked(bytes, from, |word| marks(word, b'\\'));
        text.push_str(&raw[from..at]);
        let Some((sign, end)) = escaped(bytes, at) else {
            return text;
        };
        text.push(sign);
        from = end;
    }
}

/// The character that an escape at this place stands for, and where the escape ends; none where it is none, or half of
/// a surrogate pair.
fn escaped(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let sign = match bytes.get(at + 1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        sign @ (b'"' | b'\\' | b'/') => char::from(*sign),
        b'u' => {
            let unit = hexadecimal(bytes, at + 2)?;
            if let Some(sign) = char::from_u32(unit) {
                return Some((sign, at + 6));
            }
            let low = hexadecimal(bytes, at + 8).filter(|_| bytes[at + 6..].starts_with(b"\\u"))?;
            let is_pair = (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(&low);
            let sign = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
            return char::from_u32(sign)
                .filter(|_| is_pair)
                .map(|c| (c, at + 12));
        }
        _ => return None,
    };
    Some((sign, at + 2))
}

/// Four hexadecimal digits.
fn hexadecimal(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?.iter();
    digits
        .map(|digit| char::from(*digit).to_digit(16))
        .try_fold(0, |sum, digit| Some(sum << 4 | digit?))
}

/// Reads values from the front of a text to its end.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The value that a whole text is.
    pub(super) fn whole(text: &'a str) -> Option<Json<'a>> {
        let mut reader = Self { text, at: 0 };
        let value = reader.value(TOO_DEEP)?;
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

    /// Goes on behind this sign, and the space around it.
    fn eat(&mut self, sign: u8) -> bool {
        self.skip_space();
        let is_there = self.peek() == Some(sign);
        if is_there {
            self.at += 1;
            self.skip_space();
        }
        is_there
    }

    /// A value in which there are fewer lists and objects in one another than `depth`.
    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(Json::Text),
            b'{' => self.object(depth - 1),
            b'[' => self.list(depth - 1),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json<'a>> {
        let mut members = Vec::with_capacity(8);
        if depth == 0 || !self.eat(b'{') {
            return None;
        }
        if self.eat(b'}') {
            return Some(Json::Object(members));
        }
        loop {
            let name = self.string()?;
            if !self.eat(b':') {
                return None;
            }
            members.push((name, self.value(depth)?));
            if self.eat(b'}') {
                return Some(Json::Object(members));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json<'a>> {
        let mut elements = Vec::new();
        if depth == 0 || !self.eat(b'[') {
            return None;
        }
        if self.eat(b']') {
            return Some(Json::List(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.eat(b']') {
                return Some(Json::List(elements));
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
        let (mut at, mut is_plain) = (start, true);
        loop {
            at = special(bytes, at);
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at = escaped(bytes, at)?.1,
                // Signs that control what shows them must be escaped.
                _ => return None,
            }
            is_plain = false;
        }
        self.at = at + 1;
        let raw = &self.text[start..at];
        Some(Text { raw, is_plain })
    }

    fn number(&mut self) -> Option<Json<'a>> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        // Nothing stands behind a zero in front.
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
        Some(Json::Number(&self.text[start..self.at]))
    }

    /// At least one.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        let is_there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_there.then_some(value)
    }
}

/// The lowest bit of every byte of a word.
const LOW: u64 = u64::MAX / 0xff;
/// The highest, which marks the byte.
const HIGH: u64 = LOW << 7;

/// Marks this byte in a word. Above the first that is marked there may be marks too many, and bits that mark nothing.
#[inline]
fn marks(word: u64, byte: u8) -> u64 {
    let zero = word ^ (LOW * u64::from(byte));
    zero.wrapping_sub(LOW) & !zero
}

/// Where the next quote, backslash or control character stands; the end where there is none.
#[inline]
fn special(bytes: &[u8], from: usize) -> usize {
    let control = |word: u64| word.wrapping_sub(LOW * 0x20) & !word;
    first_marked(bytes, from, |word| {
        marks(word, b'"') | marks(word, b'\\') | control(word)
    })
}

/// Where the first byte stands that is marked, eight at a time; the end where there is none. Blanks may not be marked.
#[inline]
fn first_marked(bytes: &[u8], from: usize, marked: impl Fn(u64) -> u64) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    while let Some((eight, behind)) = rest.split_first_chunk() {
        let marks = marked(u64::from_le_bytes(*eight)) & HIGH;
        if marks != 0 {
            return bytes.len() - rest.len() + marks.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let mut eight = [b' '; 8];
    eight[..rest.len()].copy_from_slice(rest);
    let marks = marked(u64::from_le_bytes(eight)) & HIGH;
    bytes.len() - rest.len() + rest.len().min(marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        for mark in ['"', '\\', '\n', '\0', '\u{1f}'] {
            for (before, behind) in (0..20).flat_map(|b| (0..20).map(move |a| (b, a))) {
                for filler in ['a', ' ', '!', '#', '[', ']', '\u{7f}', 'é'] {
                    let text: String = [filler].repeat(before).into_iter().chain([mark]).collect();
                    let text = text + &"\"a\\".repeat(behind);
                    assert_eq!(
                        special(text.as_bytes(), 0),
                        before * filler.len_utf8(),
                        "{text:?}"
                    );
                }
            }
        }
        assert_eq!(special("漢字 and no mark".as_bytes(), 0), 18);
    }
}
