//! Baselines of `plimsoll gate`: the figures of runs, and how they differ from current ones.

use crate::analysis::tune::{Figures, Risk, Score};
use crate::units::{Share, Tokens, Usd};
use anyhow::Context as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Marker that identifies a file as a baseline.
pub(super) const KIND: &str = "baseline of plimsoll gate";

/// Version of the file format.
const FORMAT_VERSION: u32 = 2;

/// A baseline file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Always [`KIND`].
    kind: String,
    format_version: u32,
    /// Version of the program that wrote the baseline.
    plimsoll: String,
    /// Sessions by file, with the number of the conversation if the file holds several.
    pub(super) sessions: BTreeMap<String, BaselineSession>,
}

/// The fields that baselines of every version have.
#[derive(Deserialize)]
struct Header {
    kind: String,
    format_version: u32,
    plimsoll: String,
}

/// A session of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BaselineSession {
    /// SHA-256 of the file, or of the session's messages if the file holds several sessions.
    pub(super) sha256: String,
    /// Number of the conversation in the file, from 1.
    pub(super) conversation: usize,
    pub(super) counter: String,
    /// Largest context window in tokens.
    pub(super) window: u64,
    /// Prices and billing rules, as text.
    pub(super) prices: Vec<String>,
    /// Figures by lane.
    pub(super) lanes: BTreeMap<String, BaselineLane>,
}

/// A lane of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BaselineLane {
    pub(super) policy: String,
    /// SHA-256 of the policy file's text.
    pub(super) policy_sha256: String,
    pub(super) settings: BTreeMap<String, f64>,
    pub(super) figures: FiguresEntry,
}

/// Figures of a lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FiguresEntry {
    /// Cost in USD; null if a price is unknown.
    usd: Option<f64>,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: u64,
    /// `tokens_sent`, rejected tokens, and requests for summaries with their answers.
    tokens_total: u64,
    /// References at risk. Predicted summaries count as empty.
    at_risk: usize,
    /// Edits of text that the context no longer contained.
    blind_edits: usize,
    /// Tokens that would have to be read again.
    reread_tokens: u64,
    /// Largest context in tokens.
    peak_tokens: u64,
    /// Largest context as a share of the usable window.
    peak_share: f64,
    compactions: usize,
    /// Number of calls that overflowed at the first attempt.
    overflows: usize,
    /// Why the policy thrashes, such as `thrashes` or `gives_up`; null if it does not.
    thrash: Option<String>,
}

impl From<&Figures> for FiguresEntry {
    fn from(figures: &Figures) -> Self {
        let (score, risk) = (figures.score, figures.score.risk.unwrap_or_default());
        Self {
            usd: score.cost.map(|usd| usd.0),
            tokens_sent: score.sent.0,
            tokens_total: score.total.0,
            at_risk: risk.references,
            blind_edits: risk.blind_edits,
            reread_tokens: risk.refetch.0,
            peak_tokens: score.peak.0,
            // A window of 0 tokens gives no share; JSON has no infinity.
            peak_share: score.peak_share.0.min(f64::MAX),
            compactions: score.compactions,
            overflows: score.overflows,
            thrash: figures.flaw.clone(),
        }
    }
}

impl From<&FiguresEntry> for Figures {
    fn from(entry: &FiguresEntry) -> Self {
        Self {
            score: Score {
                cost: entry.usd.map(Usd),
                sent: Tokens(entry.tokens_sent),
                total: Tokens(entry.tokens_total),
                risk: Some(Risk {
                    references: entry.at_risk,
                    blind_edits: entry.blind_edits,
                    refetch: Tokens(entry.reread_tokens),
                }),
                peak: Tokens(entry.peak_tokens),
                peak_share: Share(entry.peak_share),
                compactions: entry.compactions,
                overflows: entry.overflows,
            },
            flaw: entry.thrash.clone(),
        }
    }
}

impl BaselineLane {
    /// Returns the differences of the policy and its settings from the baseline.
    pub(super) fn changes(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.policy != before.policy {
            changes.push(format!(
                "policy {} instead of {}",
                self.policy, before.policy
            ));
        } else if self.policy_sha256 != before.policy_sha256 {
            changes.push(format!("the text of the policy {}", self.policy));
        }
        for (name, value) in &self.settings {
            match before.settings.get(name) {
                Some(was) if was == value => {}
                Some(was) => changes.push(format!("{name} {value} instead of {was}")),
                None => changes.push(format!("{name} {value} (new)")),
            }
        }
        let removed = before
            .settings
            .keys()
            .filter(|name| !self.settings.contains_key(*name));
        changes.extend(removed.map(|name| format!("{name} (removed)")));
        changes
    }
}

impl BaselineSession {
    /// Returns the inputs that differ from the baseline, except the file's content.
    pub(super) fn changes(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.conversation != before.conversation {
            changes.push(format!(
                "conversation {} instead of {}",
                self.conversation, before.conversation
            ));
        }
        if self.counter != before.counter {
            changes.push(format!(
                "counter {} instead of {}",
                self.counter, before.counter
            ));
        }
        if self.window != before.window {
            changes.push(format!(
                "window {} instead of {}",
                self.window, before.window
            ));
        }
        if self.prices != before.prices {
            changes.push("prices".to_owned());
        }
        changes
    }
}

impl Baseline {
    /// Creates the baseline of `sessions`, with this program's version.
    pub(super) fn new(sessions: BTreeMap<String, BaselineSession>) -> Self {
        Self {
            kind: KIND.to_owned(),
            format_version: FORMAT_VERSION,
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            sessions,
        }
    }

    /// Parses a baseline.
    pub(super) fn parse(file: &str, text: &str) -> anyhow::Result<Self> {
        let header: Header = serde_json::from_str(text)
            .ok()
            .filter(|header: &Header| header.kind == KIND)
            .with_context(|| format!("{file} is not a {KIND}; write one with --write-baseline"))?;
        let parsed = (header.format_version == FORMAT_VERSION).then(|| serde_json::from_str(text));
        parsed.and_then(Result::ok).with_context(|| {
            format!(
                "{file} is a {KIND} of an unsupported version (written by plimsoll {}); write it again with --write-baseline",
                header.plimsoll
            )
        })
    }

    /// Returns true if `text` is a baseline of any version, which may be overwritten.
    pub(super) fn is_one(text: &str) -> bool {
        let value: Result<serde_json::Value, _> = serde_json::from_str(text);
        value.is_ok_and(|value| value["kind"] == KIND)
    }

    /// Returns the version of the program that wrote the baseline.
    pub(super) fn version(&self) -> &str {
        &self.plimsoll
    }

    /// Returns the content of the baseline file.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }
}
