//! The result of `plimsoll gate` as JSON.

use super::{GateVerdict, JudgedLane, JudgedSession};
use crate::analysis::tune::{Check, Measure};
use crate::cli::figures::FiguresEntry;
use crate::cli::json_values::{JsonNumber, Settings};
use crate::cli::targets::SkippedEntry;
use schemars::JsonSchema;
use serde::Serialize;

/// The checks of every session and lane.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Gate<'a> {
    /// Whether every check passed, no file is damaged, and there was something to check. A run that writes a baseline needs no
    /// check.
    passed: bool,
    /// Number of checks against limits and the baseline.
    checks: usize,
    /// Number of checks that could not be judged, such as the cost of a model without a price. With `--strict` they fail and
    /// count as `checks`.
    not_judged: usize,
    /// The baseline; null if none was compared with.
    baseline: Option<BaselineEntry<'a>>,
    /// Path of the baseline that was written; null if none was.
    written: Option<&'a str>,
    /// Checked sessions.
    sessions: Vec<SessionEntry<'a>>,
    /// Checks of the effect retained, over all sessions.
    retained: Vec<RetainedEntry<'a>>,
    /// Sessions of the baseline that are not among the given files.
    not_checked: &'a [String],
    /// Sessions that were not read.
    skipped: Vec<SkippedEntry<'a>>,
}

/// The baseline.
#[derive(Serialize, JsonSchema)]
struct BaselineEntry<'a> {
    /// Path of the baseline.
    file: &'a str,
    /// Version of the program that wrote the baseline.
    written_by: &'a str,
}

/// The checks of a session.
#[derive(Serialize, JsonSchema)]
struct SessionEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation, from 1; null if the file holds only one.
    conversation: Option<usize>,
    /// Title of the session.
    title: &'a str,
    /// SHA-256 of the file, or of the session's messages if the file holds several sessions.
    sha256: &'a str,
    /// Whether all checks of the session passed.
    passed: bool,
    /// Whether the content differs from the baseline's. Such a session fails and is not compared.
    content_changed: bool,
    /// Differences of the conditions: window, tokenizer, prices, coefficients of expected re-reads.
    changes: &'a [String],
    /// Checked lanes.
    lanes: Vec<LaneEntry<'a>>,
}

/// The checks of a lane.
#[derive(Serialize, JsonSchema)]
struct LaneEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Name of the policy; `recorded` for the recorded run.
    policy: &'a str,
    /// Values of the policy's settings.
    settings: Settings,
    /// Whether all checks of the lane passed.
    passed: bool,
    /// Figures of the lane.
    figures: &'a FiguresEntry,
    /// Name of the flaw of the run, such as `cannot_get_below_trigger`, `thrashes` or `gives_up`; null if it has none.
    thrash: Option<&'a str>,
    /// Figures of the baseline; null if it does not contain the lane.
    baseline: Option<&'a FiguresEntry>,
    /// Differences of the policy from the baseline's.
    changes: &'a [String],
    /// The checks. Empty if the baseline does not contain the lane and there are no limits.
    checks: Vec<CheckEntry<'a>>,
}

/// The check of a lane over all sessions.
#[derive(Serialize, JsonSchema)]
struct RetainedEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Check of the effect retained.
    check: CheckEntry<'a>,
}

/// A check of a figure.
#[derive(Serialize, JsonSchema)]
struct CheckEntry<'a> {
    /// Checked figure.
    measure: Measure,
    /// Whether the figure is within its limit, or could not be judged without `--strict`.
    ok: bool,
    /// Whether there was something to judge. False for the survival of facts that the session does not state, and for the
    /// cost of a model without a price.
    judged: bool,
    /// Figure and limit.
    text: &'a str,
}

impl GateVerdict {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> Gate<'_> {
        Gate {
            passed: self.passed(),
            checks: self.n_checks(),
            not_judged: self.n_not_judged(),
            baseline: self.baseline.as_ref().map(|baseline| BaselineEntry {
                file: &baseline.file,
                written_by: baseline.version(),
            }),
            written: self.written.as_deref(),
            sessions: self.sessions.iter().map(session).collect(),
            retained: self
                .retained
                .iter()
                .map(|found| RetainedEntry { lane: &found.lane, check: check(&found.check) })
                .collect(),
            not_checked: &self.not_checked,
            skipped: self.skipped.json_output(),
        }
    }
}

fn session(judged: &JudgedSession) -> SessionEntry<'_> {
    SessionEntry {
        file: &judged.id.file,
        conversation: judged.id.number(),
        title: &judged.title,
        sha256: &judged.session.sha256,
        passed: judged.passed(),
        content_changed: judged.content_changed,
        changes: &judged.changes,
        lanes: judged.lanes.iter().map(lane).collect(),
    }
}

fn lane(judged: &JudgedLane) -> LaneEntry<'_> {
    let settings = judged.now.settings.iter();
    LaneEntry {
        lane: &judged.name,
        policy: &judged.now.policy,
        settings: Settings::new(settings.map(|(name, value)| (name.as_str(), JsonNumber(*value)))),
        passed: judged.passed(),
        figures: &judged.now.figures,
        thrash: judged.now.thrash.as_deref(),
        baseline: judged.before.as_ref().map(|before| &before.figures),
        changes: &judged.changes,
        checks: judged.checks.iter().map(check).collect(),
    }
}

fn check(check: &Check) -> CheckEntry<'_> {
    CheckEntry { measure: check.measure, ok: check.ok, judged: check.is_judged, text: &check.text }
}
