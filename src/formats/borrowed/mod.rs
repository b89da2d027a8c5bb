//! JSON as it stands in a text: what is not asked for is neither copied nor decoded.
//!
//! Most of a session file is text, much of it twice, and few of a record's members are ever asked for. So a value here
//! only knows where things stand. What it reads it reads as `serde_json` does; it declines the little that no `String`
//! can hold, and never reads what `serde_json` would not.

mod marks;
mod reader;

use reader::{Reader, unescaped};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// From this many members on, those of equal names are told by a table.
const MANY: usize = 16;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'a str),
    Text(Text<'a>),
    List(Vec<Self>),
    /// In order, names that are there twice included.
    Object(Vec<(Text<'a>, Self)>),
}

/// What stands between two quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    raw: &'a str,
    /// Bytes that it has only for its escapes; none where nothing is escaped.
    beside: u32,
    /// Whatever is escaped is so as `serde_json` escapes it.
    is_usual: bool,
}

impl<'a> Json<'a> {
    /// The value that a text is; none where the text is odd, or no JSON.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        Reader::whole(text)
    }

    /// A member of an object. As everywhere, the last of equal names counts.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                let mut from_last = members.iter().rev();
                from_last.find(|(it, _)| it.is(name)).map(|(_, v)| v)
            }
            _ => None,
        }
    }

    /// The value at the end of a path of names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// What a text says.
    pub(super) fn as_str(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text.decoded()),
            _ => None,
        }
    }

    /// A text at the end of a path.
    pub(super) fn str_at(&self, path: &[&str]) -> Option<Cow<'a, str>> {
        self.at(path)?.as_str()
    }

    /// Whether there stands `true`.
    pub(super) fn is_true(&self, path: &[&str]) -> bool {
        matches!(self.at(path), Some(Self::Bool(true)))
    }

    /// Whether there stands this text.
    pub(super) fn says(&self, path: &[&str], words: &str) -> bool {
        matches!(self.at(path), Some(Self::Text(text)) if text.is(words))
    }

    /// A number at the end of a path, as it is written.
    pub(super) fn number_at(&self, path: &[&str]) -> Option<&'a str> {
        match self.at(path)? {
            Self::Number(raw) => Some(raw),
            _ => None,
        }
    }

    /// The elements of a list; none of anything else.
    pub(super) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a content; see [`super::json::text_of`].
    pub(super) fn text_of(&self) -> Cow<'a, str> {
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

    /// The same as a value of its own, for what is rarely there.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.decoded().into_owned()),
            other => serde_json::from_str(&other.to_json()).unwrap_or_default(),
        }
    }

    /// Its JSON as `serde_json` writes the value that it reads there: without blanks, equal names once.
    pub(super) fn to_json(&self) -> String {
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

/// Texts, one a line.
pub(super) fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 | 1 => texts.pop().unwrap_or_default(),
        _ => Cow::Owned(texts.join("\n")),
    }
}

impl<'a> Text<'a> {
    /// What it says.
    fn decoded(self) -> Cow<'a, str> {
        if self.is_plain() {
            Cow::Borrowed(self.raw)
        } else {
            let len = self.raw.len() - self.beside as usize;
            Cow::Owned(unescaped(self.raw, len))
        }
    }

    fn is_plain(self) -> bool {
        self.beside == 0
    }

    fn is(self, words: &str) -> bool {
        if self.is_plain() {
            self.raw == words
        } else {
            self.decoded() == words
        }
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
    // It writes exponents in its own way.
    let number = raw.contains(['e', 'E']).then(|| raw.parse::<Number>().ok());
    match number.flatten() {
        Some(number) => json.push_str(&number.to_string()),
        None => json.push_str(raw),
    }
}

/// Every name once, where it stands first, with the last of its values.
fn once<'j, 'a>(members: &'j [(Text<'a>, Json<'a>)]) -> Vec<(Text<'a>, &'j Json<'a>)> {
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut kept: Vec<(Text<'a>, &'j Json<'a>)> = Vec::with_capacity(members.len());
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

    /// Between bars, and line by line.
    const TEXTS: &str = r#"
null| true |falsey|nul|tru|"|"\|"\"|"a\"b"|NaN|{a:1}
[]|[ ]|[,]|[1,]|[1 2]|{}|{ }|{,}|{"a"}|{"a":}|{"a":1,}|[1]]|1 2
0|-0|00|01|-|1.|.5|1.50|1e5|1E5|1e+5|1E-05|1e|1e+|+1|1e400|0x1|123456789012345678901234567890
{"a":1,"b":2,"a":[3],"\u0061":4}|{"text":"x","text":7}|[{"text":"a"},"b",3,{"text":"c\n"}]
"\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\u0000\u001F\u007f"|"long enough to be read by eights \\ and \" on"
"\ud83d"|"\ude00\ud83d"|"\ud83dx"|"\ud83d\u0041"|"\u12g4"|"\u+123"|"\x"|"\u12""#;

    /// What is read is what `serde_json` reads; and it reads all but half surrogates.
    fn agree(text: &str) {
        let theirs = serde_json::from_str::<Value>(text);
        match Json::parse(text) {
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
    fn what_is_read_is_what_serde_json_reads() {
        for text in TEXTS.lines().flat_map(|line| line.split('|')) {
            agree(text);
        }
        for text in [
            "\"\t\"",
            "\"\u{7f}\u{80}äöü漢🚢\"",
            "\u{feff}1",
            " \r\n\t1 ",
            "\u{c}1",
        ] {
            agree(text);
        }
    }

    #[test]
    fn it_nests_as_deep_as_serde_json_goes() {
        for depth in [1, 126, 127, 128, 129, 100_000] {
            agree(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            agree(&format!(
                "{}1{}",
                "{\"a\":".repeat(depth),
                "}".repeat(depth)
            ));
        }
    }

    #[test]
    fn of_many_members_the_last_of_equal_names_counts() {
        let members = |n: usize| {
            (0..n)
                .map(|i| format!("\"k{}\":{i}", i % 20))
                .collect::<Vec<_>>()
                .join(" , ")
        };
        for n in [1, 15, 16, 25, 300] {
            agree(&format!("{{{}}}", members(n)));
        }
        let text = format!("{{{}}}", members(300));
        let value = Json::parse(&text).unwrap();
        assert_eq!(value.number_at(&["k7"]), Some("287"));
    }

    proptest! {
        #[test]
        fn odd_texts_are_read_as_serde_json_reads_them(
            text in "([\\[\\]{},:]|\"a\"|\"b\"|[0-9.eE+-]{1,4}|true|null| |\"(\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-fd]{4}|[a-zé漢]){0,9}\"){0,12}"
        ) {
            agree(&text);
        }

        #[test]
        fn whatever_serde_json_writes_is_read(
            names in proptest::collection::vec(".{0,9}", 0..5),
            texts in proptest::collection::vec(".{0,40}", 0..5),
            number in any::<f64>(),
        ) {
            let object: serde_json::Map<_, _> = names.into_iter().zip(texts.iter().cloned().map(Value::String)).collect();
            let value = serde_json::json!([texts, object, number, {"o": object}]).to_string();
            prop_assert!(Json::parse(&value).is_some());
            agree(&value);
        }
    }
}
