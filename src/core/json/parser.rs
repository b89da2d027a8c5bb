//! Parses a JSON text.

use super::char_search::{CharSearch, Special};
use super::text::{ESCAPES, Text, escaped};

/// Nesting depth at which a text is rejected, as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// The values that a parser makes.
pub(super) trait Tree<'a>: Sized {
    /// Members of an object.
    type Members;

    /// `null`.
    const NULL: Self;

    /// Makes a truth value.
    fn truth(is_true: bool) -> Self;

    /// Makes a number of its notation.
    fn number(notation: &'a str) -> Self;

    /// Makes a string.
    fn string(text: Text<'a>) -> Self;

    /// Makes a list.
    fn list(elements: Vec<Self>) -> Self;

    /// Returns no members, of an object that has some unless it is empty.
    fn no_members(is_empty: bool) -> Self::Members;

    /// Adds a member.
    fn add_member(members: &mut Self::Members, name: Text<'a>, value: Self);

    /// Makes an object.
    fn object(members: Self::Members) -> Self;
}

/// Parses values from the start of a text.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    special: CharSearch<'a, Special>,
}

impl<'a> Parser<'a> {
    /// Parses a text that is one value.
    pub(super) fn whole<T: Tree<'a>>(text: &'a str) -> Option<T> {
        let (value, rest) = Self::leading(text)?;
        rest.bytes().all(is_space).then_some(value)
    }

    /// Parses the value at the start of a text. Returns it with the rest.
    pub(super) fn leading<T: Tree<'a>>(text: &'a str) -> Option<(T, &'a str)> {
        let special = CharSearch::of(text.as_bytes());
        let mut reader = Self { text, at: 0, special };
        let value = reader.value(MAX_DEPTH)?;
        Some((value, &text[reader.at..]))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
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
    fn value<T: Tree<'a>>(&mut self, depth: usize) -> Option<T> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(T::string),
            b'{' => self.object(depth - 1),
            b'[' => self.list(depth - 1),
            b'-' | b'0'..=b'9' => self.number().map(T::number),
            b't' => self.word("true", T::truth(true)),
            b'f' => self.word("false", T::truth(false)),
            b'n' => self.word("null", T::NULL),
            _ => None,
        }
    }

    fn object<T: Tree<'a>>(&mut self, depth: usize) -> Option<T> {
        if depth == 0 || !self.eat(b'{') {
            return None;
        }
        if self.eat(b'}') {
            return Some(T::object(T::no_members(true)));
        }
        let mut members = T::no_members(false);
        loop {
            let name = self.string()?;
            if !self.eat(b':') {
                return None;
            }
            T::add_member(&mut members, name, self.value(depth)?);
            if self.eat(b'}') {
                return Some(T::object(members));
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    fn list<T: Tree<'a>>(&mut self, depth: usize) -> Option<T> {
        let mut elements = Vec::new();
        if depth == 0 || !self.eat(b'[') {
            return None;
        }
        if self.eat(b']') {
            return Some(T::list(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.eat(b']') {
                return Some(T::list(elements));
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

    fn number(&mut self) -> Option<&'a str> {
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
        Some(&self.text[start..self.at])
    }

    /// Skips one or more digits.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word<T>(&mut self, word: &str, value: T) -> Option<T> {
        let is_there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_there.then_some(value)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}
