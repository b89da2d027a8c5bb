//! `plimsoll gate`: checks policies against limits and a baseline.

mod baseline;
mod json_output;
mod junit;
mod options;
mod replay;
mod retained;

use super::args::{GlobalOptions, InputArgs};
use super::output::{clean, counted, json, note, print_wrapped};
use super::status::Status;
use super::targets::{SessionId, Skipped, Targets};
use crate::analysis::tune::{Check, GateLimits, checks};
use crate::exec::evaluate::EvaluatedSession;
use crate::exec::{check_own, read_own, write_own};
use crate::presets::prices::Prices;
use baseline::{Baseline, BaselineLane, BaselineSession, changed_from};
pub(super) use json_output::Gate;
use options::GateOptions;
use retained::{LaneCheck, Retained};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Check policies against limits and a baseline, for continuous integration
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("policies", |arg| arg.help("Preset, policy file or recorded; @LANE names it (repeatable)")),
    after_help = "Exit codes: 0 passed; 1 a check failed, a file is damaged, or nothing was judged; 2 could not run.\n\nExamples:\n  plimsoll gate sample_sessions --policy prune --baseline gate.json --write-baseline"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    options: GateOptions,
}

/// A session with its figures and the results of its checks.
struct JudgedSession {
    id: SessionId,
    title: String,
    session: BaselineSession,
    /// The content differs from the baseline's.
    content_changed: bool,
    /// Differences of the conditions from the baseline's.
    changes: Vec<String>,
    lanes: Vec<JudgedLane>,
}

/// A lane with its figures, those of the baseline, and the results of its checks.
struct JudgedLane {
    name: String,
    now: BaselineLane,
    before: Option<BaselineLane>,
    /// Differences of the policy and its settings from the baseline's.
    changes: Vec<String>,
    checks: Vec<Check>,
}

/// The result of the command, for text, JSON and JUnit XML.
struct GateVerdict {
    baseline: Option<Baseline>,
    /// Path of the baseline that was written.
    written: Option<String>,
    sessions: Vec<JudgedSession>,
    /// Effect retained by lane, over all sessions.
    retained: Vec<LaneCheck>,
    /// Sessions of the baseline that are not among these files.
    not_checked: Vec<String>,
    skipped: Skipped,
    /// Damaged files do not fail the run.
    allows_damaged: bool,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let options = &self.options;
        // Options are checked before a large file is read.
        let lanes = options.lanes(shared)?;
        options.check()?;
        let targets = Targets::new("gate", &self.inputs, shared)?.reporting_damage();
        let baseline = read_baseline(options)?;
        let retained = match options.min_retained()? {
            Some((least, log)) => Some(Retained::open(log, least)?),
            None => None,
        };
        let mut evaluated = Vec::new();
        let prices = Prices::in_use();
        let billing = options.billing.billing(prices)?;
        let (rules, mut sessions) = (Rules::new(options), Vec::new());
        let skipped = targets.each(shared, |id, case| {
            let current = replay::session(case, &lanes, billing, shared.reread_model(), id);
            let survival = replay::survival(case, &lanes, &rules.limits.survival);
            let before = baseline.as_ref().and_then(|known| known.sessions.get(&current.sha256));
            if retained.is_some() {
                evaluated.push(EvaluatedSession::new(case.clone()));
            }
            let title = &case.session.title;
            sessions.push(rules.judge(id, title, current, before, &survival));
            Ok(())
        })?;
        let mut verdict = GateVerdict {
            not_checked: compare_content(baseline.as_ref(), &mut sessions),
            baseline,
            written: None,
            sessions,
            retained: match retained {
                Some(retained) => rules.lane_checks(retained.checks(evaluated, &lanes.policies)?),
                None => Vec::new(),
            },
            skipped,
            allows_damaged: options.allow_damaged,
        };
        verdict.write(options)?;
        if shared.json {
            json(&verdict.json_output())?;
        } else {
            print_wrapped(&verdict.text())?;
        }
        Ok(if verdict.passed() { Status::Done } else { Status::CheckFailed })
    }
}

/// Reads the baseline and checks the paths of the output files, before the sessions are played.
fn read_baseline(options: &GateOptions) -> anyhow::Result<Option<Baseline>> {
    if let Some(junit) = &options.junit {
        check_own(junit, junit::FILE_KIND)?;
    }
    let Some(path) = &options.baseline else {
        return Ok(None);
    };
    if options.write_baseline {
        check_own(path, baseline::FILE_KIND)?;
        return Ok(None);
    }
    let file = path.to_string_lossy().into_owned();
    let text = read_own(path)?;
    let baseline = Baseline::parse(&file, &text)?;
    let (version, own) = (baseline.version(), env!("CARGO_PKG_VERSION"));
    if version != own {
        note(&format!(
            "{file} was written by plimsoll {version}, this is {own}: figures may differ between versions"
        ));
    }
    Ok(Some(baseline))
}

/// How figures are judged.
struct Rules {
    limits: GateLimits,
    /// A check that cannot be judged fails.
    is_strict: bool,
}

impl Rules {
    fn new(options: &GateOptions) -> Self {
        Self { limits: options.limits(), is_strict: options.strict }
    }

    fn judge(
        &self,
        id: &SessionId,
        title: &str,
        session: BaselineSession,
        before: Option<&BaselineSession>,
        survival: &BTreeMap<String, Vec<Check>>,
    ) -> JudgedSession {
        let lanes = session.lanes.iter().map(|(name, now)| {
            let before = before.and_then(|before| before.lanes.get(name));
            let figures = before.map(BaselineLane::figures);
            JudgedLane {
                name: name.clone(),
                changes: before.map_or_else(Vec::new, |before| now.changes(before)),
                checks: checks(&self.limits, &now.figures(), figures.as_ref())
                    .into_iter()
                    .chain(survival.get(name).into_iter().flatten().cloned())
                    .map(|check| self.check(check))
                    .collect(),
                before: before.cloned(),
                now: now.clone(),
            }
        });
        JudgedSession {
            id: id.clone(),
            title: title.to_owned(),
            lanes: lanes.collect(),
            changes: before.map_or_else(Vec::new, |before| session.changes(before)),
            content_changed: false,
            session,
        }
    }

    fn check(&self, check: Check) -> Check {
        if self.is_strict { check.strict() } else { check }
    }

    /// Returns the checks over all sessions.
    fn lane_checks(&self, checks: Vec<LaneCheck>) -> Vec<LaneCheck> {
        let checks = checks.into_iter();
        checks.map(|found| LaneCheck { check: self.check(found.check), ..found }).collect()
    }
}

/// Marks the sessions whose content differs from the baseline's. Returns the names of the baseline's sessions that were not
/// given.
fn compare_content(baseline: Option<&Baseline>, sessions: &mut [JudgedSession]) -> Vec<String> {
    let here: BTreeSet<&str> = sessions.iter().map(|s| &*s.session.sha256).collect();
    let mut others = baseline.map_or_else(Vec::new, |known| known.others(&here));
    let is_known = |judged: &JudgedSession| {
        baseline.is_some_and(|known| known.sessions.contains_key(&judged.session.sha256))
    };
    for judged in sessions.iter_mut().filter(|judged| !is_known(judged)) {
        if let Some(at) = changed_from(&others, &judged.session) {
            others.remove(at);
            judged.content_changed = true;
        }
    }
    let names = others.iter().map(|session| session.file.clone());
    names.collect()
}

impl JudgedLane {
    fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

impl JudgedSession {
    fn passed(&self) -> bool {
        !self.content_changed && self.lanes.iter().all(JudgedLane::passed)
    }

    fn checks(&self) -> impl Iterator<Item = &Check> {
        self.lanes.iter().flat_map(|lane| &lane.checks)
    }

    fn n_checks(&self) -> usize {
        self.checks().filter(|check| counts(check)).count()
    }
}

impl GateVerdict {
    /// Returns whether every check passed, no file is damaged, and there was something to check or a baseline was written.
    fn passed(&self) -> bool {
        let retained = self.retained.iter().all(|found| found.check.ok);
        let is_whole = self.damaged().next().is_none();
        self.sessions.iter().all(JudgedSession::passed)
            && retained
            && is_whole
            && !self.compared_nothing()
    }

    /// Returns the damaged files with the reason why each cannot be read, unless they are allowed.
    fn damaged(&self) -> impl Iterator<Item = (&SessionId, &str)> {
        let damaged = self.skipped.damaged();
        damaged.filter(|_| !self.allows_damaged)
    }

    /// Returns all checks.
    fn checks(&self) -> impl Iterator<Item = &Check> {
        let of_sessions = self.sessions.iter().flat_map(JudgedSession::checks);
        of_sessions.chain(self.retained.iter().map(|found| &found.check))
    }

    /// Returns the number of checks that passed or failed.
    fn n_checks(&self) -> usize {
        self.checks().filter(|check| counts(check)).count()
    }

    /// Returns the number of checks that could not be judged and did not fail for it.
    fn n_not_judged(&self) -> usize {
        self.checks().filter(|check| !counts(check)).count()
    }

    /// Returns whether the run checked nothing: no limit, no lane of the baseline, no changed content, and no baseline written.
    fn compared_nothing(&self) -> bool {
        let is_changed = |judged: &JudgedSession| judged.content_changed;
        self.written.is_none() && self.n_checks() == 0 && !self.sessions.iter().any(is_changed)
    }

    /// Returns the message of a run without any check.
    fn nothing_compared_text(&self) -> &'static str {
        match self.baseline {
            Some(_) => junit::NOTHING_COMPARED,
            None => junit::NOTHING_JUDGED,
        }
    }

    /// Formats the number of sessions that passed and of those without any check.
    fn passed_text(&self) -> String {
        let unchecked = self.sessions.iter().filter(|s| s.n_checks() == 0).count();
        let passed = counted(self.sessions.len() - unchecked, "session");
        match unchecked {
            0 => format!("passed: {passed}"),
            n => format!("passed: {passed}; nothing to compare in {}", counted(n, "session")),
        }
    }

    /// Writes the number of checks that could not be judged.
    fn not_judged_text(&self, text: &mut String) {
        let n = self.n_not_judged();
        if n > 0 {
            let are = if n == 1 { "was" } else { "were" };
            let n = counted(n, "check");
            let _ = writeln!(text, "{n} {are} not judged (--strict makes that a failure)");
        }
    }

    /// Writes the requested files.
    fn write(&mut self, options: &GateOptions) -> anyhow::Result<()> {
        let is_written = options.write_baseline && self.damaged().next().is_none();
        if let Some(path) = options.baseline.as_ref().filter(|_| is_written) {
            let sessions = self.sessions.iter().map(|s| s.session.clone());
            let text = Baseline::new(sessions).text()?;
            write_own(path, &text, baseline::FILE_KIND)?;
            self.written = Some(path.to_string_lossy().into_owned());
        }
        if let Some(path) = &options.junit {
            write_own(Path::new(path), &self.junit(), junit::FILE_KIND)?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // Failures are last: the end of the output is what is seen.
        let (passed, failed): (Vec<_>, Vec<_>) = self.sessions.iter().partition(|s| s.passed());
        for judged in passed.iter().chain(&failed) {
            judged.text(&mut text, self.baseline.is_some());
        }
        for (id, reason) in self.damaged() {
            let (file, reason) = (clean(&id.file), clean(reason));
            let _ = writeln!(text, "FAIL {file}  damaged: {reason}; --allow-damaged skips it");
        }
        for LaneCheck { lane, check } in &self.retained {
            let mark = mark(std::slice::from_ref(check));
            let (lane, measure) = (clean(lane), check.measure.label());
            let _ = writeln!(
                text,
                "{mark} all sessions  {lane}\n       {measure}: {}",
                clean(&check.text)
            );
        }
        if let Some(written) = &self.written {
            let _ = writeln!(
                text,
                "baseline {} written, {}",
                clean(written),
                counted(self.sessions.len(), "session")
            );
        }
        if !self.not_checked.is_empty() {
            let n = counted(self.not_checked.len(), "session");
            let _ = writeln!(
                text,
                "not checked: {n} of the baseline, such as {}",
                clean(&self.not_checked[0])
            );
        }
        self.not_judged_text(&mut text);
        let n_failed = failed.len();
        let n = counted(self.sessions.len(), "session");
        let n_lanes = self.retained.iter().filter(|found| !found.check.ok).count();
        if n_lanes > 0 {
            let lanes = counted(n_lanes, "lane");
            let _ = writeln!(text, "failed: effect retained of {lanes} over all sessions");
        }
        let n_damaged = self.damaged().count();
        if n_damaged > 0 {
            let _ = writeln!(text, "failed: {} damaged", counted(n_damaged, "file"));
        }
        let _ = match (n_failed, self.written.is_some()) {
            (0, _) if n_lanes > 0 || n_damaged > 0 => Ok(()),
            (0, true) => Ok(()),
            (0, false) if self.compared_nothing() => {
                writeln!(text, "{}", self.nothing_compared_text())
            }
            (0, false) => writeln!(text, "{}", self.passed_text()),
            (failed, _) => writeln!(text, "failed: {failed} of {n}"),
        };
        text
    }
}

/// Returns whether a check passed or failed. Others could not be judged.
fn counts(check: &Check) -> bool {
    check.is_judged || !check.ok
}

/// Returns the status of checks: `FAIL` if one failed, `ok` if one was judged, `not judged` if none could be, blank without
/// checks.
fn mark(checks: &[Check]) -> &'static str {
    match checks {
        [] => "    ",
        _ if checks.iter().any(|check| !check.ok) => "FAIL",
        _ if checks.iter().any(|check| check.is_judged) => "ok  ",
        _ => "not judged",
    }
}

impl JudgedSession {
    fn text(&self, text: &mut String, has_baseline: bool) {
        let id = self.id.to_string();
        let file = clean(&id);
        if self.content_changed {
            let _ = writeln!(
                text,
                "FAIL {file}  its content differs from the baseline's, so it is not compared; write the baseline again with --write-baseline"
            );
        }
        for change in &self.changes {
            let _ = writeln!(text, "     {file}  changed: {}", clean(change));
        }
        let (passed, failed): (Vec<_>, Vec<_>) = self.lanes.iter().partition(|l| l.passed());
        for lane in passed.into_iter().chain(failed) {
            let mark = mark(&lane.checks);
            let name = clean(&lane.name);
            let is_new = has_baseline && lane.before.is_none() && !self.content_changed;
            let remark = match (is_new, lane.checks.is_empty()) {
                (true, true) => "  not checked: not in the baseline",
                (true, false) => "  not in the baseline, compared with limits only",
                (false, _) => "",
            };
            let _ = writeln!(text, "{mark} {file}  {name}{remark}");
            for change in &lane.changes {
                let _ = writeln!(text, "       changed: {}", clean(change));
            }
            for check in &lane.checks {
                let (mark, measure) = (if check.ok { ' ' } else { '!' }, check.measure.label());
                let _ = writeln!(text, "     {mark} {measure}: {}", clean(&check.text));
            }
        }
    }
}
