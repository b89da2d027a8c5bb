//! `plimsoll gate`: checks policies against limits and a baseline.

mod baseline;
mod junit;
mod options;
mod shape;
mod weigh;

use super::Status;
use super::args::Shared;
use super::lanes::Lane;
use super::output::{clean, counted, json, note, print};
use super::targets::{LeftOut, Place, Targets};
use crate::analysis::tune::{Check, Limits, checks};
use crate::exec::{OwnPresets, check_own, fingerprint, policy_text, read_own, write_own};
use baseline::Baseline;
use options::Options;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Check that policies stay within limits and do no worse than a baseline, for continuous integration
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 all within, 1 a regression or a limit exceeded, 2 invalid input or usage. The same input gives the\nsame numbers on every machine. `--policy recorded` checks the recorded run. A file with many sessions is checked\nsession by session, each named FILE#N. A session whose content changed fails: write the baseline again."
)]
pub(super) struct Args {
    /// Session files or folders
    #[arg(value_name = "FILE|FOLDER")]
    targets: Vec<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// A session with its figures and the results of the checks.
struct Judged {
    place: Place,
    title: String,
    session: baseline::Session,
    /// True if the content differs from the baseline's.
    content_changed: bool,
    changes: Vec<String>,
    lanes: Vec<JudgedLane>,
}

struct JudgedLane {
    name: String,
    now: baseline::Lane,
    before: Option<baseline::Lane>,
    changes: Vec<String>,
    checks: Vec<Check>,
}

/// The result of the command, for text, JSON and `JUnit` XML.
struct Verdict {
    baseline: Option<(String, Baseline)>,
    wrote: Option<String>,
    sessions: Vec<Judged>,
    /// Sessions of the baseline that are not among these files.
    not_checked: Vec<String>,
    left_out: LeftOut,
}

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        let options = &self.options;
        // Options are checked before a large file is read.
        let (lanes, with_recorded) = options.lanes.gated("gate", shared)?;
        options.check()?;
        let targets = Targets::new("gate", &self.targets, shared)?;
        let baseline = opened(options)?;
        let texts = lanes.iter().map(|lane| {
            Ok((
                lane,
                fingerprint(policy_text(&lane.word, &OwnPresets::here())?.as_bytes()),
            ))
        });
        let lanes: Vec<(&Lane, String)> = texts.collect::<anyhow::Result<_>>()?;
        let prices = options.billing.prices()?;
        let billing = options.billing.billing(&prices)?;
        let (limits, mut sessions) = (options.limits(), Vec::new());
        let left_out = targets.each(shared, |place, case| {
            let weighed = weigh::session(case, (&lanes, with_recorded), billing, place);
            let before = baseline
                .as_ref()
                .and_then(|(_, known)| known.sessions.get(&place.to_string()));
            let named = (place, &*case.session.title);
            sessions.push(judge(named, weighed, before, &limits));
            Ok(())
        })?;
        let mut verdict = Verdict {
            not_checked: not_checked(baseline.as_ref(), &sessions),
            baseline,
            wrote: None,
            sessions,
            left_out,
        };
        verdict.write(options)?;
        if shared.json {
            json(&verdict.shape())?;
        } else {
            print(&verdict.text())?;
        }
        Ok(if verdict.passed() {
            Status::Done
        } else {
            Status::CheckFailed
        })
    }
}

/// Reads the baseline and checks the paths of the output files, before the sessions are played.
fn opened(options: &Options) -> anyhow::Result<Option<(String, Baseline)>> {
    if let Some(junit) = &options.junit {
        check_own(junit, junit::OWN)?;
    }
    let Some(path) = &options.baseline else {
        return Ok(None);
    };
    if options.write_baseline {
        check_own(path, (baseline::WHAT, Baseline::is_one))?;
        return Ok(None);
    }
    let file = path.to_string_lossy().into_owned();
    let text = read_own(path)?;
    let baseline = Baseline::parse(&file, &text)?;
    if let Some(version) = baseline.other_version() {
        note(&format!(
            "{file} was written by plimsoll {version}, this is {}: figures may differ between versions",
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Some((file, baseline)))
}

fn judge(
    (place, title): (&Place, &str),
    session: baseline::Session,
    before: Option<&baseline::Session>,
    limits: &Limits,
) -> Judged {
    let content_changed = before.is_some_and(|before| before.sha256 != session.sha256);
    let lanes = session.lanes.iter().map(|(name, now)| {
        // Figures of different content are not compared.
        let known = before.filter(|_| !content_changed);
        let before = known.and_then(|before| before.lanes.get(name));
        let figures = before.map(baseline::Lane::figures);
        JudgedLane {
            name: name.clone(),
            changes: before.map_or_else(Vec::new, |before| now.changes(before)),
            checks: checks(limits, &now.figures(), figures.as_ref()),
            before: before.cloned(),
            now: now.clone(),
        }
    });
    Judged {
        place: place.clone(),
        title: title.to_owned(),
        lanes: lanes.collect(),
        changes: before.map_or_else(Vec::new, |before| session.changes(before)),
        content_changed,
        session,
    }
}

fn not_checked(baseline: Option<&(String, Baseline)>, sessions: &[Judged]) -> Vec<String> {
    let known = baseline
        .into_iter()
        .flat_map(|(_, known)| known.sessions.keys());
    let here: BTreeSet<String> = sessions.iter().map(|s| s.place.to_string()).collect();
    known
        .filter(|name| !here.contains(*name))
        .cloned()
        .collect()
}

impl JudgedLane {
    fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

impl Judged {
    fn passed(&self) -> bool {
        !self.content_changed && self.lanes.iter().all(JudgedLane::passed)
    }
}

impl Verdict {
    fn passed(&self) -> bool {
        self.sessions.iter().all(Judged::passed)
    }

    /// Writes the requested files.
    fn write(&mut self, options: &Options) -> anyhow::Result<()> {
        if let Some(path) = options.baseline.as_ref().filter(|_| options.write_baseline) {
            let sessions = self
                .sessions
                .iter()
                .map(|s| (s.place.to_string(), s.session.clone()));
            let text = Baseline::new(sessions.collect::<BTreeMap<_, _>>()).text()?;
            write_own(path, &text, (baseline::WHAT, Baseline::is_one))?;
            self.wrote = Some(path.to_string_lossy().into_owned());
        }
        if let Some(path) = &options.junit {
            write_own(Path::new(path), &self.junit(), junit::OWN)?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for judged in &self.sessions {
            judged.text(&mut text, self.baseline.is_some());
        }
        if let Some(wrote) = &self.wrote {
            let _ = writeln!(
                text,
                "wrote {} of {}",
                clean(wrote),
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
        let n_passed = self.sessions.iter().filter(|s| s.passed()).count();
        let n = counted(self.sessions.len(), "session");
        let _ = match (self.sessions.len() - n_passed, self.wrote.is_some()) {
            (0, true) => Ok(()),
            (0, false) => writeln!(text, "passed: {n}"),
            (failed, _) => writeln!(text, "failed: {failed} of {n}"),
        };
        text
    }
}

impl Judged {
    fn text(&self, text: &mut String, has_baseline: bool) {
        let place = self.place.to_string();
        let file = clean(&place);
        if self.content_changed {
            let _ = writeln!(
                text,
                "FAIL {file}  its content differs from the baseline's, so it is not compared; write the baseline again with --write-baseline"
            );
        }
        for change in &self.changes {
            let _ = writeln!(text, "     {file}  changed: {}", clean(change));
        }
        for lane in &self.lanes {
            let mark = if lane.passed() { "ok  " } else { "FAIL" };
            let name = clean(&lane.name);
            let is_new = has_baseline && lane.before.is_none() && !self.content_changed;
            let new = if is_new { "  not in the baseline" } else { "" };
            let _ = writeln!(text, "{mark} {file}  {name}{new}");
            for change in &lane.changes {
                let _ = writeln!(text, "       changed: {}", clean(change));
            }
            for check in &lane.checks {
                let (mark, what) = (if check.ok { ' ' } else { '!' }, check.measure.label());
                let _ = writeln!(text, "     {mark} {what}: {}", clean(&check.text));
            }
        }
    }
}
