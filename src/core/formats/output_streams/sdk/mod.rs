//! `claude -p --output-format stream-json`, the messages of the Claude Agent SDK, and the same stream of Qwen Code.
//!
//! - One answer is several records, one for each content block. Those of Claude Code share the `id` of the message and
//!   repeat its usage. Those of Qwen Code have ids of their own, and the last has the usage.
//! - Records with a `parent_tool_use_id` belong to the sub-agent that this call started.
//! - A `compact_boundary` is followed by the summary and names the messages that are kept. Those that the stream does not
//!   contain (reminders) are missing from the context after it.
//! - Records are printed while an answer is streamed, so that `output_tokens` is a placeholder unless the record has a
//!   `stop_reason` or the stream contains the events of the API (`stream_event`).
//! - A `result` ends a run. `modelUsage` has totals of the session by model, including summaries and sub-agents.
//! - The prompts are recorded only if the program repeats them (`--replay-user-messages`).
//!
//! A file may also be an array of the records (`execution_file` of claude-code-action).
//! <https://docs.anthropic.com/en/docs/claude-code/sdk>

mod conversation;
mod record;

use crate::formats::identity::{SessionIdentity, SubAgentCalls};
use crate::formats::output_streams::by_id::ById;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::map_rows;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{ModelVendor, Track};
use crate::units::Tokens;
use conversation::{Agent, SdkConversation, assign_answers};
use record::SdkRecord;
use std::collections::HashMap;

pub(crate) const CLAUDE_CODE: Format = Format {
    name: "claude_code_stream",
    label: "Claude Code output stream",
    detect: |probe| detect(probe, false),
    parse: |input, progress| parse(input, progress, &CLAUDE),
    vendor: Some(ModelVendor::Anthropic),
    has_anthropic_blocks: true,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SubAgents,
    ],
    ..Format::READ_ONLY
};

pub(crate) const QWEN_CODE: Format = Format {
    name: "qwen_code_stream",
    label: "Qwen Code output stream",
    detect: |probe| detect(probe, true),
    parse: |input, progress| parse(input, progress, &QWEN),
    recorded: &[RecordedData::Usage, RecordedData::SubAgents],
    ..Format::READ_ONLY
};

/// Differences between the programs.
struct Program {
    name: &'static str,
    /// Whether `input_tokens` include cached ones.
    includes_cache: bool,
    /// Notation of recorded prompts.
    replays: &'static str,
    /// Description of a stream without messages.
    empty: &'static str,
}

const CLAUDE: Program = Program {
    name: CLAUDE_CODE.name,
    includes_cache: false,
    replays: " (`--input-format stream-json --replay-user-messages` records them)",
    empty: "an output stream of Claude Code without a message",
};

const QWEN: Program = Program {
    name: QWEN_CODE.name,
    includes_cache: true,
    replays: "",
    empty: "an output stream of Qwen Code without a message",
};

fn detect(probe: &Probe, is_qwen: bool) -> Option<String> {
    let records: Vec<&Value> = match probe.document() {
        Some(Value::Array(list)) => list.iter().collect(),
        _ => probe.records().iter().map(|r| &r.value).collect(),
    };
    let is_message = |v: &&Value| {
        matches!(json::str_at(v, &["type"]), Some("user" | "assistant"))
            && json::str_at(v, &["session_id"]).is_some()
            && v.get("parent_tool_use_id").is_some()
            && json::at(v, &["message", "content"]).is_some()
    };
    let is_init = |v: &&Value| {
        json::str_at(v, &["type"]) == Some("system")
            && json::str_at(v, &["subtype"]) == Some("init")
            && json::str_at(v, &["session_id"]).is_some()
    };
    let is_of_qwen = |v: &&Value| {
        v.get("qwen_code_version").is_some()
            || json::at(v, &["message", "usage", "total_tokens"]).is_some()
    };
    let is_stream = records.iter().any(is_message)
        || records.iter().any(is_init) && records.iter().any(|v| v.get("message").is_some());
    (is_stream && records.iter().any(is_of_qwen) == is_qwen).then(|| {
        "messages with a `session_id` and a `parent_tool_use_id`, and a record `init`".to_owned()
    })
}

fn parse(input: &Input, progress: &Progress, program: &Program) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let includes_cache = program.includes_cache;
    let read = |row| SdkRecord::read(row, includes_cache);
    let records = map_rows(&input.bytes, progress, &mut log, read)?;
    let answers = assign_answers(&records);
    let mut conversations: ById<SdkConversation> = ById::new();
    let mut records: Vec<Option<SdkRecord>> = records.into_iter().map(Some).collect();
    for at in 0..records.len() {
        progress.check_cancelled()?;
        // The whole answer is added at its first record.
        let Some(record) = records[at].take() else {
            continue;
        };
        let others = answers.get(&at).map_or(&[][..], |others| &others[..]);
        let others: Vec<SdkRecord> =
            others.iter().filter_map(|other| records[*other].take()).collect();
        let conversation = conversations.get(&record.conversation(), |number| {
            let agent = Agent::new(&record);
            SdkConversation::new(input, program.name, number, agent)
        });
        let labels: Vec<String> =
            std::iter::once(&record).chain(&others).map(|r| r.label.clone()).collect();
        let in_context = conversation.add(record, others, &mut log);
        for label in labels {
            let is_unread = !in_context && matches!(&*label, "user" | "assistant");
            let unread = if is_unread { " (not for the model)" } else { "" };
            log.report.count_record(&format!("{label}{unread}"), in_context);
        }
    }
    finish(input, conversations.finish(), program, log)
}

fn finish(
    input: &Input,
    conversations: Vec<SdkConversation>,
    program: &Program,
    mut log: ReadLog,
) -> Result<Parsed, ParseError> {
    let mut mains = Vec::new();
    let mut agents = Vec::new();
    let windows: HashMap<String, Tokens> = conversations
        .iter()
        .flat_map(SdkConversation::windows)
        .map(|(model, window)| (model.clone(), *window))
        .collect();
    for conversation in conversations {
        let call = conversation.agent().call.clone();
        if call.is_none() {
            conversation.report_prompts(program.replays, &mut log);
        }
        match (conversation.finish(&windows), call) {
            (Some(session), Some(call)) => {
                log.report.sub_agents.insert(call.to_string(), call.clone());
                agents.push((call, session));
            }
            (Some(session), None) => mains.push(session),
            (None, _) => {}
        }
    }
    if let Some(main) = mains.first() {
        let calls = SubAgentCalls::new(main, &log.report);
        for (call, session) in &mut agents {
            let identity = SessionIdentity { id: call.clone(), ..SessionIdentity::default() };
            let (agent, title) = calls.agent(&identity);
            session.track = Track::SubAgent(agent);
            if let Some(title) = title {
                session.title = title;
            }
        }
    }
    mains.extend(agents.into_iter().map(|(_, session)| session));
    log.finish(input, mains, program.empty)
}
