//! Qwen Code's session files: JSON Lines in which every record names the one before it and holds a Gemini content.
//!
//! - The conversation is the way to the last record; other branches are conversations of their own.
//! - A compression holds the whole new history. Contents of it that stood there before are the same messages.
//! - `promptTokenCount` holds what was cached.
//!   <https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/services/chatRecordingService.ts>

use super::jsonl::{self, map_records};
use super::notes::Notes;
use super::talk::Talk;
use super::tree::Tree;
use super::{
    Carried, Format, ImportReport, Input, Parsed, Probe, Refused, Unread, content, counts, json,
};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Draft, Part, Role, Session, Span, StepDraft, SubAgent, Track, Usage};
use crate::units::Tokens;
use serde_json::Value;
use std::collections::HashSet;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "qwen_code",
    label: "Qwen Code session",
    detect,
    in_pieces: false,
    parse,
    export: None,
    carries: &[
        Carried::Usage,
        Carried::Times,
        Carried::Compactions,
        Carried::SubAgents,
    ],
    kept: None,
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let is_its = |v: &Value| {
        json::str_at(v, &["uuid"]).is_some()
            && json::str_at(v, &["sessionId"]).is_some()
            && matches!(
                json::str_at(v, &["type"]),
                Some("user" | "assistant" | "tool_result" | "system")
            )
    };
    let has_content = |v: &Value| json::at(v, &["message", "parts"]).is_some_and(Value::is_array);
    let n = records.iter().filter(|r| is_its(&r.value)).count();
    (n > 0 && n * 4 >= records.len() * 3 && records.iter().any(|r| has_content(&r.value)))
        .then(|| "JSON Lines whose records have a `uuid` and a `message` with `parts`".to_owned())
}

/// One record, taken apart.
#[derive(Debug)]
struct Entry {
    span: Span,
    label: String,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    is_sidechain: bool,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Said(Draft),
    Answered(StepDraft, Draft),
    /// The whole new history, with tokens before and after.
    Compressed(Vec<Draft>, Option<Tokens>, Option<Tokens>),
    Title(String),
    Aside,
}

fn read(record: jsonl::Record) -> Entry {
    let value = &record.value;
    let says = |key| json::str_at(value, &[key]);
    let kind = says("type").unwrap_or("other");
    let label = match says("subtype") {
        Some(sub) => format!("{kind}/{sub}"),
        None => kind.to_owned(),
    };
    Entry {
        label,
        id: says("uuid").map(Into::into),
        parent: says("parentUuid").map(Into::into),
        is_sidechain: json::is_true(value, &["isSidechain"]),
        what: what(kind, value, &record.span),
        span: record.span,
    }
}

fn what(kind: &str, value: &Value, span: &Span) -> What {
    let draft = |draft: Draft| Draft {
        id: json::str_at(value, &["uuid"]).map(Into::into),
        time: json::millis_at(value, &["timestamp"]),
        raw: vec![span.clone()],
        ..draft
    };
    let sub = json::str_at(value, &["subtype"]);
    let said = value.get("message").and_then(of_content).map(draft);
    match (kind, sub, said) {
        ("assistant", _, Some(said)) => What::Answered(
            StepDraft {
                model: json::str_at(value, &["model"]).map(str::to_owned),
                window: counts::window_at(value, &["contextWindowSize"]),
                usage: usage(value),
                time: said.time,
            },
            said,
        ),
        ("system", Some("chat_compression"), _) => {
            let payload = value.get("systemPayload").unwrap_or(&Value::Null);
            let history = payload.get("compressedHistory").and_then(Value::as_array);
            let tokens = |key| counts::tokens_at(payload, &["info", key]);
            let drafts = history
                .into_iter()
                .flatten()
                .filter_map(of_content)
                .map(draft);
            What::Compressed(
                drafts.collect(),
                tokens("originalTokenCount"),
                tokens("newTokenCount"),
            )
        }
        ("system", Some("custom_title"), _) => {
            let title = json::str_at(value, &["systemPayload", "customTitle"]);
            title.map_or(What::Aside, |title| What::Title(title.to_owned()))
        }
        ("user" | "tool_result", sub, Some(said)) => {
            let is_injected =
                said.role == Role::User && !matches!(sub, None | Some("mid_turn_user_message"));
            What::Said(Draft {
                is_injected,
                ..said
            })
        }
        // A notification that is sent as a person's words.
        ("system", Some("notification" | "cron"), Some(said)) => What::Said(Draft {
            is_injected: true,
            ..said
        }),
        _ => What::Aside,
    }
}

/// A message of a content; its thoughts are not sent again.
fn of_content(value: &Value) -> Option<Draft> {
    let mut parts: Vec<Part> = content::parts(value.get("parts")?);
    let is_answer = parts
        .iter()
        .any(|p| matches!(p.body, Body::ToolResult { .. }));
    let role = match json::str_at(value, &["role"]) {
        Some("model") => Role::Assistant,
        _ if is_answer => Role::Tool,
        _ => Role::User,
    };
    parts.retain(|p| !matches!(p.body, Body::Thinking { .. }));
    (!parts.is_empty()).then(|| Draft::new(role, parts))
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(value, &["usageMetadata", key]);
    let thoughts = count("thoughtsTokenCount");
    let input = count("promptTokenCount")?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("cachedContentTokenCount"),
        output: count("candidatesTokenCount").map(|n| n + thoughts.unwrap_or_default()),
        reasoning: thoughts,
        ..Usage::default()
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let mut warnings = Vec::new();
    let mut notes = Notes::default();
    let entries = map_records(&input.bytes, progress, 1, &mut warnings, read)?;
    let tree = Tree::new(
        entries
            .iter()
            .map(|e| (e.id.as_deref(), e.parent.as_deref())),
    );
    for at in &tree.orphans {
        notes.add(
            entries[*at].span.start,
            "the record before this one is not in the file; it is taken to follow the line before it",
        );
    }
    let is_context = |at: usize| !matches!(entries[at].what, What::Aside | What::Title(_));
    let leaf = (0..entries.len())
        .rev()
        .find(|at| !entries[*at].is_sidechain)
        .unwrap_or(entries.len().saturating_sub(1));
    let main = tree.path(leaf);
    let is_main: HashSet<usize> = main.iter().copied().collect();
    let mut report = ImportReport::default();
    for (at, entry) in entries.iter().enumerate() {
        let on_main = is_main.contains(&at);
        let branch = match (on_main, entry.is_sidechain) {
            (true, _) => "",
            (false, true) => " (sub-agent)",
            (false, false) => " (another branch)",
        };
        report.note(
            &format!("{}{branch}", entry.label),
            on_main && is_context(at),
        );
    }
    let mut sessions: Vec<Session> = told(input, &entries, &main, None, progress, &mut notes)?
        .into_iter()
        .collect();
    for leaf in tree.others(&main, is_context) {
        let number = sessions.len() + 1;
        let session = told(
            input,
            &entries,
            &tree.path(leaf),
            Some(number),
            progress,
            &mut notes,
        )?;
        let (what, track) = if entries[leaf].is_sidechain {
            ("sub-agent", Track::SubAgent(SubAgent::default()))
        } else {
            ("branch", Track::Branch)
        };
        sessions.extend(session.map(|session| Session {
            title: format!("{} ({what} {})", session.title, number - 1),
            track,
            ..session
        }));
    }
    if sessions.is_empty() {
        let looks_like = "this looks like a Qwen Code session without a message".to_owned();
        return Err(Refused { looks_like }.into());
    }
    let spans = entries.iter().map(|entry| &entry.span);
    let folder = json::first_str(&input.bytes.whole(), spans, &["cwd"]);
    for session in &mut sessions {
        session.project.clone_from(&folder);
    }
    warnings.extend(notes.warnings(&input.bytes));
    warnings.sort_by_key(|w| w.line);
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

fn told(
    input: &Input,
    entries: &[Entry],
    path: &[usize],
    number: Option<usize>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Option<Session>, Cancelled> {
    let mut talk = Talk::new(input, FORMAT.name, number);
    let mut context: Vec<usize> = Vec::new();
    for at in path {
        progress.go_on()?;
        let entry = &entries[*at];
        let start = entry.span.start;
        match entry.what.clone() {
            What::Said(draft) => context.push(talk.say(draft)),
            What::Answered(step, draft) => {
                let step = StepDraft {
                    usage: notes.usage(start, step.usage),
                    window: notes.tokens(start, step.window, "the recorded context window"),
                    ..step
                };
                context.push(talk.answer(step, draft));
            }
            What::Compressed(drafts, before, after) => {
                let what = "a count of this compression";
                let (before, after) = (
                    notes.tokens(start, before, what),
                    notes.tokens(start, after, what),
                );
                context = compressed(&mut talk, &context, drafts);
                talk.builder.compaction("", before, after, context.clone());
            }
            What::Title(title) => talk.title(&title),
            What::Aside => {}
        }
    }
    Ok(talk.finish())
}

/// The messages of a new history: those that were there before, from its end on, and those that were written.
fn compressed(talk: &mut Talk, context: &[usize], drafts: Vec<Draft>) -> Vec<usize> {
    let session = talk.builder.session();
    let says = |idx: usize| {
        session
            .parts_of(&session.messages[idx])
            .iter()
            .map(|p| &p.body)
    };
    let mut left = context;
    let mut known: Vec<Option<usize>> = Vec::with_capacity(drafts.len());
    for draft in drafts.iter().rev() {
        let found = left
            .iter()
            .rposition(|idx| says(*idx).eq(draft.parts.iter().map(|p| &p.body)));
        known.push(found.map(|at| left[at]));
        left = found.map_or(left, |at| &left[..at]);
    }
    known.reverse();
    let mut kept = Vec::with_capacity(drafts.len());
    for (draft, known) in drafts.into_iter().zip(known) {
        let message = known.unwrap_or_else(|| {
            let is_summary = draft.role == Role::User;
            talk.say(Draft {
                in_history: false,
                is_summary,
                ..draft
            })
        });
        kept.push(message);
    }
    kept
}
