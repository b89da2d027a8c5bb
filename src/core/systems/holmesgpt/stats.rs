//! Total cost of model requests (`RequestStats`).

use crate::json::{Value, json};

/// Cost and tokens of requests. `None` if a provider reports no such value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestStats {
    /// US dollars.
    pub total_cost: f64,
    /// Prompt and answer tokens.
    pub total_tokens: u64,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Answer tokens.
    pub completion_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cached_tokens: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_creation_tokens: Option<u64>,
    /// Thinking tokens.
    pub reasoning_tokens: u64,
    /// Longest answer of one request.
    pub max_completion_tokens_per_call: u64,
    /// Longest prompt of one request.
    pub max_prompt_tokens_per_call: u64,
    /// Number of tried compactions that cost something.
    pub num_compactions: u64,
}

impl RequestStats {
    /// Makes the cost of one request.
    pub fn of_request(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            total_tokens: prompt_tokens + completion_tokens,
            prompt_tokens,
            completion_tokens,
            max_completion_tokens_per_call: completion_tokens,
            max_prompt_tokens_per_call: prompt_tokens,
            ..Self::default()
        }
    }

    /// Adds other stats; those without tokens and cost change nothing, not even the number of compactions.
    pub fn add(&mut self, other: &Self) {
        if other.total_tokens == 0 && other.total_cost == 0.0 {
            return;
        }
        let plus = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (a, None) => a,
            (a, Some(b)) => Some(a.unwrap_or(0) + b),
        };
        self.total_cost += other.total_cost;
        self.total_tokens += other.total_tokens;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_tokens = plus(self.cached_tokens, other.cached_tokens);
        self.cache_creation_tokens = plus(self.cache_creation_tokens, other.cache_creation_tokens);
        self.reasoning_tokens += other.reasoning_tokens;
        self.max_completion_tokens_per_call =
            self.max_completion_tokens_per_call.max(other.max_completion_tokens_per_call);
        self.max_prompt_tokens_per_call =
            self.max_prompt_tokens_per_call.max(other.max_prompt_tokens_per_call);
        self.num_compactions += other.num_compactions;
    }

    /// Adds the cost of a compaction, as the agent's loop does: it counts as one if it used any tokens, whether or not
    /// its result was accepted.
    pub fn add_compaction(&mut self, usage: &Self) {
        if usage.total_tokens == 0 {
            return;
        }
        self.add(&Self { num_compactions: 1, ..usage.clone() });
    }

    /// Returns the fields as stored.
    pub fn to_json(&self) -> Value {
        json!({
            "total_cost": self.total_cost,
            "total_tokens": self.total_tokens,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "cache_creation_tokens": self.cache_creation_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "max_completion_tokens_per_call": self.max_completion_tokens_per_call,
            "max_prompt_tokens_per_call": self.max_prompt_tokens_per_call,
            "num_compactions": self.num_compactions,
        })
    }

    /// Parses the stored fields; missing ones are 0.
    pub fn from_json(value: &Value) -> Self {
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let count = |key: &str| number(key).unwrap_or(0);
        Self {
            total_cost: value.get("total_cost").and_then(Value::as_f64).unwrap_or(0.0),
            total_tokens: count("total_tokens"),
            prompt_tokens: count("prompt_tokens"),
            completion_tokens: count("completion_tokens"),
            cached_tokens: number("cached_tokens"),
            cache_creation_tokens: number("cache_creation_tokens"),
            reasoning_tokens: count("reasoning_tokens"),
            max_completion_tokens_per_call: count("max_completion_tokens_per_call"),
            max_prompt_tokens_per_call: count("max_prompt_tokens_per_call"),
            num_compactions: count("num_compactions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_sum_adds_nothing_and_a_missing_value_stays_missing() {
        let mut stats = RequestStats::of_request(100, 10);
        stats.add(&RequestStats { num_compactions: 1, ..RequestStats::default() });
        assert_eq!(stats, RequestStats::of_request(100, 10));
        stats.add_compaction(&RequestStats {
            cached_tokens: Some(40),
            ..RequestStats::of_request(50, 20)
        });
        assert_eq!(stats.cached_tokens, Some(40));
        assert_eq!(stats.cache_creation_tokens, None);
        assert_eq!((stats.num_compactions, stats.total_tokens), (1, 180));
        assert_eq!(RequestStats::from_json(&stats.to_json()), stats);
    }
}
