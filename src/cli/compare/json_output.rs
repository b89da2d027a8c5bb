//! The result of `plimsoll compare` as JSON.

use super::Compared;
use crate::analysis::comparison::{OnlyFact, SessionFigures, has_different_sources};
use crate::analysis::message_kind;
use crate::analysis::tools::ToolUse;
use crate::cli::cost_json::{CostEntry, cost};
use crate::cli::json_values::Object;
use crate::cli::lazy_list::LazyList;
use crate::engine::Case;
use crate::safe_text::{head, one_line};
use crate::session::Kind;
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum characters of a message's text.
const PREVIEW: usize = 160;

/// Two sessions side by side, and what only one contains.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComparisonOutput<'a> {
    /// The first session.
    a: SessionEntry<'a>,
    /// The second session.
    b: SessionEntry<'a>,
    /// Values of B minus values of A.
    difference: DifferenceEntry,
    /// Messages of both sessions, matched by content, each at most once.
    messages: MessagesEntry<'a>,
    /// Use of each tool, most called first.
    tools: Vec<ToolEntry<'a>>,
    /// Facts of both sessions that no later one replaced.
    facts: FactsEntry<'a>,
}

/// A session with its recorded figures.
#[derive(Serialize, JsonSchema)]
struct SessionEntry<'a> {
    /// Path of the file.
    file: String,
    /// Number of the conversation in the file, from 1.
    conversation: usize,
    /// Detected format.
    format: &'a str,
    /// Title of the session.
    title: &'a str,
    /// Models that answered.
    models: &'a [String],
    /// Number of messages of the history.
    messages: usize,
    /// Number of messages that only recorded compactions wrote: summaries and copies.
    compaction_messages: usize,
    /// Number of turns.
    turns: usize,
    /// Number of model calls.
    calls: usize,
    /// Context window in tokens, the largest if it changes.
    window: Tokens,
    /// Context window minus the output reserve in tokens.
    usable_window: Tokens,
    /// Largest context in tokens, including the one at the end; null without calls.
    peak_tokens: Option<Tokens>,
    /// Call that sent the largest context; null if that is the context at the end.
    peak_call: Option<usize>,
    /// Largest context as a share of the usable window; null without calls and if the reserve leaves no usable tokens.
    peak_share: Option<Share>,
    /// Tokens of the history and of what is not recorded.
    history_tokens: Tokens,
    /// Tokens that the next call would send, before a new message: after the last compaction.
    end_tokens: Tokens,
    /// Tokens that every call sends and the file does not record.
    not_recorded: Tokens,
    /// Recorded tokens of the history by kind of content.
    by_kind: Object<Tokens>,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: Tokens,
    /// Recorded or modelled cost.
    cost: CostEntry<'a>,
    /// Recorded cache reads as a share of `tokens_sent`; null if the file records none.
    cache_hit_rate: Option<Share>,
    /// Number of recorded compactions; null if the format does not record them.
    compactions: Option<usize>,
    /// Number of calls that overflowed.
    overflows: usize,
    /// Number of calls that reach into the output reserve without an overflow.
    into_reserve: usize,
    /// Tokens of the context of each call.
    contexts: &'a [Tokens],
}

/// Values of B minus values of A.
#[derive(Serialize, JsonSchema)]
struct DifferenceEntry {
    /// Messages of the history.
    messages: i64,
    /// Turns.
    turns: i64,
    /// Model calls.
    calls: i64,
    /// Context window in tokens.
    window: i64,
    /// Context window minus the output reserve in tokens.
    usable_window: i64,
    /// Largest context in tokens; null if a session has no calls.
    peak_tokens: Option<i64>,
    /// Largest context as a share of the usable window; null if a session has no calls.
    peak_share: Option<f64>,
    /// Tokens of the history and of what is not recorded.
    history_tokens: i64,
    /// Tokens that the next call would send, before a new message: after the last compaction.
    end_tokens: i64,
    /// Tokens that every call sends and the file does not record.
    not_recorded: i64,
    /// Recorded tokens of the history by kind of content.
    by_kind: Object<i64>,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: i64,
    /// Cost in USD; null if one is unknown, or if one is recorded and the other modelled.
    usd: Option<f64>,
    /// Cache hit rate; null if one is unknown.
    cache_hit_rate: Option<f64>,
    /// Recorded compactions; null if one is unknown.
    compactions: Option<i64>,
    /// Calls that overflowed.
    overflows: i64,
    /// Calls that reach into the output reserve without an overflow.
    into_reserve: i64,
}

/// The messages of both sessions, matched by content, each at most once.
#[derive(Serialize, JsonSchema)]
struct MessagesEntry<'a> {
    /// Number of messages that both sessions contain.
    same: usize,
    /// Number of messages from the start on that are the same.
    same_start: usize,
    /// Messages of the same tool call with other content.
    changed: LazyList<'a, ChangedEntry>,
    /// Number of messages of A that are not compared: copies that a recorded compaction wrote.
    copied_in_a: usize,
    /// Number of messages of B that are not compared: copies that a recorded compaction wrote.
    copied_in_b: usize,
    /// Messages that only A contains.
    only_in_a: LazyList<'a, MessageEntry>,
    /// Messages that only B contains.
    only_in_b: LazyList<'a, MessageEntry>,
}

/// A message with different content in both sessions.
#[derive(Serialize, JsonSchema)]
struct ChangedEntry {
    /// The message in A.
    a: MessageEntry,
    /// The message in B.
    b: MessageEntry,
}

/// A message.
#[derive(Serialize, JsonSchema)]
struct MessageEntry {
    /// Message, from 1.
    message: usize,
    /// Kind of the largest part.
    kind: &'static str,
    /// Tokens of the message.
    tokens: Tokens,
    /// Start of the text or arguments.
    text: String,
}

/// The use of a tool in both sessions.
#[derive(Serialize, JsonSchema)]
struct ToolEntry<'a> {
    /// Name of the tool.
    tool: &'a str,
    /// Use of the tool in A.
    a: ToolUseEntry,
    /// Use of the tool in B.
    b: ToolUseEntry,
}

/// The use of a tool in a session.
#[derive(Serialize, JsonSchema)]
struct ToolUseEntry {
    /// Number of calls.
    calls: usize,
    /// Number of failed results.
    errors: usize,
    /// Tokens of calls, results and their media.
    tokens: Tokens,
}

/// Facts of both sessions that no later one replaced, found by rules. A fact is the same if kind and text are.
#[derive(Serialize, JsonSchema)]
struct FactsEntry<'a> {
    /// Number of facts that both sessions state.
    shared: usize,
    /// Facts that only A states.
    only_in_a: Vec<FactEntry<'a>>,
    /// Facts that only B states.
    only_in_b: Vec<FactEntry<'a>>,
}

/// A fact.
#[derive(Serialize, JsonSchema)]
struct FactEntry<'a> {
    /// Kind of the fact, such as `file` or `command`.
    kind: &'static str,
    /// Text of the fact.
    text: &'a str,
    /// First message that states the fact.
    message: usize,
}

impl Compared<'_> {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> ComparisonOutput<'_> {
        let matches = &self.found.messages;
        let [case_a, case_b] = self.sessions.each_ref().map(|loaded| &loaded.case);
        let changed = matches
            .changed
            .iter()
            .map(move |[a, b]| ChangedEntry { a: message(case_a, *a), b: message(case_b, *b) });
        let [a, b] = &self.found.facts.only;
        ComparisonOutput {
            a: self.session(0),
            b: self.session(1),
            difference: difference(&self.found.sessions),
            messages: MessagesEntry {
                same: matches.same.len(),
                same_start: matches.same_start,
                copied_in_a: matches.copied[0],
                copied_in_b: matches.copied[1],
                changed: LazyList::new(changed),
                only_in_a: LazyList::new(matches.only[0].iter().map(|m| message(case_a, *m))),
                only_in_b: LazyList::new(matches.only[1].iter().map(|m| message(case_b, *m))),
            },
            tools: self.tools(),
            facts: FactsEntry {
                shared: self.found.facts.shared,
                only_in_a: a.iter().map(fact).collect(),
                only_in_b: b.iter().map(fact).collect(),
            },
        }
    }

    fn session(&self, side: usize) -> SessionEntry<'_> {
        let session = &self.sessions[side].case.session;
        let figures = &self.found.sessions[side];
        SessionEntry {
            file: self.paths[side].to_string_lossy().into_owned(),
            conversation: self.conversations[side] + 1,
            format: session.source.format,
            title: &session.title,
            models: &session.models,
            messages: figures.messages,
            compaction_messages: figures.compaction_messages,
            turns: figures.turns,
            calls: figures.calls,
            window: figures.window,
            usable_window: figures.usable_window,
            peak_tokens: figures.peak.map(|peak| peak.tokens),
            peak_call: figures.peak.and_then(|peak| peak.call).map(|idx| idx + 1),
            peak_share: figures.peak_share,
            history_tokens: figures.history,
            end_tokens: figures.end,
            not_recorded: figures.not_recorded,
            by_kind: by_kind(|kind| figures.by_kind[kind]),
            tokens_sent: figures.sent,
            cost: cost(&figures.cost, session),
            cache_hit_rate: figures.cache_hit_rate,
            compactions: figures.compactions,
            overflows: figures.overflows,
            into_reserve: figures.into_reserve,
            contexts: &figures.contexts,
        }
    }

    fn tools(&self) -> Vec<ToolEntry<'_>> {
        let tool_use = |tool_use: ToolUse| ToolUseEntry {
            calls: tool_use.calls,
            errors: tool_use.errors,
            tokens: tool_use.tokens,
        };
        let tools = self.found.tools.iter().map(|mix| ToolEntry {
            tool: &mix.tool,
            a: tool_use(mix.uses[0]),
            b: tool_use(mix.uses[1]),
        });
        tools.collect()
    }
}

/// Returns values by the name of each kind.
fn by_kind<V>(value: impl Fn(usize) -> V) -> Object<V> {
    Object::new(Kind::ALL.iter().map(|kind| (kind.name(), value(kind.index()))))
}

fn difference(sessions: &[SessionFigures; 2]) -> DifferenceEntry {
    let [a, b] = sessions;
    let count = |of: fn(&SessionFigures) -> usize| difference_of(of(a), of(b));
    let tokens = |of: &dyn Fn(&SessionFigures) -> Tokens| signed(of(a), of(b));
    let share = |of: fn(&SessionFigures) -> Option<Share>| Some(of(b)?.0 - of(a)?.0);
    let peaks = a.peak.zip(b.peak);
    let compactions = a.compactions.zip(b.compactions);
    let costs = a.cost.total().zip(b.cost.total());
    let costs = costs.filter(|_| !has_different_sources(sessions));
    DifferenceEntry {
        messages: count(|s| s.messages),
        turns: count(|s| s.turns),
        calls: count(|s| s.calls),
        window: tokens(&|s| s.window),
        usable_window: tokens(&|s| s.usable_window),
        peak_tokens: peaks.map(|(a, b)| signed(a.tokens, b.tokens)),
        peak_share: share(|s| s.peak_share),
        history_tokens: tokens(&|s| s.history),
        end_tokens: tokens(&|s| s.end),
        not_recorded: tokens(&|s| s.not_recorded),
        by_kind: by_kind(|kind| tokens(&|s| s.by_kind[kind])),
        tokens_sent: tokens(&|s| s.sent),
        usd: costs.map(|(a, b)| b.0 - a.0),
        cache_hit_rate: share(|s| s.cache_hit_rate),
        compactions: compactions.map(|(a, b)| difference_of(a, b)),
        overflows: count(|s| s.overflows),
        into_reserve: count(|s| s.into_reserve),
    }
}

fn difference_of(a: usize, b: usize) -> i64 {
    (b.cast_signed() - a.cast_signed()) as i64
}

fn signed(a: Tokens, b: Tokens) -> i64 {
    b.0.cast_signed() - a.0.cast_signed()
}

fn message(case: &Case, idx: u32) -> MessageEntry {
    let idx = idx as usize;
    let message = &case.session.messages[idx];
    let mut texts = case.session.parts_of(message).iter().map(|part| part.body.text());
    let text = texts.find(|text| !text.trim().is_empty()).unwrap_or_default();
    MessageEntry {
        message: idx + 1,
        kind: message_kind(case, message).name(),
        tokens: case.ledger.message(idx),
        text: one_line(head(text, 8 * PREVIEW), PREVIEW),
    }
}

fn fact(fact: &OnlyFact) -> FactEntry<'_> {
    FactEntry { kind: fact.kind.name(), text: &fact.text, message: fact.message as usize + 1 }
}
