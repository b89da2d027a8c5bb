//! Cuts a text into the pieces that `OpenAI`'s vocabularies encode one by one: words with what stands before them, up to
//! three digits, signs, blanks.
//!
//! The rule is published as a regular expression; this is the same rule by hand, for characters whose class is plain.
//! At any other the caller is told so, and asks the expression about that one piece.

/// Which vocabulary's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A word is letters; `'s` and its like stand apart.
    Cl100k,
    /// A word is capitals and then small letters; `'s` and its like go with it. A slash may follow a line's end.
    O200k,
}

/// What the rule tells apart: one bit each, so that sets of them are numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// The text is over.
    End = 0,
    /// A capital letter.
    Upper = 1,
    /// A small letter.
    Lower = 2,
    /// A letter of a script without either.
    Letter = 4,
    Digit = 8,
    /// The end of a line.
    Line = 16,
    /// Any other blank.
    Blank = 32,
    Sign = 64,
    /// Not told here.
    Unknown = 128,
}

const LETTERS: u8 = Class::Upper as u8 | Class::Lower as u8 | Class::Letter as u8;
const SMALL: u8 = Class::Lower as u8 | Class::Letter as u8;
const BLANKS: u8 = Class::Line as u8 | Class::Blank as u8;

impl Class {
    #[inline]
    fn is_of(self, classes: u8) -> bool {
        self as u8 & classes != 0
    }
}

/// Classes of ASCII.
const ASCII: [Class; 128] = {
    let mut classes = [Class::Sign; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Digit,
            b'\r' | b'\n' => Class::Line,
            b' ' | b'\t' | 0x0b | 0x0c => Class::Blank,
            _ => Class::Sign,
        };
        byte += 1;
    }
    classes
};

/// The same by byte; those of longer characters are of none.
const BYTES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = ASCII[byte] as u8;
        byte += 1;
    }
    classes
};

/// Classes of other characters that are common in texts; ranges in which every character is of one class.
fn class_of(c: char) -> Class {
    match c {
        '\u{c0}'..='\u{d6}'
        | '\u{d8}'..='\u{de}'
        | '\u{391}'..='\u{3a1}'
        | '\u{3a3}'..='\u{3ab}'
        | '\u{400}'..='\u{42f}'
        | '\u{ff21}'..='\u{ff3a}' => Class::Upper,
        '\u{b5}'
        | '\u{df}'..='\u{f6}'
        | '\u{f8}'..='\u{ff}'
        | '\u{3ac}'..='\u{3ce}'
        | '\u{430}'..='\u{45f}'
        | '\u{ff41}'..='\u{ff5a}' => Class::Lower,
        '\u{3005}'..='\u{3006}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3400}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fef}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff66}'..='\u{ff9f}' => Class::Letter,
        '\u{ff10}'..='\u{ff19}' => Class::Digit,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{3000}' => Class::Blank,
        '\u{a1}'..='\u{a9}'
        | '\u{ab}'..='\u{b1}'
        | '\u{b4}'
        | '\u{b6}'..='\u{b8}'
        | '\u{bb}'
        | '\u{bf}'
        | '\u{d7}'
        | '\u{f7}'
        | '\u{200b}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{20a0}'..='\u{20bf}'
        | '\u{2190}'..='\u{23ff}'
        | '\u{2500}'..='\u{2767}'
        | '\u{2794}'..='\u{27bf}'
        | '\u{3001}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}'
        | '\u{30a0}'
        | '\u{30fb}'
        | '\u{ff01}'..='\u{ff0f}'
        | '\u{ff1a}'..='\u{ff20}'
        | '\u{ff3b}'..='\u{ff40}'
        | '\u{ff5b}'..='\u{ff65}'
        | '\u{fffd}'
        | '\u{1f1e6}'..='\u{1f1ff}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6c5}'
        | '\u{1f900}'..='\u{1f9ff}' => Class::Sign,
        _ => Class::Unknown,
    }
}

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

/// Where characters of these classes end that begin at this place; none where that cannot be told.
#[inline]
fn run(text: &str, from: usize, classes: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = from;
    loop {
        while let Some(byte) = bytes.get(end)
            && BYTES[usize::from(*byte)] & classes != 0
        {
            end += 1;
        }
        match at(text, end) {
            (Class::Unknown, _) => return None,
            (class, len) if class.is_of(classes) => end += len,
            _ => return Some(end),
        }
    }
}

impl Rule {
    /// Where the piece that begins at this place ends; none where a character of it, or the one behind it, is not known.
    pub(super) fn piece_end(self, text: &str, from: usize) -> Option<usize> {
        let (class, len) = at(text, from);
        match class {
            Class::Unknown | Class::End => None,
            Class::Upper | Class::Lower | Class::Letter => self.word(text, from),
            Class::Digit => digits(text, from),
            Class::Blank => self.blank(text, from, len),
            Class::Line => blanks(text, from),
            Class::Sign => self.sign(text, from, len),
        }
    }

    /// A word that begins with a letter here.
    fn word(self, text: &str, from: usize) -> Option<usize> {
        if self == Self::Cl100k {
            return run(text, from, LETTERS);
        }
        let end = cased(text, from)?;
        let shortened = contraction(&text.as_bytes()[end..])?;
        Some(end + shortened)
    }

    /// What begins with a blank that ends no line: before a word it is part of it, a space before signs of them.
    fn blank(self, text: &str, from: usize, len: usize) -> Option<usize> {
        match at(text, from + len).0 {
            Class::Unknown => None,
            class if class.is_of(LETTERS) => self.word(text, from + len),
            Class::Sign if text.as_bytes()[from] == b' ' => self.signs(text, from + len),
            _ => blanks(text, from),
        }
    }

    /// What begins with a sign: before a word it is part of it.
    fn sign(self, text: &str, from: usize, len: usize) -> Option<usize> {
        if self == Self::Cl100k {
            let shortened = contraction(&text.as_bytes()[from..])?;
            if shortened > 0 {
                return Some(from + shortened);
            }
        }
        match at(text, from + len).0 {
            Class::Unknown => None,
            class if class.is_of(LETTERS) => self.word(text, from + len),
            _ => self.signs(text, from),
        }
    }

    /// Signs and the line ends behind them.
    fn signs(self, text: &str, from: usize) -> Option<usize> {
        let end = run(text, from, Class::Sign as u8)?;
        let goes_on = |byte: &&u8| match **byte {
            b'\r' | b'\n' => true,
            b'/' => self == Self::O200k,
            _ => false,
        };
        let behind = text.as_bytes()[end..].iter().take_while(goes_on);
        Some(end + behind.count())
    }
}

/// Capitals and then small letters. Letters without case are both: as many as can be are taken with small ones behind
/// them, and capitals alone only where nothing else is.
fn cased(text: &str, from: usize) -> Option<usize> {
    let (mut end, mut last_letter) = (from, None);
    let behind = loop {
        let (class, len) = at(text, end);
        match class {
            Class::Upper => end += len,
            Class::Letter => {
                end += len;
                last_letter = Some(end);
            }
            other => break other,
        }
    };
    match behind {
        Class::Unknown => None,
        Class::Lower => run(text, end, SMALL),
        _ => Some(last_letter.unwrap_or(end)),
    }
}

/// Bytes of `'s` and its like, 0 where there is none; none where that cannot be told.
fn contraction(text: &[u8]) -> Option<usize> {
    let lower = |place: usize| text.get(place).map(u8::to_ascii_lowercase);
    if text.first() != Some(&b'\'') {
        return Some(0);
    }
    Some(match (lower(1), lower(2)) {
        // A long s may stand for one.
        (Some(128..), _) => return None,
        (Some(b's' | b't' | b'm' | b'd'), _) => 2,
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => 3,
        _ => 0,
    })
}

/// Up to three digits.
fn digits(text: &str, from: usize) -> Option<usize> {
    let mut end = from;
    for _ in 0..3 {
        match at(text, end) {
            (Class::Unknown, _) => return None,
            (Class::Digit, len) => end += len,
            _ => break,
        }
    }
    Some(end)
}

/// Blanks: to the last line end among them; without one all of them but the last, which goes with what follows; a single
/// one alone.
fn blanks(text: &str, from: usize) -> Option<usize> {
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
    match behind {
        Class::Unknown => None,
        _ if line.is_some() => line,
        Class::End => Some(end),
        _ if last > from => Some(last),
        _ => Some(end),
    }
}
