//! Context windows of models, from `assets/models.toml` with source and date of each row.

use crate::engine::{WindowPlan, WindowSource};
use crate::session::{Call, Session};
use crate::units::Tokens;
use serde::Deserialize;
use std::sync::LazyLock;

/// Assumed for an unknown model.
pub const ASSUMED_WINDOW: Tokens = Tokens(200_000);

/// Common window sizes, for models of unknown vendors whose recorded usage shows a larger window.
const USUAL_WINDOWS: [u64; 10] = [
    8_192, 32_768, 128_000, 200_000, 272_000, 400_000, 500_000, 1_000_000, 2_000_000, 10_000_000,
];

/// One row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Prefix of a model's name; the longest match wins.
    #[serde(rename = "match")]
    pub prefix: String,
    /// Context window in tokens.
    pub window: u64,
    /// Largest answer in tokens, if known.
    pub max_output: Option<u64>,
    /// Limit of the prompt alone, if the vendor gives one below the window.
    pub max_input: Option<u64>,
    /// Tokenizer of the model's own vocabulary; `none` if it is not public.
    pub vocabulary: String,
    /// Provider of the model.
    pub provider: String,
    /// Source of the figures.
    pub source: String,
    /// Date when the figures were read.
    pub read: toml::value::Datetime,
    /// Whether a source confirms the figures and none disagrees.
    pub verified: bool,
    /// Remark for readers of the figure.
    pub note: Option<String>,
}

impl Model {
    /// Returns the limit of a prompt: the window, or the limit of the prompt if that is smaller.
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
    let table: Table = toml::from_str(include_str!("../../../assets/models.toml"))
        .expect("the bundled table is read by a test");
    table.model
});

/// Returns the row of a model by the longest prefix of its name, without vendor and routing parts
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
    // Bedrock puts region and vendor before the name, separated by dots.
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

/// Returns the context window of every call: as given, else recorded, else by the model, else assumed. Recorded usage
/// above a window that was not given raises it, with a warning.
pub fn window_plan(session: &Session, requested: Option<Tokens>) -> WindowPlan {
    let n_calls = session.calls.len();
    if let Some(window) = requested {
        return WindowPlan::constant(window, n_calls, WindowSource::User);
    }
    let mut warnings = Vec::new();
    let by_model: Vec<_> = (0..session.models.len())
        .map(|m| model_window(session, m, &mut warnings))
        .collect();
    let mut source = WindowSource::Assumed;
    let mut last = by_model.iter().flatten().next().copied();
    let mut per_call = Vec::with_capacity(n_calls.max(1));
    for call in &session.calls {
        let of_model = call.model.and_then(|m| by_model[m]);
        if call.window.is_some() {
            source = WindowSource::Recorded;
        } else if of_model.is_some() && source == WindowSource::Assumed {
            source = WindowSource::ModelTable;
        }
        last = call.window.or(of_model).or(last);
        per_call.push(last.unwrap_or(ASSUMED_WINDOW));
    }
    if per_call.is_empty() {
        per_call.push(ASSUMED_WINDOW);
    }
    raise(session, &mut per_call, &mut warnings);
    WindowPlan::new(per_call, source, warnings)
}

/// Returns a model's window from the table, raised to the vendor's next size if the session shows a larger context.
fn model_window(session: &Session, model: usize, warnings: &mut Vec<String>) -> Option<Tokens> {
    let name = &session.models[model];
    let row = lookup(name);
    let window = if name.ends_with("[1m]") {
        Tokens(1_000_000)
    } else {
        row?.input_window()
    };
    let is_its = |call: &&Call| call.model == Some(model) && call.window.is_none();
    let reported = session.calls.iter().filter(is_its).filter_map(|s| s.usage);
    // A compaction happened in the window of the call before it.
    let compacted = session.compactions.iter().filter(|c| {
        let nearest = session.calls.get(c.call.saturating_sub(1));
        nearest.as_ref().is_some_and(is_its)
    });
    let peak = reported
        .map(|usage| usage.input)
        .chain(compacted.filter_map(|c| c.tokens_before))
        .max()
        .unwrap_or_default();
    if peak <= window {
        return Some(window);
    }
    let raised = size_above(peak, row);
    warnings.push(format!(
        "{name} is listed with a window of {} tokens, but the session records a context of {}; assuming {}",
        window.0, peak.0, raised.0
    ));
    Some(raised)
}

/// Raises windows below the context that was sent at their call, since the call succeeded.
fn raise(session: &Session, per_call: &mut [Tokens], warnings: &mut Vec<String>) {
    let mut raised = 0;
    for (window, call) in per_call.iter_mut().zip(&session.calls) {
        if let Some(usage) = call.usage.filter(|u| u.input > *window) {
            let row = call.model.and_then(|m| lookup(&session.models[m]));
            *window = size_above(usage.input, row);
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

/// Returns the smallest window for this many tokens: of those of the model's vendor, else of the common ones.
fn size_above(tokens: Tokens, row: Option<&Model>) -> Tokens {
    let of_vendor = TABLE
        .iter()
        .filter(|other| row.is_some_and(|row| row.provider == other.provider))
        .map(Model::input_window)
        .filter(|window| *window >= tokens)
        .min();
    let usual = || USUAL_WINDOWS.into_iter().map(Tokens).find(|w| *w >= tokens);
    of_vendor.or_else(usual).unwrap_or(tokens)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, bare_name, lookup, window_plan};
    use crate::session::{CallDraft, SessionBuilder, Source, Usage};
    use crate::units::Tokens;

    /// Returns the window of the last call of a model whose calls report these contexts, and the number of warnings. A
    /// compaction that reports `compacted` tokens follows the first call.
    fn last_window(model: &str, inputs: &[u64], compacted: Option<u64>) -> (u64, usize) {
        let mut builder = SessionBuilder::new(Source {
            name: "talk".to_owned(),
            format: "claude_code",
            bytes: Vec::new().into(),
        });
        for (idx, input) in inputs.iter().enumerate() {
            let usage = Some(Usage {
                input: Tokens(*input),
                ..Usage::default()
            });
            builder.call(CallDraft {
                model: Some(model.to_owned()),
                usage,
                ..CallDraft::default()
            });
            if idx == 0 && compacted.is_some() {
                builder.compaction("auto", compacted.map(Tokens), None, Vec::new());
            }
        }
        let plan = window_plan(&builder.finish(), None);
        (plan.at(inputs.len() - 1).0, plan.warnings.len())
    }

    #[test]
    fn a_context_above_the_listed_window_raises_it_to_a_size_that_the_vendor_offers() {
        for model in [
            "claude-opus-4-6",
            "anthropic/claude-sonnet-4.6",
            "claude-sonnet-4-5-20250929",
        ] {
            assert_eq!(last_window(model, &[3, 150_000], None), (200_000, 0));
            for input in [200_001, 272_000, 360_421, 450_000, 998_000] {
                let found = last_window(model, &[input, 1_000], None);
                assert_eq!(found, (1_000_000, 1), "{model} with {input}");
            }
            let found = last_window(model, &[1_000, 18_000], Some(998_659));
            assert_eq!(found, (1_000_000, 1), "{model}");
        }
        assert_eq!(last_window("gpt-4o", &[150_000], None), (200_000, 1));
        // The vendor is unknown, or none of its windows is large enough.
        assert_eq!(last_window("my-own-model", &[250_000], None), (272_000, 1));
        assert_eq!(
            last_window("claude-opus-4-6", &[1_500_000], None),
            (2_000_000, 1)
        );
    }

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
