//! Writes a managed conversation to the store of the program that recorded it, as a new session that it can resume.
//!
//! This only happens on request. The recorded session is unchanged, and nothing is overwritten.

use super::job::ExportJob;
use super::run::{Exported, export};
use crate::exec::check::Check;
use crate::exec::files::unfinished::TemporaryFolder;
use crate::exec::files::{create_private_folder, short_reason, write_error, write_new};
use crate::exec::outputs::files_path;
use crate::exec::shell::quoted;
use crate::figure::counted;
use crate::formats::{self, FORMATS, Format, Input, NewSession, Resumable, Resume};
use crate::session::Session;
use crate::units::Millis;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A new session in a program's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Id of the session.
    pub id: String,
    /// The file in the program's store.
    pub path: PathBuf,
    /// Shell command that resumes it.
    pub command: String,
}

/// Runs an export and writes the result to the program's store as a new session. The output of the job is ignored.
///
/// # Errors
/// Returns one line if the export fails or the store cannot be written; then nothing was written.
pub fn export_resumable(job: &ExportJob) -> Result<(Exported, Option<Resumed>), String> {
    let resume = job.format.resume.as_ref();
    let resume = resume.ok_or_else(|| cannot_resume(job.format))?;
    let store = store(resume)?;
    let folder = TemporaryFolder::new().map_err(|error| {
        format!("cannot create a temporary folder ({}); set TMPDIR", short_reason(&error))
    })?;
    let draft = ExportJob {
        output: folder.path().join("managed.jsonl"),
        // These files are kept, since pointers name them.
        files: Some(job.files.clone().unwrap_or_else(|| default_files_folder(&job.output))),
        ..job.clone()
    };
    let mut exported = export(&draft)?;
    if exported.output.is_none() {
        return Ok((exported, None));
    }
    let bytes = fs::read(&draft.output).map_err(|error| write_error(&draft.output, &error))?;
    let new =
        (resume.to_new_session)(&bytes, &new_session()?).map_err(|error| error.to_string())?;
    let path = write_to_store(&store, &new)?;
    exported.checks.push(check(&new, &bytes, &path));
    let project = new.project.as_deref().map(Path::new);
    exported.notes.extend(project.and_then(missing_project));
    exported.output = Some(path.clone());
    // The recorded session is unchanged, so that there is nothing to restore.
    let files = exported.sidecars.take().and_then(|sidecars| sidecars.files);
    exported.notes.extend(files.map(|folder| {
        let n = counted(folder.n_files, "file");
        format!("the policy wrote {n} to {}", folder.path.display())
    }));
    let resumed = Resumed { command: command(project, &new.command), id: new.id, path };
    Ok((exported, Some(resumed)))
}

/// Returns the folder of the policy's files: next to the output, or in the current folder if the output has no name.
fn default_files_folder(output: &Path) -> PathBuf {
    let is_named = output.file_name().is_some();
    files_path(if is_named { output } else { Path::new("plimsoll") })
}

/// Returns the folder to which [`export_resumable`] would write a session of this source.
///
/// # Errors
/// Returns one line if no program resumes such a file, or the program has no store on this machine.
pub fn resumable_folder(source: &Session, format: &Format) -> Result<PathBuf, String> {
    let resume = format.resume.as_ref();
    let resume = resume.ok_or_else(|| cannot_resume(format))?;
    let store = store(resume)?;
    let new = (resume.to_new_session)(&source.source.bytes.whole(), &new_session()?)
        .map_err(|error| error.to_string())?;
    let folders = new.relative_path.split_last().map_or(&[][..], |(_, folders)| folders);
    Ok(folders.iter().fold(store, |path, name| path.join(name)))
}

fn cannot_resume(format: &Format) -> String {
    let known = FORMATS.iter().filter_map(|f| f.resume.as_ref());
    let known: Vec<_> = known.map(|resume| resume.program).collect();
    format!(
        "no program resumes a {}; --resumable requires a session of {} in its own format",
        format.label,
        known.join(" and ")
    )
}

/// Returns the program's store, which exists once the program has run.
fn store(resume: &Resume) -> Result<PathBuf, String> {
    let named = std::env::var_os(resume.variable).filter(|folder| !folder.is_empty());
    let folder = named.map(PathBuf::from).or_else(|| {
        let home = etcetera::home_dir().ok()?;
        Some(home.join(resume.folder))
    });
    match folder {
        Some(folder) if folder.is_dir() => Ok(folder),
        Some(folder) => Err(format!(
            "{} is not a folder, but {1} stores its sessions there; run {1} once, or set {2} to its folder",
            folder.display(),
            resume.program,
            resume.variable
        )),
        None => Err(format!(
            "there is no home folder with the sessions of {}; set {} to its folder",
            resume.program, resume.variable
        )),
    }
}

fn new_session() -> Result<NewSession, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_error| {
        "the system provides no random numbers for a new id; write a file with -o OUT".to_owned()
    })?;
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let here = std::env::current_dir().map_err(|error| {
        let reason = short_reason(&error);
        format!("cannot find the current folder ({reason}); change to the folder to resume in")
    })?;
    Ok(NewSession {
        folder: here.to_string_lossy().into_owned(),
        now: Millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        random,
    })
}

/// Writes the session where the program looks for it. Missing folders are created as the program creates them.
fn write_to_store(store: &Path, new: &Resumable) -> Result<PathBuf, String> {
    let path = new.relative_path.iter().fold(store.to_owned(), |path, name| path.join(name));
    let created = path.parent().map_or(Ok(()), create_private_folder);
    created
        .and_then(|()| write_new(&path, &new.bytes))
        .map_err(|error| write_error(&path, &error))?;
    Ok(path)
}

/// Checks that the new session has the messages and compactions of the export.
fn check(new: &Resumable, exported: &[u8], path: &Path) -> Check {
    const NAME: &str = "resumable";
    let sessions = fs::read(path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| Ok((read(bytes)?, read(exported.to_vec())?)));
    match sessions {
        Ok((written, expected)) if !is_same(&written, &expected) => {
            Check::failed(NAME, "its content differs under the new id")
        }
        Ok((written, _)) => {
            let n = written.messages.len();
            Check::passed(NAME, format!("{} as session {}", counted(n, "message"), new.id))
        }
        Err(reason) => Check::failed(NAME, reason),
    }
}

fn read(bytes: Vec<u8>) -> Result<Session, String> {
    let input = Input { name: String::new(), bytes: bytes.into() };
    let parsed = formats::parse(&input).map_err(|error| error.to_string())?;
    let first = parsed.sessions.into_iter().next();
    first.ok_or_else(|| "it contains no conversation".to_owned())
}

fn is_same(a: &Session, b: &Session) -> bool {
    let ranges = |session: &Session| -> Vec<_> {
        let messages = session.messages.iter();
        messages.map(|m| (m.role, m.in_history, m.parts.clone())).collect()
    };
    a.parts == b.parts
        && ranges(a) == ranges(b)
        && a.compactions == b.compactions
        && a.revisions == b.revisions
}

fn missing_project(project: &Path) -> Option<String> {
    let text = || {
        format!(
            "{} is not on this machine, but the session uses it as its project folder",
            project.display()
        )
    };
    (!project.is_dir()).then(text)
}

/// Returns the shell command that resumes the session in its project folder.
fn command(project: Option<&Path>, resume: &str) -> String {
    match project {
        Some(project) => format!("cd {} && {resume}", quoted(&project.to_string_lossy())),
        None => resume.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_quoted_as_one_word() {
        let command = |project: &str| command(Some(Path::new(project)), "x");
        assert_eq!(command("/home/dev/a-b.c"), "cd /home/dev/a-b.c && x");
        assert_eq!(command("/a b;'c"), r"cd '/a b;'\''c' && x");
    }

    #[test]
    fn a_session_never_overwrites_another() {
        let store = tempfile::tempdir().unwrap();
        let new = Resumable {
            id: "x".to_owned(),
            relative_path: vec!["projects".to_owned(), "p".to_owned(), "x.jsonl".to_owned()],
            project: None,
            command: String::new(),
            bytes: b"new".to_vec(),
        };
        let path = write_to_store(store.path(), &new).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(write_to_store(store.path(), &new).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }
}
