//! Parses a query, and reports errors with their position.

use super::{Flag, Kind, Needle, NumberKey, Query, Term, Test, ToolPattern, kind_name};
use crate::names::nearest;
use crate::session::Role;
use std::fmt;
use std::ops::{Range, RangeInclusive};

/// An error in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Byte range of the faulty part.
    pub span: Range<usize>,
    /// Number of the first faulty character, from 1.
    character: usize,
    message: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.character, self.message)
    }
}

impl std::error::Error for QueryError {}

/// A term as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawTerm<'a> {
    /// The whole term.
    pub(super) span: Range<usize>,
    pub(super) is_negated: bool,
    /// The key and the operator, if it starts with a key.
    pub(super) key: Option<(&'a str, Operator)>,
    /// The value without quotes.
    pub(super) value: &'a str,
    /// Position of the value, with quotes.
    pub(super) value_span: Range<usize>,
    pub(super) is_quoted: bool,
}

impl RawTerm<'_> {
    /// Returns whether the closing quote is missing.
    fn is_open(&self) -> bool {
        const QUOTES: usize = 2;
        self.is_quoted && self.value_span.len() < self.value.len() + QUOTES
    }
}

/// The operator after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Is,
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Operators, with those of two characters first.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    (">", Operator::Above),
    ("<", Operator::Below),
    (":", Operator::Is),
    ("=", Operator::Is),
];

/// Keys that take a word, before those that take a number.
pub(super) const WORD_KEYS: [&str; 5] = ["text", "kind", "role", "tool", "is"];

/// Returns all keys.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    let numbers = NumberKey::ALL.into_iter().map(NumberKey::name);
    WORD_KEYS.into_iter().chain(numbers)
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// Returns the first error with its position.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let terms = raw_terms(text).into_iter().map(|raw| {
            let condition = condition(&raw).map_err(|(span, message)| QueryError {
                character: text[..span.start].chars().count() + 1,
                span,
                message,
            })?;
            Ok(Term { is_negated: raw.is_negated, test: condition })
        });
        let mut terms: Vec<Term> = terms.collect::<Result<_, _>>()?;
        terms.sort_by_key(|term| matches!(term.test, Test::Text(_)));
        Ok(Self { terms })
    }
}

/// Splits a query into terms. A quote that is not closed ends with the query.
pub(super) fn raw_terms(text: &str) -> Vec<RawTerm<'_>> {
    let (mut terms, mut at) = (Vec::new(), 0);
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if at == text.len() {
            return terms;
        }
        let start = at;
        let rest = &text[at..];
        // `--word` is a text, since options of commands start like this.
        let is_negated = rest.len() > 1
            && rest.starts_with('-')
            && !rest[1..].starts_with(|c: char| c == '-' || c.is_whitespace());
        at += usize::from(is_negated);
        let key = key(&text[at..]);
        at += key.map_or(0, |(_, _, length)| length);
        let (value, length, is_quoted) = value(&text[at..]);
        terms.push(RawTerm {
            span: start..at + length,
            is_negated,
            key: key.map(|(name, operator, _)| (name, operator)),
            value,
            value_span: at..at + length,
            is_quoted,
        });
        at += length;
    }
}

/// Returns the key at the start of a term, its operator, and the length of both. A word of at least two letters before
/// `:` and a value is a key, even if unknown, unless the value starts with `/`, `\` or `:`: `https://x`, `C:\x`, `a::b`
/// and `error:` are texts. A number key with an `s` too many or too few before a number is a key, too: `token>20`.
fn key(term: &str) -> Option<(&str, Operator, usize)> {
    let end = term.find(|c: char| !c.is_ascii_alphabetic())?;
    let (name, rest) = term.split_at(end);
    let mut operators = OPERATORS.into_iter();
    let (sign, operator) = operators.find(|(sign, _)| rest.starts_with(sign))?;
    let value = &rest[sign.len()..];
    let is_number = NumberKey::ALL.iter().any(|key| key.name() == name);
    let is_value = |c: char| !c.is_whitespace() && !matches!(c, '/' | '\\' | ':');
    let is_unknown = || name.len() > 1 && value.starts_with(is_value);
    let is_word = || WORD_KEYS.contains(&name) || meant(name).is_some() || is_unknown();
    let stem = |name: &str| name.trim_end_matches('s').to_owned();
    let is_near = |key: &NumberKey| stem(key.name()) == stem(name);
    let is_digit = |c: char| c.is_ascii_digit();
    let is_near_number = || value.starts_with(is_digit) && NumberKey::ALL.iter().any(is_near);
    let is_key = is_number || sign == ":" && is_word() || is_near_number();
    is_key.then_some((name, operator, end + sign.len()))
}

/// Returns the key that a name is likely to mean: it lacks the last letters, or has one more.
fn meant(name: &str) -> Option<&'static str> {
    let is_near = |key: &&str| {
        name.len() > 1 && (key.starts_with(name) || name.strip_suffix('s') == Some(key))
    };
    keys().find(is_near)
}

/// Returns the value at the start of a text, its length with quotes, and whether it is quoted.
fn value(text: &str) -> (&str, usize, bool) {
    if let Some(quoted) = text.strip_prefix('"') {
        return match quoted.find('"') {
            Some(end) => (&quoted[..end], end + 2, true),
            None => (quoted, text.len(), true),
        };
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], end, false)
}

/// Position and message of an error.
type Fault = (Range<usize>, String);

fn condition(raw: &RawTerm<'_>) -> Result<Test, Fault> {
    if raw.is_open() {
        let message = "the quote has no end; add `\"`".to_owned();
        return Err((raw.value_span.clone(), message));
    }
    let at_value = |message: String| {
        let is_empty = raw.value_span.is_empty();
        let span = if is_empty { raw.span.clone() } else { raw.value_span.clone() };
        (span, message)
    };
    let Some((key, operator)) = raw.key else {
        return text_test(raw);
    };
    if let Some(number) = NumberKey::ALL.into_iter().find(|n| n.name() == key) {
        let range = range(operator, raw.value).ok_or_else(|| {
            at_value(format!("`{key}` needs a number or a range, such as {key}>20 or {key}:20-34"))
        })?;
        if range.is_empty() {
            return Err(at_value(format!("the range `{}` is empty", raw.value)));
        }
        return Ok(Test::Number(number, range));
    }
    let one_of = |names: Vec<&str>| {
        let names = names.join(", ");
        at_value(if raw.value.is_empty() {
            format!("`{key}:` needs a value: {names}")
        } else {
            format!("unknown {key} `{}`; there are {names}", raw.value)
        })
    };
    let value = raw.value.to_lowercase();
    match key {
        "text" => text_test(raw),
        "kind" => {
            let names = |kind: &Kind| kind_name(*kind) == value || kind.name() == value;
            let kind = Kind::ALL.into_iter().find(names).map(Test::Kind);
            kind.ok_or_else(|| one_of(Kind::ALL.into_iter().map(kind_name).collect()))
        }
        "role" => {
            let role = Role::ALL.into_iter().find(|role| role.name() == value);
            let names = || one_of(Role::ALL.into_iter().map(Role::name).collect());
            role.map(Test::Role).ok_or_else(names)
        }
        "is" => {
            let flag = Flag::ALL.into_iter().find(|flag| flag.name() == value);
            let names = || one_of(Flag::ALL.into_iter().map(Flag::name).collect());
            flag.map(Test::Is).ok_or_else(names)
        }
        "tool" if value.is_empty() => Err(at_value("`tool:` needs a name".to_owned())),
        "tool" => Ok(Test::Tool(ToolPattern(value))),
        other => Err((raw.span.clone(), unknown_key(other))),
    }
}

/// Returns the error message for an unknown key.
fn unknown_key(name: &str) -> String {
    let known: Vec<&str> = keys().collect();
    let near = meant(name).or_else(|| nearest(name, &known));
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let known = known.join(", ");
    format!("unknown key `{name}`; {near}there are {known}; quote the term to search for the text")
}

fn text_test(raw: &RawTerm<'_>) -> Result<Test, Fault> {
    if raw.value.is_empty() {
        return Err((raw.span.clone(), "the text is empty".to_owned()));
    }
    Needle::new(raw.value)
        .map(Test::Text)
        .ok_or_else(|| (raw.span.clone(), "the text is too long".to_owned()))
}

/// Parses `20`, `20-34`, `20-` and `-34`, or the bound of a comparison.
fn range(operator: Operator, value: &str) -> Option<RangeInclusive<u64>> {
    let single = || number(value);
    match operator {
        Operator::Above => Some(single()?.checked_add(1)?..=u64::MAX),
        Operator::AtLeast => Some(single()?..=u64::MAX),
        // Nothing is below 0: an empty range.
        Operator::Below => Some(match single()? {
            0 => RangeInclusive::new(1, 0),
            n => 0..=n - 1,
        }),
        Operator::AtMost => Some(0..=single()?),
        Operator::Is => match value.split_once('-') {
            Some(("", "")) => None,
            Some((first, "")) => Some(number(first)?..=u64::MAX),
            Some(("", last)) => Some(0..=number(last)?),
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => Some(single()?..=single()?),
        },
    }
}

/// Parses a number with an optional `k` or `M`.
fn number(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
    let digits: String = digits.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    digits.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(factor)
}
