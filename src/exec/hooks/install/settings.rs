//! Adds hooks to the settings of an agent, and removes them. The rest of the text stays byte for byte.
//!
//! Agents share a form: `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}`.

use super::json_text::{BYTE_ORDER_MARK, Content, Node};
use crate::json::{Map, Value, json};
use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use std::ops::Range;

/// Settings without content.
pub(super) const NO_SETTINGS: &str = "{}\n";

/// A hook of an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HookEntry {
    /// The event.
    pub(super) event: &'static str,
    /// The kinds of the event for which it runs; all if `None`.
    pub(super) matcher: Option<&'static str>,
    /// The shell command.
    pub(super) command: String,
    /// Maximum time, in the agent's unit.
    pub(super) timeout: u64,
}

impl HookEntry {
    fn value(&self) -> Value {
        let handler =
            json!({"type": "command", "command": self.command.clone(), "timeout": self.timeout});
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert("hooks".to_owned(), Value::Array(vec![handler]));
        Value::Object(group)
    }
}

/// A text with inserted hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Added {
    /// The new text.
    pub(super) text: String,
    /// The bytes of the new text that were inserted, ascending.
    pub(super) inserted: Vec<Range<usize>>,
}

/// Returns whether a text contains nothing.
pub(super) fn is_blank(text: &str) -> bool {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim().is_empty()
}

/// Returns the hooks as an object on one line, for a person to add.
pub(super) fn object_of(entries: &[HookEntry]) -> Result<String, String> {
    add("{\"hooks\":{}}", entries).map(|added| added.text)
}

/// Adds hooks to the text of a settings file. A text without content counts as an object without members.
///
/// # Errors
/// Returns the reason if the text is not JSON or has another form.
pub(super) fn add(text: &str, entries: &[HookEntry]) -> Result<Added, String> {
    if is_blank(text) {
        let object = add(NO_SETTINGS, entries)?.text;
        let inserted = text.len()..text.len() + object.len();
        return Ok(Added { text: format!("{text}{object}"), inserted: vec![inserted] });
    }
    let mut added = Added { text: text.to_owned(), inserted: Vec::new() };
    for entry in entries {
        let (at, insertion) = insertion(&added.text, entry)?;
        added.text.insert_str(at, &insertion);
        note_insertion(&mut added.inserted, at, insertion.len());
    }
    Ok(added)
}

/// Adds an insertion to earlier ones, which it moves or extends.
fn note_insertion(inserted: &mut Vec<Range<usize>>, at: usize, len: usize) {
    let mut is_inside = false;
    for range in inserted.iter_mut() {
        if range.start < at && at <= range.end {
            is_inside = true;
            range.end += len;
        } else if range.start >= at {
            *range = range.start + len..range.end + len;
        }
    }
    if !is_inside {
        inserted.push(at..at + len);
        inserted.sort_unstable_by_key(|range| range.start);
    }
}

/// Removes inserted bytes.
pub(super) fn without(text: &str, inserted: &[Range<usize>]) -> Option<String> {
    let mut text = text.to_owned();
    for range in inserted.iter().rev() {
        text.get(range.clone())?;
        text.replace_range(range.clone(), "");
    }
    Some(text)
}

/// Returns the position and text of the insertion that adds a hook.
fn insertion(text: &str, entry: &HookEntry) -> Result<(usize, String), String> {
    let root = Node::parse(text)?;
    if root.members().is_none() {
        return Err("it is not an object".to_owned());
    }
    let style = Style::of(text, &root);
    let (event, value) = (entry.event, entry.value());
    let Some(hooks) = root.get("hooks") else {
        let hooks = json!({event: [value]});
        return Ok(style.insertion(text, &root, 1, Some("hooks"), &hooks));
    };
    if hooks.members().is_none() {
        return Err("its `hooks` is not an object".to_owned());
    }
    match hooks.get(event) {
        None => Ok(style.insertion(text, hooks, 2, Some(event), &Value::Array(vec![value]))),
        Some(groups) if groups.elements().is_some() => {
            Ok(style.insertion(text, groups, 3, None, &value))
        }
        Some(_) => Err(format!("its `hooks.{event}` is not an array")),
    }
}

/// Line breaks and indentation of a text.
struct Style {
    line_break: &'static str,
    indent: String,
    has_lines: bool,
}

impl Style {
    fn of(text: &str, root: &Node) -> Self {
        let children = root.children();
        let before = children.first().map_or("", |first| &text[root.span.start + 1..first.start]);
        let indent = before.rsplit_once('\n').map_or("", |(_, indent)| indent);
        Self {
            line_break: if text.contains("\r\n") { "\r\n" } else { "\n" },
            indent: if indent.is_empty() { "  ".to_owned() } else { indent.to_owned() },
            has_lines: children.is_empty() || before.contains('\n'),
        }
    }

    /// Returns the position and text that add a value at the end of an object or array.
    fn insertion(
        &self,
        text: &str,
        container: &Node,
        depth: usize,
        key: Option<&str>,
        value: &Value,
    ) -> (usize, String) {
        let key = key.map(|key| format!("{}: ", json!(key))).unwrap_or_default();
        let children = container.children();
        if let Some((first, last)) = children.first().zip(children.last()) {
            let space = &text[container.span.start + 1..first.start];
            let written = match space.rsplit_once('\n') {
                Some((_, indent)) => format!("{space}{key}{}", self.pretty(value, indent)),
                None => format!(" {key}{value}"),
            };
            return (last.end, format!(",{written}"));
        }
        let at = container.span.start + 1;
        if !self.has_lines {
            return (at, format!("{key}{value}"));
        }
        let indent = self.indent.repeat(depth);
        let written = format!("{}{indent}{key}{}", self.line_break, self.pretty(value, &indent));
        let has_break = text[at..container.span.end].contains('\n');
        let end = format!("{}{}", self.line_break, self.indent.repeat(depth - 1));
        (at, if has_break { written } else { written + &end })
    }

    /// Writes a value in lines, of which all but the first begin with `indent`.
    fn pretty(&self, value: &Value, indent: &str) -> String {
        let mut out = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        // Writing to memory does not fail.
        let _ = value.serialize(&mut serializer);
        let text = String::from_utf8(out).unwrap_or_default();
        text.replace('\n', &format!("{}{indent}", self.line_break))
    }
}

/// Returns the commands of the hooks in a settings file, each with its event.
///
/// # Errors
/// Returns the reason if the text is not JSON.
pub(super) fn commands(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    if is_blank(text) {
        return Ok(found);
    }
    let root = Node::parse(text)?;
    for member in root.get("hooks").and_then(Node::members).unwrap_or_default() {
        for handler in handlers(&member.value) {
            let command = handler.get("command").and_then(Node::text);
            found.extend(command.map(|command| (member.key.clone(), command.to_owned())));
        }
    }
    Ok(found)
}

fn handlers(groups: &Node) -> impl Iterator<Item = &Node> {
    let groups = groups.elements().unwrap_or_default().iter();
    groups.flat_map(|group| group.get("hooks").and_then(Node::elements).unwrap_or_default())
}

/// Removes the hooks whose command matches, and the objects and arrays that become empty.
///
/// # Errors
/// Returns the reason if the text is not JSON.
pub(super) fn remove(text: &str, is_own: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let mut text = text.to_owned();
    if is_blank(&text) {
        return Ok(text);
    }
    loop {
        let root = Node::parse(&text)?;
        let Some(range) = first_removal(&root, is_own) else {
            return Ok(text);
        };
        text.replace_range(range, "");
    }
}

/// Returns the bytes of the first own hook, with the objects and arrays that contain nothing else.
fn first_removal(root: &Node, is_own: &dyn Fn(&str) -> bool) -> Option<Range<usize>> {
    let is_own = |handler: &Node| handler.get("command").and_then(Node::text).is_some_and(is_own);
    let at_hooks = root.members()?.iter().rposition(|member| member.key == "hooks")?;
    let hooks = &root.members()?[at_hooks].value;
    for (at_event, event) in hooks.members()?.iter().enumerate() {
        for (at_group, group) in event.value.elements().unwrap_or_default().iter().enumerate() {
            let list = group.get("hooks");
            let handlers = list.and_then(Node::elements).unwrap_or_default();
            let (Some(list), Some(at)) = (list, handlers.iter().position(is_own)) else {
                continue;
            };
            let path = [(list, at), (&event.value, at_group), (hooks, at_event), (root, at_hooks)];
            let shared = path.iter().find(|(container, _)| container.children().len() > 1);
            return Some(match shared {
                Some((container, at)) => child_range(container, *at),
                None => root.span.start + 1..root.span.end - 1,
            });
        }
    }
    None
}

/// Returns the bytes of a child with the comma that separates it from another.
fn child_range(container: &Node, at: usize) -> Range<usize> {
    debug_assert!(matches!(container.content, Content::Object(_) | Content::Array(_)));
    let children = container.children();
    match at.checked_sub(1) {
        Some(before) => children[before].end..children[at].end,
        None => children[0].start..children[1].start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<HookEntry> {
        let entry = |event, matcher| HookEntry {
            event,
            matcher,
            command: "plimsoll hook claude-code".to_owned(),
            timeout: 2,
        };
        vec![entry("PreCompact", None), entry("SessionStart", Some("compact"))]
    }

    const TEXTS: [&str; 15] = [
        "",
        " \n",
        "\u{feff}",
        "\u{feff}{\"model\":\"m\"}\n",
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"model\":\"m\"}",
        "{\n  \"model\": \"m\"\n}\n",
        "{\r\n\t\"model\": \"m\",\r\n\t\"hooks\": {}\r\n}\r\n",
        "{\n    \"hooks\": {\n        \"PreCompact\": []\n    },\n    \"a\": [1,\n 2]\n}",
        "{\"hooks\": {\"PreCompact\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
        "{\n  \"hooks\": {\n    \"PreCompact\": [\n      { \"hooks\": [{\"command\": \"x\"}] }\n    ],\n    \"Stop\": []\n  }\n}\n",
        "{ \"z\" : 1.50, \"hooks\" : { \"Stop\" : [ ] } , \"\\u00e4\": null }",
        "{\"hooks\":{\"SessionStart\":[{\"matcher\":\"compact\",\"hooks\":[]}]}}\n\n",
    ];

    #[test]
    fn added_hooks_are_removed_byte_for_byte() {
        for text in TEXTS {
            let added = add(text, &entries()).unwrap();
            let events: Vec<_> = commands(&added.text).unwrap();
            let own = events.iter().filter(|(_, command)| command.starts_with("plimsoll"));
            let own: Vec<_> = own.map(|(event, _)| event.as_str()).collect();
            assert_eq!(own.len(), 2, "{}", added.text);
            assert_eq!(without(&added.text, &added.inserted).as_deref(), Some(text));
        }
    }

    #[test]
    fn without_a_record_only_containers_that_were_empty_differ() {
        for text in TEXTS {
            let added = add(text, &entries()).unwrap();
            let is_own = |command: &str| command.starts_with("plimsoll");
            let removed = remove(&added.text, &is_own).unwrap();
            let had_empty = text.contains("[]") || text.contains("{}") || text.starts_with("{ }");
            let had_empty = had_empty || text.contains("{\n}") || is_blank(text);
            if !had_empty {
                assert_eq!(removed, text);
            }
            assert!(commands(&removed).unwrap().iter().all(|(_, command)| command == "x"));
        }
    }

    #[test]
    fn the_style_of_the_text_is_kept() {
        let added = add("{\n\t\"model\": \"m\"\n}\n", &entries()[1..]).unwrap();
        let expected = "{\n\t\"model\": \"m\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"compact\",\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"plimsoll hook claude-code\",\n\t\t\t\t\t\t\"timeout\": 2\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n";
        assert_eq!(added.text, expected);
    }

    #[test]
    fn a_hook_that_was_moved_to_another_group_is_removed_alone() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "own"}]}]}}"#;
        let removed = remove(text, &|command| command == "own").unwrap();
        assert_eq!(removed, r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#);
    }

    #[test]
    fn another_form_is_an_error() {
        for text in ["[]", "{\"hooks\": 1}", "{\"hooks\": {\"PreCompact\": {}}}", "{} // x"] {
            assert!(add(text, &entries()).is_err(), "{text}");
        }
    }
}
