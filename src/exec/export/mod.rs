//! Writes a managed conversation: the same run as in the window, with its requests answered for real.
//!
//! The source is never written, nothing that exists is overwritten, and what was written is read again and checked
//! ([`super::check`]). A run that changes nothing writes nothing. Sidecars come first and the managed file last, so that
//! after a crash there is a whole export or none.

mod files;
mod hash;
mod manifest;
mod notes;
mod pieces;
mod removed;
mod sidecars;

pub use files::WrittenFile;
pub(super) use hash::sha256;
pub(super) use manifest::{Recipe, put_together};
pub(super) use removed::Removed;
pub use sidecars::{Sidecars, files_path};
pub(super) use sidecars::{manifest_path, removed_path};

use super::check::{self, Check, Promise};
use super::idle;
use super::new_file::{refuse_output, write_file};
use super::place::{Staged, cannot_create};
use super::summary::{Answers, LogWriter, RequestRecord, Summarizer, refusal};
use crate::engine::{Case, ExecutedContext, KnobValues, Outcome, Policy, Schedule, Storage, drive};
use crate::formats::{self, FORMATS, Format, Input};
use crate::session::{FileBytes, Managed, Session};
use crate::units::Tokens;
use files::Files;
use manifest::Told;
use sidecars::{renamed, sidecar_base, sidecars};
use std::path::{Path, PathBuf};

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
    /// Answers that [`preview`] got, perhaps written over by a person: the first requests are not asked again.
    pub given: Vec<RequestRecord>,
    /// Where files go that the policy writes; `<output>.files` beside the output if none.
    pub files: Option<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The file; none if nothing changed and nothing was written.
    pub output: Option<PathBuf>,
    /// What was taken out of the source, and the manifest.
    pub sidecars: Option<Sidecars>,
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
    /// What was asked of who writes summaries.
    pub requests: Vec<RequestRecord>,
    /// The log of what was asked of a model.
    pub log: Option<PathBuf>,
}

/// Runs the policy with its requests answered for real, writes the result atomically, reads it again and checks it.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn export(job: &ExportJob) -> Result<Exported, String> {
    refuse_output(&job.output)?;
    let base = sidecar_base(&job.output);
    let mut answers = Answers::new(&job.summarizer, &job.given);
    let mut ran = run(job, &base, &mut answers)?;
    let requests = std::mem::take(&mut answers.records);
    let log = answers.log().and_then(|log| log.outcome().0);
    if !ran.outcome.removes() {
        return Ok(Exported {
            log: log.map(Path::to_owned),
            ..unchanged(job, &ran.outcome, ran.notes, requests)
        });
    }
    ran.notes.extend(refusal(&requests));
    ran.notes.extend(renamed(&job.output, &base));
    let (made, bytes) = Made::new(job, ran.outcome, ran.notes)?;
    let staged =
        Staged::new(&job.output, &bytes).map_err(|error| cannot_create(&job.output, &error))?;
    drop(bytes);
    let read = staged
        .read()
        .map_err(|error| cannot_create(&job.output, &error))?;
    let read = FileBytes::from(read);
    let mut checks = made.checks(job, read.clone());
    let told = Told {
        job,
        base: &base,
        outcome: &made.outcome,
        before: made.before,
        after: made.after,
        notes: &made.notes,
        requests: &requests,
        files: &ran.files.written,
        folder: (!ran.files.written.is_empty()).then(|| ran.folder.to_string_lossy().into_owned()),
    };
    let (sidecars, mut unfinished) = sidecars(&told, &read, &mut checks)?;
    unfinished.append(&mut ran.files.unfinished);
    staged
        .put_in_place(&job.output, unfinished)
        .map_err(|error| {
            sidecars.take_away();
            cannot_create(&job.output, &error)
        })?;
    let n_files = ran.files.keep().len();
    let sidecars = Sidecars {
        files: (n_files > 0).then_some((ran.folder, n_files)),
        ..sidecars
    };
    Ok(Exported {
        sidecars: Some(sidecars),
        requests,
        log: log.map(Path::to_owned),
        ..made.exported(job, checks)
    })
}

/// Writes what the model sees at the call `until`, whether the policy has done anything by then or not: the file
/// alone.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn export_seen(job: &ExportJob) -> Result<Exported, String> {
    refuse_output(&job.output)?;
    let mut answers = Answers::new(&job.summarizer, &job.given);
    let outcome = played(job, Storage::AsSet, &mut answers);
    if let Some(reason) = answers.broken.take().or(answers.failures.pop()) {
        return Err(format!("nothing was written: {reason}"));
    }
    let (made, bytes) = Made::new(job, outcome, Vec::new())?;
    write_file(&job.output, &bytes)?;
    drop(bytes);
    let read = std::fs::read(&job.output).map_err(|error| cannot_create(&job.output, &error))?;
    let checks = made.checks(job, read.into());
    Ok(Exported {
        requests: answers.records,
        ..made.exported(job, checks)
    })
}

/// What an export would come to, its summaries written for real.
#[derive(Clone, Debug)]
pub struct Preview {
    /// True tokens of the context before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// The policy acts.
    pub changes: bool,
    /// Every request with its answer.
    pub requests: Vec<RequestRecord>,
    /// What the person should know.
    pub notes: Vec<String>,
    /// The log of what was asked of a model.
    pub log: Option<PathBuf>,
}

/// Runs the policy with its requests answered for real and writes nothing but the log of a model's answers.
///
/// # Errors
/// One line that says what to do.
pub fn preview(job: &ExportJob) -> Result<Preview, String> {
    let mut answers = Answers::new(&job.summarizer, &job.given);
    let outcome = played(job, Storage::AsSet, &mut answers);
    if let Some(why) = answers.broken.take() {
        return Err(why);
    }
    let mut notes = std::mem::take(&mut answers.notes);
    notes.extend(outcome.warnings.iter().cloned());
    notes.extend(notes::of_run(job, &outcome));
    let log = answers.log().map(LogWriter::outcome);
    let (log, trouble) = log.unwrap_or_default();
    notes.extend(trouble);
    let log = log.map(Path::to_owned);
    Ok(Preview {
        before: notes::before(job, &outcome),
        after: outcome.context.tokens(),
        changes: outcome.removes(),
        requests: std::mem::take(&mut answers.records),
        notes,
        log,
    })
}

/// A run with the files that it wrote.
struct Ran {
    outcome: Outcome,
    folder: PathBuf,
    files: Files,
    notes: Vec<String>,
}

/// Plays the policy, its requests answered for real and its files written.
fn run(job: &ExportJob, base: &Path, answers: &mut Answers<'_>) -> Result<Ran, String> {
    job.format.export.ok_or_else(|| cannot_write(job.format))?;
    let folder = files_folder(job, base);
    let place = Storage::Folder(folder.to_string_lossy().into());
    let mut outcome = played(job, place, answers);
    let mut notes = Vec::new();
    let files = match Files::write(&folder, &job.case, &outcome.events) {
        Ok(files) => files,
        Err(why) => {
            // What the policy does without storage is its own rule.
            notes.push(format!("{why}: ran without storage"));
            answers.again();
            outcome = played(job, Storage::Missing, answers);
            Files::write(&folder, &job.case, &outcome.events)?
        }
    };
    if let Some(why) = answers.broken.take() {
        return Err(format!("nothing was written: {why}"));
    }
    notes.append(&mut answers.notes);
    notes.extend(answers.log().and_then(|log| log.outcome().1));
    Ok(Ran {
        outcome,
        folder,
        files,
        notes,
    })
}

/// A managed conversation that is to be written.
struct Made {
    outcome: Outcome,
    executed: ExecutedContext,
    managed: Managed,
    before: Tokens,
    after: Tokens,
    notes: Vec<String>,
}

impl Made {
    /// With the bytes of the file.
    fn new(
        job: &ExportJob,
        outcome: Outcome,
        mut notes: Vec<String>,
    ) -> Result<(Self, Vec<u8>), String> {
        let write = job.format.export.ok_or_else(|| cannot_write(job.format))?;
        let (before, after) = (notes::before(job, &outcome), outcome.context.tokens());
        notes.extend(outcome.warnings.iter().cloned());
        notes.extend(notes::of_run(job, &outcome));
        let executed = ExecutedContext::new(outcome.context.clone())
            .map_err(|predicted| predicted.to_string())?;
        let mut managed = executed.managed(&job.case.session);
        if managed.is_empty(&job.case.session) {
            return Err(format!(
                "nothing was written: the copy would hold no message; change the settings of {} or what is dropped",
                job.policy.label
            ));
        }
        managed.calibration = job.case.ledger.calibration(executed.context().overhead);
        // Its records are looked up one by one.
        let held = job.case.session.source.bytes.whole();
        let bytes = write(&job.case.session, &managed)
            .map_err(|error| format!("{error}; choose another format"))?;
        drop(held);
        let made = Self {
            outcome,
            executed,
            managed,
            before,
            after,
            notes,
        };
        Ok((made, bytes))
    }

    /// What the written file says, read again.
    fn checks(&self, job: &ExportJob, bytes: FileBytes) -> Vec<Check> {
        let promised = self.executed.context();
        let promise = Promise {
            case: &job.case,
            managed: &self.managed,
            tokens: promised.tokens(),
            overhead: promised.overhead,
            format: job.format,
            policy: &job.policy,
            knobs: &job.knobs,
            step: job
                .until
                .unwrap_or(job.case.session.calls.len().saturating_sub(1)),
        };
        check::all(&promise, bytes)
    }

    fn exported(self, job: &ExportJob, checks: Vec<Check>) -> Exported {
        Exported {
            output: Some(job.output.clone()),
            sidecars: None,
            before: self.before,
            after: self.after,
            changed: self.outcome.removes(),
            checks,
            notes: self.notes,
            requests: Vec::new(),
            log: None,
        }
    }
}

/// Plays the policy with files going to a place.
fn played(job: &ExportJob, storage: Storage, answers: &mut Answers<'_>) -> Outcome {
    let case = job.case.with_storage(storage);
    drive(
        &case,
        &job.policy,
        &job.knobs,
        job.schedule,
        job.until,
        answers,
    )
}

/// Where files go, by a path that means the same in every folder, since pointers name it.
fn files_folder(job: &ExportJob, base: &Path) -> PathBuf {
    let folder = job.files.clone().unwrap_or_else(|| files_path(base));
    std::path::absolute(&folder).unwrap_or(folder)
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

/// The conversation that some bytes hold.
fn session_of(bytes: FileBytes) -> Option<Session> {
    let input = Input {
        name: String::new(),
        bytes,
    };
    formats::parse(&input).ok()?.sessions.into_iter().next()
}

/// Nothing was written: why, and whether the context fits all the same.
fn unchanged(
    job: &ExportJob,
    outcome: &Outcome,
    mut notes: Vec<String>,
    requests: Vec<RequestRecord>,
) -> Exported {
    let tokens = outcome.context.tokens();
    notes.extend(outcome.warnings.iter().cloned());
    let why = idle::why(job, outcome, &requests);
    notes.push(format!("{why}: nothing was written"));
    notes.extend(notes::of_run(job, outcome));
    Exported {
        output: None,
        sidecars: None,
        before: tokens,
        after: tokens,
        changed: false,
        checks: Vec::new(),
        notes,
        requests,
        log: None,
    }
}
