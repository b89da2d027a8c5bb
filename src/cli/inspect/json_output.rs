//! The result of `plimsoll inspect` as JSON.

use super::attribution::AttributionEntry;
use super::{InspectFindings, MAX_LARGEST};
use crate::analysis::largest_parts;
use crate::analysis::tools::tokens_by_tool;
use crate::cli::json_values::Object;
use crate::cli::usage::UsageSums;
use crate::engine::WindowSource;
use crate::formats::Availability;
use crate::session::{CallsFrom, Conversation, RecordedCompaction, Start, Track};
use crate::tokens::{Accuracy, Fit};
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// The content of a session file, its tokens, and warnings about it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Inspection<'a> {
    /// Detected format.
    format: &'a str,
    /// Title of the session.
    title: &'a str,
    /// Number of this conversation in the file, from 1.
    conversation: usize,
    /// All conversations of the file, in the order of their numbers.
    conversations: Vec<ConversationEntry<'a>>,
    /// Number of messages of the history.
    messages: usize,
    /// Number of messages that only the recorded compaction wrote. They are not part of the history, but numbered like
    /// its messages.
    compaction_messages: usize,
    /// Number of turns.
    turns: u32,
    /// Number of model calls.
    calls: usize,
    /// Whether the file records calls. If not, each assistant message counts as the answer of one.
    calls_recorded: bool,
    /// Models that answered.
    models: &'a [String],
    /// Number of messages of the history by role.
    roles: Object<usize>,
    /// Number of characters (code points) in the text of the history.
    characters: usize,
    /// Context window in tokens, the largest if it changes.
    window: Tokens,
    /// Source of the context window.
    window_source: WindowSource,
    /// Tokens of the context window that are kept for the answer.
    output_reserve: Tokens,
    /// Largest context in tokens, including the one at the end; null without calls.
    peak_tokens: Option<Tokens>,
    /// Call that sent the largest context; null if that is the context at the end.
    peak_call: Option<usize>,
    /// Largest context as a share of the usable window; null without calls and if the reserve leaves no usable tokens.
    peak_share: Option<Share>,
    /// Tokens of the context at the end, which the next call would send before a new message: after the last compaction.
    end_tokens: Tokens,
    /// Usage of the session with its sub-agents and branches, each call once; null if it has none or is in a database.
    tree: Option<UsageSums<'a>>,
    recorded: Recorded<'a>,
    tokens: TokenCounts<'a>,
    /// The largest parts of messages, largest first.
    largest: Vec<LargestPart>,
    attribution: AttributionEntry<'a>,
    /// One or two sentences about how the context fills up.
    verdict: &'a str,
    /// Warnings about the file and its context window.
    warnings: &'a [String],
    /// Messages that a provider would reject, such as calls without a result.
    issues: &'a [String],
    source: Source<'a>,
}

/// A conversation of the file.
#[derive(Serialize, JsonSchema)]
struct ConversationEntry<'a> {
    /// Title of the conversation.
    title: &'a str,
    /// Relation to the main conversation of the file.
    relation: Relation,
    /// Kind of the sub-agent; null if it is not one or not recorded.
    agent: Option<&'a str>,
    /// Call of the main conversation that started the sub-agent; null if unknown.
    started_by_call: Option<usize>,
    /// Number of messages that a branch shares with the main conversation; null if it is not a branch.
    shared_messages: Option<usize>,
    /// Number of the main conversation that this one belongs to; null if the file holds only one.
    main_conversation: Option<usize>,
    /// Number of messages; null if not counted.
    messages: Option<usize>,
    /// Number of model calls; null if not counted.
    calls: Option<usize>,
    /// Usage of its calls, without those that an earlier conversation of the session contains; null if the session has
    /// neither sub-agents nor branches, if it is in a database, or if its file cannot be read.
    usage: Option<UsageSums<'a>>,
}

/// Relation to the main conversation of the file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Relation {
    /// A main conversation.
    Main,
    /// The conversation of a sub-agent.
    SubAgent,
    /// An abandoned branch, which begins with the messages that it shares with the main conversation.
    Branch,
}

/// Figures that the file itself records.
#[derive(Serialize, JsonSchema)]
struct Recorded<'a> {
    /// Largest reported context of a call in tokens; null if the file reports no usage.
    largest_call_tokens: Option<Tokens>,
    /// Number of calls with reported usage.
    calls_with_usage: usize,
    /// Compactions by the recorded program.
    compactions: Vec<CompactionEntry<'a>>,
}

/// A compaction by the recorded program.
#[derive(Serialize, JsonSchema)]
struct CompactionEntry<'a> {
    /// First call after the compaction.
    call: usize,
    /// Cause as recorded, such as `auto` or `manual`; `unknown` if not recorded.
    started_by: &'a str,
    /// Reported tokens before; null if not recorded.
    tokens_before: Option<Tokens>,
    /// Reported tokens after; null if not recorded.
    tokens_after: Option<Tokens>,
}

/// Token counts of the history.
#[derive(Serialize, JsonSchema)]
struct TokenCounts<'a> {
    /// Tokens of the history, each message counted once, and of what is not recorded.
    total: Tokens,
    /// How exactly the counts are known: `reported`, `exact`, `calibrated` or `estimated`.
    accuracy: &'a str,
    /// Mean error of calibrated counts as a share, 0 to 1; null for other counts.
    error: Option<Share>,
    /// Tokenizer.
    counter: &'a str,
    /// Tokens that every call sends and the file does not record, mostly system prompt and tool definitions. Part of
    /// every context.
    not_recorded: Tokens,
    /// Fit of the counts to reported usage; null if the file reports too little.
    fit: Option<FitEntry>,
    /// Recorded tokens by kind of content. With `not_recorded`, they add up to `total`.
    by_kind: Object<Tokens>,
    /// Tokens of calls, results and their media by tool, largest first.
    by_tool: Object<Tokens>,
}

/// Fit of counted to reported tokens: reported = overhead + factor × counted.
#[derive(Serialize, JsonSchema)]
struct FitEntry {
    /// Tokens that the file does not record, before rounding.
    overhead: f64,
    /// Reported tokens per counted token.
    factor: f64,
    /// Mean absolute error as a share of the reported tokens.
    error: Share,
    /// Mean absolute error of predicting each call from the calls before it, as a share.
    prequential_error: Share,
    /// Mean absolute error of the counts without the fit, as a share.
    unfitted_error: Share,
    /// Number of calls that were fitted.
    calls: usize,
}

/// A large part of a message.
#[derive(Serialize, JsonSchema)]
struct LargestPart {
    /// Message, from 1.
    message: usize,
    /// Kind of content, such as `tool_result`.
    kind: &'static str,
    /// Tool of a call or result; null otherwise.
    tool: Option<String>,
    /// Tokens of the part.
    tokens: Tokens,
}

/// Facts about the file and its format.
#[derive(Serialize, JsonSchema)]
struct Source<'a> {
    /// Content by which the format was detected.
    detected_by: &'a str,
    /// Id of the session that started this one as a sub-agent; null if none did.
    sub_agent_of: Option<&'a str>,
    /// Records of the file by type.
    records: Object<RecordCount>,
    /// Availability of data that a session may record besides messages.
    recorded_data: Object<Availability>,
}

/// Number of records of a type.
#[derive(Serialize, JsonSchema)]
struct RecordCount {
    /// Number in the file.
    count: usize,
    /// Number that are part of the conversation.
    in_context: usize,
}

impl InspectFindings<'_> {
    /// Returns the JSON output.
    pub(crate) fn json_output(&self) -> Inspection<'_> {
        let session = self.session();
        let usage = |idx: usize| self.tree.as_ref()?.rows[idx].as_ref().map(UsageSums::new);
        let conversations = self
            .loaded
            .conversations
            .iter()
            .enumerate()
            .map(|(idx, one)| ConversationEntry { usage: usage(idx), ..conversation(one) });
        Inspection {
            format: session.source.format,
            title: &session.title,
            conversation: self.conversation + 1,
            conversations: conversations.collect(),
            messages: self.history().count(),
            compaction_messages: self.n_compaction_messages(),
            turns: session.turns,
            calls: session.calls.len(),
            calls_recorded: session.calls_from == CallsFrom::Recorded,
            models: &session.models,
            roles: Object::new(self.roles()),
            characters: self.characters(),
            window: self.case.windows.largest(),
            window_source: self.case.windows.source,
            output_reserve: self.reserve,
            peak_tokens: self.peak.map(|peak| peak.tokens),
            peak_call: self.peak.and_then(|peak| peak.call).map(|idx| idx + 1),
            peak_share: self.peak.and_then(|_| self.peak_share.known()),
            end_tokens: self.end,
            tree: self.tree.as_ref().map(|tree| UsageSums::new(&tree.total)),
            recorded: Recorded {
                largest_call_tokens: session.largest_reported(),
                calls_with_usage: self.calls_with_usage(),
                compactions: session.compactions.iter().map(compaction).collect(),
            },
            tokens: self.token_counts(),
            largest: self.largest(),
            attribution: self.attribution_entry(),
            verdict: &self.verdict,
            warnings: &self.warnings,
            issues: &self.issues,
            source: self.source(),
        }
    }

    fn token_counts(&self) -> TokenCounts<'_> {
        let ledger = &self.case.ledger;
        TokenCounts {
            total: ledger.total(),
            accuracy: ledger.accuracy.name(),
            error: match ledger.accuracy {
                Accuracy::Calibrated(error) => Some(error),
                _ => None,
            },
            counter: ledger.counter.name,
            not_recorded: ledger.overhead,
            fit: ledger.fit.as_ref().map(fit),
            by_kind: Object::new(self.by_kind()),
            by_tool: Object::new(tokens_by_tool(self.case)),
        }
    }

    fn largest(&self) -> Vec<LargestPart> {
        let parts = largest_parts(self.case, MAX_LARGEST).into_iter();
        let parts = parts.map(|part| LargestPart {
            message: part.message + 1,
            kind: part.kind.name(),
            tool: part.tool,
            tokens: part.tokens,
        });
        parts.collect()
    }

    fn source(&self) -> Source<'_> {
        let report = &self.loaded.report;
        let records = report.records.iter().map(|(kind, count)| {
            let count = RecordCount { count: count.count, in_context: count.in_context };
            (kind.as_str(), count)
        });
        let data = self.availability().into_iter();
        Source {
            detected_by: &report.recognized_by,
            sub_agent_of: report.parent.as_deref(),
            records: Object::new(records),
            recorded_data: Object::new(
                data.map(|(data, how)| (data.name().replace([' ', '-'], "_"), how)),
            ),
        }
    }
}

fn conversation(conversation: &Conversation) -> ConversationEntry<'_> {
    let (relation, agent) = match &conversation.track {
        Track::Main => (Relation::Main, None),
        Track::SubAgent(agent) => (Relation::SubAgent, agent.kind.as_deref()),
        Track::Branch => (Relation::Branch, None),
    };
    let mut entry = ConversationEntry {
        title: &conversation.title,
        relation,
        agent,
        started_by_call: None,
        shared_messages: None,
        main_conversation: None,
        messages: conversation.size.map(|size| size.messages),
        calls: conversation.size.map(|size| size.calls),
        usage: None,
    };
    match conversation.start {
        Some(Start::StartedAt(idx)) => entry.started_by_call = Some(idx + 1),
        Some(Start::After(messages)) => entry.shared_messages = Some(messages),
        Some(Start::Of(idx)) => entry.main_conversation = Some(idx + 1),
        None => {}
    }
    entry
}

fn compaction(compaction: &RecordedCompaction) -> CompactionEntry<'_> {
    CompactionEntry {
        call: compaction.call + 1,
        started_by: match compaction.trigger.as_str() {
            "" => "unknown",
            trigger => trigger,
        },
        tokens_before: compaction.tokens_before,
        tokens_after: compaction.tokens_after,
    }
}

fn fit(fit: &Fit) -> FitEntry {
    FitEntry {
        overhead: fit.overhead,
        factor: fit.factor,
        error: fit.error,
        prequential_error: fit.prequential_error,
        unfitted_error: fit.unfitted_error,
        calls: fit.calls,
    }
}
