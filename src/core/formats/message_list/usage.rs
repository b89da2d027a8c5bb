//! Usage that a provider reported for a call, in any of the places where records store it.
//!
//! OpenAI's `prompt_tokens` include cached tokens; Anthropic's `input_tokens` exclude them. `LiteLLM` writes
//! Anthropic's counts in OpenAI's fields. In many of its versions, `prompt_tokens` exclude the tokens written to the
//! cache.

use crate::formats::{counts, json};
use crate::json::Value;
use crate::session::{CallDraft, CutAnswer, Usage};
use crate::units::{Millis, Tokens};

/// Paths at which records store the answer.
const ANSWERS: [&[&str]; 4] = [&[], &["response"], &["extra", "response"], &["response_metadata"]];
/// Paths at which records store their time.
const TIMES: [&[&str]; 5] =
    [&["timestamp"], &["created_at"], &["ts"], &["extra", "timestamp"], &["created"]];

/// Returns the call that a record reports, if it reports usage.
pub(crate) fn call_of(record: &Value) -> Option<CallDraft> {
    ANSWERS.iter().find_map(|path| {
        let answer = json::at(record, path)?;
        Some(CallDraft {
            model: json::str_at(answer, &["model"]).map(str::to_owned),
            usage: Some(of_usage(answer.get("usage")?)?),
            time: time_of(record).or_else(|| time_of(answer)),
            cut: is_cut(answer).then(CutAnswer::default),
            ..CallDraft::default()
        })
    })
}

/// Returns whether an answer reached its maximum length, in the words of OpenAI or Anthropic.
fn is_cut(answer: &Value) -> bool {
    let choice = answer.pointer("/choices/0").unwrap_or(answer);
    let reason = |value, key| json::str_at(value, &[key]);
    let reason = reason(choice, "finish_reason").or_else(|| reason(answer, "stop_reason"));
    matches!(reason, Some("length" | "max_tokens"))
}

/// Returns the time of a record.
pub(crate) fn time_of(record: &Value) -> Option<Millis> {
    TIMES.iter().find_map(|path| json::millis_at(record, path))
}

/// Reads usage in any provider's form. Returns `None` if the input is zero or missing.
pub(crate) fn of_usage(usage: &Value) -> Option<Usage> {
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let read = count(&["cache_read_input_tokens"]);
    let write = count(&["cache_creation_input_tokens"]);
    let cache_write_hour = count(&["cache_creation", "ephemeral_1h_input_tokens"]);
    let found = if let Some(input) = count(&["prompt_tokens"]).filter(|n| *n > Tokens::ZERO) {
        let read = count(&["prompt_tokens_details", "cached_tokens"])
            .or_else(|| count(&["prompt_cache_hit_tokens"]))
            .or(read);
        Usage {
            input: counts::whole_input(input, read, write),
            cache_read: read,
            cache_write: write,
            cache_write_hour,
            output: count(&["completion_tokens"]),
            reasoning: count(&["completion_tokens_details", "reasoning_tokens"]),
        }
    } else {
        Usage {
            input: count(&["input_tokens"])? + read.unwrap_or_default() + write.unwrap_or_default(),
            // OpenAI's cached tokens are part of the input, so they are not added to it as those of Anthropic are.
            cache_read: read.or_else(|| count(&["input_tokens_details", "cached_tokens"])),
            cache_write: write,
            cache_write_hour,
            output: count(&["output_tokens"]),
            reasoning: count(&["output_tokens_details", "reasoning_tokens"]),
        }
    };
    (found.input > Tokens::ZERO).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn includes_cached_tokens_in_the_input_of_all_providers() {
        let openai = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens_details": {"reasoning_tokens": 5}}});
        let usage = call_of(&openai).unwrap().usage.unwrap();
        let expected = (Tokens(100), Some(Tokens(80)), Some(Tokens(5)));
        assert_eq!((usage.input, usage.cache_read, usage.reasoning), expected);
        let anthropic = json!({"usage": {"input_tokens": 20, "cache_read_input_tokens": 80,
            "cache_creation_input_tokens": 3, "output_tokens": 7}});
        let usage = call_of(&anthropic).unwrap().usage.unwrap();
        let expected = (Tokens(103), Some(Tokens(80)), Some(Tokens(3)));
        assert_eq!((usage.input, usage.cache_read, usage.cache_write), expected);
        let responses = json!({"usage": {"prompt_tokens": 0, "input_tokens": 100, "output_tokens": 7,
            "input_tokens_details": {"cached_tokens": 80}, "output_tokens_details": {"reasoning_tokens": 5}}});
        let usage = call_of(&responses).unwrap().usage.unwrap();
        let expected = (Tokens(100), Some(Tokens(80)), Some(Tokens(5)));
        assert_eq!((usage.input, usage.cache_read, usage.reasoning), expected);
    }

    #[test]
    fn adds_cache_writes_that_litellm_excludes_from_prompt_tokens() {
        let call = |prompt: u64, read: u64, write: u64| {
            let record = json!({"usage": {"prompt_tokens": prompt, "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": read},
                "cache_read_input_tokens": read, "cache_creation_input_tokens": write}});
            call_of(&record).unwrap().usage.unwrap()
        };
        // The next call reads what this call wrote.
        let usage = call(3_004, 3_000, 200);
        assert_eq!((usage.input, usage.cache_write), (Tokens(3_204), Some(Tokens(200))));
        assert_eq!(call(3_260, 3_200, 50).input, Tokens(3_260));
        assert_eq!(call(4, 0, 3_000).input, Tokens(3_004));
    }

    #[test]
    fn ignores_usage_of_zero_tokens() {
        assert!(call_of(&json!({"usage": {"prompt_tokens": 0, "completion_tokens": 0}})).is_none());
        assert!(call_of(&json!({"usage": null})).is_none());
    }

    #[test]
    fn reads_the_model_and_time_of_a_saved_answer() {
        let record = json!({"extra": {"timestamp": 1_700_000_000.5,
            "response": {"model": "m", "created": 1, "usage": {"prompt_tokens": 5}}}});
        let call = call_of(&record).unwrap();
        assert_eq!(
            (call.model.as_deref(), call.time),
            (Some("m"), Some(Millis(1_700_000_000_500)))
        );
    }
}
