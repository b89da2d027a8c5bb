//! Canonical JSON, of which the program computes its hashes: no white space, and members in the order of their names.
//! `cache_control` is left out of messages and named apart.

use crate::json::BorrowedValue;
use std::borrow::Cow;

/// Name of the member that marks a block for the provider's cache.
const CACHE_CONTROL: &str = "cache_control";

/// A `cache_control` and its place.
#[derive(Clone, Debug)]
pub(super) struct CacheMark<'v, 'a> {
    pub path: &'v [BorrowedValue<'a>],
    pub value: &'v BorrowedValue<'a>,
}

impl CacheMark<'_, '_> {
    /// Returns the mark within the element with this index, if it is in it.
    pub(super) fn within_element(&self, index: usize) -> Option<Self> {
        let (first, path) = self.path.split_first()?;
        let BorrowedValue::Number(number) = first else {
            return None;
        };
        (number.parse() == Ok(index)).then_some(Self { path, value: self.value })
    }

    /// Returns the mark within the member with this name, if it is in it.
    pub(super) fn within_member(&self, name: &str) -> Option<Self> {
        let (first, path) = self.path.split_first()?;
        (first.as_str()? == name).then_some(Self { path, value: self.value })
    }
}

/// Appends a value.
pub(super) fn push(value: &BorrowedValue<'_>, marks: &[CacheMark<'_, '_>], json: &mut String) {
    match value {
        BorrowedValue::List(elements) => {
            json.push('[');
            push_elements(elements, 0, marks, json);
            json.push(']');
        }
        BorrowedValue::Object(_) => push_object(value, marks, json),
        BorrowedValue::Number(notation) => json.push_str(notation),
        other => other.push_to(json),
    }
}

/// Appends the elements of a list, of which `start` precede them.
pub(super) fn push_elements(
    elements: &[BorrowedValue<'_>],
    start: usize,
    marks: &[CacheMark<'_, '_>],
    json: &mut String,
) {
    for (idx, element) in (start..).zip(elements) {
        json.push_str(if idx == 0 { "" } else { "," });
        let marks: Vec<_> = marks.iter().filter_map(|mark| mark.within_element(idx)).collect();
        push(element, &marks, json);
    }
}

fn push_object(object: &BorrowedValue<'_>, marks: &[CacheMark<'_, '_>], json: &mut String) {
    let mut members = object.members();
    members.retain(|(name, _)| name != CACHE_CONTROL);
    let own = marks.iter().rev().find(|mark| mark.path.is_empty());
    members.extend(own.map(|mark| (Cow::Borrowed(CACHE_CONTROL), mark.value)));
    sort(&mut members);
    json.push('{');
    for (idx, (name, value)) in members.iter().enumerate() {
        json.push_str(if idx == 0 { "" } else { "," });
        push_name(name, json);
        let marks: Vec<_> = marks.iter().filter_map(|mark| mark.within_member(name)).collect();
        push(value, &marks, json);
    }
    json.push('}');
}

/// Appends a name and its colon.
pub(super) fn push_name(name: &str, json: &mut String) {
    crate::json::push_text(name, json);
    json.push(':');
}

/// Sorts members by the UTF-16 units of their names, as the program's language does.
pub(super) fn sort<T>(members: &mut [(Cow<'_, str>, T)]) {
    members.sort_by(|(a, _), (b, _)| {
        if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
    });
}

/// Appends a message. A text as its content is a list with one block.
pub(super) fn push_message(
    message: &BorrowedValue<'_>,
    marks: &[CacheMark<'_, '_>],
    json: &mut String,
) {
    let mut members = message.members();
    sort(&mut members);
    json.push('{');
    for (idx, (name, value)) in members.iter().enumerate() {
        json.push_str(if idx == 0 { "" } else { "," });
        push_name(name, json);
        let marks: Vec<_> = marks.iter().filter_map(|mark| mark.within_member(name)).collect();
        if name == "content" {
            json.push('[');
            push_blocks(value, 0, &marks, json);
            json.push(']');
        } else {
            push(value, &marks, json);
        }
    }
    json.push('}');
}

/// Appends the blocks of a content, of which `start` precede them. Returns their number.
pub(super) fn push_blocks(
    content: &BorrowedValue<'_>,
    start: usize,
    marks: &[CacheMark<'_, '_>],
    json: &mut String,
) -> usize {
    let BorrowedValue::Text(_) = content else {
        push_elements(content.elements(), start, marks, json);
        return content.elements().len();
    };
    json.push_str(if start == 0 { "{" } else { ",{" });
    let mut own = marks.iter().filter_map(|mark| mark.within_element(start));
    if let Some(mark) = own.find(|mark| mark.path.is_empty()) {
        push_name(CACHE_CONTROL, json);
        push(mark.value, &[], json);
        json.push(',');
    }
    push_name("text", json);
    content.push_to(json);
    json.push(',');
    push_name("type", json);
    json.push_str("\"text\"}");
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str, push: impl Fn(&BorrowedValue<'_>, &mut String)) -> String {
        let mut json = String::new();
        push(&BorrowedValue::parse(text).unwrap(), &mut json);
        json
    }

    #[test]
    fn sorts_members_and_leaves_out_white_space_and_cache_control() {
        let text = r#"{"b": [1.50, {"z": "\u00e9\n", "a": null}], "a": true, "cache_control": {"type": "x"}, "ab": ""}"#;
        let expected = r#"{"a":true,"ab":"","b":[1.50,{"a":null,"z":"é\n"}]}"#;
        assert_eq!(canonical(text, |value, json| push(value, &[], json)), expected);
    }

    #[test]
    fn makes_a_text_a_block_and_adds_cache_control_at_its_path() {
        let marks = r#"[["content", 0], {"type": "e"}]"#;
        let marks = BorrowedValue::parse(marks).unwrap();
        let [path, value] = marks.elements() else { panic!("two values") };
        let marks = [CacheMark { path: path.elements(), value }];
        let text = r#"{"role": "user", "content": "Tide?"}"#;
        assert_eq!(
            canonical(text, |value, json| push_message(value, &[], json)),
            r#"{"content":[{"text":"Tide?","type":"text"}],"role":"user"}"#
        );
        let marked = r#"{"content":[{"cache_control":{"type":"e"},"text":"Tide?","type":"text"}],"role":"user"}"#;
        assert_eq!(canonical(text, |value, json| push_message(value, &marks, json)), marked);
        let listed = r#"{"role": "user", "content": [{"type": "text", "text": "Tide?"}]}"#;
        assert_eq!(canonical(listed, |value, json| push_message(value, &marks, json)), marked);
    }
}
