//! Limits from a model and the settings: its window, the output reserve, the cap of one tool result.

use crate::systems::litellm::model_cost;

/// Window of an unknown model (`FALLBACK_CONTEXT_WINDOW_SIZE`).
const FALLBACK_WINDOW: i64 = 200_000;

/// Settings that override limits; 0 means not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overrides {
    /// `custom_args.max_context_size` of the model, or else `OVERRIDE_MAX_CONTENT_SIZE`.
    pub max_context_size: i64,
    /// `OVERRIDE_MAX_OUTPUT_TOKEN`.
    pub max_output_token: i64,
    /// `TOOL_MAX_ALLOCATED_CONTEXT_WINDOW_PCT`: a share of the window; at 0 or above 100 only `tool_tokens` applies.
    pub tool_pct: f64,
    /// `TOOL_MAX_ALLOCATED_CONTEXT_WINDOW_TOKENS`.
    pub tool_tokens: i64,
}

impl Default for Overrides {
    fn default() -> Self {
        Self { max_context_size: 0, max_output_token: 0, tool_pct: 15.0, tool_tokens: 25_000 }
    }
}

/// The formula of the output reserve if no setting gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// Since 0.36: the larger of 64,000 and 12% of the window.
    Larger,
    /// Up to 0.30: the smaller of 64,000 and a fifth of the window.
    Smaller,
}

/// The limits of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens for prompt and answer together.
    pub window: i64,
    /// Tokens reserved for the answer.
    pub max_output: i64,
    /// Maximum number of tokens of one tool result.
    pub tool_cap: i64,
}

impl Limits {
    /// Returns the limits of a model by the cost map and the settings.
    pub fn of(model: &str, overrides: &Overrides, reserve: Reserve) -> Self {
        let window = window(model, overrides);
        Self {
            window,
            max_output: max_output(model, window, overrides, reserve),
            tool_cap: tool_cap(window, overrides),
        }
    }

    /// Returns the tokens of prompt and answer together above which compaction is tried.
    pub fn threshold(&self, threshold_pct: i64) -> f64 {
        self.window.saturating_mul(threshold_pct) as f64 / 100.0
    }
}

/// Returns the window: a setting, else the first row of the cost map that has one, else the fallback.
pub(super) fn window(model: &str, overrides: &Overrides) -> i64 {
    if overrides.max_context_size != 0 {
        return overrides.max_context_size;
    }
    let known = model_cost::lookup(model).find_map(|row| row.max_input);
    known.map_or(FALLBACK_WINDOW, u64::cast_signed)
}

/// Returns the reserve: a setting unchanged, else computed and capped by the first row of the cost map that has a
/// limit.
fn max_output(model: &str, window: i64, overrides: &Overrides, reserve: Reserve) -> i64 {
    if overrides.max_output_token != 0 {
        return overrides.max_output_token;
    }
    let computed = match reserve {
        Reserve::Larger => window.saturating_mul(12).div_euclid(100).max(64_000),
        Reserve::Smaller => window.div_euclid(5).min(64_000),
    };
    match known_output(model) {
        0 => computed,
        known => computed.min(known),
    }
}

/// Returns a model's longest answer by the cost map; 0 if not listed.
pub(super) fn known_output(model: &str) -> i64 {
    let known = model_cost::lookup(model).find_map(|row| row.max_output);
    known.map_or(0, u64::cast_signed)
}

/// Returns the cap of one tool result.
fn tool_cap(window: i64, overrides: &Overrides) -> i64 {
    let pct = overrides.tool_pct;
    if 0.0 < pct && pct <= 100.0 {
        let share = floor_division(window as f64 * pct, 100.0) as i64;
        return share.min(overrides.tool_tokens);
    }
    overrides.tool_tokens
}

/// Python's `//` of floats: subtracts the remainder first, so a quotient is never rounded up to an integer.
fn floor_division(dividend: f64, divisor: f64) -> f64 {
    let quotient = (dividend - dividend % divisor) / divisor;
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_releases_reserve_a_fifth_of_the_window() {
        let overrides = Overrides { max_context_size: 32_000, ..Overrides::default() };
        let limits = Limits::of("unknown", &overrides, Reserve::Smaller);
        assert_eq!(limits.max_output, 6_400);
    }

    #[test]
    fn a_share_above_the_window_leaves_the_absolute_cap() {
        let overrides = Overrides { tool_pct: 101.0, ..Overrides::default() };
        let limits = Limits::of("gpt-4o", &overrides, Reserve::Larger);
        assert_eq!(limits.tool_cap, 25_000);
    }
}
