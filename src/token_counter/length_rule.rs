//! Estimates from the length alone.

/// An estimate of tokens from the length of a text, rounded up. Needs no vocabulary.
///
/// ```
/// use token_counter::LengthRule;
///
/// assert_eq!(LengthRule::Chars4.count("naïve"), 2);
/// assert_eq!(LengthRule::Bytes4.count("載重線"), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LengthRule {
    /// A quarter of the characters: the most common estimate. Low for code, far too low for Chinese, Japanese and
    /// Korean.
    Chars4,
    /// A quarter of the UTF-8 bytes. Equals [`Self::Chars4`] for ASCII; closer for Chinese, Japanese and Korean.
    Bytes4,
    /// A third of the characters: a cautious estimate for code and JSON.
    Chars3,
}

impl LengthRule {
    /// Estimates the tokens of a text.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::Chars4 => text.chars().count().div_ceil(4),
            Self::Bytes4 => text.len().div_ceil(4),
            Self::Chars3 => text.chars().count().div_ceil(3),
        }
    }
}
