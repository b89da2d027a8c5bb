//! Cuts a text into the pieces that `OpenAI`'s vocabularies encode one by one: words with what stands before them, up to
//! three digits, signs, blanks.
//!
//! The rule is published as a regular expression; this is the same rule by hand.

use super::classes::{ASCII, BYTES, Class, class_of};

/// Which vocabulary's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A word is letters; `'s` and its like stand apart.
    Cl100k,
    /// A word is capitals and then small letters; `'s` and its like go with it. A slash may follow a line's end.
    O200k,
}

const LETTERS: u8 = Class::Upper as u8 | Class::Lower as u8 | Class::Letter as u8;
const SMALL: u8 = Class::Lower as u8 | Class::Letter as u8 | Class::Mark as u8;
const BLANKS: u8 = Class::Line as u8 | Class::Blank as u8;
const SIGNS: u8 = Class::Sign as u8 | Class::Mark as u8;

/// Class and bytes of the character at this place.
#[inline]
fn at(text: &str, place: usize) -> (Class, usize) {
    match text.as_bytes().get(place) {
        Some(byte) if *byte < 128 => (ASCII[usize::from(*byte)], 1),
        Some(_) => longer(text, place),
        None => (Class::End, 0),
    }
}

/// The same of a character of several bytes; apart, so that the rest stays small where it is used.
#[inline(never)]
fn longer(text: &str, place: usize) -> (Class, usize) {
    let c = text[place..].chars().next();
    c.map_or((Class::End, 0), |c| (class_of(c), c.len_utf8()))
}

/// Where characters of these classes end that begin at this place.
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
        match at(text, end) {
            (class, len) if class.is_of(classes) => end += len,
            _ => return end,
        }
    }
}

impl Rule {
    /// Both.
    #[cfg(test)]
    pub(super) const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// Where the piece that begins at this place ends.
    pub(super) fn piece_end(self, text: &str, from: usize) -> usize {
        let (class, len) = at(text, from);
        match class {
            _ if class.is_of(self.letters()) => self.word(text, from),
            Class::Digit => digits(text, from),
            Class::Blank => self.blank(text, from, len),
            Class::Line => blanks(text, from),
            Class::End => from,
            _ => self.sign(text, from, len),
        }
    }

    /// What words are made of.
    fn letters(self) -> u8 {
        match self {
            Self::Cl100k => LETTERS,
            Self::O200k => LETTERS | Class::Mark as u8,
        }
    }

    /// A word that begins with a letter here.
    fn word(self, text: &str, from: usize) -> usize {
        if self == Self::Cl100k {
            return run(text, from, LETTERS);
        }
        let end = cased(text, from);
        end + contraction(&text.as_bytes()[end..])
    }

    /// What begins with a blank that ends no line: before a word it is part of it, a space before signs of them.
    fn blank(self, text: &str, from: usize, len: usize) -> usize {
        match at(text, from + len).0 {
            class if class.is_of(self.letters()) => self.word(text, from + len),
            class if class.is_of(SIGNS) && text.as_bytes()[from] == b' ' => {
                self.signs(text, from + len)
            }
            _ => blanks(text, from),
        }
    }

    /// What begins with a sign: before a word it is part of it.
    fn sign(self, text: &str, from: usize, len: usize) -> usize {
        if self == Self::Cl100k {
            let shortened = contraction(&text.as_bytes()[from..]);
            if shortened > 0 {
                return from + shortened;
            }
        }
        match at(text, from + len).0 {
            class if class.is_of(self.letters()) => self.word(text, from + len),
            _ => self.signs(text, from),
        }
    }

    /// Signs and the line ends behind them.
    fn signs(self, text: &str, from: usize) -> usize {
        let end = run(text, from, SIGNS);
        let goes_on = |byte: &&u8| match **byte {
            b'\r' | b'\n' => true,
            b'/' => self == Self::O200k,
            _ => false,
        };
        let behind = text.as_bytes()[end..].iter().take_while(goes_on);
        end + behind.count()
    }
}

/// Capitals and then small letters. Letters without case are both, and so are marks: as many as can be are taken with small
/// ones behind them, and capitals alone only where nothing else is.
fn cased(text: &str, from: usize) -> usize {
    let (mut end, mut last_letter) = (from, None);
    loop {
        let (class, len) = at(text, end);
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

/// Bytes of `'s` and its like, 0 where there is none. A long s stands for one.
fn contraction(text: &[u8]) -> usize {
    let lower = |place: usize| text.get(place).map(u8::to_ascii_lowercase);
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

/// Up to three digits.
fn digits(text: &str, from: usize) -> usize {
    let mut end = from;
    for _ in 0..3 {
        match at(text, end) {
            (Class::Digit, len) => end += len,
            _ => break,
        }
    }
    end
}

/// Blanks: to the last line end among them; without one all of them but the last, which goes with what follows; a single
/// one alone.
fn blanks(text: &str, from: usize) -> usize {
    let (mut end, mut line, mut last) = (from, None, from);
    let behind = loop {
        let (class, len) = at(text, end);
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
        None if behind != Class::End && last > from => last,
        None => end,
    }
}
