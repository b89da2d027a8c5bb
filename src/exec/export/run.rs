//! Runs exports: the same run as in the window, with real answers to its summary requests.
//!
//! The source is never written, nothing that exists is overwritten, and the result is read again and checked
//! ([`crate::exec::check`]). A run that changes nothing writes nothing. Sidecars are written first and the managed file
//! last, so that a crash leaves a complete export or none.

use super::job::ExportJob;
use super::manifest::ManifestContent;
use super::marked::commit_marked;
use super::no_change::reason_for_no_change;
use super::notes;
use super::policy_files::PolicyFiles;
use super::sidecars::{PolicyFolder, Sidecars, renamed_note, sidecar_base, write_sidecars};
use crate::engine::{Answer, ExecutedContext, Outcome, Schedule, Storage, drive};
use crate::exec::check::{self, Check, Promise};
use crate::exec::files::{StagedFile, check_is_new, write_error};
use crate::exec::outputs::files_path;
use crate::exec::summary::{LogWriter, RequestRecord, SummaryAnswerer, digested, rejection};
use crate::formats::{self, Format};
use crate::session::{FileBytes, Managed};
use crate::units::Tokens;
use std::path::{Path, PathBuf};

/// The result of an export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The managed file; `None` if nothing changed and nothing was written.
    pub output: Option<PathBuf>,
    /// The sidecars.
    pub sidecars: Option<Sidecars>,
    /// Actual tokens of the context before.
    pub before: Tokens,
    /// Actual tokens after.
    pub after: Tokens,
    /// Tokens of these that the session does not record.
    pub not_recorded: Tokens,
    /// The policy acted.
    pub changed: bool,
    /// Checks of the written file.
    pub checks: Vec<Check>,
    /// Notes for the user, for example that the trigger was not met.
    pub notes: Vec<String>,
    /// Summary requests with their answers.
    pub requests: Vec<RequestRecord>,
    /// Log of the requests to a model.
    pub log: Option<PathBuf>,
}

/// Runs the policy with real summaries, writes the result atomically, reads it again and checks it.
///
/// # Errors
/// Returns one line if the export fails; then nothing was written.
pub fn export(job: &ExportJob) -> Result<Exported, String> {
    export_managed(job).map(|(exported, _)| exported)
}

/// Runs an export like [`export`], and returns the managed conversation if it was written.
///
/// # Errors
/// Returns one line if the export fails; then nothing was written.
pub(super) fn export_managed(job: &ExportJob) -> Result<(Exported, Option<Managed>), String> {
    check_is_new(&job.output)?;
    let base = sidecar_base(&job.output);
    let mut answers = SummaryAnswerer::new(&job.summarizer, &job.given);
    let mut executed = execute(job, &base, &mut answers)?;
    let requests = std::mem::take(&mut answers.records);
    let log = answers.log().and_then(LogWriter::path);
    let is_rejected = requests.iter().any(|request| request.failed.is_some());
    if !has_acted(job, &executed.outcome) && (is_rejected || !is_for_another_program(job)) {
        let exported = Exported {
            log: log.map(Path::to_owned),
            ..unchanged(job, &executed.outcome, executed.notes, requests)
        };
        return Ok((exported, None));
    }
    if !has_acted(job, &executed.outcome) {
        let reason = reason_for_no_change(job, &executed.outcome, &requests);
        executed.notes.push(format!("{reason}: this is the whole context"));
    }
    executed.notes.extend(rejection(&requests));
    executed.notes.extend(digested(&requests));
    executed.notes.extend(renamed_note(&job.output, &base));
    let (mut result, bytes) = ManagedResult::new(job, executed.outcome, executed.notes)?;
    let staged = StagedFile::private(&job.output, &bytes)
        .map_err(|error| write_error(&job.output, &error))?;
    drop(bytes);
    let read = staged.read().map_err(|error| write_error(&job.output, &error))?;
    let read = FileBytes::from(read);
    let mut checks = result.checks(job, &read);
    let files = &executed.files.written;
    let content = ManifestContent {
        job,
        base: &base,
        outcome: &result.outcome,
        before: result.before,
        after: result.after,
        notes: &result.notes,
        requests: &requests,
        files,
        folder: (!files.is_empty()).then(|| executed.folder.to_string_lossy().into_owned()),
    };
    let (sidecars, mut unfinished) = write_sidecars(&content, &read, &mut checks)?;
    unfinished.append(&mut executed.files.unfinished);
    staged.commit(&job.output, unfinished).map_err(|error| {
        sidecars.remove();
        write_error(&job.output, &error)
    })?;
    let n_files = executed.files.keep().len();
    let sidecars = Sidecars {
        files: (n_files > 0).then_some(PolicyFolder { path: executed.folder, n_files }),
        ..sidecars
    };
    let managed = std::mem::take(&mut result.managed);
    let exported = Exported {
        sidecars: Some(sidecars),
        requests,
        log: log.map(Path::to_owned),
        ..result.exported(job, checks)
    };
    Ok((exported, Some(managed)))
}

/// Writes the context of the call `until`, whether the policy has changed it or not. Its only sidecar is a
/// manifest that marks it as written by Plimsoll.
///
/// # Errors
/// Returns one line if the export fails; then nothing was written.
pub fn export_context(job: &ExportJob) -> Result<Exported, String> {
    check_is_new(&job.output)?;
    let mut answers = SummaryAnswerer::new(&job.summarizer, &job.given);
    let context = context_with(job, &mut answers);
    if let Some(reason) = answers.fatal.take().or(answers.failures.pop()) {
        return Err(format!("nothing was written: {reason}"));
    }
    let CallContext { result, bytes } = context?;
    let failed = |error| write_error(&job.output, &error);
    let staged = StagedFile::private(&job.output, &bytes).map_err(failed)?;
    drop(bytes);
    let read = staged.read().map_err(failed)?;
    let checks = result.checks(job, &read.clone().into());
    let origin = ("context", &*job.case.session, job.format);
    commit_marked(staged, &read, &job.output, origin)?;
    let mut exported = result.exported(job, checks);
    exported.notes.extend(digested(&answers.records));
    Ok(Exported { requests: answers.records, ..exported })
}

/// The context of a call under a policy.
pub struct CallContext {
    result: ManagedResult,
    bytes: Vec<u8>,
}

impl CallContext {
    /// Returns the conversation that ends before the answer of the call, in the format of the job.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the result of the run up to the call.
    pub fn outcome(&self) -> &Outcome {
        &self.result.outcome
    }
}

/// Returns the context of the call `until`, as [`export_context`] writes it, and uses the caller's answers to summary
/// requests.
///
/// # Errors
/// Returns one line if the context cannot be written in the job's format.
pub fn context_with(job: &ExportJob, answers: &mut dyn Answer) -> Result<CallContext, String> {
    let outcome = run(job, job.case.storage.clone(), answers);
    let (result, bytes) = ManagedResult::new(job, outcome, Vec::new())?;
    Ok(CallContext { result, bytes })
}

/// The result that an export would have, with real summaries.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Actual tokens of the context before.
    pub before: Tokens,
    /// Actual tokens after.
    pub after: Tokens,
    /// The policy acts.
    pub changes: bool,
    /// Summary requests with their answers.
    pub requests: Vec<RequestRecord>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Log of the requests to a model.
    pub log: Option<PathBuf>,
}

/// Runs the policy with real summaries and writes nothing but the log of the model's answers.
///
/// # Errors
/// Returns one line if the run fails.
pub fn preview(job: &ExportJob) -> Result<Preview, String> {
    let mut answers = SummaryAnswerer::new(&job.summarizer, &job.given);
    let outcome = run(job, Storage::AsSet, &mut answers);
    if let Some(reason) = answers.fatal.take() {
        return Err(reason);
    }
    let mut notes = std::mem::take(&mut answers.notes);
    notes.extend(outcome.warnings.iter().map(ToString::to_string));
    notes.extend(notes::run_notes(job, &outcome));
    notes.extend(answers.log().and_then(LogWriter::error));
    let log = answers.log().and_then(LogWriter::path);
    let log = log.map(Path::to_owned);
    Ok(Preview {
        before: notes::before(job, &outcome),
        after: outcome.context.tokens(),
        changes: has_acted(job, &outcome),
        requests: std::mem::take(&mut answers.records),
        notes,
        log,
    })
}

/// An executed run and the files that it wrote.
struct ExecutedRun {
    outcome: Outcome,
    folder: PathBuf,
    files: PolicyFiles,
    notes: Vec<String>,
}

/// Runs the policy with real answers and writes its files.
fn execute(
    job: &ExportJob,
    base: &Path,
    answers: &mut SummaryAnswerer<'_>,
) -> Result<ExecutedRun, String> {
    if !job.format.is_writable() {
        return Err(cannot_write(job.format));
    }
    let folder = files_folder(job, base);
    let storage = Storage::Folder(folder.to_string_lossy().into());
    let mut outcome = run(job, storage, answers);
    let mut notes = Vec::new();
    let files = match PolicyFiles::write(&folder, &job.case, &outcome.events) {
        Ok(files) => files,
        Err(reason) => {
            // Policies have rules for running without storage.
            notes.push(format!("{reason}; the policy ran without storage"));
            answers.restart();
            outcome = run(job, Storage::Missing, answers);
            PolicyFiles::write(&folder, &job.case, &outcome.events)?
        }
    };
    if let Some(reason) = answers.fatal.take() {
        return Err(format!("nothing was written: {reason}"));
    }
    notes.append(&mut answers.notes);
    notes.extend(answers.log().and_then(LogWriter::error));
    Ok(ExecutedRun { outcome, folder, files, notes })
}

/// A managed conversation before it is written.
struct ManagedResult {
    outcome: Outcome,
    executed: ExecutedContext,
    managed: Managed,
    before: Tokens,
    after: Tokens,
    notes: Vec<String>,
}

impl ManagedResult {
    /// Creates the managed conversation and the bytes of its file.
    fn new(
        job: &ExportJob,
        outcome: Outcome,
        mut notes: Vec<String>,
    ) -> Result<(Self, Vec<u8>), String> {
        let (before, after) = (notes::before(job, &outcome), outcome.context.tokens());
        notes.extend(outcome.warnings.iter().map(ToString::to_string));
        notes.extend(notes::run_notes(job, &outcome));
        let executed = ExecutedContext::new(outcome.context.clone())
            .map_err(|predicted| predicted.to_string())?;
        let mut managed = executed.managed(&job.case.session);
        if managed.is_empty(&job.case.session) {
            return Err(format!(
                "nothing was written: the managed file would have no messages; change the settings of {} or the manual edits",
                job.policy.label
            ));
        }
        managed.calibration = job.case.ledger.calibration(executed.context().overhead);
        let is_own = job.format.name == job.case.session.source.format;
        let result = is_own.then(|| formats::result_without_call(&job.case.session, &managed));
        if let Some(call) = result.flatten() {
            return Err(format!(
                "the result of call {call} is kept without the call, but {} stores both in one record; choose another format",
                job.format.label
            ));
        }
        // Keeps the bytes decompressed while records are read one by one.
        let held = job.case.session.source.bytes.whole();
        let bytes = job
            .format
            .write(&job.case.session, &managed)
            .map_err(|error| format!("{error}; choose another format"))?;
        drop(held);
        let result = Self { outcome, executed, managed, before, after, notes };
        Ok((result, bytes))
    }

    /// Checks the bytes of the written file.
    fn checks(&self, job: &ExportJob, bytes: &FileBytes) -> Vec<Check> {
        let promised = self.executed.context();
        let promise = Promise {
            case: &job.case,
            managed: &self.managed,
            tokens: promised.tokens(),
            overhead: promised.overhead,
            format: job.format,
            policy: &job.policy,
            knobs: &job.knobs,
            call: job.until.unwrap_or(job.case.session.calls.len().saturating_sub(1)),
        };
        check::all(&promise, bytes)
    }

    fn exported(self, job: &ExportJob, checks: Vec<Check>) -> Exported {
        Exported {
            output: Some(job.output.clone()),
            sidecars: None,
            before: self.before,
            after: self.after,
            not_recorded: self.outcome.context.overhead,
            changed: has_acted(job, &self.outcome),
            checks,
            notes: self.notes,
            requests: Vec::new(),
            log: None,
        }
    }
}

/// Returns whether the policy acted, so that there is a result to write. A replay also acts by what it repairs, writes
/// or reshapes, as its events say; a policy that is applied now has to remove something.
fn has_acted(job: &ExportJob, outcome: &Outcome) -> bool {
    match job.schedule {
        Schedule::Replay => outcome.changes(),
        Schedule::Now { .. } => outcome.removes(),
    }
}

/// Returns whether the conversation is written for another program, which needs it also if the policy does not act.
fn is_for_another_program(job: &ExportJob) -> bool {
    job.format.has_own_instructions(&job.case.session)
}

/// Runs the policy with this storage.
fn run(job: &ExportJob, storage: Storage, answers: &mut dyn Answer) -> Outcome {
    let case = job.case.with_storage(storage);
    drive(&case, &job.policy, &job.knobs, job.schedule, job.until, answers)
}

/// Returns the absolute path of the folder for the policy's files, since pointers name it.
fn files_folder(job: &ExportJob, base: &Path) -> PathBuf {
    let folder = job.files.clone().unwrap_or_else(|| files_path(base));
    std::path::absolute(&folder).unwrap_or(folder)
}

fn cannot_write(format: &Format) -> String {
    let known: Vec<_> = formats::writable().map(|f| f.name).collect();
    format!("exporting as {} is not supported; choose one of {}", format.label, known.join(", "))
}

/// Returns the result of a run that changed nothing, with the reason and a note on overflow.
fn unchanged(
    job: &ExportJob,
    outcome: &Outcome,
    mut notes: Vec<String>,
    requests: Vec<RequestRecord>,
) -> Exported {
    let tokens = outcome.context.tokens();
    notes.extend(outcome.warnings.iter().map(ToString::to_string));
    let reason = reason_for_no_change(job, outcome, &requests);
    notes.push(format!("{reason}: nothing was written"));
    notes.extend(notes::run_notes(job, outcome));
    Exported {
        output: None,
        sidecars: None,
        before: tokens,
        after: tokens,
        not_recorded: outcome.context.overhead,
        changed: false,
        checks: Vec::new(),
        notes,
        requests,
        log: None,
    }
}
