//! Python's format specifications: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.

use crate::languages::python::PythonError;

/// A parsed specification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) fill: char,
    pub(crate) align: char,
    pub(crate) sign: Option<char>,
    pub(crate) coerces_zero: bool,
    pub(crate) is_alternate: bool,
    pub(crate) width: usize,
    pub(crate) grouping: Option<char>,
    pub(crate) precision: Option<usize>,
    pub(crate) kind: Option<char>,
}

/// Larger widths and precisions are rejected, to bound memory.
// Chosen: Python would fill memory with the text of a larger width.
const WIDEST: usize = 1_000_000;

impl Spec {
    /// Parses a specification for a value of a class, with that class's default alignment.
    pub(crate) fn parse(text: &str, align: char, class: &str) -> Result<Self, PythonError> {
        let chars: Vec<char> = text.chars().collect();
        let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '=' | '^'));
        let mut at = 0;
        let mut spec = Self {
            fill: ' ',
            align,
            sign: None,
            coerces_zero: false,
            is_alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: None,
        };
        let (has_fill, has_align) = (is_align(chars.get(1)), is_align(chars.first()));
        match (has_fill, &*chars) {
            (true, [fill, align, ..]) => (spec.fill, spec.align, at) = (*fill, *align, 2),
            (_, [align, ..]) if has_align => (spec.align, at) = (*align, 1),
            _ => {}
        }
        let mut take = |wanted: &[char]| {
            let found = chars.get(at).copied().filter(|c| wanted.contains(c));
            at += usize::from(found.is_some());
            found
        };
        spec.sign = take(&[' ', '+', '-']);
        spec.coerces_zero = take(&['z']).is_some();
        spec.is_alternate = take(&['#']).is_some();
        if take(&['0']).is_some() {
            if !has_fill {
                spec.fill = '0';
            }
            if !has_fill && !has_align && align == '>' {
                spec.align = '=';
            }
        }
        let rest: String = chars.get(at..).unwrap_or_default().iter().collect();
        spec.parse_rest(&rest, text, class)
    }

    fn parse_rest(mut self, text: &str, whole: &str, class: &str) -> Result<Self, PythonError> {
        let (width, text) = digits(text)?;
        self.width = width.unwrap_or(0);
        let mut rest = text;
        for mark in [',', '_'] {
            if let Some(after) = rest.strip_prefix(mark) {
                if self.grouping.is_some() {
                    return Err(PythonError::of_value("Cannot specify both ',' and '_'."));
                }
                self.grouping = Some(mark);
                rest = after;
            }
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = digits(after)?;
            let missing = || PythonError::of_value("Format specifier missing precision");
            self.precision = Some(precision.ok_or_else(missing)?);
            rest = after;
        }
        let mut kinds = rest.chars();
        self.kind = kinds.next();
        if kinds.next().is_some() {
            return Err(PythonError::of_value(format!(
                "Invalid format specifier '{whole}' for object of type '{class}'"
            )));
        }
        Ok(self)
    }

    /// Pads a text to the width. `sign` precedes the padding if that consists of zeros.
    pub(crate) fn pad(&self, sign: &str, body: &str) -> String {
        let length = sign.chars().count() + body.chars().count();
        let missing = self.width.saturating_sub(length);
        let fill = |n: usize| -> String { std::iter::repeat_n(self.fill, n).collect() };
        match self.align {
            '<' => format!("{sign}{body}{}", fill(missing)),
            '^' => format!("{}{sign}{body}{}", fill(missing / 2), fill(missing - missing / 2)),
            '=' => format!("{sign}{}{body}", fill(missing)),
            _ => format!("{}{sign}{body}", fill(missing)),
        }
    }
}

fn digits(text: &str) -> Result<(Option<usize>, &str), PythonError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    let number = digits.parse().ok().filter(|n| *n <= WIDEST);
    let too_many = || PythonError::of_value("Too many decimal digits in format string");
    Ok((Some(number.ok_or_else(too_many)?), rest))
}
