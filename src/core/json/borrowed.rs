//! JSON values that borrow from the source text. Members that are not accessed are neither copied nor decoded.
//!
//! Most of a session file is text, often recorded twice, and readers access few members of a record. A value therefore
//! only stores positions.

use super::parser::{Parser, Tree};
use super::text::Text;
use super::write::push_text;
use super::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Number of members from which duplicate names are found by a table.
const MANY: usize = 16;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum BorrowedValue<'a> {
    Null,
    Bool(bool),
    /// A number in its source notation.
    Number(&'a str),
    Text(Text<'a>),
    List(Vec<Self>),
    /// Members in order, including duplicate names.
    Object(Vec<(Text<'a>, Self)>),
}

impl<'a> BorrowedValue<'a> {
    /// Parses a text. Returns `None` if it is not supported or not JSON.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        Parser::whole(text)
    }

    /// Returns a member of an object, the last one if the name occurs several times.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                let mut from_last = members.iter().rev();
                from_last.find(|(it, _)| it.is(name)).map(|(_, v)| v)
            }
            _ => None,
        }
    }

    /// Returns the value at a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// Returns the decoded text of a string.
    pub(crate) fn as_str(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text.decoded()),
            _ => None,
        }
    }

    /// Returns the string at a path.
    pub(crate) fn str_at(&self, path: &[&str]) -> Option<Cow<'a, str>> {
        self.at(path)?.as_str()
    }

    /// Whether the value at a path is `true`.
    pub(crate) fn is_true(&self, path: &[&str]) -> bool {
        matches!(self.at(path), Some(Self::Bool(true)))
    }

    /// Whether the value at a path is this string.
    pub(crate) fn is_str_at(&self, path: &[&str], words: &str) -> bool {
        matches!(self.at(path), Some(Self::Text(text)) if text.is(words))
    }

    /// Returns the number at a path in its source notation.
    pub(crate) fn number_at(&self, path: &[&str]) -> Option<&'a str> {
        match self.at(path)? {
            Self::Number(raw) => Some(raw),
            _ => None,
        }
    }

    /// Returns the elements of a list, or none for any other value.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the members of an object with their names, each name once, or none for any other value.
    pub(crate) fn members(&self) -> Vec<(Cow<'a, str>, &Self)> {
        match self {
            Self::Object(members) => {
                once(members).into_iter().map(|(name, value)| (name.decoded(), value)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Converts the value to one that owns its texts. Intended for rare members.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => Value::Bool(*it),
            Self::Number(notation) => Value::Number(Number::of_notation(notation)),
            Self::Text(text) => Value::String(text.decoded().into_owned()),
            Self::List(elements) => Value::Array(elements.iter().map(Self::to_value).collect()),
            Self::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, it)| (name.decoded().into_owned(), it.to_value()));
                Value::Object(members.collect())
            }
        }
    }

    /// Returns the JSON of the value, without whitespace and duplicate names.
    pub(crate) fn to_json(&self) -> String {
        let mut json = String::new();
        self.push_to(&mut json);
        json
    }

    /// Appends the JSON of the value, like [`Self::to_json`].
    pub(crate) fn push_to(&self, json: &mut String) {
        match self {
            Self::Null => json.push_str("null"),
            Self::Bool(it) => json.push_str(if *it { "true" } else { "false" }),
            Self::Number(notation) => push_number(notation, json),
            Self::Text(text) => push_borrowed(*text, json),
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
                    push_borrowed(name, json);
                    json.push(':');
                    value.push_to(json);
                }
                json.push('}');
            }
        }
    }
}

impl<'a> Tree<'a> for BorrowedValue<'a> {
    type Members = Vec<(Text<'a>, Self)>;

    const NULL: Self = Self::Null;

    fn truth(is_true: bool) -> Self {
        Self::Bool(is_true)
    }

    fn number(notation: &'a str) -> Self {
        Self::Number(notation)
    }

    fn string(text: Text<'a>) -> Self {
        Self::Text(text)
    }

    fn list(elements: Vec<Self>) -> Self {
        Self::List(elements)
    }

    fn no_members(is_empty: bool) -> Self::Members {
        Vec::with_capacity(if is_empty { 0 } else { 8 })
    }

    fn add_member(members: &mut Self::Members, name: Text<'a>, value: Self) {
        members.push((name, value));
    }

    fn object(members: Self::Members) -> Self {
        Self::Object(members)
    }
}

fn push_borrowed(text: Text<'_>, json: &mut String) {
    if text.is_usual {
        json.push('"');
        json.push_str(text.raw);
        json.push('"');
    } else {
        push_text(&text.decoded(), json);
    }
}

fn push_number(notation: &str, json: &mut String) {
    if notation.contains(['e', 'E']) {
        json.push_str(Number::of_notation(notation).as_str());
    } else {
        json.push_str(notation);
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
