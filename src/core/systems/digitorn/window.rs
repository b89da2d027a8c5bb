//! The assumed size of the context window, and its usable part.

/// Window of an unknown model (`ContextWindowConfig.max_tokens`).
pub const UNKNOWN_WINDOW: u64 = 128_000;

/// Every model of the Anthropic backend (`providers/anthropic.py`).
pub const ANTHROPIC_WINDOW: u64 = 200_000;

/// The table of the OpenAI-compatible backend (`providers/openai_compat.py`); the order matters.
const WINDOWS: &[(&str, u64)] = &[
    ("deepseek-chat", 131_072),
    ("deepseek-coder", 131_072),
    ("deepseek-reasoner", 131_072),
    ("gpt-4o", 128_000),
    ("gpt-4o-mini", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5-turbo", 16_385),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o3", 200_000),
    ("o3-mini", 200_000),
    ("o4-mini", 200_000),
    ("mistral-large-latest", 128_000),
    ("mistral-small-latest", 128_000),
    ("codestral-latest", 256_000),
    ("llama-3.3-70b-versatile", 128_000),
    ("llama-3.1-8b-instant", 128_000),
    ("mixtral-8x7b-32768", 32_768),
    ("gemma2-9b-it", 8_192),
];

/// Returns the window that the OpenAI-compatible backend knows for a model: by exact name, else by the first name that
/// is a prefix, else 0.
pub fn known_window(model: &str) -> u64 {
    let exact = WINDOWS.iter().find(|(name, _)| *name == model);
    let prefix = || WINDOWS.iter().find(|(name, _)| model.starts_with(name));
    exact.or_else(prefix).map_or(0, |(_, window)| *window)
}

/// Returns the window that a backend knows for a model.
pub fn backend_window(backend: &str, model: &str) -> u64 {
    if backend == "anthropic" { ANTHROPIC_WINDOW } else { known_window(model) }
}

/// Returns the `max_tokens` in effect: as configured, else as the backend knows, else the default.
pub fn effective_window(configured: u64, known: u64) -> u64 {
    match (configured, known) {
        (0, 0) => UNKNOWN_WINDOW,
        (0, known) => known,
        (configured, _) => configured,
    }
}

/// Returns the window of a model if none is configured: Claude on its own backend, all others OpenAI-compatible.
pub fn window_of(model: &str) -> u64 {
    let is_claude = model.starts_with("claude");
    let backend = if is_claude { "anthropic" } else { "openai_compat" };
    effective_window(0, backend_window(backend, model))
}

/// Returns the window minus the output reserve, at least 1.
pub fn usable(max_tokens: i64, output_reserved: i64) -> i64 {
    max_tokens.saturating_sub(output_reserved).max(1)
}
