//! The table `sessions`.

use super::conversation::Conversation;
use crate::analysis::cost::CostSource;
use crate::analysis::usage::UsedCall;
use crate::exec::tables::column::{ContentHash, Name, SessionText};
use crate::exec::tables::schema::row;
use crate::formats::{label, records_compactions};
use crate::presets::models;
use crate::session::{CallsFrom, issues};
use crate::units::{Millis, Share, Tokens, Usd};

row! {
    /// A conversation of a file with at least one call.
    SessionRow in "sessions" {
        /// SHA-256 of the file's content. With `conversation` the key of every table.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Id of the session (`gen_ai.conversation.id`); null if its format has none.
        session_id: Option<Name>,
        /// Id of the session that started it as a sub-agent; null if none did.
        parent_session_id: Option<Name>,
        /// `main`, `sub_agent`, or `branch` for an abandoned branch, which repeats calls of the main conversation.
        relation: Name,
        /// Path of the file, relative to the given folder.
        path: Name,
        /// Size of the file in bytes.
        file_bytes: u64,
        /// Detected format.
        format: Name,
        /// Agent or format, as `usage` shows it for a folder (`gen_ai.agent.name`).
        agent_name: Name,
        /// Version of the agent; null if not recorded.
        agent_version: Option<Name>,
        /// Name of the folder that the agent worked in; null if not recorded.
        project: Option<Name>,
        /// Vendor of the models (`gen_ai.provider.name`) by their names, not of the server; null if unknown.
        provider_name: Option<Name>,
        /// Models that answered (`gen_ai.response.model`).
        response_models: Vec<Name>,
        /// Title; null if the session has none.
        title: Option<SessionText>,
        /// Time of the first call; null if not recorded.
        start_time: Option<Millis>,
        /// Time of the last call; null if not recorded.
        end_time: Option<Millis>,
        /// Number of messages of the history.
        messages: usize,
        /// Number of turns.
        turns: u32,
        /// Number of model calls.
        calls: usize,
        /// Whether the file records calls. If not, each assistant message counts as the answer of one.
        calls_recorded: bool,
        /// Number of calls with reported usage.
        calls_with_usage: usize,
        /// Number of calls that the provider rejected as too long.
        rejected_calls: usize,
        /// Number of recorded compactions; null if the format does not record them.
        compactions: Option<usize>,
        /// Context window, the largest if it changes.
        context_window_tokens: Tokens,
        /// Part of the context window that is kept for the answer.
        output_reserve_tokens: Tokens,
        /// Largest context, including the one at the end.
        peak_input_tokens: Option<Tokens>,
        /// Largest context as a share of the usable window; null if the reserve leaves no usable tokens.
        peak_share: Option<Share>,
        /// Number of calls that overflowed.
        overflows: usize,
        /// Number of calls that reach into the output reserve without an overflow.
        into_reserve: usize,
        /// Tokens of the history, each message counted once, and of what is not recorded.
        history_tokens: Tokens,
        /// Tokens that every call sends and the file does not record, mostly system prompt and tool definitions.
        not_recorded_tokens: Tokens,
        /// How exactly tokens are known: `reported`, `exact`, `calibrated` or `estimated`.
        count_accuracy: Name,
        /// Tokenizer.
        counter: Name,
        /// Prompts, cached or not (`gen_ai.usage.input_tokens`).
        input_tokens: Tokens,
        /// Part of the prompts read from the cache; null if no call records it.
        cache_read_input_tokens: Option<Tokens>,
        /// Part of the prompts written to the cache; null if no call records it.
        cache_creation_input_tokens: Option<Tokens>,
        /// Answers (`gen_ai.usage.output_tokens`).
        output_tokens: Tokens,
        /// Part of the answers that is reasoning; null if no call records it.
        reasoning_output_tokens: Option<Tokens>,
        /// Number of calls without reported usage, whose prompts are counted from the text.
        input_estimated_calls: usize,
        /// Number of answers without a reported size, which are counted from the text.
        output_estimated_calls: usize,
        /// Cost; null if the price of a call is unknown.
        cost_usd: Option<Usd>,
        /// `recorded` or `modelled`.
        cost_source: Name,
        /// Number of calls without a known price.
        unpriced_calls: usize,
        /// Number of calls with a large cache miss; null if no call records cache reads.
        cache_miss_calls: Option<usize>,
        /// Tokens of the cache misses; null if no call records cache reads.
        cache_miss_tokens: Option<Tokens>,
        /// Cost of the cache misses above cache reads; null if unknown.
        cache_miss_usd: Option<Usd>,
        /// Number of warnings about the file.
        warnings: usize,
        /// Number of messages that a provider would reject.
        issues: usize,
    }
}

/// Returns the row of a conversation.
pub(super) fn row(of: &Conversation<'_>) -> SessionRow {
    let (case, session, opened) = (of.case, &of.case.session, of.opened);
    let (content_sha256, conversation) = of.key();
    let calls = &of.usage.calls;
    let count = |is_it: fn(&UsedCall) -> bool| calls.iter().filter(|call| is_it(call)).count();
    let cost = &of.cost;
    let peak = of.recorded.peak();
    let misses = of.audit.as_ref().map(|audit| &audit.misses);
    let vendor = session.models.iter().find_map(|model| models::vendor(model));
    let project = opened.project.as_deref().map(last_component);
    SessionRow {
        content_sha256,
        conversation,
        session_id: opened.id.clone().map(Name::Owned),
        parent_session_id: opened.parent.clone().map(Name::Owned),
        relation: opened.relation.into(),
        path: Name::Owned(of.origin.path.clone()),
        file_bytes: of.origin.bytes,
        format: session.source.format.into(),
        agent_name: label(session.source.format).into(),
        agent_version: session.agent_version.clone().map(Name::Owned),
        project: project.map(|name| Name::Owned(name.to_owned())),
        provider_name: vendor.map(Name::Borrowed),
        response_models: session.models.iter().cloned().map(Name::Owned).collect(),
        title: Some(SessionText(session.title.clone())).filter(|title| !title.0.is_empty()),
        start_time: of.start_time(),
        end_time: of.times().max(),
        messages: session.n_history(),
        turns: session.turns,
        calls: calls.len(),
        calls_recorded: session.calls_from == CallsFrom::Recorded,
        calls_with_usage: session.calls.iter().filter(|call| call.usage.is_some()).count(),
        rejected_calls: session.calls.iter().filter(|call| call.is_rejected).count(),
        compactions: records_compactions(session).then_some(session.compactions.len()),
        context_window_tokens: case.windows.largest(),
        output_reserve_tokens: of.output_reserve,
        peak_input_tokens: peak.map(|peak| peak.tokens),
        peak_share: peak.and_then(|_| of.recorded.peak_share().known()),
        overflows: of.recorded.overflows,
        into_reserve: of.recorded.into_reserve(),
        history_tokens: case.ledger.total(),
        not_recorded_tokens: case.ledger.overhead,
        count_accuracy: case.ledger.accuracy.name().into(),
        counter: case.ledger.counter.name.into(),
        input_tokens: calls.iter().map(|call| call.input).sum(),
        cache_read_input_tokens: known_sum(calls.iter().map(|call| call.cache_read)),
        cache_creation_input_tokens: known_sum(calls.iter().map(|call| call.cache_write)),
        output_tokens: calls.iter().map(|call| call.output).sum(),
        reasoning_output_tokens: known_sum(calls.iter().map(|call| call.reasoning)),
        input_estimated_calls: count(|call| call.is_input_estimated),
        output_estimated_calls: count(|call| call.is_output_estimated),
        cost_usd: cost.total(),
        cost_source: CostSource::name(cost.source).into(),
        unpriced_calls: cost.unpriced,
        cache_miss_calls: misses.map(Vec::len),
        cache_miss_tokens: misses.map(|all| all.iter().map(|miss| miss.tokens).sum()),
        cache_miss_usd: misses.and_then(|all| all.iter().map(|miss| miss.usd).sum()),
        warnings: opened.warnings + case.windows.warnings.len(),
        issues: issues(session).len(),
    }
}

/// Returns the sum of the known values; `None` if none is known.
fn known_sum(values: impl Iterator<Item = Option<Tokens>>) -> Option<Tokens> {
    values.flatten().reduce(|sum, tokens| sum + tokens)
}

/// Returns the name of a folder without the folders that contain it, which may name a user.
fn last_component(folder: &str) -> &str {
    let folder = folder.trim_end_matches(['/', '\\']);
    folder.rsplit(['/', '\\']).next().unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_name_of_its_folder() {
        let names = ["/home/me/shop", "C:\\Users\\me\\shop\\", "shop"].map(last_component);
        assert_eq!(names, ["shop"; 3]);
    }

    #[test]
    fn a_sum_of_unknown_values_is_unknown() {
        assert_eq!(known_sum([None, None].into_iter()), None);
        let some = [None, Some(Tokens(0)), Some(Tokens(3))];
        assert_eq!(known_sum(some.into_iter()), Some(Tokens(3)));
    }
}
