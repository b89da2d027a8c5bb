//! `plimsoll gate`: whether policies stay within limits, and do no worse than they did, over sessions that are kept for it.

mod baseline;
mod junit;
mod options;
mod shape;
mod weigh;

use super::args::{Shared, Words};
use super::lanes::Lane;
use super::output::{clean, counted, json, note, print};
use super::targets::{LeftOut, Place, Targets};
use super::{Status, Verb};
use crate::analysis::tune::{Check, Limits, checks};
use crate::exec::{OwnPresets, check_own, fingerprint, policy_text, read_own, write_own};
use baseline::Baseline;
use options::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

pub(super) const VERB: Verb = Verb {
    name: "gate",
    summary: "Check that policies stay within limits and do no worse than before, for continuous integration.",
    help: "\
plimsoll gate FILE|FOLDER... --policy NAME|FILE.toml... [--baseline FILE [--write-baseline]] [limits] [--json] [--junit FILE]

Plays the policies over each session and checks what they come to: each session by each limit, and against what it came to
when the baseline was written. The same inputs give the same numbers on every machine. Exit codes: 0 all within, 1 a
regression or beyond a limit, 2 bad input or use.

  --policy NAME[@LANE] a preset, or a FILE.toml; again for more; `recorded` is what really happened
  --set KNOB=VALUE     sets a knob; LANE.KNOB=VALUE of one lane only;
                       strategy=NAME plays another preset
  --baseline FILE      what no run may be worse than: by cost (all tokens where a price is not known), references at risk,
                       peak, calls that do not fit, and thrash
  --write-baseline     writes FILE rather than comparing with it; a baseline that is there is written over, nothing else
  --tolerance PERCENT  how much more than the baseline is no regression; 0 unless told
  --max-peak SHARE     of usable: 0.9 or 90%
  --max-cost USD       of a session; +10% for so much above the baseline
  --max-at-risk N      references at risk; +10% for so much above the baseline
  --max-overflows N    calls that do not fit
  --no-thrash          it may not be stuck at its trigger or over its own limit, summarize call after call, or end the run
  --prices FILE.toml, --price-as MODEL, --cache-time usual|long, --bill-rejected   as in diagnose
  --junit FILE         the result for a build server; a result of ours that is there is written over, nothing else

A file that holds many sessions (a database, a log of many) is checked session by session, each named FILE#N; --conversation N
checks one. A changed setting is compared and told. A session whose content is not what it was is not compared, which is a failure:
write the baseline anew. A session that the baseline does not know is checked by the limits alone.

JSON: passed, baseline|null {file, written_by, other_version}, wrote|null, sessions[{file, conversation|null, title, sha256, content_changed,
changes[], lanes[{lane, policy, knobs{}, passed, figures{usd|null, tokens_sent, tokens_total, at_risk, blind_edits, refetch, peak,
peak_share, compactions, overflows, flaw|null}, before|null {the same}, changes[], checks[{measure, ok, text}]}]}],
not_checked[], left_out[{file, conversation|null, why}]. measure is cost, tokens_total, at_risk, peak, overflows or thrash.
",
    run,
};

/// One session, weighed, with what was found.
struct Judged {
    place: Place,
    title: String,
    session: baseline::Session,
    /// The content is another than the baseline's.
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

/// Everything there is to say, once for all forms.
struct Verdict {
    baseline: Option<(String, Baseline)>,
    wrote: Option<String>,
    sessions: Vec<Judged>,
    /// In the baseline, but not among these files.
    not_checked: Vec<String>,
    left_out: LeftOut,
}

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut wanted = Wanted::default();
    let operands = words.read(VERB.name, &mut shared, |option, words| {
        wanted.take(option, words)
    })?;
    // What was typed is checked before a long file is read: names first, since limits say nothing of a policy unknown.
    let (lanes, with_recorded) = wanted.lanes.gated(VERB.name, &shared)?;
    wanted.check()?;
    let targets = Targets::new(VERB.name, operands, &shared)?;
    let baseline = opened(&wanted)?;
    let texts = lanes.iter().map(|lane| {
        Ok((
            lane,
            fingerprint(policy_text(&lane.word, &OwnPresets::here())?.as_bytes()),
        ))
    });
    let lanes: Vec<(&Lane, String)> = texts.collect::<anyhow::Result<_>>()?;
    let prices = wanted.billing.prices()?;
    let billing = wanted.billing.billing(&prices)?;
    let mut sessions = Vec::new();
    let left_out = targets.each(&shared, |place, case| {
        let weighed = weigh::session(case, (&lanes, with_recorded), billing, place);
        let before = baseline
            .as_ref()
            .and_then(|(_, known)| known.sessions.get(&place.to_string()));
        let named = (place, &*case.session.title);
        sessions.push(judge(named, weighed, before, &wanted.limits));
        Ok(())
    })?;
    let mut verdict = Verdict {
        not_checked: not_checked(baseline.as_ref(), &sessions),
        baseline,
        wrote: None,
        sessions,
        left_out,
    };
    verdict.write(&wanted)?;
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

/// Reads the baseline; what is to be written is looked at too, before long work.
fn opened(wanted: &Wanted) -> anyhow::Result<Option<(String, Baseline)>> {
    if let Some(junit) = &wanted.junit {
        check_own(junit, junit::OWN)?;
    }
    let Some(path) = &wanted.baseline else {
        return Ok(None);
    };
    if wanted.writes {
        check_own(path, (baseline::WHAT, Baseline::is_one))?;
        return Ok(None);
    }
    let file = path.to_string_lossy().into_owned();
    let text = read_own(path)?;
    let baseline = Baseline::parse(&file, &text)?;
    if let Some(version) = baseline.other_version() {
        note(&format!(
            "{file} was written by plimsoll {version}, this is {}: figures may differ for that alone",
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
        // Figures of another conversation are nothing to compare with.
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

    /// Writes what is to be written.
    fn write(&mut self, wanted: &Wanted) -> anyhow::Result<()> {
        if let Some(path) = wanted.baseline.as_ref().filter(|_| wanted.writes) {
            let sessions = self
                .sessions
                .iter()
                .map(|s| (s.place.to_string(), s.session.clone()));
            let text = Baseline::new(sessions.collect::<BTreeMap<_, _>>()).text()?;
            write_own(path, &text, (baseline::WHAT, Baseline::is_one))?;
            self.wrote = Some(path.to_string_lossy().into_owned());
        }
        if let Some(path) = &wanted.junit {
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
                "FAIL {file}  its content is not what it was when the baseline was written, so nothing is compared; write it anew with --write-baseline"
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
                let (mark, what) = (if check.ok { ' ' } else { '!' }, check.measure.told());
                let _ = writeln!(text, "     {mark} {what}: {}", clean(&check.text));
            }
        }
    }
}
