//! Reads `MessagePack` as `LangGraph`'s serializer writes it, without building values: an object of a Python class is an
//! extension whose payload is a list of module, class and members. It is read as its members.

use std::fmt::Write as _;

/// Maximum nesting of lists, maps and extensions, as of the JSON that the program reads.
// Chosen: a conversation nests some ten levels.
const MAX_DEPTH: usize = 100;
/// Maximum number of members of a map and of elements of a list that are returned. A byte can be an element, and each takes
/// several words of memory.
// Chosen: a hundred times the channels of a large graph, and ten times the messages of the longest conversation.
const MAX_MEMBERS: u32 = 10_000;
const MAX_ELEMENTS: u32 = 1_000_000;
/// Extension of a snapshot, whose payload is the value itself.
const SNAPSHOT: i8 = 7;
/// Extension of a numeric array, whose payload is no text.
const ARRAY: i8 = 6;

/// The beginning of a value: the whole value, or the number of elements that follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Head<'a> {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'a [u8]),
    Bytes,
    List(u32),
    Map(u32),
    Extension(i8, &'a [u8]),
}

/// A position in encoded bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn unsigned(&mut self, n: usize) -> Option<u64> {
        Some(self.take(n)?.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    }

    fn signed(&mut self, n: usize) -> Option<i64> {
        let bits = 64 - 8 * u32::try_from(n).ok()?;
        Some((self.unsigned(n)?.cast_signed() << bits) >> bits)
    }

    fn sized(&mut self, n: usize) -> Option<&'a [u8]> {
        let size = usize::try_from(self.unsigned(n)?).ok()?;
        self.take(size)
    }

    fn count(&mut self, n: usize) -> Option<u32> {
        u32::try_from(self.unsigned(n)?).ok()
    }

    fn extension(&mut self, size: usize) -> Option<Head<'a>> {
        let code = i8::try_from(self.signed(1)?).ok()?;
        Some(Head::Extension(code, self.take(size)?))
    }

    /// Reads the beginning of the next value. Returns `None` at the end or in damaged bytes.
    pub(super) fn head(&mut self) -> Option<Head<'a>> {
        let first = *self.take(1)?.first()?;
        Some(match first {
            0x00..=0x7f => Head::Unsigned(first.into()),
            0x80..=0x8f => Head::Map((first & 0x0f).into()),
            0x90..=0x9f => Head::List((first & 0x0f).into()),
            0xa0..=0xbf => Head::Text(self.take((first & 0x1f).into())?),
            0xc0 => Head::Nil,
            0xc1 => return None,
            0xc2 | 0xc3 => Head::Bool(first == 0xc3),
            0xc4..=0xc6 => {
                self.sized(1 << (first - 0xc4))?;
                Head::Bytes
            }
            0xc7..=0xc9 => {
                let size = usize::try_from(self.unsigned(1 << (first - 0xc7))?).ok()?;
                self.extension(size)?
            }
            0xca => {
                let bits = u32::try_from(self.unsigned(4)?).ok()?;
                Head::Float(f32::from_bits(bits).into())
            }
            0xcb => Head::Float(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xcf => Head::Unsigned(self.unsigned(1 << (first - 0xcc))?),
            0xd0..=0xd3 => Head::Signed(self.signed(1 << (first - 0xd0))?),
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4))?,
            0xd9..=0xdb => Head::Text(self.sized(1 << (first - 0xd9))?),
            0xdc | 0xdd => Head::List(self.count(2 << (first - 0xdc))?),
            0xde | 0xdf => Head::Map(self.count(2 << (first - 0xde))?),
            0xe0..=0xff => Head::Signed(i64::from(first.cast_signed())),
        })
    }

    /// Skips a value.
    pub(super) fn skip(&mut self) -> Option<()> {
        let mut left: u64 = 1;
        while left > 0 {
            left -= 1;
            left += match self.head()? {
                Head::List(n) => u64::from(n),
                Head::Map(n) => 2 * u64::from(n),
                _ => 0,
            };
        }
        Some(())
    }

    /// Returns the members of a map whose keys are texts.
    pub(super) fn members(mut self) -> Option<Vec<(&'a [u8], Self)>> {
        let Head::Map(n @ 0..=MAX_MEMBERS) = self.head()? else {
            return None;
        };
        let mut members = Vec::new();
        for _ in 0..n {
            let key = self.head()?;
            if let Head::Text(key) = key {
                members.push((key, self));
            }
            self.skip()?;
        }
        Some(members)
    }

    /// Returns a member of a map.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        let found = self.members()?.into_iter().find(|(key, _)| *key == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// Returns the encoded elements of a list, which may be in a snapshot.
    pub(super) fn elements(mut self) -> Option<Vec<&'a [u8]>> {
        match self.head()? {
            Head::List(n @ 0..=MAX_ELEMENTS) => self.elements_after(n),
            Head::Extension(SNAPSHOT, payload) => {
                let mut inner = Self::new(payload);
                match inner.head()? {
                    Head::List(n @ 0..=MAX_ELEMENTS) => inner.elements_after(n),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn elements_after(mut self, n: u32) -> Option<Vec<&'a [u8]>> {
        let mut elements = Vec::new();
        for _ in 0..n {
            elements.push(self.value());
            self.skip()?;
        }
        Some(elements)
    }

    /// Returns the bytes of the next value; all if it is damaged.
    pub(super) fn value(self) -> &'a [u8] {
        let mut after = self;
        match after.skip() {
            Some(()) => &self.rest[..self.rest.len() - after.rest.len()],
            None => self.rest,
        }
    }

    /// Returns the bytes from here on.
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Returns the payload of an object after the name of its module.
    fn object(mut self) -> Option<Self> {
        let Head::Extension(code, payload) = self.head()? else {
            return None;
        };
        let mut payload = Self::new(payload);
        if matches!(code, SNAPSHOT | ARRAY) || !matches!(payload.head()?, Head::List(3..)) {
            return None;
        }
        payload.skip()?;
        Some(payload)
    }

    /// Returns the class of an object.
    pub(super) fn class(self) -> Option<&'a str> {
        match self.object()?.head()? {
            Head::Text(name) => str::from_utf8(name).ok(),
            _ => None,
        }
    }

    /// Returns the members of an object.
    pub(super) fn object_members(self) -> Option<Self> {
        let mut payload = self.object()?;
        payload.skip()?;
        Some(payload)
    }

    /// Writes a value as JSON. Returns `None` if it is damaged, nests too deeply, or `out` becomes longer than `most`
    /// bytes.
    pub(super) fn write_json(&mut self, out: &mut String, most: usize) -> Option<()> {
        self.write(out, most, 0)
    }

    fn write(&mut self, out: &mut String, most: usize, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || out.len() > most {
            return None;
        }
        let before = *self;
        match self.head()? {
            Head::Float(number) if number.is_finite() => write!(out, "{number:?}").ok()?,
            Head::Nil | Head::Bytes | Head::Float(_) | Head::Extension(ARRAY, _) => {
                out.push_str("null");
            }
            Head::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Head::Unsigned(number) => write!(out, "{number}").ok()?,
            Head::Signed(number) => write!(out, "{number}").ok()?,
            Head::Text(text) => push_text(out, &String::from_utf8_lossy(text)),
            Head::List(n) => {
                out.push('[');
                for idx in 0..n {
                    if idx > 0 {
                        out.push(',');
                    }
                    self.write(out, most, depth + 1)?;
                }
                out.push(']');
            }
            Head::Map(n) => {
                out.push('{');
                for idx in 0..n {
                    if idx > 0 {
                        out.push(',');
                    }
                    match self.head()? {
                        Head::Text(key) => push_text(out, &String::from_utf8_lossy(key)),
                        Head::Unsigned(number) => push_text(out, &number.to_string()),
                        Head::Signed(number) => push_text(out, &number.to_string()),
                        _ => return None,
                    }
                    out.push(':');
                    self.write(out, most, depth + 1)?;
                }
                out.push('}');
            }
            Head::Extension(SNAPSHOT, payload) => {
                Self::new(payload).write(out, most, depth + 1)?;
            }
            Head::Extension(..) => before.object_members()?.write(out, most, depth + 1)?,
        }
        Some(())
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&crate::json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(bytes: &[u8]) -> Option<String> {
        let mut out = String::new();
        Cursor::new(bytes).write_json(&mut out, 1000)?;
        Some(out)
    }

    #[test]
    fn writes_values_as_json() {
        let cases: [(&[u8], &str); 9] = [
            (b"\xc0", "null"),
            (b"\x93\x01\xff\xcd\x01\x00", "[1,-1,256]"),
            (b"\x81\xa1a\xc3", "{\"a\":true}"),
            (b"\x81\x05\xa1\"", "{\"5\":\"\\\"\"}"),
            (b"\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00", "0.5"),
            (b"\xd1\xff\x00", "-256"),
            (b"\xd9\x02hi", "\"hi\""),
            // An object: module, class and members.
            (b"\xc7\x09\x05\x93\xa1m\xa1C\x81\xa1x\x01", "{\"x\":1}"),
            (b"\xd5\x07\x91\x02", "[2]"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(json(bytes).as_deref(), Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn rejects_damaged_and_hostile_values() {
        let deep = vec![0x91; 100_000];
        let cases: [&[u8]; 6] =
            [b"", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xd9\x05hi", b"\xc7\x02\x05\x91\x01", &deep];
        for bytes in cases {
            assert_eq!(json(bytes), None);
            assert!(Cursor::new(bytes).elements().is_none_or(|list| list.len() < 2));
        }
        assert_eq!(json(&[&b"\xdc\x10\x00"[..], &[0xc0; 0x1000]].concat()), None, "too long");
    }

    #[test]
    fn finds_members_elements_and_classes() {
        let map = b"\x82\xa1a\x01\xa1b\x92\x01\xc7\x08\x05\x93\xa1m\xa1C\x81\xa1x\x01";
        let elements = Cursor::new(map).member("b").and_then(Cursor::elements).unwrap();
        assert_eq!(elements.len(), 2);
        assert_eq!(Cursor::new(elements[1]).class(), Some("C"));
        assert_eq!(Cursor::new(elements[0]).class(), None);
        assert!(Cursor::new(map).member("c").is_none());
    }
}
