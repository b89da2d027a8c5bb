//! Rewrites a record in which some parts changed, whose content is a text or a list of blocks ([`super::content`] reads
//! them). Unchanged blocks keep their bytes.

use super::{
    Editing, PartChange, Patch, at_path, json_string, patched, text_block, without_elements,
};
use crate::formats::content::{self, ARGUMENTS, OUTPUTS};
use crate::formats::json;
use crate::json::{Value, json};
use crate::session::{Body, Part, Span};

/// Keys of a block's text.
const TEXTS: [&str; 4] = ["text", "refusal", "value", "content"];
/// Keys of the text of a tool output that is an object.
const INNER: [&str; 4] = ["content", "output", "text", "error"];

/// Returns the edited record, or `None` if no part is left. `path` leads to the record's content.
pub(crate) fn edit(editing: &Editing<'_>, path: &[&str]) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let patches = match at_path(editing.bytes, &editing.span, path) {
        Some(place) => patches(editing.bytes, &place, &editing.parts)?,
        None => Vec::new(),
    };
    Some(patched(editing.bytes, &editing.span, patches))
}

/// Notation of a new text in a tool result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// Text as the whole content.
    pub(crate) whole: fn(&str) -> Value,
    /// Text as one of several blocks.
    pub(crate) block: fn(&str) -> Value,
}

/// Returns the edited record if its whole content is a tool's output, or `None` if it is removed.
pub(crate) fn edit_result(
    editing: &Editing<'_>,
    path: &[&str],
    framing: Framing,
) -> Option<Vec<u8>> {
    let ((_, change), nested) = editing.parts.split_first()?;
    let place = at_path(editing.bytes, &editing.span, path)?;
    let nested: Vec<PartChange<'_>> = nested.iter().map(|(_, change)| *change).collect();
    let text = match change {
        PartChange::Removed => return None,
        PartChange::Kept => None,
        PartChange::Replaced(text) => Some(*text),
    };
    let patches = answer_patches(editing.bytes, &place, text, &nested, Some(framing));
    Some(patched(editing.bytes, &editing.span, patches))
}

/// Returns the patches for a content, or `None` if no block of it is left.
pub(crate) fn patches(
    bytes: &[u8],
    content: &Span,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let of_block = |idx: usize| -> Vec<(&Part, PartChange<'_>)> {
        parts.iter().filter(|(part, _)| part.block as usize == idx).copied().collect()
    };
    let Some(blocks) = json::elements(bytes, content) else {
        return block_patches(bytes, content, &of_block(0));
    };
    let mut removed = vec![false; blocks.len()];
    let mut all = Vec::new();
    for (idx, block) in blocks.iter().enumerate() {
        match block_patches(bytes, block, &of_block(idx)) {
            Some(mut patches) => all.append(&mut patches),
            None => removed[idx] = true,
        }
    }
    if !removed.is_empty() && removed.iter().all(|g| *g) {
        return None;
    }
    all.extend(without_elements(&blocks, &removed));
    Some(all)
}

/// Returns the patches for one block, or `None` if it is removed.
pub(crate) fn block_patches(
    bytes: &[u8],
    block: &Span,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let Some(((part, change), nested)) = parts.split_first() else {
        return Some(Vec::new());
    };
    if parts.iter().all(|(_, change)| *change == PartChange::Kept) {
        return Some(Vec::new());
    }
    let is_pair = matches!(part.body, Body::ToolResult { .. } | Body::ToolCall { .. });
    let text = match if is_pair { *change } else { change.or_removed() } {
        PartChange::Removed => return None,
        PartChange::Kept => None,
        PartChange::Replaced(text) => Some(text),
    };
    let nested: Vec<PartChange<'_>> = nested.iter().map(|(_, change)| *change).collect();
    Some(match (&part.body, text) {
        (Body::ToolResult { .. }, text) => result_patches(bytes, block, text, &nested),
        (_, None) => Vec::new(),
        (Body::ToolCall { .. }, Some(text)) => arguments(bytes, block, text),
        (Body::Text(_), Some(text)) => vec![(text_place(bytes, block), json_string(text))],
        // A signature is valid for its own thought only, and blocks other than text have no member for a text.
        (_, Some(text)) => vec![(block.clone(), text_block(text))],
    })
}

/// Returns the byte range of a block's text: the block itself or one of its members.
fn text_place(bytes: &[u8], block: &Span) -> Span {
    TEXTS.iter().find_map(|key| at_path(bytes, block, &[key])).unwrap_or_else(|| block.clone())
}

/// Returns the patches for the arguments of a call.
pub(crate) fn arguments(bytes: &[u8], block: &Span, text: &str) -> Vec<Patch> {
    let inner = ["functionCall", "function_call", "function", "custom"];
    let inner = inner.iter().find_map(|key| {
        at_path(bytes, block, &[key]).filter(|p| bytes.get(p.start) == Some(&b'{'))
    });
    let owner = inner.unwrap_or_else(|| block.clone());
    let Some(place) = ARGUMENTS.iter().find_map(|key| at_path(bytes, &owner, &[key])) else {
        return Vec::new();
    };
    let text = if bytes.get(place.start) == Some(&b'"') {
        json_string(text)
    } else {
        object(text).to_string().into_bytes()
    };
    vec![(place, text)]
}

/// Returns arguments as an object.
fn object(arguments: &str) -> Value {
    match crate::json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ if arguments.is_empty() => json!({}),
        _ => json!({"_raw": arguments}),
    }
}

fn result_patches(
    bytes: &[u8],
    block: &Span,
    text: Option<&str>,
    nested: &[PartChange<'_>],
) -> Vec<Patch> {
    let inner = ["functionResponse", "function_response"];
    let owner = inner.iter().find_map(|key| at_path(bytes, block, &[key]));
    let owner = owner.unwrap_or_else(|| block.clone());
    let is_something = |place: &Span| bytes.get(place.clone()) != Some(b"null");
    let place = OUTPUTS.iter().find_map(|key| at_path(bytes, &owner, &[key]).filter(is_something));
    place.map_or_else(Vec::new, |place| answer_patches(bytes, &place, text, nested, None))
}

/// Returns the patches for a tool's output: its text and its other blocks. Without a `framing`, the text keeps its
/// notation.
pub(crate) fn answer_patches(
    bytes: &[u8],
    place: &Span,
    text: Option<&str>,
    nested: &[PartChange<'_>],
    framing: Option<Framing>,
) -> Vec<Patch> {
    let inner = INNER.iter().find_map(|key| at_path(bytes, place, &[key]));
    let place = &inner.unwrap_or_else(|| place.clone());
    let whole = |text: &str| {
        let framed = match framing {
            Some(framing) => (framing.whole)(text).to_string().into_bytes(),
            None if bytes.get(place.start) == Some(&b'{') => {
                json!({"output": text}).to_string().into_bytes()
            }
            None => json_string(text),
        };
        vec![(place.clone(), framed)]
    };
    let blocks = json::elements(bytes, place).unwrap_or_default();
    if blocks.is_empty()
        || nested.iter().all(|change| *change == PartChange::Removed) && text.is_some()
    {
        return text.map(whole).unwrap_or_default();
    }
    let block = |text: &str| {
        framing.map_or_else(
            || text_block(text),
            |framing| (framing.block)(text).to_string().into_bytes(),
        )
    };
    let mut nested = nested.iter();
    let mut removed = Vec::with_capacity(blocks.len());
    let mut patches = Vec::new();
    // The first text block takes the new text; the others are removed. Providers reject empty texts.
    let mut new_text = text.filter(|text| !text.is_empty());
    for span in &blocks {
        let is_text = json::parse_span(bytes, span).is_some_and(|b| content::is_text(&b));
        let change = match (is_text, text) {
            (true, None) => PartChange::Kept,
            (true, Some(_)) => new_text.take().map_or(PartChange::Removed, PartChange::Replaced),
            (false, _) => nested.next().copied().unwrap_or(PartChange::Kept),
        };
        if let PartChange::Replaced(text) = change {
            patches.push((span.clone(), block(text)));
        }
        removed.push(change == PartChange::Removed);
    }
    if removed.iter().all(|g| *g) {
        return whole(text.unwrap_or_default());
    }
    if let (Some(text), Some(first)) = (new_text, blocks.first()) {
        let lead = [block(text), b", ".to_vec()].concat();
        patches.push((first.start..first.start, lead));
    }
    patches.extend(without_elements(&blocks, &removed));
    patches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_text_of_a_result_replaces_its_first_text_block() {
        let bytes = br#"[{"type":"search_result","text":"s"}, {"type":"text","text":"a"}, "b"]"#;
        let whole = 0..bytes.len();
        let answer = |text, nested: PartChange<'_>| {
            let patches = answer_patches(bytes, &whole, text, &[nested], None);
            String::from_utf8(patched(bytes, &whole, patches)).unwrap()
        };
        // A block of another type is no text, even if it has a member of this name.
        let result = r#"{"type":"search_result","text":"s"}"#;
        assert_eq!(
            answer(Some("new"), PartChange::Kept),
            format!(r#"[{result}, {{"type":"text","text":"new"}}]"#)
        );
        assert_eq!(answer(Some(""), PartChange::Kept), format!("[{result}]"));
        assert_eq!(answer(Some("new"), PartChange::Removed), r#""new""#);
        assert_eq!(answer(None, PartChange::Removed), r#"[{"type":"text","text":"a"}, "b"]"#);
    }
}
