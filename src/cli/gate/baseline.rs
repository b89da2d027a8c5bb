//! Baselines of `plimsoll gate`: the figures of runs, and how they differ from current ones.

use crate::analysis::tune::{Figures, Score};
use crate::cli::figures::FiguresEntry;
use crate::exec::OwnFileKind;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Marker that identifies a file as a baseline.
pub(super) const KIND: &str = "baseline of plimsoll gate";

pub(super) const FILE_KIND: OwnFileKind = OwnFileKind { name: KIND, is_own: Baseline::is_one };

/// Version of the file format.
const FORMAT_VERSION: u32 = 4;

/// A baseline file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Path of the file.
    #[serde(skip)]
    pub(super) file: String,
    /// Always [`KIND`].
    kind: String,
    format_version: u32,
    /// Version of the program that wrote the baseline.
    plimsoll: String,
    /// Sessions by the SHA-256 of their content: a file may be given by another path, moved or renamed.
    pub(super) sessions: BTreeMap<String, BaselineSession>,
}

/// The fields that baselines of every version have.
#[derive(Deserialize)]
struct BaselineHeader {
    kind: String,
    format_version: u32,
    plimsoll: String,
}

/// A session of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BaselineSession {
    /// SHA-256 of the file, or of the session's messages if the file holds several sessions.
    pub(super) sha256: String,
    /// Path of the file as it was given.
    pub(super) file: String,
    /// Number of the conversation in the file, from 1.
    pub(super) conversation: usize,
    pub(super) counter: String,
    /// Largest context window in tokens.
    pub(super) window: u64,
    /// Prices and billing rules, as text.
    pub(super) prices: Vec<String>,
    /// SHA-256 of the coefficients of expected re-reads.
    pub(super) reread_model: String,
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
    /// Name of the flaw of the run, such as `cannot_get_below_trigger`, `thrashes` or `gives_up`; none if it has none.
    pub(super) thrash: Option<String>,
}

impl BaselineLane {
    /// Returns the figures for comparison.
    pub(super) fn figures(&self) -> Figures {
        Figures { score: Score::from(&self.figures), flaw: self.thrash.clone() }
    }

    /// Returns the differences of the policy and its settings from the baseline.
    pub(super) fn changes(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.policy != before.policy {
            changes.push(format!("policy {} instead of {}", self.policy, before.policy));
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
        let removed = before.settings.keys().filter(|name| !self.settings.contains_key(*name));
        changes.extend(removed.map(|name| format!("{name} (removed)")));
        changes
    }
}

impl BaselineSession {
    /// Returns the number of components by which two paths end alike.
    fn common_end(&self, file: &str) -> usize {
        let parts = self.file.rsplit('/').zip(file.rsplit('/'));
        parts.take_while(|(one, other)| one == other).count()
    }

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
            changes.push(format!("counter {} instead of {}", self.counter, before.counter));
        }
        if self.window != before.window {
            changes.push(format!("window {} instead of {}", self.window, before.window));
        }
        if self.prices != before.prices {
            changes.push("prices".to_owned());
        }
        if self.reread_model != before.reread_model {
            changes.push("coefficients of expected re-reads".to_owned());
        }
        changes
    }
}

impl Baseline {
    /// Creates the baseline of `sessions`, with this program's version.
    pub(super) fn new(sessions: impl Iterator<Item = BaselineSession>) -> Self {
        Self {
            file: String::new(),
            kind: KIND.to_owned(),
            format_version: FORMAT_VERSION,
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            sessions: sessions.map(|s| (s.sha256.clone(), s)).collect(),
        }
    }

    /// Returns the sessions whose content is not among `here`.
    pub(super) fn others(&self, here: &BTreeSet<&str>) -> Vec<&BaselineSession> {
        let sessions = self.sessions.values();
        sessions.filter(|session| !here.contains(&*session.sha256)).collect()
    }

    /// Parses a baseline.
    pub(super) fn parse(file: &str, text: &str) -> anyhow::Result<Self> {
        let header: BaselineHeader = serde_json::from_str(text)
            .ok()
            .filter(|header: &BaselineHeader| header.kind == KIND)
            .with_context(|| format!("{file} is not a {KIND}; write one with --write-baseline"))?;
        let parsed = (header.format_version == FORMAT_VERSION).then(|| serde_json::from_str(text));
        let parsed: Self = parsed.and_then(Result::ok).with_context(|| {
            format!(
                "{file} is a {KIND} of an unsupported version (written by plimsoll {}); write it again with --write-baseline",
                header.plimsoll
            )
        })?;
        Ok(Self { file: file.to_owned(), ..parsed })
    }

    /// Returns true if `text` is a baseline of any version, which may be overwritten.
    pub(super) fn is_one(text: &str) -> bool {
        crate::json::from_str(text).is_ok_and(|value| value["kind"] == KIND)
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

/// Returns the session of a baseline that has the file name and number of a session whose content it does not contain: its
/// content was changed. Of several, returns the one whose path is most alike.
pub(super) fn changed_from(
    others: &[&BaselineSession],
    session: &BaselineSession,
) -> Option<usize> {
    let number = session.conversation;
    let same = others.iter().enumerate().filter_map(|(at, other)| {
        let alike = other.common_end(&session.file);
        (alike > 0 && other.conversation == number).then_some((alike, at))
    });
    same.max_by_key(|(alike, at)| (*alike, std::cmp::Reverse(*at))).map(|(_, at)| at)
}
