//! Reads the usage of a call in any of the conventions.

use super::attributes::Attributes;
use crate::formats::counts;
use crate::session::Usage;
use crate::units::Tokens;

/// Reads the usage. Libraries disagree on whether the input includes cached tokens. If the cached tokens exceed the
/// input, it does not.
pub(super) fn usage(attributes: &Attributes) -> Option<Usage> {
    let count = |names: &[&str]| {
        let value = attributes.first(names)?;
        counts::tokens_at(value, &[])
    };
    let input = count(&[
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.promptTokens",
        "ai.usage.inputTokens",
    ])?;
    let read = count(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
        "llm.usage.cache_read_input_tokens",
        "ai.usage.cachedInputTokens",
    ]);
    let write = count(&[
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "llm.token_count.prompt_details.cache_write",
        "llm.usage.cache_creation_input_tokens",
    ]);
    let input = counts::whole_input(input, read, write);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "llm.usage.completion_tokens",
            "ai.usage.completionTokens",
            "ai.usage.outputTokens",
        ]),
        reasoning: count(&[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
        ]),
        ..Usage::default()
    })
}
