//! As much of XML as our own files use, read strictly: what is not well-formed is none.

/// An element.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// In the order of the file, each once.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Self>,
    pub(crate) text: String,
}

impl Element {
    /// What an attribute says.
    pub(crate) fn says(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(key, _)| key == name).map(|(_, value)| &**value)
    }
}

/// The element that a document is.
pub(crate) fn document(text: &str) -> Option<Element> {
    let rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    let (element, rest) = element(rest)?;
    rest.trim().is_empty().then_some(element)
}

/// The element that a text begins with, and what comes behind it.
fn element(text: &str) -> Option<(Element, &str)> {
    let inside = text.trim_start().strip_prefix('<')?;
    let (head, mut rest) = inside.split_once('>')?;
    let (head, is_empty) = match head.strip_suffix('/') {
        Some(head) => (head, true),
        None => (head, false),
    };
    let (name, attributes) = head.split_once(' ').unwrap_or((head, ""));
    let mut found = Element {
        name: name.to_owned(),
        attributes: pairs(attributes)?,
        ..Element::default()
    };
    if is_empty {
        return Some((found, rest));
    }
    loop {
        let (said, behind) = rest.split_at(rest.find('<')?);
        found.text.push_str(&unescaped(said)?);
        if let Some(end) = behind.strip_prefix("</") {
            return Some((found, end.strip_prefix(name)?.strip_prefix('>')?));
        }
        let (child, behind) = element(behind)?;
        found.children.push(child);
        rest = behind;
    }
}

/// Attributes: none has a name twice, none holds a bracket.
fn pairs(mut text: &str) -> Option<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = Vec::new();
    while !text.trim_start().is_empty() {
        let (name, rest) = text.trim_start().split_once("=\"")?;
        let (value, rest) = rest.split_once('"')?;
        let is_known = all.iter().any(|(known, _)| known == name);
        if is_known || name.contains([' ', '<']) || value.contains('<') {
            return None;
        }
        all.push((name.to_owned(), unescaped(value)?));
        text = rest;
    }
    Some(all)
}

/// A text with its five escapes as they are meant; none with any other, or with what XML cannot hold.
fn unescaped(text: &str) -> Option<String> {
    const ESCAPES: [(&str, char); 5] = [
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
        ("apos;", '\''),
    ];
    let mut parts = text.split('&');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (escape, c) = ESCAPES
            .iter()
            .find(|(escape, _)| part.starts_with(escape))?;
        plain.push(*c);
        plain.push_str(&part[escape.len()..]);
    }
    let is_held = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    plain.chars().all(is_held).then_some(plain)
}
