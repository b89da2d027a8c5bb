//! Reads the lines of the document as model calls.

use super::document::CallPlace;
use super::exchange::error_of;
use super::wires::Wire;
use crate::formats::content::CallMatcher;
use crate::formats::contexts::LoggedCall;
use crate::formats::{Warning, counts, json, rows};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, CallDraft, Draft, Part, Role, Span};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of messages that are copied from stored contexts.
// Chosen: far more than any session repeats. A hostile file could refer to long contexts millions of times.
const MAX_COPIES: usize = 2_000_000;

/// A call with the data of its request and its answer.
struct ReadCall {
    /// Instructions and tool definitions.
    setup: Vec<Draft>,
    /// The other messages.
    messages: Vec<Draft>,
    answer: Option<Draft>,
    recorded: CallDraft,
    error: Option<Box<str>>,
    /// Id of the answer, by which a later request may refer to it.
    id: Option<Box<str>>,
    /// Id of the answer whose context the provider stores for this call.
    previous: Option<Box<str>>,
    warnings: Vec<String>,
}

/// Reads all calls in order, with warnings.
pub(super) fn read(
    document: &[u8],
    places: &[CallPlace],
    progress: &Progress,
) -> Result<(Vec<LoggedCall>, Vec<Warning>), Cancelled> {
    let each = |place: &CallPlace| {
        progress.check_cancelled()?;
        Ok(ReadCall::read(document, place))
    };
    let read: Vec<ReadCall> = places.par_iter().map(each).collect::<Result<_, Cancelled>>()?;
    let mut texts: BTreeSet<String> = BTreeSet::new();
    let calls = with_stored_contexts(read, &mut texts);
    let warning = |text| Warning { line: None, text };
    Ok((calls, texts.into_iter().map(warning).collect()))
}

/// Adds the contexts that the provider stored to the requests that refer to them.
fn with_stored_contexts(read: Vec<ReadCall>, texts: &mut BTreeSet<String>) -> Vec<LoggedCall> {
    let referenced: BTreeSet<Box<str>> =
        read.iter().filter_map(|call| call.previous.clone()).collect();
    // Messages up to and including an answer, by its id.
    let mut stored: HashMap<Box<str>, Vec<Draft>> = HashMap::new();
    let mut left = MAX_COPIES;
    let mut calls = Vec::with_capacity(read.len());
    for call in read {
        texts.extend(call.warnings);
        let before = call.previous.as_ref().and_then(|id| stored.get(id));
        let before = before.filter(|before| before.len() <= left);
        left -= before.map_or(0, Vec::len);
        let continues = call.previous.is_some() && before.is_none();
        let messages: Vec<Draft> =
            before.into_iter().flatten().cloned().chain(call.messages).collect();
        if let Some(id) = call.id.filter(|id| referenced.contains(id) && !continues)
            && messages.len() < left
        {
            left -= messages.len() + 1;
            stored.insert(id, messages.iter().cloned().chain(call.answer.clone()).collect());
        }
        calls.push(LoggedCall {
            group: "".into(),
            agent: None,
            context: call.setup.into_iter().chain(messages).collect(),
            continues,
            recorded: call.recorded,
            answer: call.answer,
            error: call.error,
        });
    }
    calls
}

impl ReadCall {
    fn read(document: &[u8], place: &CallPlace) -> Self {
        let (wire, dialect) = (place.wire, place.wire.dialect);
        let member = |key| json::member(document, &place.span, key);
        let request = member("request").unwrap_or_default();
        let list = wire.list;
        let body = rows::members_except(document, &request, &[list]);
        let response = member("response").unwrap_or_default();
        let response_value = json::parse_span(document, &response).unwrap_or_default();
        let field = |value: &Value, key: &str| json::str_at(value, &[key]).map(str::to_owned);
        let mut matcher = CallMatcher::default();
        let listed = json::member(document, &request, list);
        let listed = listed.and_then(|list| json::elements(document, &list)).unwrap_or_default();
        let (messages, mut warnings) = drafts(document, listed, wire, &mut matcher);
        let answer = answer_of(document, wire, &response);
        warnings.extend(answer.warnings);
        let mut recorded = answer.recorded;
        recorded.time = place.time.or(recorded.time);
        recorded.model = recorded.model.or_else(|| field(&body, "model"));
        let answer = answer.draft.map(|draft| Draft { time: place.time, ..draft });
        Self {
            setup: (dialect.body)(&body).into_iter().map(|(_, draft)| draft).collect(),
            messages,
            answer,
            recorded,
            error: error_of(&response_value).map(Into::into),
            id: field(&response_value, "id").map(Into::into),
            previous: field(&body, "previous_response_id").map(Into::into),
            warnings,
        }
    }
}

/// An answer and the call that it reports.
pub(super) struct ReadAnswer {
    /// The answer, if it has content.
    pub(super) draft: Option<Draft>,
    /// The call, as far as the response reports it.
    pub(super) recorded: CallDraft,
    /// Reasons why parts of it were not read.
    pub(super) warnings: Vec<String>,
}

/// Reads a whole response.
pub(super) fn answer_of(document: &[u8], wire: &Wire, response: &Span) -> ReadAnswer {
    let value = json::parse_span(document, response).unwrap_or_default();
    let spans = wire.answers(document, response);
    let (answer, mut warnings) = drafts(document, spans, wire, &mut CallMatcher::default());
    let is_answer = |draft: &Draft| draft.role == Role::Assistant && !draft.parts.is_empty();
    let draft = answer.into_iter().filter(is_answer).reduce(joined);
    let mut recorded = (wire.call)(&value).unwrap_or_default();
    if let Err(why) = counts::checked_usage(recorded.usage) {
        warnings.push(why);
        recorded.usage = None;
    }
    let model = json::str_at(&value, &["model"]).map(str::to_owned);
    recorded.model = recorded.model.or(model);
    ReadAnswer { draft, recorded, warnings }
}

/// Reads messages, with the reasons why some were not read.
fn drafts(
    document: &[u8],
    spans: Vec<Span>,
    wire: &Wire,
    matcher: &mut CallMatcher,
) -> (Vec<Draft>, Vec<String>) {
    let mut drafts = Vec::with_capacity(spans.len());
    let mut warnings = Vec::new();
    for span in spans {
        let value = json::parse_span(document, &span);
        let read = value
            .ok_or_else(|| "a message is nested too deeply to be read".to_owned())
            .and_then(|value| (wire.dialect.messages)(&value, matcher));
        match read {
            Ok(read) => drafts.extend(read.into_iter().map(|draft| Draft {
                is_injected: is_injected(&draft),
                raw: vec![span.clone()],
                ..draft
            })),
            Err(why) => warnings.push(why),
        }
    }
    let is_run = wire.dialect.answers_in_runs;
    (if is_run { joined_answers(drafts) } else { drafts }, warnings)
}

/// Returns whether the program wrote a message on the user's behalf.
fn is_injected(draft: &Draft) -> bool {
    let mut texts = draft.parts.iter().filter_map(|part| match &part.body {
        Body::Text(text) => Some(&**text),
        _ => None,
    });
    let has_text = texts.clone().next().is_some();
    draft.role == Role::User && has_text && texts.all(is_of_program)
}

/// Returns whether a program wrote a text: it is wrapped in a tag of the program's own, such as `<system-reminder>` or
/// `<environment_context>`.
pub(super) fn is_of_program(text: &str) -> bool {
    let text = text.trim();
    let name = text.strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n']).next());
    let is_name = |name: &&str| name.contains(['_', '-']) && !name.contains(['<', '/', '!', '?']);
    let name = name.filter(is_name);
    name.is_some_and(|name| text.ends_with(&format!("</{name}>")))
        || text.starts_with("# AGENTS.md instructions")
}

/// Joins consecutive messages of the model, which are items of one answer.
fn joined_answers(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut out: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        match out.last_mut().filter(|last| last.role == Role::Assistant) {
            Some(last) if draft.role == Role::Assistant => join(last, draft),
            _ => out.push(draft),
        }
    }
    out
}

fn joined(mut first: Draft, second: Draft) -> Draft {
    join(&mut first, second);
    first
}

/// Appends the records and parts of a message.
fn join(first: &mut Draft, second: Draft) {
    let n_records = u32::try_from(first.raw.len()).unwrap_or(u32::MAX);
    first.raw.extend(second.raw);
    let parts = second.parts.into_iter();
    let moved = |part: Part| Part { record: part.record.saturating_add(n_records), ..part };
    first.parts.extend(parts.map(moved));
    first.is_summary |= second.is_summary;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_texts_of_programs_by_their_tag() {
        for text in [
            "<system-reminder>\nMind the tide.\n</system-reminder>\n",
            "<environment_context><cwd>/home</cwd></environment_context>",
            "# AGENTS.md instructions for /home\n",
        ] {
            assert!(is_of_program(text), "{text}");
        }
        for text in
            ["", "<", "<b>bold</b>", "<system-reminder>x</system-reminder> Go on", "<!-- -->", "Hi"]
        {
            assert!(!is_of_program(text), "{text}");
        }
    }
}
