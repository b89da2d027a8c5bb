//! Context windows of models: a table that we wrote, with source and date on each row (`assets/models.toml`).

use crate::engine::{WindowPlan, WindowSource};
use crate::session::Session;
use crate::units::Tokens;
use serde::Deserialize;
use std::sync::LazyLock;

/// Assumed where nobody knows.
pub const ASSUMED_WINDOW: Tokens = Tokens(200_000);

/// Sizes that windows come in, for models whose recorded usage shows that the table's size is too small.
const USUAL_WINDOWS: [u64; 10] = [
    8_192, 32_768, 128_000, 200_000, 272_000, 400_000, 500_000, 1_000_000, 2_000_000, 10_000_000,
];

/// One row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What a model's name starts with; the longest match wins.
    #[serde(rename = "match")]
    pub prefix: String,
    /// Context window in tokens.
    pub window: u64,
    /// Largest answer in tokens, where known.
    pub max_output: Option<u64>,
    /// Limit of the prompt alone, where the vendor names one below the window.
    pub max_input: Option<u64>,
    /// Counter of the model's own vocabulary; `none` where it is not public.
    pub vocabulary: String,
    /// Who serves it.
    pub provider: String,
    /// Where the figures come from.
    pub source: String,
    /// When they were read.
    pub read: toml::value::Datetime,
    /// Whether a source was seen to say so and none to disagree.
    pub verified: bool,
    /// What a reader of the number should know.
    pub note: Option<String>,
}

impl Model {
    /// What a prompt may fill: the window, or the limit of the prompt where that is smaller.
    pub fn input_window(&self) -> Tokens {
        Tokens(
            self.max_input
                .map_or(self.window, |max| max.min(self.window)),
        )
    }
}

#[derive(Deserialize)]
struct Table {
    model: Vec<Model>,
}

static TABLE: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../../assets/models.toml"))
        .expect("the bundled table is read by a test");
    table.model
});

/// The row of a model, by the longest prefix of its name without vendor and routing parts
/// (`us.anthropic.claude-…`, `openrouter/openai/gpt-…`).
pub fn lookup(name: &str) -> Option<&'static Model> {
    let bare = bare_name(name);
    TABLE
        .iter()
        .filter(|m| bare.starts_with(&m.prefix))
        .max_by_key(|m| m.prefix.len())
}

pub(super) fn bare_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit('/').next().unwrap_or_default();
    // Bedrock writes region and vendor before the name, with dots.
    let vendors = [
        "anthropic.",
        "amazon.",
        "meta.",
        "mistral.",
        "deepseek.",
        "openai.",
        "qwen.",
    ];
    let after = vendors
        .iter()
        .find_map(|v| last.find(v).map(|at| &last[at + v.len()..]));
    after.unwrap_or(last).to_owned()
}

/// The context window of every step: by hand, else recorded, else by the model, else assumed. Recorded usage above
/// a window that was not set by hand raises it, with a warning.
pub fn window_plan(session: &Session, by_hand: Option<Tokens>) -> WindowPlan {
    let n_steps = session.steps.len();
    if let Some(window) = by_hand {
        return WindowPlan::constant(window, n_steps, WindowSource::ByHand);
    }
    let mut warnings = Vec::new();
    let by_model: Vec<_> = (0..session.models.len())
        .map(|m| model_window(session, m, &mut warnings))
        .collect();
    let mut source = WindowSource::Assumed;
    let mut last = by_model.iter().flatten().next().copied();
    let mut per_step = Vec::with_capacity(n_steps.max(1));
    for step in &session.steps {
        let of_model = step.model.and_then(|m| by_model[m]);
        if step.window.is_some() {
            source = WindowSource::Recorded;
        } else if of_model.is_some() && source == WindowSource::Assumed {
            source = WindowSource::ModelTable;
        }
        last = step.window.or(of_model).or(last);
        per_step.push(last.unwrap_or(ASSUMED_WINDOW));
    }
    if per_step.is_empty() {
        per_step.push(ASSUMED_WINDOW);
    }
    raise(session, &mut per_step, &mut warnings);
    WindowPlan::new(per_step, source, warnings)
}

/// A model's window by the table, raised to the next usual size where the file shows more was sent.
fn model_window(session: &Session, model: usize, warnings: &mut Vec<String>) -> Option<Tokens> {
    let name = &session.models[model];
    let window = if name.ends_with("[1m]") {
        Tokens(1_000_000)
    } else {
        lookup(name)?.input_window()
    };
    let calls = session
        .steps
        .iter()
        .filter(|s| s.model == Some(model) && s.window.is_none());
    let peak = calls
        .filter_map(|s| s.usage)
        .map(|u| u.input)
        .max()
        .unwrap_or_default();
    if peak <= window {
        return Some(window);
    }
    let raised = usual(peak);
    warnings.push(format!(
        "{name} is listed with a window of {} tokens, but {} were sent; {} is assumed",
        window.0, peak.0, raised.0
    ));
    Some(raised)
}

/// Windows below what was really sent at their step are raised: the call went through.
fn raise(session: &Session, per_step: &mut [Tokens], warnings: &mut Vec<String>) {
    let mut raised = 0;
    for (window, step) in per_step.iter_mut().zip(&session.steps) {
        if let Some(usage) = step.usage.filter(|u| u.input > *window) {
            *window = usual(usage.input);
            raised += 1;
        }
    }
    if raised > 0 {
        let calls = match raised {
            1 => "1 call reports more tokens than its".to_owned(),
            n => format!("{n} calls report more tokens than their"),
        };
        warnings.push(format!("{calls} window; the window was raised there"));
    }
}

fn usual(tokens: Tokens) -> Tokens {
    USUAL_WINDOWS
        .into_iter()
        .map(Tokens)
        .find(|w| *w >= tokens)
        .unwrap_or(tokens)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, bare_name, lookup};

    #[test]
    fn every_row_has_a_window_a_source_and_a_date() {
        for row in TABLE.iter() {
            assert!(
                row.window >= 4_096
                    && row.source.starts_with("https://")
                    && row.read.date.is_some(),
                "{row:?}"
            );
        }
        assert!(TABLE.len() > 20);
    }

    #[test]
    fn names_are_found_through_vendor_and_routing_parts() {
        assert_eq!(
            bare_name("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            "claude-sonnet-4-5-20250929-v1:0"
        );
        assert_eq!(bare_name("openrouter/openai/GPT-4o"), "gpt-4o");
        assert_eq!(
            lookup("claude-opus-4-5-20251101").map(|m| m.window),
            Some(200_000)
        );
        assert_eq!(lookup("gpt-4o-2024-08-06").map(|m| m.window), Some(128_000));
        assert!(lookup("my-own-model").is_none());
    }
}
