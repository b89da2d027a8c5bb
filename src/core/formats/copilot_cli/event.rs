//! Parses events.

use crate::formats::content::part;
use crate::formats::jsonl::Record;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{CallDraft, Draft, Part, Role, Span, Usage};
use crate::units::{Millis, Tokens};

/// A parsed event.
#[derive(Clone, Debug)]
pub(super) struct CopilotEvent {
    /// Byte range in the file.
    pub(super) span: Span,
    /// Type of the event.
    pub(super) kind: Box<str>,
    /// Id of the event.
    pub(super) id: Option<Box<str>>,
    /// Id of the call that started the event's sub-agent.
    pub(super) agent: Option<Box<str>>,
    /// A tool call and the model that made it or ran for it.
    pub(super) ran: Option<(Box<str>, String)>,
    /// The user's own text, without the program's additions.
    pub(super) user_text: Option<Box<str>>,
    /// Content of the event.
    pub(super) content: EventContent,
}

/// Content of an event.
#[derive(Clone, Debug)]
pub(super) enum EventContent {
    /// A message that the model did not write.
    Message(Draft),
    /// A model answer.
    Answer(CallDraft, Draft),
    /// Usage of the previous call.
    Usage(Usage),
    /// The model of the following answers.
    Model(String),
    /// The latest call was aborted.
    Aborted,
    /// The end of the program.
    Ended(Ended),
    /// The start of a sub-agent: the call and its name.
    Agent(Box<str>, String),
    /// Title of the session.
    Title(String),
    /// The start of a compaction: the size of the context.
    CompactionStarts(Option<Tokens>),
    /// A successful compaction.
    Compaction {
        /// The summary.
        summary: Option<Draft>,
        /// Tokens before.
        before: Option<Tokens>,
        /// Tokens after.
        after: Option<Tokens>,
        /// The request for the summary: its model and usage.
        request: Option<(Option<String>, Usage)>,
    },
    /// A truncation.
    Truncation {
        /// Number of removed messages.
        messages: usize,
        /// Tokens before.
        before: Option<Tokens>,
        /// Tokens after.
        after: Option<Tokens>,
    },
    /// A rewind to before the event with this id.
    Rewind(Box<str>),
    /// Content that is not sent to the model.
    Other,
    /// Content of an unknown type.
    Unknown,
}

/// The end of the program.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// Size of the context, including the last answer.
    pub(super) size: Option<Tokens>,
    /// Current model.
    pub(super) model: Option<String>,
    /// Usage since the program started, by model.
    pub(super) totals: Vec<(String, Usage)>,
}

/// Model name that leaves the choice to the program.
const AUTOMATIC: &str = "auto";

/// Prefixes of event types that are never sent to the model.
const NOT_CONTEXT: [&str; 12] = [
    "session.",
    "hook.",
    "permission.",
    "assistant.turn_",
    "tool.",
    "user_input.",
    "subagent.",
    "external_tool.",
    "command.",
    "mcp.",
    "elicitation.",
    "exit_plan_mode.",
];

impl CopilotEvent {
    /// Parses a record.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "functions that read records take them by value"
    )]
    pub(super) fn read(record: Record) -> Self {
        let value = &record.value;
        let kind = json::str_at(value, &["type"]).unwrap_or("other");
        let id = json::str_at(value, &["id"]);
        let time = json::millis_at(value, &["timestamp"]);
        let data = value.get("data").unwrap_or(&Value::Null);
        let draft = |role, parts| Draft {
            id: id.map(Into::into),
            time,
            raw: vec![record.span.clone()],
            ..Draft::new(role, parts)
        };
        let agent = json::str_at(data, &["parentToolCallId"]);
        let str_of = |key| json::str_at(data, &[key]).filter(|text| !text.is_empty());
        let is_run = kind.starts_with("tool.execution_");
        let ran = str_of("toolCallId").zip(str_of("model")).filter(|_| is_run);
        Self {
            ran: ran.map(|(call, model)| (call.into(), model.to_owned())),
            kind: kind.into(),
            id: id.map(Into::into),
            agent: agent.filter(|id| !id.is_empty()).map(Into::into),
            user_text: json::str_at(data, &["content"])
                .filter(|_| kind == "user.message")
                .map(Into::into),
            content: event_content(kind, data, time, draft),
            span: record.span.clone(),
        }
    }
}

fn event_content(
    kind: &str,
    data: &Value,
    time: Option<Millis>,
    draft: impl Fn(Role, Vec<Part>) -> Draft,
) -> EventContent {
    let str_of = |key| json::str_at(data, &[key]).filter(|text| !text.is_empty());
    let text = |key| {
        content::text_part(0, str_of(key).unwrap_or_default()).into_iter().collect::<Vec<Part>>()
    };
    let tokens = |key| counts::tokens_at(data, &[key]);
    let model = |key| {
        let named = str_of(key).filter(|model| *model != AUTOMATIC);
        named.map_or(EventContent::Other, |model| EventContent::Model(model.to_owned()))
    };
    let injected =
        |parts| EventContent::Message(Draft { is_injected: true, ..draft(Role::User, parts) });
    match kind {
        "system.message" => EventContent::Message(draft(Role::System, text("content"))),
        "user.message" => {
            let sent =
                str_of("transformedContent").or_else(|| str_of("content")).unwrap_or_default();
            EventContent::Message(draft(
                Role::User,
                content::text_part(0, sent).into_iter().collect(),
            ))
        }
        "system.notification" | "skill.invoked" => injected(text("content")),
        "assistant.message" => answer(data, time, &draft),
        "tool.execution_complete" => result(data, &draft),
        "assistant.usage" => {
            counts::camel_case_usage(data).map_or(EventContent::Other, EventContent::Usage)
        }
        "session.start" | "session.resume" => model("selectedModel"),
        "session.model_change" => model("newModel"),
        "session.auto_mode_resolved" => model("chosenModel"),
        "session.shutdown" => EventContent::Ended(Ended {
            size: tokens("currentTokens").or_else(|| context_size(data)),
            model: str_of("currentModel").map(str::to_owned),
            totals: totals(data),
        }),
        "session.title_changed" => str_of("title")
            .map_or(EventContent::Other, |title| EventContent::Title(title.to_owned())),
        "subagent.started" => str_of("toolCallId").map_or(EventContent::Other, |call| {
            let name =
                str_of("agentDisplayName").or_else(|| str_of("agentName")).unwrap_or("sub-agent");
            EventContent::Agent(call.into(), name.to_owned())
        }),
        "session.compaction_start" => EventContent::CompactionStarts(context_size(data)),
        "session.compaction_complete"
            if data.get("success").and_then(Value::as_bool) == Some(false) =>
        {
            EventContent::Other
        }
        "session.compaction_complete" => EventContent::Compaction {
            summary: Some(Draft {
                is_summary: true,
                in_history: false,
                ..draft(Role::User, text("summaryContent"))
            })
            .filter(|draft| !draft.parts.is_empty()),
            before: tokens("preCompactionTokens"),
            after: tokens("postCompactionTokens").or_else(|| context_size(data)),
            request: data.get("compactionTokensUsed").and_then(summary_request),
        },
        "session.truncation" => EventContent::Truncation {
            messages: usize::try_from(
                json::u64_at(data, &["messagesRemovedDuringTruncation"]).unwrap_or(0),
            )
            .unwrap_or(0),
            before: tokens("preTruncationTokensInMessages"),
            after: tokens("postTruncationTokensInMessages"),
        },
        "session.snapshot_rewind" => {
            str_of("upToEventId").map_or(EventContent::Other, |id| EventContent::Rewind(id.into()))
        }
        "abort" => EventContent::Aborted,
        "assistant.reasoning" => EventContent::Other,
        _ if NOT_CONTEXT.iter().any(|family| kind.starts_with(family)) => EventContent::Other,
        _ => EventContent::Unknown,
    }
}

fn answer(
    data: &Value,
    time: Option<Millis>,
    draft: &impl Fn(Role, Vec<Part>) -> Draft,
) -> EventContent {
    let str_of = |key| json::str_at(data, &[key]).unwrap_or_default();
    let sealed = str_of("encryptedContent").len().max(str_of("reasoningOpaque").len());
    let thought = content::thought(str_of("reasoningText"), sealed);
    let mut parts: Vec<Part> = thought.map(|body| part(0, body)).into_iter().collect();
    parts.extend(content::text_part(0, str_of("content")));
    let requests = data.get("toolRequests").and_then(Value::as_array);
    parts.extend(requests.into_iter().flatten().enumerate().map(|(idx, call)| {
        let id = json::str_at(call, &["toolCallId"]);
        let name = json::str_at(call, &["name"]).unwrap_or_default();
        part(idx, content::call(id, name, call.get("arguments")))
    }));
    let call = CallDraft {
        model: json::str_at(data, &["model"]).map(str::to_owned),
        time,
        answer: counts::tokens_at(data, &["outputTokens"]),
        ..CallDraft::default()
    };
    EventContent::Answer(call, draft(Role::Assistant, parts))
}

fn result(data: &Value, draft: &impl Fn(Role, Vec<Part>) -> Draft) -> EventContent {
    let str_of = |key| json::str_at(data, &[key]);
    let failed = data.get("success").and_then(Value::as_bool) == Some(false);
    let paths: [&[&str]; 4] =
        [&["result", "content"], &["error", "message"], &["result", "detailedContent"], &["error"]];
    let output = paths.iter().find_map(|path| json::at(data, path).filter(|v| !v.is_null()));
    let names = (str_of("toolCallId"), str_of("toolName"));
    let parts = content::result(0, names, failed, output.unwrap_or(&Value::Null));
    EventContent::Message(draft(Role::Tool, parts))
}

/// Returns the usage by model since the program started. Its input includes cached tokens.
fn totals(data: &Value) -> Vec<(String, Usage)> {
    let models = data.get("modelMetrics").and_then(Value::as_object);
    let total = |(model, metrics): (&String, &Value)| {
        let usage = counts::camel_case_usage(metrics.get("usage")?)?;
        Some((model.clone(), usage))
    };
    models.into_iter().flatten().filter_map(total).collect()
}

/// Returns model and usage of the request for a summary. Earlier versions name the counts differently and count no
/// writes to the cache, like the totals.
fn summary_request(used: &Value) -> Option<(Option<String>, Usage)> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| counts::tokens_at(used, &[name]));
    let usage = Usage {
        input: count(["inputTokens", "input"])?,
        cache_read: count(["cacheReadTokens", "cachedInput"]),
        cache_write: count(["cacheWriteTokens", "cacheWrite"]).or(Some(Tokens::ZERO)),
        output: count(["outputTokens", "output"]),
        ..Usage::default()
    };
    let model = json::str_at(used, &["model"]).map(str::to_owned);
    (usage.input > Tokens::ZERO).then_some((model, usage))
}

/// Returns the size of the context, which some events record as three shares.
fn context_size(data: &Value) -> Option<Tokens> {
    let shares = ["systemTokens", "toolDefinitionsTokens", "conversationTokens"];
    let sum: Tokens = shares.iter().filter_map(|key| counts::tokens_at(data, &[key])).sum();
    (sum > Tokens::ZERO).then_some(sum)
}
