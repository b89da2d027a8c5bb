//! The table `calls`.

use super::conversation::Conversation;
use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;
use crate::units::{Millis, Share, Tokens, Usd};
use std::collections::HashMap;

row! {
    /// A recorded model call.
    CallRow in "calls" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Number of the call, from 1.
        call: usize,
        /// Turn of the call, from 1.
        turn: u32,
        /// Hash that copies of the call share: programs write calls again when they resume or fork a session. Null if the answer has no id.
        call_identity: Option<i64>,
        /// Time of the call or of its answer; null if not recorded.
        start_time: Option<Millis>,
        /// Model that answered (`gen_ai.response.model`); null if not recorded.
        response_model: Option<Name>,
        /// Reasoning effort; null if not recorded.
        effort: Option<Name>,
        /// Context window.
        context_window_tokens: Tokens,
        /// Size of the context.
        context_tokens: Tokens,
        /// Size of the context as a share of the usable window; null if the reserve leaves no usable tokens.
        pressure_share: Option<Share>,
        /// Whether the context was larger than the window, or the provider rejected it.
        overflows: bool,
        /// Whether the provider rejected the call.
        rejected: bool,
        /// Whether the call before was aborted.
        after_abort: bool,
        /// Number of recorded compactions directly before the call, or behind it if it is the last.
        compactions: usize,
        /// Prompt, cached or not (`gen_ai.usage.input_tokens`); 0 if the provider rejected it.
        input_tokens: Tokens,
        /// Whether the file reports no usage, so that the prompt is counted from the text.
        input_estimated: bool,
        /// Part of the prompt that was neither read from the cache nor written to it; null if not recorded.
        uncached_input_tokens: Option<Tokens>,
        /// Part of the prompt read from the cache (`gen_ai.usage.cache_read.input_tokens`); null if not recorded.
        cache_read_input_tokens: Option<Tokens>,
        /// Part of the prompt written to the cache (`gen_ai.usage.cache_creation.input_tokens`); null if not recorded.
        cache_creation_input_tokens: Option<Tokens>,
        /// Part of `cache_creation_input_tokens` that is cached for an hour; null if not recorded.
        cache_creation_hour_tokens: Option<Tokens>,
        /// Answer (`gen_ai.usage.output_tokens`).
        output_tokens: Tokens,
        /// Part of the answer that is reasoning (`gen_ai.usage.reasoning.output_tokens`); null if not recorded.
        reasoning_output_tokens: Option<Tokens>,
        /// Whether the file does not report the size of the answer, which is counted from the text.
        output_estimated: bool,
        /// Cost with that of the summaries before it; null if the price is unknown.
        cost_usd: Option<Usd>,
        /// Cache read that the provider's rules predict; null if no cache read is recorded.
        cache_expected_tokens: Option<Tokens>,
        /// Likely cause of a large cache miss; null without one.
        cache_miss_cause: Option<Name>,
        /// Tokens that an earlier prompt contained and that were not read from the cache; null without a large miss.
        cache_miss_tokens: Option<Tokens>,
        /// Cost of these tokens above cache reads; null without a large miss or if the price is unknown.
        cache_miss_usd: Option<Usd>,
    }
}

/// Returns a row for each call.
pub(super) fn rows<'a>(of: &'a Conversation<'_>) -> impl Iterator<Item = CallRow> + 'a {
    let audited = of.audit.iter().flat_map(|audit| &audit.calls);
    let expected: HashMap<usize, Tokens> =
        audited.map(|call| (call.index, call.predicted)).collect();
    let calls = of.usage.calls.iter().zip(&of.case.session.calls).enumerate();
    calls.map(move |(idx, (used, call))| {
        let (content_sha256, conversation) = of.key();
        let cached = used.cache_read.map(|read| read + used.cache_write.unwrap_or_default());
        let model = used.model.map(|model| of.usage.models[model].clone());
        let hour = call.usage.and_then(|usage| usage.cache_write_hour);
        CallRow {
            content_sha256,
            conversation,
            call: idx + 1,
            turn: call.turn,
            call_identity: used.identity.map(u64::cast_signed),
            start_time: used.time,
            response_model: model.map(Name::Owned),
            effort: call.effort.as_deref().map(|effort| Name::Owned(effort.to_owned())),
            context_window_tokens: used.window,
            context_tokens: used.context,
            pressure_share: used.pressure(of.output_reserve).known(),
            overflows: used.overflows(),
            rejected: call.is_rejected,
            after_abort: call.is_after_abort,
            compactions: used.compactions,
            input_tokens: used.input,
            input_estimated: used.is_input_estimated,
            uncached_input_tokens: cached.map(|cached| used.input - cached),
            cache_read_input_tokens: used.cache_read,
            cache_creation_input_tokens: used.cache_write,
            cache_creation_hour_tokens: hour,
            output_tokens: used.output,
            reasoning_output_tokens: used.reasoning,
            output_estimated: used.is_output_estimated,
            cost_usd: used.usd,
            cache_expected_tokens: expected.get(&idx).copied(),
            cache_miss_cause: used.miss.map(|miss| miss.cause.name().into()),
            cache_miss_tokens: used.miss.map(|miss| miss.tokens),
            cache_miss_usd: used.miss.and_then(|miss| miss.usd),
        }
    })
}
