//! JSON text as `json.loads` reads it and `json.dumps(ensure_ascii=False)` writes it again, without an intermediate
//! tree.
//!
//! Python reads more than JSON: `NaN`, `Infinity`, lone surrogates, integers of any size. A tool's result is cut by the
//! length of the rewritten text, so each item is kept as that text. A lone surrogate becomes U+FFFD here, since Rust
//! strings cannot contain one; it counts one character either way.

use super::{Layout, python_dumps, python_number};
use crate::json::Value;
use std::collections::HashMap;

/// Maximum nesting depth that is read: approximately the limit of Python's own reader.
// Python recurses about 1,000 deep, and its caller takes some of that.
const MAX_DEPTH: usize = 990;

/// Number of digits from which Python rejects an integer.
// As in `CPython` since 3.11, `sys.int_info.default_max_str_digits`.
const MAX_DIGITS: usize = 4_300;

/// The top-level value of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// A list: its items as rewritten.
    List(Vec<String>),
    /// An object: its fields as rewritten, and the items of those that are lists.
    Object(Vec<Field>),
    /// Anything else.
    Scalar,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its key, unescaped.
    pub(crate) key: String,
    /// Its value as rewritten.
    pub(crate) value: String,
    /// The items of the value, if that is a list.
    pub(crate) items: Option<Vec<String>>,
}

/// Reads a text; `None` if Python would reject it.
pub(crate) fn read(text: &str) -> Option<Top> {
    let mut reader = Reader { rest: text };
    reader.skip_space();
    let top = reader.value()?;
    reader.skip_space();
    reader.rest.is_empty().then_some(top)
}

/// `json.dumps` of a list of these items.
pub(crate) fn list(items: &[String]) -> String {
    format!("[{}]", items.join(", "))
}

/// `json.dumps` of an object of these fields.
pub(crate) fn object(fields: &[Field]) -> String {
    let field = |field: &Field| format!("{}: {}", quoted(&field.key), field.value);
    let fields: Vec<String> = fields.iter().map(field).collect();
    format!("{{{}}}", fields.join(", "))
}

fn quoted(text: &str) -> String {
    python_dumps(&Value::String(text.to_owned()), Layout::UNICODE)
}

/// A list or an object that is not yet closed.
enum Open {
    List(Vec<String>),
    Object { fields: Vec<Field>, places: HashMap<String, usize>, key: String },
}

impl Open {
    fn add(&mut self, value: String, closed: Option<Vec<String>>) {
        match self {
            Self::List(items) => items.push(value),
            Self::Object { fields, places, key } => {
                let key = std::mem::take(key);
                let field = Field { key: key.clone(), value, items: closed };
                // A repeated key keeps its first place and its last value.
                let place = places.get(&key).copied();
                if let Some(earlier) = place.and_then(|place| fields.get_mut(place)) {
                    *earlier = field;
                } else {
                    places.insert(key, fields.len());
                    fields.push(field);
                }
            }
        }
    }
}

/// State after the end of a value.
enum Closed {
    /// The whole text is read.
    All(Top),
    /// All containers that end here are closed; another value follows.
    Some,
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Reads one value of any depth, without recursion.
    fn value(&mut self) -> Option<Top> {
        let mut open: Vec<Open> = Vec::new();
        while open.len() <= MAX_DEPTH {
            // Start of a value.
            if self.take('[') {
                self.skip_space();
                open.push(Open::List(Vec::new()));
                if !self.rest.starts_with(']') {
                    continue;
                }
            } else if self.take('{') {
                self.skip_space();
                let is_empty = self.rest.starts_with('}');
                let key = if is_empty { String::new() } else { self.key()? };
                open.push(Open::Object { fields: Vec::new(), places: HashMap::new(), key });
                if !is_empty {
                    continue;
                }
            } else {
                let scalar = self.scalar()?;
                let Some(container) = open.last_mut() else {
                    return Some(Top::Scalar);
                };
                container.add(scalar, None);
                self.skip_space();
            }
            // End of a value: close containers until one continues.
            if let Closed::All(top) = self.close(&mut open)? {
                return Some(top);
            }
        }
        None
    }

    /// Closes the containers that end here.
    fn close(&mut self, open: &mut Vec<Open>) -> Option<Closed> {
        loop {
            let container = open.last_mut()?;
            let end = match container {
                Open::List(_) => ']',
                Open::Object { .. } => '}',
            };
            if !self.take(end) {
                if !self.take(',') {
                    return None;
                }
                self.skip_space();
                if let Open::Object { key, .. } = container {
                    *key = self.key()?;
                }
                return Some(Closed::Some);
            }
            let closed = open.pop()?;
            let Some(parent) = open.last_mut() else {
                return Some(Closed::All(match closed {
                    Open::List(items) => Top::List(items),
                    Open::Object { fields, .. } => Top::Object(fields),
                }));
            };
            match closed {
                Open::List(items) => parent.add(list(&items), Some(items)),
                Open::Object { fields, .. } => parent.add(object(&fields), None),
            }
            self.skip_space();
        }
    }

    fn key(&mut self) -> Option<String> {
        let key = self.take('"').then(|| self.string())??;
        self.skip_space();
        if !self.take(':') {
            return None;
        }
        self.skip_space();
        Some(key)
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn scalar(&mut self) -> Option<String> {
        if self.take('"') {
            return self.string().map(|text| quoted(&text));
        }
        let words = ["null", "true", "false", "NaN", "Infinity", "-Infinity"];
        for word in words {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Some(word.to_owned());
            }
        }
        self.number()
    }

    /// Reads the longest number that the text begins with.
    fn number(&mut self) -> Option<String> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let sign = usize::from(self.rest.starts_with('-'));
        let unsigned = self.rest.get(sign..)?;
        let whole = match unsigned.as_bytes().first()? {
            b'0' => 1,
            _ => digits(unsigned),
        };
        if whole == 0 {
            return None;
        }
        let mut end = sign + whole;
        let fraction = self.rest.get(end..)?.strip_prefix('.').map_or(0, digits);
        end += if fraction > 0 { fraction + 1 } else { 0 };
        if let Some(power) = self.rest.get(end..)?.strip_prefix(['e', 'E']) {
            let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
            let n = digits(unsigned);
            end += if n > 0 { 1 + power.len() - unsigned.len() + n } else { 0 };
        }
        let (literal, rest) = self.rest.split_at_checked(end)?;
        if end == sign + whole && whole > MAX_DIGITS {
            return None;
        }
        self.rest = rest;
        let number = crate::json::from_str(literal).ok()?;
        number.as_number().map(python_number)
    }

    /// Reads a text after its opening quote.
    fn string(&mut self) -> Option<String> {
        let mut out = String::new();
        loop {
            let at = self.rest.find(|c| c == '"' || c == '\\' || c < ' ')?;
            let (plain, from) = self.rest.split_at_checked(at)?;
            out.push_str(plain);
            let mut chars = from.chars();
            match (chars.next()?, chars.next()) {
                ('"', _) => {
                    self.rest = from.strip_prefix('"')?;
                    return Some(out);
                }
                ('\\', Some('u')) => {
                    self.rest = chars.as_str();
                    out.push(self.escaped()?);
                }
                ('\\', Some(escape)) => {
                    let escapes = "\"\"\\\\//b\u{8}f\u{c}n\nr\rt\t";
                    let mut pairs =
                        escapes.chars().step_by(2).zip(escapes.chars().skip(1).step_by(2));
                    out.push(pairs.find(|(name, _)| *name == escape)?.1);
                    self.rest = chars.as_str();
                }
                _ => return None,
            }
        }
    }

    /// Reads a character after `\u`: a pair of escapes together.
    fn escaped(&mut self) -> Option<char> {
        let unit = self.hex()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.rest;
        if let Some(rest) = self.rest.strip_prefix("\\u") {
            self.rest = rest;
            match self.hex() {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    return char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
                }
                _ => self.rest = before,
            }
        }
        Some(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.rest = rest;
        u32::from_str_radix(digits, 16).ok()
    }
}
