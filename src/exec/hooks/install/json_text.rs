//! A JSON text with the position of every value, so that an edit leaves the rest byte for byte.

use serde::de::IgnoredAny;
use std::ops::Range;

/// A byte order mark, which some editors write at the start of a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A value of a JSON text.
#[derive(Debug)]
pub(super) struct Node {
    /// Its bytes in the text.
    pub(super) span: Range<usize>,
    /// Content.
    pub(super) content: Content,
}

/// The content of a value.
#[derive(Debug)]
pub(super) enum Content {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// A string, without its escapes.
    Text(String),
    Other,
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// The bytes from its key to the end of its value.
    pub(super) span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// Parses a whole text, which may begin with a byte order mark.
    ///
    /// # Errors
    /// Returns the reason if it is not JSON, such as JSON with comments.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        serde_json::from_str::<IgnoredAny>(json).map_err(|error| error.to_string())?;
        let mut scanner = Scanner { text, at: text.len() - json.len() };
        scanner.node().ok_or_else(|| "it is not JSON".to_owned())
    }

    /// Returns the members of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.content {
            Content::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the elements of an array.
    pub(super) fn elements(&self) -> Option<&[Self]> {
        match &self.content {
            Content::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns a string without its escapes.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a member. Of several with the same key, the last is in effect.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let member = self.members()?.iter().rev().find(|member| member.key == key)?;
        Some(&member.value)
    }

    /// Returns the bytes of the elements or members.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.content {
            Content::Object(members) => members.iter().map(|member| member.span.clone()).collect(),
            Content::Array(elements) => elements.iter().map(|node| node.span.clone()).collect(),
            Content::Text(_) | Content::Other => Vec::new(),
        }
    }
}

/// Reads the positions of a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn node(&mut self) -> Option<Node> {
        self.skip_space();
        let start = self.at;
        let content = match self.peek()? {
            b'{' => Content::Object(self.list(b'}', Self::member)?),
            b'[' => Content::Array(self.list(b']', Self::node)?),
            b'"' => Content::Text(self.string()?),
            _ => {
                let is_end = |c: char| c.is_ascii_whitespace() || ",]}".contains(c);
                let rest = &self.text[self.at..];
                self.at += rest.find(is_end).unwrap_or(rest.len());
                Content::Other
            }
        };
        Some(Node { span: start..self.at, content })
    }

    fn member(&mut self) -> Option<Member> {
        self.skip_space();
        let start = self.at;
        let key = self.string()?;
        self.skip_space();
        self.at += 1; // the colon
        let value = self.node()?;
        Some(Member { key, span: start..self.at, value })
    }

    fn list<T>(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                byte if byte == end => break,
                b',' => self.at += 1,
                _ => items.push(item(self)?),
            }
        }
        self.at += 1;
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn every_value_has_its_position() {
        let text = "{ \"a\\u0062\" : [1, \"x\\\"]\" , {}],\n\"c\":-2e3}";
        let node = Node::parse(text).unwrap();
        let array = node.get("ab").unwrap();
        let elements: Vec<_> = array.children().into_iter().map(|span| &text[span]).collect();
        assert_eq!(elements, ["1", "\"x\\\"]\"", "{}"]);
        assert_eq!(array.elements().unwrap()[1].text(), Some("x\"]"));
        assert_eq!(&text[node.get("c").unwrap().span.clone()], "-2e3");
        assert!(node.get("d").is_none());
        let marked = Node::parse("\u{feff}[1]").unwrap();
        assert_eq!(marked.children().first(), Some(&(4..5)));
    }

    #[test]
    fn comments_are_an_error() {
        assert!(Node::parse("{} // mine").unwrap_err().contains("line 1"));
        assert!(Node::parse("{\"a\": 1,}").is_err());
    }
}
