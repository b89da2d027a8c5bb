//! Writes a managed conversation: the same run as in the window, with its requests answered for real.
//!
//! The source is never written, nothing that exists is overwritten, and what was written is read again and checked
//! ([`super::check`]). A run that changes nothing writes nothing.

use super::check::{self, Check, Promise};
use super::idle;
use super::place::{cannot_create, refuse_nowhere, write_new};
use crate::engine::{
    Answer, Budget, Case, Context, ExecutedContext, KnobValues, Outcome, Policy, Reply, Request,
    Schedule, digest, drive,
};
use crate::formats::{FORMATS, Format};
use crate::session::Managed;
use crate::units::Tokens;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who writes summaries.
#[derive(Clone, Debug, PartialEq)]
pub enum Summarizer {
    /// The offline digest: no model, nothing leaves the machine.
    Digest,
    /// A text that the person pasted.
    Text(String),
}

/// An export to be made.
#[derive(Clone, Debug)]
pub struct ExportJob {
    /// The session.
    pub case: Case,
    /// What manages it.
    pub policy: Policy,
    /// Its settings.
    pub knobs: KnobValues,
    /// Replay (what the lane shows) or now (compact once).
    pub schedule: Schedule,
    /// Up to this step's index; all if none.
    pub until: Option<usize>,
    /// Who writes summaries.
    pub summarizer: Summarizer,
    /// How to write it.
    pub format: &'static Format,
    /// Where to; never the source, never over an existing file.
    pub output: PathBuf,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The file; none if nothing changed and nothing was written.
    pub output: Option<PathBuf>,
    /// True tokens of the context before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// The policy acted.
    pub changed: bool,
    /// What was checked by reading the file again.
    pub checks: Vec<Check>,
    /// What the person should know (the trigger was not met).
    pub notes: Vec<String>,
}

/// Runs the policy with its requests answered for real, writes the result atomically, reads it again and checks it.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn export(job: &ExportJob) -> Result<Exported, String> {
    let write = job.format.export.ok_or_else(|| cannot_write(job.format))?;
    refuse_output(&job.output)?;
    let mut answers = Answers {
        summarizer: &job.summarizer,
        failures: Vec::new(),
    };
    let outcome = drive(
        &job.case,
        &job.policy,
        &job.knobs,
        job.schedule,
        job.until,
        &mut answers,
    );
    if outcome.compactions == 0 {
        return match answers.failures.pop() {
            Some(reason) => Err(format!("nothing was written: {reason}")),
            None => Ok(unchanged(job, &outcome)),
        };
    }
    let (before, after) = (before(job, &outcome), outcome.context.tokens());
    let mut notes = outcome.warnings.clone();
    notes.extend(overflows(&outcome));
    notes.extend(still_too_large(job, after));
    let executed =
        ExecutedContext::new(outcome.context).map_err(|predicted| predicted.to_string())?;
    let mut managed = executed.managed(&job.case.session);
    let overhead = executed.context().overhead;
    managed.calibration = job.case.ledger.calibration(overhead);
    let bytes = write(&job.case.session, &managed)
        .map_err(|error| format!("{error}; choose another format"))?;
    write_new(&job.output, &bytes).map_err(|error| cannot_create(&job.output, &error))?;
    let checks = reread(job, &managed, executed.context());
    Ok(Exported {
        output: Some(job.output.clone()),
        before,
        after,
        changed: true,
        checks,
        notes,
    })
}

/// Meets a run's requests for summaries.
struct Answers<'a> {
    summarizer: &'a Summarizer,
    /// Why requests failed, for the person.
    failures: Vec<String>,
}

impl Answer for Answers<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        let text = match self.summarizer {
            Summarizer::Digest => return Reply::Summary(Arc::from(digest(case, request))),
            Summarizer::Text(text) => text.trim(),
        };
        let reason = if text.is_empty() {
            "the summary is empty; give its text or use the digest".to_owned()
        } else if request.fits(case, text) {
            return Reply::Summary(Arc::from(text));
        } else {
            let (weight, most) = (
                case.ledger.weigh(&request.message(text)).0,
                request.max_tokens.0,
            );
            format!(
                "the summary weighs {weight} tokens and {most} are allowed; shorten it or raise summary_max_tokens"
            )
        };
        self.failures.push(reason.clone());
        Reply::Failed(reason)
    }
}

fn cannot_write(format: &Format) -> String {
    let known: Vec<_> = FORMATS
        .iter()
        .filter(|f| f.export.is_some())
        .map(|f| f.name)
        .collect();
    format!(
        "{} cannot be written; choose one of {}",
        format.label,
        known.join(", ")
    )
}

/// Nothing that exists is overwritten: the source by another spelling or through a link least of all.
fn refuse_output(output: &Path) -> Result<(), String> {
    if super::is_taken(output) {
        return Err(format!(
            "{} already exists and is never overwritten; choose another name",
            output.display()
        ));
    }
    refuse_nowhere(output)
}

/// What the file says once it is read from the disk again.
fn reread(job: &ExportJob, managed: &Managed, promised: &Context) -> Vec<Check> {
    let promise = Promise {
        case: &job.case,
        managed,
        tokens: promised.tokens(),
        overhead: promised.overhead,
        format: job.format,
    };
    match fs::read(&job.output) {
        Ok(bytes) => check::all(&promise, bytes),
        Err(error) => vec![Check::failed("reads back", error.to_string())],
    }
}

/// Nothing was written: why, and whether the context fits all the same.
fn unchanged(job: &ExportJob, outcome: &Outcome) -> Exported {
    let tokens = outcome.context.tokens();
    let mut notes = outcome.warnings.clone();
    notes.push(format!("{}: nothing was written", idle::why(job, outcome)));
    notes.extend(overflows(outcome));
    notes.extend(still_too_large(job, tokens));
    Exported {
        output: None,
        before: tokens,
        after: tokens,
        changed: false,
        checks: Vec::new(),
        notes,
    }
}

/// A replay may overflow on its way, whatever it ends with.
fn overflows(outcome: &Outcome) -> Option<String> {
    match outcome.overflows {
        0 => None,
        1 => Some("1 call of this replay did not fit at first".to_owned()),
        n => Some(format!("{n} calls of this replay did not fit at first")),
    }
}

/// A policy may act and still not help, or not act where it should.
fn still_too_large(job: &ExportJob, after: Tokens) -> Option<String> {
    let step = job.until.unwrap_or(job.case.session.steps.len());
    let window = job.case.windows.at(step);
    let output_reserve = job.policy.output_reserve(&job.knobs, &job.case, step);
    let usable = Budget {
        window,
        output_reserve,
    }
    .usable();
    let text = || {
        format!(
            "still more than the usable {} tokens: the next call would not fit",
            usable.0
        )
    };
    (after > usable).then(text)
}

/// Now: the last real context. Replay: the whole history up to the same point.
fn before(job: &ExportJob, outcome: &Outcome) -> Tokens {
    match job.schedule {
        Schedule::Now { .. } => outcome
            .events
            .first()
            .map_or_else(|| outcome.context.tokens(), |e| e.before),
        Schedule::Replay => {
            let history = &job.case.ledger.truth.history_prefix;
            let so_far = history
                .get(outcome.context.messages_end)
                .or(history.last())
                .copied();
            Tokens(so_far.unwrap_or(0)) + job.case.ledger.overhead
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn nothing_that_exists_is_written_over_not_even_through_a_dangling_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(refuse_output(&link).unwrap_err().contains("already exists"));
        assert!(write_new(&link, b"x").is_err());
        assert!(!folder.path().join("nowhere").exists());
        assert!(
            refuse_output(&folder.path().join("no/such/file"))
                .unwrap_err()
                .contains("is no folder")
        );
        assert_eq!(refuse_output(&folder.path().join("new")), Ok(()));
    }
}
