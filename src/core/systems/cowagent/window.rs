//! `CowAgent`'s table of model windows, used only if no budget is configured.

use crate::engine::NamedWindow;

/// The table: by parts of the name, as of 2024, so every GPT-4 that is not turbo has 8,000.
pub static WINDOW: NamedWindow =
    NamedWindow { name: "cowagent", window: model_window, output: |_| 0 };

/// Returns a model's window in tokens, by parts of its name.
pub fn model_window(model: &str) -> u64 {
    let model = model.to_lowercase();
    // As in `CowAgent` 2.0.8, `agent/protocol/agent.py`, in its order.
    let names = |part: &str| model.contains(part);
    if names("claude-3") || names("claude-sonnet") {
        200_000
    } else if names("gpt-4") {
        if names("turbo") || names("128k") {
            128_000
        } else if names("32k") {
            32_000
        } else {
            8_000
        }
    } else if names("gpt-3.5") {
        if names("16k") { 16_000 } else { 4_000 }
    } else if names("deepseek") {
        64_000
    } else if names("gemini") {
        if names("2.0") || names("exp") { 2_000_000 } else { 1_000_000 }
    } else {
        128_000
    }
}

/// Returns the token budget of the context: as configured, else nine tenths of the window.
pub fn budget(configured: u64, model: &str) -> u64 {
    if configured > 0 {
        return configured;
    }
    let window = model_window(model);
    window - window / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_depend_on_parts_of_the_name() {
        let windows = [
            ("Claude-3-5-Sonnet", 200_000),
            ("gpt-4o", 8_000),
            ("gpt-4-turbo", 128_000),
            ("gpt-4-32k", 32_000),
            ("gpt-3.5-turbo-16k", 16_000),
            ("gpt-3.5-turbo", 4_000),
            ("deepseek-chat", 64_000),
            ("gemini-2.0-flash", 2_000_000),
            ("gemini-1.5-pro", 1_000_000),
            ("claude-opus-4", 128_000),
            ("", 128_000),
        ];
        for (model, window) in windows {
            assert_eq!(model_window(model), window, "{model}");
        }
    }

    #[test]
    fn a_configured_budget_may_exceed_the_window() {
        assert_eq!(budget(50_000, "gpt-4"), 50_000);
        assert_eq!(budget(0, "gpt-4"), 7_200);
    }
}
