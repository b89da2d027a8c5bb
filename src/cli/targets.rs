//! Sessions of a command that takes several: files, folders, and files that hold many sessions.

use super::args::{Shared, several};
use super::output::note;
use crate::engine::Case;
use crate::exec::stores::find_in;
use crate::exec::{is_database, is_folder};
use crate::progress::Progress;
use anyhow::bail;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// Maximum number of sessions to read. A data set can hold millions.
const MOST: usize = 100_000;

/// Session files, read one after another because a folder of them may be larger than the memory.
#[derive(Debug)]
pub(super) struct Targets {
    files: Vec<Target>,
}

/// A session file.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    /// The file was found in a folder. It is left out if it holds no session; a typed one is an error.
    of_folder: bool,
}

/// The file and conversation of a session. Its text names the session, also in baselines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The file.
    pub(super) file: String,
    /// Index of the conversation, if the file holds several.
    pub(super) conversation: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conversation {
            Some(number) => write!(f, "{}#{}", self.file, number + 1),
            None => f.write_str(&self.file),
        }
    }
}

impl Place {
    /// Returns the number of the conversation for JSON, from 1.
    pub(super) fn number(&self) -> Option<usize> {
        self.conversation.map(|number| number + 1)
    }
}

/// Sessions that were not read, with reasons.
#[derive(Debug, Default)]
pub(super) struct LeftOut(Vec<(Place, String)>);

impl Targets {
    /// Collects the session files of the given paths.
    pub(super) fn new(verb: &str, operands: &[PathBuf], shared: &Shared) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        for path in operands {
            if is_folder(path) {
                let mut found = find_in(path, &Progress::default())?;
                found.sort_by(|a, b| a.path.cmp(&b.path));
                if found.is_empty() {
                    bail!(
                        "{} holds no session file; give another folder",
                        path.display()
                    );
                }
                files.extend(found.into_iter().map(|found| Target {
                    path: found.path,
                    of_folder: true,
                }));
            } else {
                files.push(Target {
                    path: path.clone(),
                    of_folder: false,
                });
            }
        }
        if files.is_empty() {
            bail!("{verb} needs a session file or a folder of them: plimsoll {verb} FILE");
        }
        if files.len() > 1 && shared.refers_to_one_session() {
            bail!(
                "--restart, --error, --pin, --clear and --drop apply to one session; give one file"
            );
        }
        Ok(Self { files })
    }

    /// Returns true if there may be several sessions.
    pub(super) fn are_many(&self) -> bool {
        self.files.len() > 1
    }

    /// Reads the sessions one after another and passes each to the callback, with its place. If there are several,
    /// those without a call are left out with a note.
    pub(super) fn each(
        &self,
        shared: &Shared,
        mut look: impl FnMut(&Place, &Case) -> anyhow::Result<()>,
    ) -> anyhow::Result<LeftOut> {
        let mut seen = Seen {
            look: &mut look,
            n: 0,
            left_out: LeftOut::default(),
        };
        for target in &self.files {
            let read = target.each(shared, &mut seen)?;
            if let Err(error) = read {
                if !target.of_folder {
                    return Err(error);
                }
                let place = target.place(None);
                seen.left_out.0.push((place, format!("{error:#}")));
            }
        }
        let Seen { n, left_out, .. } = seen;
        if let (0, Some((_, why))) = (n, left_out.0.first()) {
            bail!("none of these files holds a session; the first: {why}");
        }
        left_out.tell();
        Ok(left_out)
    }
}

/// Results so far.
struct Seen<'a> {
    look: &'a mut dyn FnMut(&Place, &Case) -> anyhow::Result<()>,
    n: usize,
    left_out: LeftOut,
}

impl Target {
    /// Reads a file. The outer error ends the command, the inner one only skips this file.
    fn each(
        &self,
        shared: &Shared,
        seen: &mut Seen<'_>,
    ) -> anyhow::Result<Result<(), anyhow::Error>> {
        if let Some(number) = shared.conversation {
            return match shared.load(&self.path) {
                Ok(loaded) => {
                    let is_told = number > 0 || loaded.are_several() || is_database(&self.path);
                    let place = self.place(Some(number).filter(|_| is_told));
                    match with_calls(&place, loaded.case) {
                        Ok(case) => seen.look(&place, &case).map(Ok),
                        Err(error) => Ok(Err(error)),
                    }
                }
                Err(error) => Ok(Err(error)),
            };
        }
        let several = match several(&self.path) {
            Ok(several) => several,
            Err(error) => return Ok(Err(error)),
        };
        let numbers = several.numbers();
        if numbers.len() > 1 && shared.refers_to_one_session() {
            bail!(
                "{} holds {} conversations, and --restart, --error, --pin, --clear and --drop apply to one; select it with --conversation N",
                shown(&self.path),
                numbers.len()
            );
        }
        for number in numbers {
            let place = self.place(Some(*number).filter(|_| several.are_numbered()));
            if seen.n >= MOST {
                let why = format!("{place} and following: only {MOST} sessions are read");
                seen.left_out.0.push((place, why));
                break;
            }
            let case = shared.case_of(&several, *number);
            match case.and_then(|case| with_calls(&place, case)) {
                Ok(case) => seen.look(&place, &case)?,
                Err(error) if numbers.len() > 1 => {
                    seen.left_out.0.push((place, format!("{error:#}")));
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn place(&self, conversation: Option<usize>) -> Place {
        Place {
            file: shown(&self.path),
            conversation,
        }
    }
}

impl Seen<'_> {
    fn look(&mut self, place: &Place, case: &Case) -> anyhow::Result<()> {
        self.n += 1;
        (self.look)(place, case)
    }
}

fn with_calls(place: &Place, case: Case) -> anyhow::Result<Case> {
    if case.session.calls.is_empty() {
        bail!("{place} holds no model call");
    }
    Ok(case)
}

impl LeftOut {
    /// Returns the JSON value.
    pub(super) fn shape(&self) -> Value {
        let all = self.0.iter().map(|(place, why)| {
            json!({ "file": place.file, "conversation": place.number(), "why": why })
        });
        Value::Array(all.collect())
    }

    fn tell(&self) {
        let are_files = self.0.iter().all(|(place, _)| place.conversation.is_none());
        let what = if are_files { "files" } else { "sessions" };
        match &self.0[..] {
            [] => {}
            [(_, why)] => note(&format!("left out: {why}")),
            [(_, why), rest @ ..] => note(&format!(
                "{} {what} are left out; the first: {why}",
                rest.len() + 1
            )),
        }
    }
}

/// Returns the path with forward slashes, so that baselines are the same on every platform.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
