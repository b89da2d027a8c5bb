//! A strict parser for the XML that the program writes. Returns `None` if the text is not well-formed.

/// An element.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// Attributes in order, without duplicates.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Self>,
    pub(crate) text: String,
}

impl Element {
    /// Returns the value of an attribute.
    pub(crate) fn says(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(key, _)| key == name).map(|(_, value)| &**value)
    }
}

/// Parses a document.
pub(crate) fn document(text: &str) -> Option<Element> {
    let rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    let (element, rest) = element(rest)?;
    rest.trim().is_empty().then_some(element)
}

/// Parses the element at the start of a text. Returns it with the rest.
fn element(text: &str) -> Option<(Element, &str)> {
    let inside = text.trim_start().strip_prefix('<')?;
    let (head, mut rest) = inside.split_once('>')?;
    let (head, is_empty) = match head.strip_suffix('/') {
        Some(head) => (head, true),
        None => (head, false),
    };
    let (name, attributes) = head.split_once(' ').unwrap_or((head, ""));
    let mut found =
        Element { name: name.to_owned(), attributes: pairs(attributes)?, ..Element::default() };
    if is_empty {
        return Some((found, rest));
    }
    loop {
        let (content, after) = rest.split_at(rest.find('<')?);
        found.text.push_str(&unescaped(content)?);
        if let Some(end) = after.strip_prefix("</") {
            return Some((found, end.strip_prefix(name)?.strip_prefix('>')?));
        }
        let (child, after) = element(after)?;
        found.children.push(child);
        rest = after;
    }
}

/// Parses attributes. Rejects duplicate names and brackets.
fn pairs(mut text: &str) -> Option<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = Vec::new();
    while !text.trim_start().is_empty() {
        let (name, rest) = text.trim_start().split_once("=\"")?;
        let (value, rest) = rest.split_once('"')?;
        let is_duplicate = all.iter().any(|(other, _)| other == name);
        if is_duplicate || name.contains([' ', '<']) || value.contains('<') {
            return None;
        }
        all.push((name.to_owned(), unescaped(value)?));
        text = rest;
    }
    Some(all)
}

/// Replaces the five escapes of a text. Returns `None` for any other escape, or a character that XML does not allow.
fn unescaped(text: &str) -> Option<String> {
    const ESCAPES: [(&str, char); 5] =
        [("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("quot;", '"'), ("apos;", '\'')];
    let mut parts = text.split('&');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (escape, c) = ESCAPES.iter().find(|(escape, _)| part.starts_with(escape))?;
        plain.push(*c);
        plain.push_str(&part[escape.len()..]);
    }
    let is_allowed = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    plain.chars().all(is_allowed).then_some(plain)
}
