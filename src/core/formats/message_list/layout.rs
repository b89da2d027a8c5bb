//! Locates the conversations of a file: the list of messages, the objects around it, and separately stored answers.
//!
//! A file is one conversation, a list of conversations, or lines that are conversations or messages. Only byte spans
//! are located here, so that messages are parsed once and written back byte for byte.

use super::shape::Shape;
use crate::formats::editing::{array_at, at_path, object_at};
use crate::formats::{Warning, json, jsonl};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::Span;

/// Paths to the request that contains the messages: the object itself or a member. Members occur in logged pairs of a
/// request and its answer, in lines of a batch, and in pairs of preferred and rejected answers.
pub(super) const BODIES: [&[&str]; 5] = [&[], &["request"], &["body"], &["params"], &["input"]];

/// Byte spans of one conversation.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The file, or the record that contains this conversation among others.
    pub(super) whole: Span,
    /// Whether the file contains other conversations.
    pub(super) is_one_of_many: bool,
    /// The outermost object, if there is one.
    pub(super) root: Option<Span>,
    /// The object that contains the list, if there is one.
    pub(super) body: Option<Span>,
    /// The inside of the list's brackets, or all lines if each line is a message.
    pub(super) list: Span,
    /// Elements of the list.
    pub(super) elements: Vec<Span>,
    /// Messages stored outside of the list, which follow its last element.
    pub(super) answers: Vec<StoredAnswer>,
    /// Member of the root that holds the answers.
    pub(super) answers_in: Option<&'static str>,
}

impl Layout {
    /// Returns the layout of messages that are one conversation.
    pub(super) fn of_lines(bytes: &[u8], elements: Vec<Span>) -> Self {
        let (first, last) = (
            elements.first().map_or(0, |e| e.start),
            elements.last().map_or(bytes.len(), |e| e.end),
        );
        Self {
            whole: 0..bytes.len(),
            is_one_of_many: false,
            root: None,
            body: None,
            list: first..last,
            elements,
            answers: Vec::new(),
            answers_in: None,
        }
    }
}

/// An answer stored outside of the list.
#[derive(Clone, Debug)]
pub(super) struct StoredAnswer {
    /// The message.
    pub(super) message: Span,
    /// The response that contains it, with its usage.
    pub(super) response: Span,
}

/// Locates the conversations of a file, in order. Adds a warning for each record that is not a conversation.
pub(super) fn find(
    bytes: &[u8],
    shape: &Shape,
    progress: &Progress,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Layout>, Cancelled> {
    let document = json::document_span(bytes);
    if json::is_one_value(&bytes[document.clone()]) {
        progress.check_cancelled()?;
        return Ok(of_document(bytes, shape, &document));
    }
    // A second pass reads the messages.
    let passes = json::DOCUMENT_PASSES;
    let located = |r: jsonl::Record| (r.span, r.line, kind(shape, &r.value));
    let records = jsonl::map_records(bytes, progress, passes, warnings, located)?;
    let count = |wanted| records.iter().filter(|(_, _, kind)| *kind == wanted).count();
    let n_conversations = count(RecordKind::Conversation);
    if count(RecordKind::Message) > n_conversations {
        let elements = records.into_iter().map(|(span, ..)| span).collect();
        return Ok(vec![Layout::of_lines(bytes, elements)]);
    }
    let mut found = Vec::with_capacity(n_conversations);
    for (span, line, _) in records {
        progress.check_cancelled()?;
        match of_conversation(bytes, shape, &span) {
            Some(layout) => found.push(Layout { whole: span, is_one_of_many: true, ..layout }),
            None => warnings.push(Warning {
                line: Some(line),
                text: "this record is not a conversation".to_owned(),
            }),
        }
    }
    Ok(whole_file_if_only(bytes, shape, found))
}

/// Extends the only conversation that has messages to the whole file.
fn whole_file_if_only(bytes: &[u8], shape: &Shape, mut found: Vec<Layout>) -> Vec<Layout> {
    let is_message = |e: &Span| shape.is_marked_at(bytes, e);
    let has_messages =
        |layout: &&mut Layout| !layout.answers.is_empty() || layout.elements.iter().any(is_message);
    let mut candidates = found.iter_mut().filter(has_messages);
    if let (Some(only), None) = (candidates.next(), candidates.next()) {
        only.whole = 0..bytes.len();
        only.is_one_of_many = false;
    }
    found
}

/// Kind of a JSON Lines record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordKind {
    Conversation,
    Message,
    Other,
}

fn kind(shape: &Shape, record: &Value) -> RecordKind {
    let has_list = |path: &&[&str]| json::at(record, path).is_some_and(|b| shape.list(b).is_some());
    if record.is_array() || BODIES.iter().any(has_list) {
        RecordKind::Conversation
    } else if shape.is_marked(record) {
        RecordKind::Message
    } else {
        RecordKind::Other
    }
}

fn of_document(bytes: &[u8], shape: &Shape, document: &Span) -> Vec<Layout> {
    let file = 0..bytes.len();
    if shape.is_marked_at(bytes, document) {
        return vec![Layout::of_lines(bytes, vec![document.clone()])];
    }
    if let Some(layout) = of_conversation(bytes, shape, document) {
        return vec![Layout { whole: file, ..layout }];
    }
    // A list of conversations.
    let mut lists = shape.many.iter();
    let list = lists.find_map(|key| json::member(bytes, document, key));
    let list = list.unwrap_or_else(|| document.clone());
    let listed = json::elements(bytes, &list).unwrap_or_default();
    let each = listed.iter().filter_map(|span| {
        let layout = of_conversation(bytes, shape, span)?;
        Some(Layout { whole: span.clone(), is_one_of_many: true, ..layout })
    });
    whole_file_if_only(bytes, shape, each.collect())
}

/// Returns the conversation at `span`: a list of messages, or an object that contains one.
fn of_conversation(bytes: &[u8], shape: &Shape, span: &Span) -> Option<Layout> {
    let is_message = |e: &Span| shape.is_marked_at(bytes, e);
    if let Some(elements) = json::elements(bytes, span) {
        let list = span.start + 1..span.end - 1;
        return elements
            .iter()
            .any(is_message)
            .then(|| Layout { list, ..Layout::of_lines(bytes, elements) });
    }
    let members = json::members(bytes, span)?;
    let (body, list) =
        BODIES.iter().find_map(|path| list_in(bytes, shape, span, &members, path))?;
    let elements = json::elements(bytes, &list)?;
    let found = shape.answers.iter().find_map(|key| {
        let (_, value) = members.iter().rev().find(|(name, _)| name == key)?;
        if *value == list {
            return None;
        }
        let answers = answers(bytes, shape, span, key, value);
        (!answers.is_empty()).then_some((*key, answers))
    });
    let (answers_in, answers) = found.unzip();
    let mut layout = Layout {
        root: Some(span.clone()),
        body: Some(body),
        list: list.start + 1..list.end - 1,
        answers: answers.unwrap_or_default(),
        answers_in,
        ..Layout::of_lines(bytes, elements)
    };
    if layout
        .elements
        .last()
        .zip(layout.answers.first())
        .is_some_and(|(last, answer)| says_same(bytes, last, answer))
    {
        layout.answers.clear();
        layout.answers_in = None;
    }
    Some(layout)
}

/// Returns the object that contains the list of messages, and the list.
fn list_in(
    bytes: &[u8],
    shape: &Shape,
    root: &Span,
    members: &[(String, Span)],
    path: &[&str],
) -> Option<(Span, Span)> {
    let member = |key: &str| {
        members.iter().rev().find(|(name, _)| name == key).map(|(_, span)| span.clone())
    };
    let is_list = |list: &Span| bytes.get(list.start) == Some(&b'[');
    let mut lists = shape.lists.iter();
    match path.first() {
        None => lists.find_map(|key| member(key).filter(is_list)).map(|list| (root.clone(), list)),
        Some(key) => {
            let body = member(key)?;
            lists
                .find_map(|key| json::member(bytes, &body, key).filter(is_list))
                .map(|list| (body, list))
        }
    }
}

/// Returns the answers in the member `key` of the root. `value` is the span of its value.
fn answers(bytes: &[u8], shape: &Shape, root: &Span, key: &str, value: &Span) -> Vec<StoredAnswer> {
    let first_choice =
        |choices: Option<Vec<Span>>| object_at(bytes, choices?.first()?, &["message"]);
    let one = |message: Option<Span>, response: &Span| {
        message
            .into_iter()
            .map(|message| StoredAnswer { message, response: response.clone() })
            .collect()
    };
    match key {
        "choices" => one(first_choice(json::elements(bytes, value)), root),
        "response" => {
            if let Some(items) = array_at(bytes, value, &["output"]) {
                return listed(bytes, shape, items, Some(value));
            }
            let is_message = at_path(bytes, value, &["role"]).is_some();
            let itself = is_message.then(|| value.clone());
            let choice = first_choice(array_at(bytes, value, &["choices"]));
            let of_converse = || object_at(bytes, value, &["output", "message"]);
            one(choice.or(itself).or_else(of_converse), value)
        }
        "output" => {
            listed(bytes, shape, json::elements(bytes, value).unwrap_or_default(), Some(root))
        }
        _ => listed(bytes, shape, json::elements(bytes, value).unwrap_or_default(), None),
    }
}

/// Converts a list of messages to answers. Each message is its own response if `response` is `None`.
fn listed(
    bytes: &[u8],
    shape: &Shape,
    messages: Vec<Span>,
    response: Option<&Span>,
) -> Vec<StoredAnswer> {
    let messages = messages.into_iter().filter(|message| shape.is_marked_at(bytes, message));
    messages
        .map(|message| StoredAnswer { response: response.unwrap_or(&message).clone(), message })
        .collect()
}

/// Returns whether the log repeats the answer as the last message.
fn says_same(bytes: &[u8], last: &Span, answer: &StoredAnswer) -> bool {
    let (Some(a), Some(b)) =
        (json::parse_span(bytes, last), json::parse_span(bytes, &answer.message))
    else {
        return false;
    };
    ["role", "content", "tool_calls"].iter().all(|key| a.get(key) == b.get(key))
}
