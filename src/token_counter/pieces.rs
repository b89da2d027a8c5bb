//! Splits a text into the pieces that `OpenAI`'s vocabularies encode separately: words with a preceding character, up
//! to three digits, signs, blanks.
//!
//! The rule is published as a regular expression. This is a handwritten implementation of it.
//!
//! - `cl100k_base`: a word consists of letters. `'s` and similar contractions are separate pieces.
//! - `o200k_base`: a word consists of uppercase and then lowercase letters, and includes `'s` and similar contractions.
//!   A slash may follow a line ending.

use super::Vocabulary;
use super::character_class::{ASCII, BYTES, Class, class_of};

const LETTERS: u8 = Class::Upper as u8 | Class::Lower as u8 | Class::Letter as u8;
const SMALL: u8 = Class::Lower as u8 | Class::Letter as u8 | Class::Mark as u8;
const BLANKS: u8 = Class::Line as u8 | Class::Blank as u8;
const SIGNS: u8 = Class::Sign as u8 | Class::Mark as u8;

/// Returns the class and the length in bytes of the character at an offset.
#[inline]
fn class_at(text: &str, offset: usize) -> (Class, usize) {
    match text.as_bytes().get(offset) {
        Some(byte) if *byte < 128 => (ASCII[usize::from(*byte)], 1),
        Some(_) => multi_byte(text, offset),
        None => (Class::End, 0),
    }
}

/// Handles characters of several bytes. A separate function, so that the inlined one stays small.
#[inline(never)]
fn multi_byte(text: &str, offset: usize) -> (Class, usize) {
    let c = text[offset..].chars().next();
    c.map_or((Class::End, 0), |c| (class_of(c), c.len_utf8()))
}

/// Returns the end of the run of characters of these classes from `from` on.
#[inline]
fn run(text: &str, from: usize, classes: u8) -> usize {
    let bytes = text.as_bytes();
    let mut end = from;
    loop {
        while let Some(byte) = bytes.get(end)
            && BYTES[usize::from(*byte)] & classes != 0
        {
            end += 1;
        }
        match class_at(text, end) {
            (class, len) if class.is_of(classes) => end += len,
            _ => return end,
        }
    }
}

impl Vocabulary {
    /// Returns the end of the piece that begins at `from`.
    pub(super) fn piece_end(self, text: &str, from: usize) -> usize {
        let (class, len) = class_at(text, from);
        match class {
            _ if class.is_of(self.letters()) => self.word(text, from),
            Class::Digit => digits(text, from),
            Class::Blank => self.blank(text, from, len),
            Class::Line => blanks(text, from),
            Class::End => from,
            _ => self.sign(text, from, len),
        }
    }

    /// Returns the classes that form words.
    fn letters(self) -> u8 {
        match self {
            Self::Cl100kBase => LETTERS,
            Self::O200kBase => LETTERS | Class::Mark as u8,
        }
    }

    /// Returns the end of a word that begins with a letter.
    fn word(self, text: &str, from: usize) -> usize {
        if self == Self::Cl100kBase {
            return run(text, from, LETTERS);
        }
        let end = cased(text, from);
        end + contraction(&text.as_bytes()[end..])
    }

    /// Returns the end of a piece that begins with a blank other than a line ending. The blank is part of a following
    /// word; a space is part of following signs.
    fn blank(self, text: &str, from: usize, len: usize) -> usize {
        match class_at(text, from + len).0 {
            class if class.is_of(self.letters()) => self.word(text, from + len),
            class if class.is_of(SIGNS) && text.as_bytes()[from] == b' ' => {
                self.signs(text, from + len)
            }
            _ => blanks(text, from),
        }
    }

    /// Returns the end of a piece that begins with a sign. The sign is part of a following word.
    fn sign(self, text: &str, from: usize, len: usize) -> usize {
        if self == Self::Cl100kBase {
            let contracted = contraction(&text.as_bytes()[from..]);
            if contracted > 0 {
                return from + contracted;
            }
        }
        match class_at(text, from + len).0 {
            class if class.is_of(self.letters()) => self.word(text, from + len),
            _ => self.signs(text, from),
        }
    }

    /// Returns the end of signs and the line endings after them.
    fn signs(self, text: &str, from: usize) -> usize {
        let end = run(text, from, SIGNS);
        let is_trailing = |byte: &&u8| match **byte {
            b'\r' | b'\n' => true,
            b'/' => self == Self::O200kBase,
            _ => false,
        };
        let after = text.as_bytes()[end..].iter().take_while(is_trailing);
        end + after.count()
    }
}

/// Returns the end of uppercase and then lowercase letters. Letters without case and marks count as both. Prefers a
/// match with lowercase letters at the end over uppercase letters alone.
fn cased(text: &str, from: usize) -> usize {
    let (mut end, mut last_letter) = (from, None);
    loop {
        let (class, len) = class_at(text, end);
        match class {
            Class::Upper => end += len,
            Class::Letter | Class::Mark => {
                end += len;
                last_letter = Some(end);
            }
            Class::Lower => return run(text, end, SMALL),
            _ => return last_letter.unwrap_or(end),
        }
    }
}

/// Returns the bytes of a contraction such as `'s`, or 0. Accepts a long s.
fn contraction(text: &[u8]) -> usize {
    let lower = |offset: usize| text.get(offset).map(u8::to_ascii_lowercase);
    if text.first() != Some(&b'\'') {
        return 0;
    }
    match (lower(1), lower(2)) {
        (Some(b's' | b't' | b'm' | b'd'), _) => 2,
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => 3,
        _ if text[1..].starts_with("ſ".as_bytes()) => 3,
        _ => 0,
    }
}

/// Returns the end of up to three digits.
fn digits(text: &str, from: usize) -> usize {
    let mut end = from;
    for _ in 0..3 {
        match class_at(text, end) {
            (Class::Digit, len) => end += len,
            _ => break,
        }
    }
    end
}

/// Returns the end of blanks: after the last line ending, or else before the last blank, which belongs to the next
/// piece. A single blank is a piece.
fn blanks(text: &str, from: usize) -> usize {
    let (mut end, mut line, mut last) = (from, None, from);
    let after = loop {
        let (class, len) = class_at(text, end);
        if !class.is_of(BLANKS) {
            break class;
        }
        last = end;
        end += len;
        if class == Class::Line {
            line = Some(end);
        }
    };
    match line {
        Some(line) => line,
        None if after != Class::End && last > from => last,
        None => end,
    }
}
