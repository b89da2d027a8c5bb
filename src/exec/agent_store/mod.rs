//! Session stores of agents' programs, to which new sessions are added that the programs can resume.
//!
//! This only happens on request. Existing sessions are unchanged, and nothing is overwritten.

mod projects;

use crate::exec::files::{create_private_folder, short_reason, write_error, write_new_private};
use crate::exec::shell::{and_then, quoted, quoted_path};
use crate::formats::{self, Format, NewSession, Resumable, Resume};
use crate::session::Session;
use crate::units::Millis;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A new session in a program's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Display name of the program.
    pub program: &'static str,
    /// Id of the session.
    pub id: String,
    /// The file in the program's store, or the file to import.
    pub path: PathBuf,
    /// Shell command that resumes it.
    pub command: String,
    /// Content of the source that the session lacks, if another program recorded it.
    pub losses: Vec<String>,
}

/// The store of a program, with the values of a new session.
#[derive(Debug)]
pub(super) struct AgentStore {
    resume: &'static Resume,
    /// The program's folder; `None` if the program imports files.
    folder: Option<PathBuf>,
    new_session: NewSession,
    /// The recorded project if it is not on this machine.
    missing: Option<String>,
}

impl AgentStore {
    /// Returns the store for a new session with the content of `session`.
    ///
    /// # Errors
    /// Returns one line if no program resumes sessions of the format, the program has no store on this machine, or the
    /// store has no folder for the project.
    pub(super) fn of(format: &Format, session: &Session) -> Result<Self, String> {
        let named = formats::resumable().find(|(known, _)| known.name == format.name);
        let (_, resume) = named.ok_or_else(|| cannot_resume(format))?;
        let folder = if resume.import.is_some() { None } else { Some(store(resume)?) };
        let recorded = session.project.clone().filter(|project| !project.trim().is_empty());
        let recorded = match (recorded, &resume.projects, &folder) {
            (None, Some(folders), Some(store)) if format.name == session.source.format => {
                projects::of_file(folders, store, session)
            }
            (recorded, ..) => recorded,
        };
        let is_here =
            |project: &str| Path::new(project).is_absolute() && Path::new(project).is_dir();
        let (here, missing) = match recorded {
            Some(project) if is_here(&project) => (Some(project), None),
            missing => (None, missing),
        };
        let project = here.map_or_else(current_folder, Ok)?;
        let mut new_session = new_session(project, missing.is_some())?;
        if let (Some(folders), Some(store)) = (&resume.projects, &folder) {
            let project = projects::find(resume, folders, store, &new_session.folder)?;
            new_session.project_folder = Some(project);
        }
        Ok(Self { resume, folder, new_session, missing })
    }

    /// Returns notes on resuming a session: that its recorded project is not on this machine, and advice if another
    /// program recorded it.
    pub(super) fn notes(&self, is_own: bool) -> Vec<String> {
        let missing = self.missing.as_ref().map(|missing| {
            let here = &self.new_session.folder;
            format!(
                "the recorded project {missing} is not on this machine; the session continues in {here}"
            )
        });
        let advice = self.resume.advice.filter(|_| !is_own).map(str::to_owned);
        missing.into_iter().chain(advice).collect()
    }

    /// Converts a session file to a new session.
    ///
    /// # Errors
    /// Returns one line if the file has no session.
    pub(super) fn convert(&self, bytes: &[u8]) -> Result<Resumable, String> {
        (self.resume.to_new_session)(bytes, &self.new_session).map_err(|error| error.to_string())
    }

    /// Returns the folder of a new session.
    pub(super) fn folder_of(&self, new: &Resumable) -> Option<PathBuf> {
        let folders = new.relative_path.split_last().map_or(&[][..], |(_, folders)| folders);
        let store = self.folder.clone()?;
        Some(folders.iter().fold(store, |path, name| path.join(name)))
    }

    /// Writes the session where the program looks for it, or to `import` if the program imports files. Missing folders
    /// are created as the program creates them. They remain if the file cannot be written.
    ///
    /// # Errors
    /// Returns one line if the file exists or cannot be written.
    pub(super) fn add(&self, new: &Resumable, import: &Path) -> Result<Resumed, String> {
        let path = if let Some(store) = &self.folder {
            write_to_store(store, new)?
        } else {
            let path = std::path::absolute(import).unwrap_or_else(|_| import.to_owned());
            write_new_private(&path, &new.bytes).map_err(|error| write_error(&path, &error))?;
            path
        };
        let project = new.project.as_deref().map(Path::new);
        let resume = match self.resume.import {
            Some(import) => {
                let file = quoted_path(&path.to_string_lossy());
                and_then(&format!("{import} {file}"), &new.command)
            }
            None => new.command.clone(),
        };
        Ok(Resumed {
            program: self.resume.program,
            id: new.id.clone(),
            path,
            command: command(project, &resume),
            losses: Vec::new(),
        })
    }
}

/// Returns the folders in which agents store the sessions of a project, for agents that choose the folders' names.
pub(super) fn project_folders(project: &str) -> Vec<PathBuf> {
    let folder = |resume: &Resume| {
        let (folders, store) = (resume.projects.as_ref()?, store(resume).ok()?);
        let name = projects::find(resume, folders, &store, project).ok()?;
        Some(store.join(folders.folder).join(name))
    };
    formats::resumable().filter_map(|(_, resume)| folder(resume)).collect()
}

fn cannot_resume(format: &Format) -> String {
    let known = formats::resumable().filter_map(|(_, resume)| resume.names.first().copied());
    format!(
        "no program resumes files of the format {}; choose the agent to continue in with --to: {}",
        format.name,
        known.collect::<Vec<_>>().join(", ")
    )
}

/// Returns the program's store, which exists once the program has run.
fn store(resume: &Resume) -> Result<PathBuf, String> {
    let named = std::env::var_os(resume.variable).filter(|folder| !folder.is_empty());
    let named = named
        .map(PathBuf::from)
        .map(|folder| if resume.variable_names_home { folder.join(resume.folder) } else { folder });
    let folder = named.or_else(|| {
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

/// Returns the values of a new session in this folder.
fn new_session(folder: String, replaces_recorded: bool) -> Result<NewSession, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_error| {
        "the system provides no random numbers for a new id; write a file with -o OUT".to_owned()
    })?;
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(NewSession {
        folder,
        replaces_recorded,
        now: Millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        random,
        project_folder: None,
    })
}

fn current_folder() -> Result<String, String> {
    let folder = std::env::current_dir().map_err(|error| {
        let reason = short_reason(&error);
        format!("cannot find the current folder ({reason}); change to the folder to resume in")
    })?;
    Ok(folder.to_string_lossy().into_owned())
}

fn write_to_store(store: &Path, new: &Resumable) -> Result<PathBuf, String> {
    let path = new.relative_path.iter().fold(store.to_owned(), |path, name| path.join(name));
    let created = path.parent().map_or(Ok(()), create_private_folder);
    created
        .and_then(|()| write_new_private(&path, &new.bytes))
        .map_err(|error| write_error(&path, &error))?;
    Ok(path)
}

/// Returns the shell command that resumes the session in its project folder.
fn command(project: Option<&Path>, resume: &str) -> String {
    match project {
        Some(project) => and_then(&format!("cd {}", quoted(&project.to_string_lossy())), resume),
        None => resume.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[cfg(unix)]
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
