//! Character classes of the vocabularies' splitting expressions.

use regex_syntax::hir::{self, HirKind};
use std::sync::LazyLock;

/// A character class. Each is one bit, so that sets of classes are numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// End of the text.
    End = 0,
    /// An uppercase letter.
    Upper = 1,
    /// A lowercase letter.
    Lower = 2,
    /// A letter without case.
    Letter = 4,
    Digit = 8,
    /// A line ending.
    Line = 16,
    /// Any other blank.
    Blank = 32,
    Sign = 64,
    /// A combining mark.
    Mark = 128,
}

impl Class {
    #[inline]
    pub(super) fn is_of(self, classes: u8) -> bool {
        self as u8 & classes != 0
    }
}

/// Classes of ASCII characters.
pub(super) const ASCII: [Class; 128] = {
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

/// Classes by byte. Bytes of multi-byte characters have none.
pub(super) const BYTES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = ASCII[byte] as u8;
        byte += 1;
    }
    classes
};

/// Returns the class of a character. Common characters are listed here, in ranges of one class.
pub(super) fn class_of(c: char) -> Class {
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
        _ => from_library(c),
    }
}

/// Expressions for the classes. All other characters are signs.
const NAMES: [(&str, Class); 6] = [
    (r"[\p{Lu}\p{Lt}]", Class::Upper),
    (r"\p{Ll}", Class::Lower),
    (r"[\p{Lm}\p{Lo}]", Class::Letter),
    (r"\p{M}", Class::Mark),
    (r"\p{N}", Class::Digit),
    (r"\s", Class::Blank),
];

/// The first and last character of every range of one class, in order. They come from the regular expression library
/// that the reference uses too.
static RANGES: LazyLock<Vec<(char, char, Class)>> = LazyLock::new(|| {
    let mut ranges: Vec<_> = NAMES
        .iter()
        .flat_map(|(name, class)| ranges_of(name).into_iter().map(|(from, to)| (from, to, *class)))
        .collect();
    ranges.sort_unstable_by_key(|(from, ..)| *from);
    ranges
});

fn ranges_of(name: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(name).map(hir::Hir::into_kind);
    match parsed {
        Ok(HirKind::Class(hir::Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    }
}

fn from_library(c: char) -> Class {
    let index = RANGES.partition_point(|(from, ..)| *from <= c);
    match index.checked_sub(1).map(|at| RANGES[at]) {
        Some((_, to, class)) if c <= to => class,
        _ => Class::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_classes_match_the_library() {
        let not_ascii = ('\u{80}'..=char::MAX).filter(|c| class_of(*c) != from_library(*c));
        assert_eq!(not_ascii.collect::<String>(), "");
        // The library treats line endings as blanks.
        let of_ascii = |c: &char| match ASCII[*c as usize] {
            Class::Line => Class::Blank,
            class => class,
        };
        assert_eq!(('\0'..='\x7f').find(|c| of_ascii(c) != from_library(*c)), None);
    }

    #[test]
    fn every_class_has_characters() {
        for (name, _) in NAMES {
            assert!(!ranges_of(name).is_empty(), "{name}");
        }
    }
}
