//! Writes a managed conversation into the store of the program that recorded it, as a session that it can resume.
//!
//! Only ever when a person asks for it; the recorded session stays as it is, and no file is written over.

use super::check::Check;
use super::counted;
use super::export::{ExportJob, Exported, export, files_path};
use super::place::{cannot_create, reason, write_new};
use super::unfinished::{self, Kind};
use crate::formats::{self, FORMATS, Format, Input, NewSession, Resumable, Resume};
use crate::session::Session;
use crate::units::Millis;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A session that its program can resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Its id.
    pub id: String,
    /// The file in the program's store.
    pub path: PathBuf,
    /// What resumes it, for a shell.
    pub command: String,
}

/// Exports and then puts what was written into the program's store as a new session. The job's output does not
/// matter.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn export_resumable(job: &ExportJob) -> Result<(Exported, Option<Resumed>), String> {
    let resume = job.format.resume.as_ref();
    let resume = resume.ok_or_else(|| cannot_resume(job.format))?;
    let store = store(resume)?;
    let folder = unfinished::create(Kind::Folder, tempfile::tempdir, |folder| {
        folder.path().to_owned()
    });
    let (folder, _unfinished) = folder.map_err(|error| {
        format!(
            "no temporary folder can be made ({}); set TMPDIR",
            reason(&error)
        )
    })?;
    let draft = ExportJob {
        output: folder.path().join("managed.jsonl"),
        // They outlive the draft, since pointers name them.
        files: Some(
            job.files
                .clone()
                .unwrap_or_else(|| files_beside(&job.output)),
        ),
        ..job.clone()
    };
    let mut exported = export(&draft)?;
    if exported.output.is_none() {
        return Ok((exported, None));
    }
    let bytes = fs::read(&draft.output).map_err(|error| cannot_create(&draft.output, &error))?;
    let new = (resume.adopt)(&bytes, &new_session()?).map_err(|error| error.to_string())?;
    let path = place(&store, &new)?;
    exported.checks.push(check(&new, &bytes, &path));
    let project = new.project.as_deref().map(Path::new);
    exported.notes.extend(project.and_then(missing));
    exported.output = Some(path.clone());
    // The recorded session stays where it is: there is nothing to restore.
    let files = exported.sidecars.take().and_then(|sidecars| sidecars.files);
    exported.notes.extend(files.map(|(folder, n)| {
        let of_policy = counted(n, "file");
        format!("the policy wrote {of_policy} into {}", folder.display())
    }));
    let resumed = Resumed {
        command: command(project, &new.command),
        id: new.id,
        path,
    };
    Ok((exported, Some(resumed)))
}

/// Where a policy's files go: beside an output that is only named for them, or in the current folder without one.
fn files_beside(output: &Path) -> PathBuf {
    let is_named = output.file_name().is_some();
    files_path(if is_named {
        output
    } else {
        Path::new("plimsoll")
    })
}

/// The folder that a session of this source would be put into, told before anything is written.
///
/// # Errors
/// One line that says what to do: no program resumes such a file, or it never ran here.
pub fn resumable_folder(source: &Session, format: &Format) -> Result<PathBuf, String> {
    let resume = format.resume.as_ref();
    let resume = resume.ok_or_else(|| cannot_resume(format))?;
    let store = store(resume)?;
    let new = (resume.adopt)(&source.source.bytes.whole(), &new_session()?)
        .map_err(|error| error.to_string())?;
    let folders = new
        .place
        .split_last()
        .map_or(&[][..], |(_, folders)| folders);
    Ok(folders.iter().fold(store, |path, name| path.join(name)))
}

fn cannot_resume(format: &Format) -> String {
    let known = FORMATS.iter().filter_map(|f| f.resume.as_ref());
    let known: Vec<_> = known.map(|resume| resume.program).collect();
    format!(
        "no program resumes a {}; --resumable is for sessions of {}, in their own format",
        format.label,
        known.join(" and ")
    )
}

/// The program's own folder; it is there wherever the program ran once.
fn store(resume: &Resume) -> Result<PathBuf, String> {
    let named = std::env::var_os(resume.variable).filter(|folder| !folder.is_empty());
    let folder = named.map(PathBuf::from).or_else(|| {
        let home = etcetera::home_dir().ok()?;
        Some(home.join(resume.folder))
    });
    match folder {
        Some(folder) if folder.is_dir() => Ok(folder),
        Some(folder) => Err(format!(
            "{} is no folder, and {} keeps its sessions in it; run {} once, or name its folder in {}",
            folder.display(),
            resume.program,
            resume.program,
            resume.variable
        )),
        None => Err(format!(
            "there is no home folder to find {}'s sessions in; name its folder in {}",
            resume.program, resume.variable
        )),
    }
}

fn new_session() -> Result<NewSession, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_error| {
        "the system gives no random numbers, so no new id can be made; write with -o OUT".to_owned()
    })?;
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let here = std::env::current_dir().map_err(|error| {
        let why = reason(&error);
        format!("the current folder cannot be found ({why}); go to the one to resume in")
    })?;
    Ok(NewSession {
        folder: here.to_string_lossy().into_owned(),
        now: Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
        random,
    })
}

/// Writes the session where the program looks for it; the folders on the way are made as the program makes them.
fn place(store: &Path, new: &Resumable) -> Result<PathBuf, String> {
    let path = new
        .place
        .iter()
        .fold(store.to_owned(), |path, name| path.join(name));
    let made = path.parent().map_or(Ok(()), make_folders);
    made.and_then(|()| write_new(&path, &new.bytes))
        .map_err(|error| cannot_create(&path, &error))?;
    Ok(path)
}

fn make_folders(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        // Sessions are their owner's alone.
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// The new session says what was exported, message by message, and compacts as it does.
fn check(new: &Resumable, exported: &[u8], path: &Path) -> Check {
    const NAME: &str = "resumable";
    let sessions = fs::read(path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| Ok((read(bytes)?, read(exported.to_vec())?)));
    match sessions {
        Ok((there, promised)) if !is_same(&there, &promised) => {
            Check::failed(NAME, "its content differs under the new id")
        }
        Ok((there, _)) => {
            let n = there.messages.len();
            Check::passed(
                NAME,
                format!("{} as session {}", counted(n, "message"), new.id),
            )
        }
        Err(why) => Check::failed(NAME, why),
    }
}

fn read(bytes: Vec<u8>) -> Result<Session, String> {
    let input = Input {
        name: String::new(),
        bytes: bytes.into(),
    };
    let parsed = formats::parse(&input).map_err(|refused| refused.to_string())?;
    let first = parsed.sessions.into_iter().next();
    first.ok_or_else(|| "it holds no conversation".to_owned())
}

fn is_same(a: &Session, b: &Session) -> bool {
    let ranges = |session: &Session| -> Vec<_> {
        let messages = session.messages.iter();
        messages
            .map(|m| (m.role, m.in_history, m.parts.clone()))
            .collect()
    };
    a.parts == b.parts && ranges(a) == ranges(b) && a.compactions == b.compactions
}

fn missing(project: &Path) -> Option<String> {
    let text = || {
        format!(
            "{} is not on this machine; the session works in it",
            project.display()
        )
    };
    (!project.is_dir()).then(text)
}

/// To be typed where the session works.
fn command(project: Option<&Path>, resume: &str) -> String {
    match project {
        Some(project) => format!("cd {} && {resume}", quoted(&project.to_string_lossy())),
        None => resume.to_owned(),
    }
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_word_for_the_shell_whatever_its_name() {
        let command = |project: &str| command(Some(Path::new(project)), "x");
        assert_eq!(command("/home/dev/a-b.c"), "cd /home/dev/a-b.c && x");
        assert_eq!(command("/a b;'c"), r"cd '/a b;'\''c' && x");
    }

    #[test]
    fn a_session_is_never_written_over_another() {
        let store = tempfile::tempdir().unwrap();
        let new = Resumable {
            id: "x".to_owned(),
            place: vec!["projects".to_owned(), "p".to_owned(), "x.jsonl".to_owned()],
            project: None,
            command: String::new(),
            bytes: b"new".to_vec(),
        };
        let path = place(store.path(), &new).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(place(store.path(), &new).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }
}
