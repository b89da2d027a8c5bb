//! Baselines of `plimsoll gate`: the figures of runs, and how they differ from current ones.

use crate::analysis::tune::{Figures, Risk, Score};
use crate::units::{Share, Tokens, Usd};
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Marker that identifies a file as a baseline.
pub(super) const WHAT: &str = "baseline of plimsoll gate";
const SHAPE: u32 = 1;

/// A baseline file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Always [`WHAT`].
    is: String,
    /// Version of the file format.
    shape: u32,
    /// Version of the program that wrote the baseline.
    plimsoll: String,
    /// Sessions by file, with the number of the conversation if the file holds several.
    pub(super) sessions: BTreeMap<String, Session>,
}

/// A session of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
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
    pub(super) lanes: BTreeMap<String, Lane>,
}

/// Figures of one lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Lane {
    pub(super) policy: String,
    /// SHA-256 of the policy file's text.
    pub(super) policy_sha256: String,
    pub(super) knobs: BTreeMap<String, f64>,
    pub(super) usd: Option<f64>,
    pub(super) tokens_sent: u64,
    /// Tokens sent and received. Older baselines store this as `tokens_sent`.
    #[serde(default)]
    pub(super) tokens_total: Option<u64>,
    pub(super) at_risk: usize,
    pub(super) blind_edits: usize,
    pub(super) refetch: u64,
    pub(super) peak: u64,
    pub(super) peak_share: f64,
    pub(super) compactions: usize,
    pub(super) overflows: usize,
    pub(super) flaw: Option<String>,
}

impl Lane {
    pub(super) fn new(
        figures: &Figures,
        policy: (String, String),
        knobs: BTreeMap<String, f64>,
    ) -> Self {
        let (score, risk) = (figures.score, figures.score.risk);
        let (policy, policy_sha256) = policy;
        Self {
            policy,
            policy_sha256,
            knobs,
            usd: score.cost.map(|usd| usd.0),
            tokens_sent: score.sent.0,
            tokens_total: Some(score.total.0),
            at_risk: risk.references,
            blind_edits: risk.blind_edits,
            refetch: risk.refetch.0,
            peak: score.peak.0,
            // A window of 0 tokens gives no share; JSON has no infinity.
            peak_share: if score.peak_share.0.is_finite() {
                score.peak_share.0
            } else {
                f64::MAX
            },
            compactions: score.compactions,
            overflows: score.overflows,
            flaw: figures.flaw.clone(),
        }
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            score: Score {
                cost: self.usd.map(Usd),
                sent: Tokens(self.tokens_sent),
                total: Tokens(self.tokens_total.unwrap_or(self.tokens_sent)),
                risk: Risk {
                    references: self.at_risk,
                    blind_edits: self.blind_edits,
                    refetch: Tokens(self.refetch),
                },
                peak: Tokens(self.peak),
                peak_share: Share(self.peak_share),
                compactions: self.compactions,
                overflows: self.overflows,
            },
            flaw: self.flaw.clone(),
        }
    }

    /// Returns the settings that differ from the baseline.
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
        for (knob, value) in &self.knobs {
            match before.knobs.get(knob) {
                Some(was) if was == value => {}
                Some(was) => changes.push(format!("{knob} {value} instead of {was}")),
                None => changes.push(format!("{knob} {value} (new)")),
            }
        }
        let is_gone = |knob: &&String| !self.knobs.contains_key(*knob);
        changes.extend(
            before
                .knobs
                .keys()
                .filter(is_gone)
                .map(|knob| format!("{knob} (removed)")),
        );
        changes
    }
}

impl Session {
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
    pub(super) fn new(sessions: BTreeMap<String, Session>) -> Self {
        Self {
            is: WHAT.to_owned(),
            shape: SHAPE,
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            sessions,
        }
    }

    /// Parses a baseline.
    pub(super) fn parse(file: &str, text: &str) -> anyhow::Result<Self> {
        let baseline: Self = serde_json::from_str(text)
            .with_context(|| format!("{file} is not a {WHAT}; write one with --write-baseline"))?;
        if baseline.is != WHAT || baseline.shape != SHAPE {
            anyhow::bail!(
                "{file} is a {WHAT} of an unsupported version (written by plimsoll {}); write it again with --write-baseline",
                baseline.plimsoll
            );
        }
        Ok(baseline)
    }

    /// Returns true if `text` is a baseline of any version, which may be overwritten.
    pub(super) fn is_one(text: &str) -> bool {
        let value: Result<serde_json::Value, _> = serde_json::from_str(text);
        value.is_ok_and(|value| value["is"] == WHAT)
    }

    /// Returns the version of the program that wrote the baseline, if it differs from this one.
    pub(super) fn other_version(&self) -> Option<&str> {
        (self.plimsoll != env!("CARGO_PKG_VERSION")).then_some(&*self.plimsoll)
    }

    /// Returns the content of the baseline file.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }
}
