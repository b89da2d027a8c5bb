//! Context windows of models: the user's own rows, then the bundled ones of `assets/models.toml`.

use super::families::Family;
use super::prices::cost_map;
use crate::engine::{WindowPlan, WindowSource};
use crate::session::{Call, Session, model_key, model_keys};
use crate::units::Tokens;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{LazyLock, OnceLock};
use twox_hash::XxHash64;

/// Assumed for an unknown model: the window of most Claude models, whose agents write most of the sessions that we
/// know. A file that reports more tokens raises it, so a smaller assumption would only call contexts too large that the
/// model accepted.
const ASSUMED_WINDOW: Tokens = Tokens(200_000);

/// Common window sizes, for models of unknown vendors whose recorded usage shows a larger window.
const USUAL_WINDOWS: [u64; 10] =
    [8_192, 32_768, 128_000, 200_000, 272_000, 400_000, 500_000, 1_000_000, 2_000_000, 10_000_000];

/// Context windows of models.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// Rows by the key of the model.
    rows: BTreeMap<String, ModelRow>,
}

#[derive(Clone, Debug)]
struct ModelRow {
    name: String,
    window: Tokens,
}

impl ModelRow {
    fn listed(&'static self, is_assumed: bool) -> ListedModel {
        ListedModel { name: &self.name, window: self.window, is_assumed }
    }
}

/// The window of a model in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedModel {
    /// Name in the table.
    pub name: &'static str,
    /// Longest prompt.
    pub window: Tokens,
    /// The table does not contain the model; this is another one of its family.
    pub is_assumed: bool,
}

/// An error in a table of models, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelsError(String);

static BUNDLED: LazyLock<Models> = LazyLock::new(|| {
    Models::parse(include_str!("../assets/models.toml"))
        .expect("the bundled table is read by a test")
});

/// The table with the user's own rows.
static INSTALLED: OnceLock<Models> = OnceLock::new();

impl Models {
    /// Parses a table: `[models]` with a window for each name, or litellm's price map.
    fn parse(text: &str) -> Result<Self, ModelsError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ModelTable {
            models: BTreeMap<String, u64>,
        }
        let windows: Vec<(String, u64)> = if cost_map::is_map(text) {
            let map = cost_map::parse(text).map_err(ModelsError)?;
            map.into_iter().filter_map(|model| Some((model.name, model.window?))).collect()
        } else {
            let table: ModelTable =
                toml::from_str(text).map_err(|error| ModelsError(error.to_string()))?;
            table.models.into_iter().collect()
        };
        let row = |(name, window): (String, u64)| {
            let window = Tokens(window);
            (model_key(&name), ModelRow { name, window })
        };
        if let Some((name, _)) =
            windows.iter().find(|(name, window)| *window == 0 || model_key(name).is_empty())
        {
            return Err(ModelsError(format!(
                "{name:?}: a model needs a name and a window above 0"
            )));
        }
        Ok(Self { rows: windows.into_iter().map(row).collect() })
    }

    /// Returns the table that comes with the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// Adds the rows of another table, which take precedence.
    ///
    /// # Errors
    /// A sentence that names the faulty row.
    pub fn with(mut self, text: &str) -> Result<Self, ModelsError> {
        self.rows.extend(Self::parse(text)?.rows);
        Ok(self)
    }

    /// Makes this the table that [`lookup`] uses, once for the whole program and before its first use.
    pub fn install(self) {
        // A second table is ignored: windows must not change while sessions are open.
        let _ = INSTALLED.set(self);
    }

    /// Returns the row of a model with exactly this name, apart from its date, version and similar.
    fn exact(&self, key: &str) -> Option<&ModelRow> {
        model_keys(key).find_map(|key| self.rows.get(key))
    }

    /// Returns the row of a model without the words at the end of its name: `gpt-5.6` for `gpt-5.6-nova`.
    fn without_words(&self, key: &str) -> Option<&ModelRow> {
        let keys = std::iter::successors(Some(key), |key| {
            let (rest, last) = key.rsplit_once('-')?;
            let is_word = last.bytes().all(|b| b.is_ascii_lowercase());
            is_word.then_some(rest)
        });
        // The family alone is no model.
        keys.filter(|key| key.contains('-')).find_map(|key| self.rows.get(key))
    }

    /// Returns the newest model of the same family, preferably with the same words in its name.
    fn newest_of_family(&self, key: &str) -> Option<&ModelRow> {
        let family = Family::of(key)?;
        let own = Traits::of(key);
        let members = self.rows.iter().filter(|(other, _)| {
            Family::of(other).is_some_and(|other| std::ptr::eq(other, family))
        });
        let rank = |other: &str| {
            let other = Traits::of(other);
            let shared = other.words.iter().filter(|word| own.words.contains(word)).count();
            let others = other.words.len() - shared;
            (shared, other.version, std::cmp::Reverse(others))
        };
        let newest = members.max_by_key(|(other, _)| rank(other))?;
        Some(newest.1)
    }
}

/// Words and version in the key of a model.
struct Traits<'a> {
    words: Vec<&'a str>,
    version: Vec<u32>,
}

impl<'a> Traits<'a> {
    fn of(key: &'a str) -> Self {
        let (mut words, mut version) = (Vec::new(), Vec::new());
        let mut parts = model_keys(key).last().unwrap_or_default().split('-').peekable();
        while let Some(part) = parts.next() {
            match part.parse::<u32>() {
                // 27 b, a 3 b: sizes.
                Ok(_) if parts.peek() == Some(&"b") => _ = parts.next(),
                // Dates.
                Ok(_) if part.len() >= 4 => {}
                // Some hosts write 35 for 3.5.
                Ok(number @ 20..100) if version.is_empty() => {
                    version.extend([number / 10, number % 10]);
                }
                Ok(number) => version.push(number),
                Err(_) if matches!(part, "a" | "b" | "x" | "e") => {}
                Err(_) => words.push(part),
            }
        }
        Self { words, version }
    }
}

/// Returns the table in use.
fn table() -> &'static Models {
    INSTALLED.get().unwrap_or(&BUNDLED)
}

/// Returns the window of a model, or that of another model of its family if the table does not contain it.
pub fn lookup(name: &str) -> Option<ListedModel> {
    let (table, key) = (table(), model_key(name));
    if let Some(row) = table.exact(&key) {
        return Some(row.listed(false));
    }
    let row = table.without_words(&key).or_else(|| table.newest_of_family(&key))?;
    Some(row.listed(true))
}

/// Returns the vendor of a model as OpenTelemetry names it, such as `anthropic`; `None` if unknown. Another provider may
/// serve the model.
pub fn vendor(name: &str) -> Option<&'static str> {
    Family::of(&model_key(name))?.vendor.as_deref()
}

/// Returns a hash of the table in use, which figures in a cache depend on.
pub fn fingerprint() -> u64 {
    // The same in every version: tables of many sessions depend on it.
    let mut hasher = XxHash64::default();
    for (key, row) in &table().rows {
        (key, row.window.0).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the name of a model in the bundled table, whose names are public.
pub fn public_name(name: &str) -> Option<&'static str> {
    BUNDLED.exact(&model_key(name)).map(|row| row.name.as_str())
}

/// Returns the context window of every call: as given, else recorded, else by the model, else assumed. Recorded usage
/// above a window that was not given raises it, with a warning.
pub fn window_plan(session: &Session, requested: Option<Tokens>) -> WindowPlan {
    let n_calls = session.calls.len();
    if let Some(window) = requested {
        return WindowPlan::constant(window, n_calls, WindowSource::User);
    }
    let mut warnings = Vec::new();
    let by_model: Vec<_> =
        (0..session.models.len()).map(|m| model_window(session, m, &mut warnings)).collect();
    let mut source = WindowSource::Assumed;
    let mut last = by_model.iter().flatten().next().map(|found| found.0);
    let mut is_assumed = false;
    let mut per_call = Vec::with_capacity(n_calls.max(1));
    for call in &session.calls {
        let of_model = call.model.and_then(|m| by_model[m]);
        if call.window.is_some() {
            source = WindowSource::Recorded;
        } else if let Some((_, assumed)) = of_model {
            is_assumed |= assumed;
            if source == WindowSource::Assumed {
                source = WindowSource::ModelTable;
            }
        }
        last = call.window.or(of_model.map(|found| found.0)).or(last);
        per_call.push(last.unwrap_or(ASSUMED_WINDOW));
    }
    if per_call.is_empty() {
        per_call.push(ASSUMED_WINDOW);
    }
    raise(session, &mut per_call, &mut warnings);
    // One window that is assumed makes the plan no table's.
    if is_assumed && source == WindowSource::ModelTable {
        source = WindowSource::Assumed;
    }
    WindowPlan::new(per_call, source, warnings)
}

/// Returns a model's window from the table, raised to the vendor's next size if the session shows a larger context, and
/// whether it is assumed.
fn model_window(
    session: &Session,
    model: usize,
    warnings: &mut Vec<String>,
) -> Option<(Tokens, bool)> {
    let name = &session.models[model];
    let (window, is_assumed) = if name.ends_with("[1m]") {
        (Tokens(1_000_000), false)
    } else {
        let listed = lookup(name)?;
        if listed.is_assumed {
            warnings.push(format!(
                "{name} is not in the table of models; its window is assumed to be that of {}, {} tokens",
                listed.name, listed.window.0
            ));
        }
        (listed.window, listed.is_assumed)
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
        return Some((window, is_assumed));
    }
    let raised = size_above(peak, Some(name));
    warnings.push(format!(
        "{name} is listed with a window of {} tokens, but the session records a context of {}; assuming {}",
        window.0, peak.0, raised.0
    ));
    Some((raised, is_assumed))
}

/// Raises windows below the context that was sent at their call, since the call succeeded.
fn raise(session: &Session, per_call: &mut [Tokens], warnings: &mut Vec<String>) {
    let mut raised = 0;
    for (window, call) in per_call.iter_mut().zip(&session.calls) {
        if let Some(usage) = call.usage.filter(|u| u.input > *window) {
            let model = call.model.map(|m| &*session.models[m]);
            *window = size_above(usage.input, model);
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

/// Returns the smallest window for this many tokens: of those of the model's family, else of the common ones.
fn size_above(tokens: Tokens, model: Option<&str>) -> Tokens {
    let family = model.and_then(|name| Family::of(&model_key(name)));
    let rows = table().rows.iter().filter(|(key, row)| {
        let other = || Family::of(key);
        row.window >= tokens
            && family.is_some_and(|family| other().is_some_and(|other| std::ptr::eq(other, family)))
    });
    let of_family = rows.map(|(_, row)| row.window).min();
    let usual = || USUAL_WINDOWS.into_iter().map(Tokens).find(|w| *w >= tokens);
    of_family.or_else(usual).unwrap_or(tokens)
}

#[cfg(test)]
mod tests {
    use super::{BUNDLED, Models, lookup, window_plan};
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
            let usage = Some(Usage { input: Tokens(*input), ..Usage::default() });
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
        for model in
            ["claude-opus-4-6", "anthropic/claude-sonnet-4.6", "claude-sonnet-4-5-20250929"]
        {
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
        assert_eq!(last_window("claude-opus-4-6", &[1_500_000], None), (2_000_000, 1));
    }

    #[test]
    fn every_bundled_row_has_a_window() {
        assert!(BUNDLED.rows.len() > 500);
        // Models of 2023 took 4,096 tokens, computer use 8,192.
        assert!(BUNDLED.rows.values().all(|row| row.window >= Tokens(2_048)));
    }

    #[test]
    fn names_are_found_through_vendor_and_routing_parts() {
        let window =
            |name| lookup(name).filter(|found| !found.is_assumed).map(|found| found.window.0);
        assert_eq!(window("claude-opus-4-5-20251101"), Some(200_000));
        assert_eq!(window("openrouter/openai/GPT-4o-2024-08-06"), Some(128_000));
        assert_eq!(window("gpt-6-sol"), Some(922_000));
        assert_eq!(window("qwen/qwen3.6-27b"), Some(262_144));
        assert_eq!(window("gpt-5.5-high"), Some(922_000));
        assert_eq!(window("my-own-model"), None);
    }

    #[test]
    fn an_unknown_member_of_a_family_has_the_newest_window_and_is_assumed() {
        for (name, like) in [
            ("gpt-7-sol", "gpt-6.1-sol"),
            ("claude-opus-6", "claude-opus-5-5"),
            ("gemini-5-flash", "gemini-3.8-flash"),
            ("gpt-5.6-nova", "gpt-5.6"),
            ("qwen3.6-27b-mine", "qwen3.6-27b"),
        ] {
            let found = lookup(name).expect(name);
            assert_eq!((found.name, found.is_assumed), (like, true), "{name}");
        }
        assert_eq!(lookup("my-own-model"), None);
    }

    #[test]
    fn user_rows_replace_bundled_rows_and_invalid_rows_are_rejected() {
        let with = |text: &str| Models::bundled().clone().with(text);
        let own = with("[models]\n\"gpt-4o\" = 5_000\n\"ours\" = 7_000\n").unwrap();
        let window = |name: &str| own.exact(name).map(|row| row.window);
        assert_eq!(window("gpt-4-o"), Some(Tokens(5_000)));
        assert_eq!(window("ours"), Some(Tokens(7_000)));
        assert_eq!(window("gpt-5"), Some(Tokens(272_000)));
        for wrong in ["[models]\n\"a\" = 0", "[models]\n\"\" = 5", "[model]", "{\"a\": 1"] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
    }
}
