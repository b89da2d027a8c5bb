//! Writes a managed conversation to the store of a program, as a new session that it can resume: the program that
//! recorded the session, or another one.

use super::job::ExportJob;
use super::run::{Exported, export};
use crate::exec::agent_store::{AgentStore, Resumed};
use crate::exec::check::Check;
use crate::exec::files::unfinished::TemporaryFolder;
use crate::exec::files::{short_reason, write_error};
use crate::exec::outputs::files_path;
use crate::figure::counted;
use crate::formats::{self, Format, Input, Resumable};
use crate::session::{Body, Role, Session};
use std::fs;
use std::path::{Path, PathBuf};

/// Runs an export and writes the result to the program's store as a new session. The output of the job is only used if
/// the program imports files.
///
/// # Errors
/// Returns one line if the export fails or the store cannot be written; then nothing was written.
pub fn export_resumable(job: &ExportJob) -> Result<(Exported, Option<Resumed>), String> {
    let source = &job.case.session;
    let store = AgentStore::of(job.format, source)?;
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
    let new = store.convert(&bytes)?;
    let mut resumed = store.add(&new, &job.output)?;
    exported.checks.push(check(&new, &bytes, &resumed.path));
    let is_own = !job.format.has_own_instructions(source);
    exported.notes.extend(store.notes(is_own));
    exported.output = Some(resumed.path.clone());
    // The recorded session is unchanged, so that there is nothing to restore.
    let files = exported.sidecars.take().and_then(|sidecars| sidecars.files);
    exported.notes.extend(files.map(|folder| {
        let n = counted(folder.n_files, "file");
        format!("the policy wrote {n} to {}", folder.path.display())
    }));
    if !is_own {
        resumed.losses = losses(source, &new, resumed.program);
    }
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
    let store = AgentStore::of(format, source)?;
    let new = store.convert(&source.source.bytes.whole())?;
    let folder = store.folder_of(&new);
    folder.ok_or_else(|| format!("{} is imported by its program; write a file", format.label))
}

/// Describes what the last context of the source has and the new session of another program lacks.
fn losses(source: &Session, new: &Resumable, program: &str) -> Vec<String> {
    let context = source.real_context(source.messages.len());
    let is_instruction = |idx: &&usize| source.messages[**idx].role == Role::System;
    let n_instructions = context.iter().take_while(is_instruction).count();
    let count = |is_counted: fn(&Body) -> bool| {
        let parts = context.iter().flat_map(|idx| source.parts_of(&source.messages[*idx]));
        parts.filter(|part| is_counted(&part.body)).count()
    };
    let n_tools = count(|body| matches!(body, Body::ToolDefinition { .. }));
    let n_thoughts = count(|body| matches!(body, Body::Thinking { .. }));
    let n_media = count(|body| matches!(body, Body::Media { .. }));
    let n_usage = source.calls.iter().filter(|call| call.usage.is_some()).count();
    let written = read(new.bytes.clone()).map_or(0, |read| {
        read.parts.iter().filter(|part| matches!(part.body, Body::Media { .. })).count()
    });
    let mut losses = Vec::new();
    let mut add = |n: usize, noun: &str, why: &str| {
        if n > 0 {
            losses.push(format!("{}{why}", counted(n, noun)));
        }
    };
    add(n_instructions, "instruction message", &format!(": {program} sends its own"));
    add(n_tools, "tool definition", &format!(": {program} sends its own"));
    add(n_thoughts, "reasoning block", ": valid for the program that received it only");
    let n_lost = n_media.saturating_sub(written);
    add(n_lost, "media part", ": the format cannot hold it, or the source only refers to it");
    add(n_usage, "reported token count", " of the source's calls");
    losses
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
