//! JSON values that borrow from the source text. Members that are not accessed are neither copied nor decoded.
//!
//! Most of a session file is text, often recorded twice, and readers access few members of a record. A value therefore
//! only stores positions. The result equals that of `serde_json`, except that this parser rejects the few texts that a
//! `String` cannot hold.

mod char_search;
mod parser;

use parser::{Parser, unescaped};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Number of members from which duplicate names are found by a table.
const MANY: usize = 16;

/// A value.
#[derive(Clone, Debug)]
pub(in crate::formats) enum BorrowedValue<'a> {
    Null,
    Bool(bool),
    /// A number in its source notation.
    Number(&'a str),
    Text(Text<'a>),
    List(Vec<Self>),
    /// Members in order, including duplicate names.
    Object(Vec<(Text<'a>, Self)>),
}

/// The content between two quotes.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Text<'a> {
    raw: &'a str,
    /// Number of bytes that unescaping removes; 0 without escapes.
    escape_bytes: u32,
    /// All escapes are written as `serde_json` writes them.
    is_usual: bool,
}

impl<'a> BorrowedValue<'a> {
    /// Parses a text. Returns `None` if it is not supported or not JSON.
    pub(in crate::formats) fn parse(text: &'a str) -> Option<Self> {
        Parser::whole(text)
    }

    /// Returns a member of an object, the last one if the name occurs several times.
    pub(in crate::formats) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                let mut from_last = members.iter().rev();
                from_last.find(|(it, _)| it.is(name)).map(|(_, v)| v)
            }
            _ => None,
        }
    }

    /// Returns the value at a path of names.
    pub(in crate::formats) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// Returns the decoded text of a string.
    pub(in crate::formats) fn as_str(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text.decoded()),
            _ => None,
        }
    }

    /// Returns the string at a path.
    pub(in crate::formats) fn str_at(&self, path: &[&str]) -> Option<Cow<'a, str>> {
        self.at(path)?.as_str()
    }

    /// Whether the value at a path is `true`.
    pub(in crate::formats) fn is_true(&self, path: &[&str]) -> bool {
        matches!(self.at(path), Some(Self::Bool(true)))
    }

    /// Whether the value at a path is this string.
    pub(in crate::formats) fn is_str_at(&self, path: &[&str], words: &str) -> bool {
        matches!(self.at(path), Some(Self::Text(text)) if text.is(words))
    }

    /// Returns the number at a path in its source notation.
    pub(in crate::formats) fn number_at(&self, path: &[&str]) -> Option<&'a str> {
        match self.at(path)? {
            Self::Number(raw) => Some(raw),
            _ => None,
        }
    }

    /// Returns the elements of a list, or none for any other value.
    pub(in crate::formats) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the text of a content, see [`super::text_of`].
    pub(in crate::formats) fn text_of(&self) -> Cow<'a, str> {
        match self {
            Self::List(blocks) => {
                let texts: Vec<_> = blocks.iter().filter_map(Self::block_text).collect();
                joined(texts)
            }
            other => other.block_text().unwrap_or_default(),
        }
    }

    fn block_text(&self) -> Option<Cow<'a, str>> {
        self.as_str().or_else(|| self.str_at(&["text"]))
    }

    /// Converts the value to a `serde_json` value. Intended for rare members.
    pub(in crate::formats) fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.decoded().into_owned()),
            other => serde_json::from_str(&other.to_json()).unwrap_or_default(),
        }
    }

    /// Returns the JSON that `serde_json` writes for this value: without whitespace and duplicate names.
    pub(in crate::formats) fn to_json(&self) -> String {
        let mut json = String::new();
        self.push_to(&mut json);
        json
    }

    fn push_to(&self, json: &mut String) {
        match self {
            Self::Null => json.push_str("null"),
            Self::Bool(it) => json.push_str(if *it { "true" } else { "false" }),
            Self::Number(raw) => push_number(raw, json),
            Self::Text(text) => text.push_to(json),
            Self::List(elements) => {
                json.push('[');
                for (idx, element) in elements.iter().enumerate() {
                    json.push_str(if idx == 0 { "" } else { "," });
                    element.push_to(json);
                }
                json.push(']');
            }
            Self::Object(members) => {
                json.push('{');
                for (idx, (name, value)) in once(members).into_iter().enumerate() {
                    json.push_str(if idx == 0 { "" } else { "," });
                    name.push_to(json);
                    json.push(':');
                    value.push_to(json);
                }
                json.push('}');
            }
        }
    }
}

/// Joins texts with line breaks.
pub(in crate::formats) fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 | 1 => texts.pop().unwrap_or_default(),
        _ => Cow::Owned(texts.join("\n")),
    }
}

impl<'a> Text<'a> {
    /// Returns the unescaped text.
    fn decoded(self) -> Cow<'a, str> {
        if self.is_plain() {
            Cow::Borrowed(self.raw)
        } else {
            let len = self.raw.len() - self.escape_bytes as usize;
            Cow::Owned(unescaped(self.raw, len))
        }
    }

    fn is_plain(self) -> bool {
        self.escape_bytes == 0
    }

    fn is(self, words: &str) -> bool {
        if self.is_plain() { self.raw == words } else { self.decoded() == words }
    }

    fn push_to(self, json: &mut String) {
        if self.is_usual {
            json.push('"');
            json.push_str(self.raw);
            json.push('"');
        } else {
            json.push_str(&Value::String(self.decoded().into_owned()).to_string());
        }
    }
}

fn push_number(raw: &str, json: &mut String) {
    // `serde_json` normalizes exponents.
    let number = raw.contains(['e', 'E']).then(|| raw.parse::<Number>().ok());
    match number.flatten() {
        Some(number) => json.push_str(&number.to_string()),
        None => json.push_str(raw),
    }
}

/// Returns every name once, at its first position and with its last value.
fn once<'j, 'a>(
    members: &'j [(Text<'a>, BorrowedValue<'a>)],
) -> Vec<(Text<'a>, &'j BorrowedValue<'a>)> {
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut kept: Vec<(Text<'a>, &'j BorrowedValue<'a>)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        let place = if members.len() < MANY {
            let is_same = |(it, _): &(Text<'_>, _)| it.decoded() == name.decoded();
            kept.iter().position(is_same).unwrap_or(kept.len())
        } else {
            *places.entry(name.decoded()).or_insert(kept.len())
        };
        match kept.get_mut(place) {
            Some(member) => member.1 = value,
            None => kept.push((*name, value)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::json;
    use proptest::prelude::*;

    /// Test texts, separated by bars and line breaks.
    const TEXTS: &str = r#"
null| true |falsey|nul|tru|"|"\|"\"|"a\"b"|NaN|{a:1}
[]|[ ]|[,]|[1,]|[1 2]|{}|{ }|{,}|{"a"}|{"a":}|{"a":1,}|[1]]|1 2
0|-0|00|01|-|1.|.5|1.50|1e5|1E5|1e+5|1E-05|1e|1e+|+1|1e400|0x1|123456789012345678901234567890
{"a":1,"b":2,"a":[3],"\u0061":4}|{"text":"x","text":7}|[{"text":"a"},"b",3,{"text":"c\n"}]
"\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\u0000\u001F\u007f"|"long enough to be read by eights \\ and \" on"
"\ud83d"|"\ude00\ud83d"|"\ud83dx"|"\ud83d\u0041"|"\u12g4"|"\u+123"|"\x"|"\u12""#;

    /// Compares with `serde_json`, which additionally accepts lone surrogates.
    fn agree(text: &str) {
        let theirs = serde_json::from_str::<Value>(text);
        match BorrowedValue::parse(text) {
            Some(ours) => {
                let theirs = theirs.unwrap_or_else(|error| panic!("{text:?}: {error}"));
                assert_eq!(ours.to_json(), theirs.to_string(), "{text:?}");
                assert_eq!(ours.to_value(), theirs, "{text:?}");
                assert_eq!(ours.text_of(), json::text_of(&theirs), "{text:?}");
            }
            None => assert!(theirs.is_err(), "{text:?} is {theirs:?}"),
        }
    }

    #[test]
    fn agrees_with_serde_json() {
        for text in TEXTS.lines().flat_map(|line| line.split('|')) {
            agree(text);
        }
        for text in ["\"\t\"", "\"\u{7f}\u{80}äöü漢🚢\"", "\u{feff}1", " \r\n\t1 ", "\u{c}1"]
        {
            agree(text);
        }
    }

    #[test]
    fn has_the_nesting_limit_of_serde_json() {
        for depth in [1, 126, 127, 128, 129, 100_000] {
            agree(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            agree(&format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
        }
    }

    #[test]
    fn uses_the_last_of_equal_names() {
        let members = |n: usize| {
            (0..n).map(|i| format!("\"k{}\":{i}", i % 20)).collect::<Vec<_>>().join(" , ")
        };
        for n in [1, 15, 16, 25, 300] {
            agree(&format!("{{{}}}", members(n)));
        }
        let text = format!("{{{}}}", members(300));
        let value = BorrowedValue::parse(&text).unwrap();
        assert_eq!(value.number_at(&["k7"]), Some("287"));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json_on_odd_texts(
            text in "([\\[\\]{},:]|\"a\"|\"b\"|[0-9.eE+-]{1,4}|true|null| |\"(\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-fd]{4}|[a-zé漢]){0,9}\"){0,12}"
        ) {
            agree(&text);
        }

        #[test]
        fn reads_all_output_of_serde_json(
            names in proptest::collection::vec(".{0,9}", 0..5),
            texts in proptest::collection::vec(".{0,40}", 0..5),
            number in any::<f64>(),
        ) {
            let object: serde_json::Map<_, _> = names.into_iter().zip(texts.iter().cloned().map(Value::String)).collect();
            let value = serde_json::json!([texts, object, number, {"o": object}]).to_string();
            prop_assert!(BorrowedValue::parse(&value).is_some());
            agree(&value);
        }
    }
}
