//! Writes a managed conversation: the same run as in the window, with its requests answered for real.
//!
//! The source is never written, nothing that exists is overwritten, and what was written is read again and checked
//! ([`super::check`]). A run that changes nothing writes nothing.

use super::check::{self, Check, Promise};
use crate::engine::{
    Answer, Budget, Case, Context, ExecutedContext, KnobValues, Outcome, Policy, Reply, Request,
    Schedule, digest, drive,
};
use crate::formats::{FORMATS, Format};
use crate::session::Managed;
use crate::units::Tokens;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

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
    notes.extend(still_too_large(job, after));
    let executed =
        ExecutedContext::new(outcome.context).map_err(|predicted| predicted.to_string())?;
    let managed = executed.managed(&job.case.session);
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

/// `<name>-managed-N.<ext>` beside the source, the first N that is free; in the current folder when the source lies in
/// an agent's own session store, where a file of ours would be taken for a session of the agent's.
pub fn default_export_path(source: &Path, format: &Format) -> PathBuf {
    let folder = source.parent().unwrap_or(Path::new(""));
    let folder = if is_in_store(folder, &agent_stores()) {
        Path::new("")
    } else {
        folder
    };
    free_name(folder, source, format)
}

fn free_name(folder: &Path, source: &Path, format: &Format) -> PathBuf {
    let extension = match format.name {
        "claude_code" | "codex_rollout" => "jsonl",
        _ => "json",
    };
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let stem = without_managed_suffix(&stem);
    (1..=u32::MAX)
        .map(|n| folder.join(format!("{stem}-managed-{n}.{extension}")))
        .find(|path| path.symlink_metadata().is_err())
        .unwrap_or_else(|| folder.join(format!("{stem}-managed.{extension}")))
}

/// An export of an export is numbered on, not named after its parent.
fn without_managed_suffix(stem: &str) -> &str {
    match stem.rsplit_once("-managed-") {
        Some((name, n))
            if !name.is_empty() && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) =>
        {
            name
        }
        _ => stem,
    }
}

/// Folders in which agents keep and look for their own sessions.
fn agent_stores() -> Vec<PathBuf> {
    let of_env =
        |name: &str, under: &str| std::env::var_os(name).map(|dir| PathBuf::from(dir).join(under));
    let home = etcetera::home_dir().ok();
    let of_home = |under: &str| home.as_ref().map(|home| home.join(under));
    [
        of_env("CLAUDE_CONFIG_DIR", "projects"),
        of_env("CODEX_HOME", "sessions"),
        of_env("CODEX_HOME", "archived_sessions"),
        of_home(".claude/projects"),
        of_home(".config/claude/projects"),
        of_home(".codex/sessions"),
        of_home(".codex/archived_sessions"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Compared by their real places, so that links and other spellings do not matter.
fn is_in_store(folder: &Path, stores: &[PathBuf]) -> bool {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    stores
        .iter()
        .filter_map(|store| store.canonicalize().ok())
        .any(|store| folder.starts_with(store))
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
    if output.symlink_metadata().is_ok() {
        return Err(format!(
            "{} already exists and is never overwritten; choose another name",
            output.display()
        ));
    }
    match folder_of(output).metadata() {
        Ok(folder) if folder.is_dir() => Ok(()),
        _ => Err(format!(
            "{} is no folder; make it or write elsewhere",
            folder_of(output).display()
        )),
    }
}

fn cannot_create(output: &Path, error: &io::Error) -> String {
    format!(
        "{} cannot be written ({error}); write elsewhere",
        output.display()
    )
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Writes a new file so that it is there whole or not at all, also after a power cut.
fn write_new(output: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(output);
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(output)?;
    // The name is durable once its folder is; not every platform can open a folder.
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
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

fn unchanged(job: &ExportJob, outcome: &Outcome) -> Exported {
    let tokens = outcome.context.tokens();
    let mut notes = outcome.warnings.clone();
    let forced = job.schedule == Schedule::Now { force: true };
    notes.push(match job.schedule {
        _ if forced => format!(
            "{} found nothing to remove: nothing was written",
            job.policy.label
        ),
        Schedule::Now { .. } => format!(
            "the trigger of {} is not met: nothing was written",
            job.policy.label
        ),
        Schedule::Replay => format!(
            "{} never acted up to here: nothing was written",
            job.policy.label
        ),
    });
    Exported {
        output: None,
        before: tokens,
        after: tokens,
        changed: false,
        checks: Vec::new(),
        notes,
    }
}

/// A policy may act and still not help.
fn still_too_large(job: &ExportJob, after: Tokens) -> Option<String> {
    let window = job
        .case
        .windows
        .at(job.until.unwrap_or(job.case.session.steps.len()));
    let output_reserve = Tokens(job.policy.output_reserve(&job.knobs).max(0.0) as u64);
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
    use crate::formats;

    fn format(name: &str) -> &'static Format {
        formats::by_name(name).unwrap()
    }

    #[test]
    fn exports_are_numbered_beside_the_source() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.b.json");
        let first = default_export_path(&source, format("openai_chat"));
        assert_eq!(first, folder.path().join("a.b-managed-1.json"));
        fs::write(&first, "x").unwrap();
        assert_eq!(
            default_export_path(&first, format("claude_code")),
            folder.path().join("a.b-managed-1.jsonl")
        );
        assert_eq!(
            default_export_path(&first, format("openai_chat")),
            folder.path().join("a.b-managed-2.json")
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_agents_own_store_is_recognized_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        fs::create_dir_all(store.join("project")).unwrap();
        std::os::unix::fs::symlink(store.join("project"), folder.path().join("link")).unwrap();
        let stores = [store];
        assert!(is_in_store(&folder.path().join("link"), &stores));
        assert!(!is_in_store(folder.path(), &stores));
    }

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
