//! One event, taken apart.

use super::super::jsonl::Record;
use super::super::message_list::part;
use super::super::{content, counts, json};
use crate::session::{Draft, Part, Role, Span, StepDraft, Usage};
use crate::units::{Millis, Tokens};
use serde_json::Value;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Its bytes.
    pub(super) span: Span,
    /// Its type.
    pub(super) kind: Box<str>,
    /// Its id.
    pub(super) id: Option<Box<str>>,
    /// The call that started the sub-agent that it belongs to.
    pub(super) agent: Option<Box<str>>,
    /// The model that ran a tool, or for which one ran, with the call.
    pub(super) ran: Option<(Box<str>, String)>,
    /// A person's own words, without what the program put around them.
    pub(super) words: Option<Box<str>>,
    /// What it says.
    pub(super) what: What,
}

/// What an event says.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Somebody speaks.
    Said(Draft),
    /// The model speaks.
    Answered(StepDraft, Draft),
    /// What the call before took.
    Usage(Usage),
    /// The model that answers from here on.
    Model(String),
    /// The latest call was aborted.
    Aborted,
    /// The program ends: the size of the context, the last answer included, and the model.
    Ended(Option<Tokens>, Option<String>),
    /// A sub-agent starts: the call, and its name.
    Agent(Box<str>, String),
    /// What the session is called.
    Title(String),
    /// A compaction begins: the size of the context.
    CompactionStarts(Option<Tokens>),
    /// A compaction ended well.
    Compacted {
        /// What stands for what was said.
        summary: Option<Draft>,
        /// Tokens before.
        before: Option<Tokens>,
        /// Tokens after.
        after: Option<Tokens>,
    },
    /// So many messages were dropped.
    Truncated {
        /// How many.
        messages: usize,
        /// Tokens before.
        before: Option<Tokens>,
        /// Tokens after.
        after: Option<Tokens>,
    },
    /// Everything from the event with this id on was taken back.
    Rewound(Box<str>),
    /// Nothing that goes to the model.
    Aside,
    /// Of a type that came after us.
    Unknown,
}

/// The name of a model that stands for whichever the program chooses.
const AUTOMATIC: &str = "auto";

/// Families of events that never go to the model.
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

impl Event {
    /// Takes a record apart.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "readers of records are given them"
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
        let says = |key| json::str_at(data, &[key]).filter(|text| !text.is_empty());
        let is_run = kind.starts_with("tool.execution_");
        let ran = says("toolCallId").zip(says("model")).filter(|_| is_run);
        Self {
            ran: ran.map(|(call, model)| (call.into(), model.to_owned())),
            kind: kind.into(),
            id: id.map(Into::into),
            agent: agent.filter(|id| !id.is_empty()).map(Into::into),
            words: json::str_at(data, &["content"])
                .filter(|_| kind == "user.message")
                .map(Into::into),
            what: what(kind, data, time, draft),
            span: record.span.clone(),
        }
    }
}

fn what(
    kind: &str,
    data: &Value,
    time: Option<Millis>,
    draft: impl Fn(Role, Vec<Part>) -> Draft,
) -> What {
    let says = |key| json::str_at(data, &[key]).filter(|text| !text.is_empty());
    let text = |key| {
        content::text_part(0, says(key).unwrap_or_default())
            .into_iter()
            .collect::<Vec<Part>>()
    };
    let tokens = |key| counts::tokens_at(data, &[key]);
    let model = |key| {
        let named = says(key).filter(|model| *model != AUTOMATIC);
        named.map_or(What::Aside, |model| What::Model(model.to_owned()))
    };
    let injected = |parts| {
        What::Said(Draft {
            is_injected: true,
            ..draft(Role::User, parts)
        })
    };
    match kind {
        "system.message" => What::Said(draft(Role::System, text("content"))),
        "user.message" => {
            let sent = says("transformedContent")
                .or_else(|| says("content"))
                .unwrap_or_default();
            What::Said(draft(
                Role::User,
                content::text_part(0, sent).into_iter().collect(),
            ))
        }
        "system.notification" | "skill.invoked" => injected(text("content")),
        "assistant.message" => answer(data, time, &draft),
        "tool.execution_complete" => result(data, &draft),
        "assistant.usage" => usage(data).map_or(What::Aside, What::Usage),
        "session.start" | "session.resume" => model("selectedModel"),
        "session.model_change" => model("newModel"),
        "session.auto_mode_resolved" => model("chosenModel"),
        "session.shutdown" => What::Ended(
            tokens("currentTokens").or_else(|| context_size(data)),
            says("currentModel").map(str::to_owned),
        ),
        "session.title_changed" => {
            says("title").map_or(What::Aside, |title| What::Title(title.to_owned()))
        }
        "subagent.started" => says("toolCallId").map_or(What::Aside, |call| {
            let name = says("agentDisplayName")
                .or_else(|| says("agentName"))
                .unwrap_or("sub-agent");
            What::Agent(call.into(), name.to_owned())
        }),
        "session.compaction_start" => What::CompactionStarts(context_size(data)),
        "session.compaction_complete"
            if data.get("success").and_then(Value::as_bool) == Some(false) =>
        {
            What::Aside
        }
        "session.compaction_complete" => What::Compacted {
            summary: Some(Draft {
                is_summary: true,
                in_history: false,
                ..draft(Role::User, text("summaryContent"))
            })
            .filter(|draft| !draft.parts.is_empty()),
            before: tokens("preCompactionTokens"),
            after: tokens("postCompactionTokens").or_else(|| context_size(data)),
        },
        "session.truncation" => What::Truncated {
            messages: usize::try_from(
                json::u64_at(data, &["messagesRemovedDuringTruncation"]).unwrap_or(0),
            )
            .unwrap_or(0),
            before: tokens("preTruncationTokensInMessages"),
            after: tokens("postTruncationTokensInMessages"),
        },
        "session.snapshot_rewind" => {
            says("upToEventId").map_or(What::Aside, |id| What::Rewound(id.into()))
        }
        "abort" => What::Aborted,
        "assistant.reasoning" => What::Aside,
        _ if NOT_CONTEXT.iter().any(|family| kind.starts_with(family)) => What::Aside,
        _ => What::Unknown,
    }
}

fn answer(data: &Value, time: Option<Millis>, draft: &impl Fn(Role, Vec<Part>) -> Draft) -> What {
    let says = |key| json::str_at(data, &[key]).unwrap_or_default();
    let sealed = says("encryptedContent")
        .len()
        .max(says("reasoningOpaque").len());
    let thought = content::thought(says("reasoningText"), sealed);
    let mut parts: Vec<Part> = thought.map(|body| part(0, body)).into_iter().collect();
    parts.extend(content::text_part(0, says("content")));
    let asked = data.get("toolRequests").and_then(Value::as_array);
    parts.extend(asked.into_iter().flatten().enumerate().map(|(idx, call)| {
        let id = json::str_at(call, &["toolCallId"]);
        let name = json::str_at(call, &["name"]).unwrap_or_default();
        part(idx, content::call(id, name, call.get("arguments")))
    }));
    let step = StepDraft {
        model: json::str_at(data, &["model"]).map(str::to_owned),
        window: None,
        usage: None,
        time,
    };
    What::Answered(step, draft(Role::Assistant, parts))
}

fn result(data: &Value, draft: &impl Fn(Role, Vec<Part>) -> Draft) -> What {
    let says = |key| json::str_at(data, &[key]);
    let failed = data.get("success").and_then(Value::as_bool) == Some(false);
    let paths: [&[&str]; 4] = [
        &["result", "content"],
        &["error", "message"],
        &["result", "detailedContent"],
        &["error"],
    ];
    let said = paths
        .iter()
        .find_map(|path| json::at(data, path).filter(|v| !v.is_null()));
    let names = (says("toolCallId"), says("toolName"));
    let parts = content::result(0, names, failed, said.unwrap_or(&Value::Null));
    What::Said(draft(Role::Tool, parts))
}

/// The size of the context, which some events give by its three shares.
fn context_size(data: &Value) -> Option<Tokens> {
    let shares = [
        "systemTokens",
        "toolDefinitionsTokens",
        "conversationTokens",
    ];
    let sum: Tokens = shares
        .iter()
        .filter_map(|key| counts::tokens_at(data, &[key]))
        .sum();
    (sum > Tokens::ZERO).then_some(sum)
}

/// Whether the input holds what was cached is nowhere said; what was read cannot be more than all of it.
fn usage(data: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(data, &[key]);
    let (input, read, write) = (
        count("inputTokens")?,
        count("cacheReadTokens"),
        count("cacheWriteTokens"),
    );
    let input = counts::whole_input(input, read, write);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("outputTokens"),
        reasoning: count("reasoningTokens"),
        ..Usage::default()
    })
}
