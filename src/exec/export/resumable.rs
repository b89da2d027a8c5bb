//! Writes a managed conversation to the store of a program, as a new session that it can resume: the program that
//! recorded the session, or another one.

use super::job::ExportJob;
use super::run::{Exported, export_managed};
use crate::engine::Case;
use crate::exec::agent_store::{AgentStore, Resumed};
use crate::exec::check::Check;
use crate::exec::files::unfinished::TemporaryFolder;
use crate::exec::files::{short_reason, write_error};
use crate::exec::outputs::files_path;
use crate::figure::{counted, tokens};
use crate::formats::{self, Format, Input, Resumable, n_replaced};
use crate::session::{Body, Managed, ManagedEntry, ManagedPart, Session};
use crate::units::Tokens;
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
        let (why, variable) = (short_reason(&error), TemporaryFolder::VARIABLE);
        format!("cannot create a temporary folder ({why}); set {variable}")
    })?;
    let draft = ExportJob {
        output: folder.path().join("managed.jsonl"),
        // These files are kept, since pointers name them.
        files: Some(job.files.clone().unwrap_or_else(|| default_files_folder(&job.output))),
        ..job.clone()
    };
    let (mut exported, managed) = export_managed(&draft)?;
    let Some(managed) = managed else {
        return Ok((exported, None));
    };
    // The recorded session is unchanged, so that there is nothing to restore.
    exported.checks.retain(|check| check.name != "restores");
    let bytes = fs::read(&draft.output).map_err(|error| write_error(&draft.output, &error))?;
    let new = store.convert(&bytes)?;
    let mut resumed = store.add(&new, &job.output)?;
    exported.checks.push(check(&new, &bytes, &resumed.path));
    let is_own = !job.format.has_own_instructions(source);
    exported.notes.extend(store.notes(is_own));
    exported.output = Some(resumed.path.clone());
    let files = exported.sidecars.take().and_then(|sidecars| sidecars.files);
    exported.notes.extend(files.map(|folder| {
        let n = counted(folder.n_files, "file");
        format!("the policy wrote {n} to {}", folder.path.display())
    }));
    if !is_own {
        let written = read(new.bytes)?;
        let counts = job.case.ledger.recount(&written);
        let context = written.real_context(written.messages.len());
        // The program adds its own instructions to these messages.
        exported.after = context.into_iter().map(|idx| counts.message(idx)).sum();
        exported.not_recorded = Tokens::ZERO;
        resumed.losses = losses(&job.case, &managed, &written, resumed.program);
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

/// Describes what the managed conversation has and the new session of another program lacks.
fn losses(case: &Case, managed: &Managed, written: &Session, program: &str) -> Vec<String> {
    let source = &case.session;
    let (instructions, others) = managed.entries.split_at(n_replaced(source, managed));
    let is_text = |body: &Body| !matches!(body, Body::ToolDefinition { .. });
    let of_parts = parts(source, instructions).filter(|part| is_text(&source.parts[*part].body));
    let of_parts: Tokens = of_parts.map(|part| case.ledger.part(part)).sum();
    let texts = instructions.iter().filter_map(|entry| match entry {
        ManagedEntry::Written { text, .. } => Some(case.ledger.weigh(text)),
        _ => None,
    });
    let n_instructions = of_parts + texts.sum::<Tokens>();
    let count = |is_counted: fn(&Body) -> bool| {
        let all = parts(source, &managed.entries);
        all.filter(|part| is_counted(&source.parts[*part].body)).count()
    };
    let n_tools = count(|body| matches!(body, Body::ToolDefinition { .. }));
    let n_thoughts = count(|body| matches!(body, Body::Thinking { .. }));
    let is_media = |body: &Body| matches!(body, Body::Media { .. });
    let n_media = count(is_media);
    let n_written = written.parts.iter().filter(|part| is_media(&part.body)).count();
    let messages = others.iter().filter_map(message_of);
    let n_flags = messages.filter(|message| source.messages[*message].is_injected).count();
    let n_flags_written = written.messages.iter().filter(|message| message.is_injected).count();
    let n_usage = source.calls.iter().filter(|call| call.usage.is_some()).count();
    let mut losses = Vec::new();
    if n_instructions > Tokens::ZERO {
        let n = tokens(n_instructions);
        losses.push(format!("{n} tokens of instructions are left out: {program} sends its own"));
    }
    let mut add = |n: usize, noun: &str, why: &str| {
        if n > 0 {
            losses.push(format!("{}{why}", counted(n, noun)));
        }
    };
    add(n_tools, "tool definition", &format!(": {program} sends its own"));
    add(n_thoughts, "reasoning block", ": valid for the program that received it only");
    let n_lost = n_media.saturating_sub(n_written);
    add(n_lost, "media part", ": the format cannot hold it, or the source only refers to it");
    add(n_usage, "reported token count", " of the source's calls");
    match n_flags.saturating_sub(n_flags_written) {
        0 => {}
        1 => losses.push("1 reminder of the program appears as a message of yours".to_owned()),
        n => losses.push(format!("{n} reminders of the program appear as messages of yours")),
    }
    losses
}

/// Returns the message of the session that an entry keeps.
fn message_of(entry: &ManagedEntry) -> Option<usize> {
    match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => Some(*message),
        ManagedEntry::Written { .. } => None,
    }
}

/// Iterates over the parts of the session that entries keep.
fn parts<'a>(
    session: &'a Session,
    entries: &'a [ManagedEntry],
) -> impl Iterator<Item = usize> + 'a {
    entries.iter().flat_map(|entry| -> Vec<usize> {
        match entry {
            ManagedEntry::Kept { message } => session.messages[*message].parts.clone().collect(),
            ManagedEntry::Edited { parts, .. } => parts
                .iter()
                .map(|part| match part {
                    ManagedPart::Kept { part } | ManagedPart::Replaced { part, .. } => *part,
                })
                .collect(),
            ManagedEntry::Written { .. } => Vec::new(),
        }
    })
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
