//! Sessions of a command that takes several: files, archives, folders, and files that hold many sessions.

use super::args::{GlobalOptions, InputArgs};
use super::many_files::FilesProgress;
use super::output::note;
use crate::engine::Case;
use crate::exec::{FileSessions, InputFile, Inputs, is_damaged, is_database};
use crate::progress::Progress;
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::path::{MAIN_SEPARATOR, Path};

/// Maximum number of sessions to read. A data set can hold millions, whose results would not fit into the memory.
const MAX_SESSIONS: usize = 100_000;

/// Session files, read one after another because a folder of them may be larger than the memory.
#[derive(Debug)]
pub(super) struct Targets {
    inputs: Inputs,
    /// A damaged file is reported with the results instead of ending the command.
    reports_damage: bool,
    progress: FilesProgress,
}

/// The file and conversation of a session. Baselines name sessions by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId {
    /// The file.
    pub(super) file: String,
    /// Index of the conversation, if the file holds several.
    pub(super) conversation: Option<usize>,
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conversation {
            Some(number) => write!(f, "{}#{}", self.file, number + 1),
            None => f.write_str(&self.file),
        }
    }
}

impl SessionId {
    /// Returns the number of the conversation for JSON, from 1.
    pub(super) fn number(&self) -> Option<usize> {
        self.conversation.map(|number| number + 1)
    }
}

/// Sessions that were not read.
#[derive(Debug, Default)]
pub(super) struct Skipped(Vec<SkippedSession>);

#[derive(Debug)]
struct SkippedSession {
    id: SessionId,
    reason: String,
    is_damaged: bool,
}

/// A session that was not read.
#[derive(Serialize, JsonSchema)]
pub(super) struct SkippedEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation, from 1; null if it is the whole file.
    conversation: Option<usize>,
    /// Why the session was not read.
    reason: &'a str,
    /// Whether the file is damaged or missing. False for a file without a session, and for a managed conversation.
    damaged: bool,
}

impl Targets {
    /// Collects the session files of the given paths.
    pub(super) fn new(
        verb: &str,
        args: &InputArgs,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Self> {
        if args.are_empty() {
            bail!("{verb} needs a session file or a folder of them: plimsoll {verb} FILE");
        }
        let inputs = args.find()?;
        inputs.warnings.iter().for_each(|warning| note(warning));
        let mut empty = inputs.failures.iter().filter(|one| one.is_named && !one.is_damaged);
        if let Some(empty) = empty.next() {
            bail!("{}; give another folder", empty.reason);
        }
        match (&inputs.files[..], &inputs.own_outputs[..], &inputs.failures[..]) {
            ([], [own, ..], []) => bail!(
                "only managed conversations were found (files that Plimsoll wrote), such as {}; give the file itself",
                own.display()
            ),
            ([], [], []) => bail!("{verb}: --files-from names no file"),
            _ => {}
        }
        if inputs.files.len() > 1 && shared.refers_to_one_session() {
            bail!(
                "--restart, --error, --pin, --clear and --drop apply to one session; give one file"
            );
        }
        let progress = FilesProgress::new(inputs.files.len());
        Ok(Self { inputs, reports_damage: false, progress })
    }

    /// Reports a damaged file with the results, even one that was given by its path.
    pub(super) fn reporting_damage(self) -> Self {
        Self { reports_damage: true, ..self }
    }

    /// Returns true if there may be several sessions.
    pub(super) fn are_many(&self) -> bool {
        self.inputs.files.len() > 1
    }

    /// Returns the progress, for what is done with a session.
    pub(super) fn progress(&self) -> &FilesProgress {
        &self.progress
    }

    /// Reads the sessions one after another and passes each to the callback, with its id. If there are several,
    /// those without a call are skipped with a note.
    pub(super) fn each(
        &self,
        shared: &GlobalOptions,
        mut callback: impl FnMut(&SessionId, &Case) -> anyhow::Result<()>,
    ) -> anyhow::Result<Skipped> {
        let mut visited = Visited {
            callback: &mut callback,
            n: 0,
            inputs: &self.inputs,
            reports_damage: self.reports_damage,
            skipped: Skipped::default(),
        };
        for path in &self.inputs.own_outputs {
            let (file, conversation) = (shown(path), None);
            let why = format!(
                "{file} is a managed conversation or another file that Plimsoll wrote, whose source counts instead"
            );
            visited.skip(SessionId { file, conversation }, why, false);
        }
        for failure in &self.inputs.failures {
            if failure.is_named && !self.reports_damage {
                bail!("{}", failure.reason);
            }
            let id = SessionId { file: shown(&failure.path), conversation: None };
            visited.skip(id, failure.reason.clone(), failure.is_damaged);
            self.progress.file_failed();
        }
        self.progress.show(|| {
            for input in &self.inputs.files {
                let n_skipped = visited.skipped.0.len();
                TargetFile { input, path: &input.found.path }.each(shared, &mut visited)?;
                self.progress.file_done(visited.skipped.0.len() == n_skipped);
            }
            Ok::<(), anyhow::Error>(())
        })?;
        let Visited { n, skipped, .. } = visited;
        let has_report = self.reports_damage && skipped.damaged().next().is_some();
        if let (0, Some(first), false) = (n, skipped.0.first(), has_report) {
            bail!("none of these files holds a session; the first: {}", first.reason);
        }
        skipped.print_note();
        Ok(skipped)
    }
}

/// A session file that is being read.
#[derive(Clone, Copy)]
struct TargetFile<'a> {
    input: &'a InputFile,
    path: &'a Path,
}

/// Sessions visited so far.
struct Visited<'a> {
    callback: &'a mut dyn FnMut(&SessionId, &Case) -> anyhow::Result<()>,
    n: usize,
    inputs: &'a Inputs,
    /// As in [`Targets`].
    reports_damage: bool,
    skipped: Skipped,
}

impl TargetFile<'_> {
    /// Reads the sessions of a file and passes each to the callback.
    fn each(self, shared: &GlobalOptions, visited: &mut Visited<'_>) -> anyhow::Result<()> {
        if visited.n >= MAX_SESSIONS {
            visited.skip_beyond(self.session_id(visited, None));
            return Ok(());
        }
        if let Some(number) = shared.conversation {
            let loaded = match shared.load(self.path) {
                Ok(loaded) => loaded,
                Err(error) => return self.skip(visited, error),
            };
            let is_numbered =
                number > 0 || loaded.has_several_conversations() || is_database(self.path);
            let id = self.session_id(visited, Some(number).filter(|_| is_numbered));
            return match with_calls(&id, loaded.case) {
                Ok(case) => visited.visit(&id, &case),
                Err(error) => self.skip(visited, error),
            };
        }
        let several = match FileSessions::open(self.path, &Progress::default()) {
            Ok(several) => several,
            Err(error) => return self.skip(visited, error.into()),
        };
        let numbers = several.numbers();
        if numbers.len() > 1 && shared.refers_to_one_session() {
            bail!(
                "{} holds {} conversations, and --restart, --error, --pin, --clear and --drop apply to one; select it with --conversation N",
                self.session_id(visited, None),
                numbers.len()
            );
        }
        for number in numbers {
            let id = self.session_id(visited, Some(*number).filter(|_| several.are_numbered()));
            if visited.n >= MAX_SESSIONS {
                visited.skip_beyond(id);
                break;
            }
            let case = shared.case_of(&several, *number);
            match case.and_then(|case| with_calls(&id, case)) {
                Ok(case) => visited.visit(&id, &case)?,
                Err(error) if numbers.len() > 1 => {
                    let reason = visited.inputs.shown_text(&format!("{error:#}"));
                    visited.skip(id, reason, false);
                }
                Err(error) => return self.skip(visited, error),
            }
        }
        Ok(())
    }

    /// Skips the file if it was found in a folder, an archive or a list. A file that was given is an error.
    fn skip(self, visited: &mut Visited<'_>, error: anyhow::Error) -> anyhow::Result<()> {
        let is_damaged = is_damaged(self.path);
        let reason = visited.inputs.shown_text(&format!("{error:#}"));
        if !self.input.is_named || is_damaged && visited.reports_damage {
            visited.skip(self.session_id(visited, None), reason, is_damaged);
            return Ok(());
        }
        if visited.inputs.has_temporary_files() {
            bail!("{reason}");
        }
        Err(error)
    }

    fn session_id(self, visited: &Visited<'_>, conversation: Option<usize>) -> SessionId {
        SessionId { file: shown(&visited.inputs.shown(self.path)), conversation }
    }
}

impl Visited<'_> {
    fn visit(&mut self, id: &SessionId, case: &Case) -> anyhow::Result<()> {
        self.n += 1;
        (self.callback)(id, case)
    }

    fn skip(&mut self, id: SessionId, reason: String, is_damaged: bool) {
        self.skipped.0.push(SkippedSession { id, reason, is_damaged });
    }

    /// Skips a session beyond the limit.
    fn skip_beyond(&mut self, id: SessionId) {
        let why = format!("{id} and following: only {MAX_SESSIONS} sessions are read");
        self.skip(id, why, false);
    }
}

fn with_calls(id: &SessionId, case: Case) -> anyhow::Result<Case> {
    if case.session.calls.is_empty() {
        bail!("{id} holds no model call");
    }
    Ok(case)
}

impl Skipped {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> Vec<SkippedEntry<'_>> {
        let skipped = self.0.iter().map(|skipped| SkippedEntry {
            file: &skipped.id.file,
            conversation: skipped.id.number(),
            reason: &skipped.reason,
            damaged: skipped.is_damaged,
        });
        skipped.collect()
    }

    /// Returns the damaged files with the reason why each cannot be read.
    pub(super) fn damaged(&self) -> impl Iterator<Item = (&SessionId, &str)> {
        let damaged = self.0.iter().filter(|skipped| skipped.is_damaged);
        damaged.map(|skipped| (&skipped.id, &*skipped.reason))
    }

    /// Prints a note if sessions were skipped, and one for each damaged file.
    fn print_note(&self) {
        let damaged = self.damaged().map(|(_, reason)| reason);
        damaged.for_each(|reason| note(&format!("damaged: {reason}")));
        let rest: Vec<&SkippedSession> = self.0.iter().filter(|one| !one.is_damaged).collect();
        let are_files = rest.iter().all(|one| one.id.conversation.is_none());
        let what = if are_files { "files" } else { "sessions" };
        match &rest[..] {
            [] => {}
            [one] => note(&format!("skipped: {}", one.reason)),
            [first, ..] => {
                note(&format!("{} {what} are skipped; the first: {}", rest.len(), first.reason));
            }
        }
    }
}

/// Returns the path with forward slashes, so that baselines are the same on every platform.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}
