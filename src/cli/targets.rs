//! The session files of a verb that takes several: files as typed, and all of a folder.

use super::args::Shared;
use super::output::note;
use crate::exec::stores::find_in;
use crate::exec::{Loaded, is_folder};
use crate::progress::Progress;
use anyhow::bail;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Session files to be read one after another: a folder of them may be larger than the memory.
#[derive(Debug)]
pub(super) struct Targets {
    files: Vec<Target>,
}

/// One of them.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    /// It came with a folder: what holds no session is left out rather than refused.
    of_folder: bool,
}

/// What became of the files of folders that were not read.
#[derive(Debug, Default)]
pub(super) struct LeftOut(pub(super) Vec<(String, String)>);

impl Targets {
    /// The files that are meant.
    pub(super) fn new(
        verb: &str,
        operands: Vec<OsString>,
        shared: &Shared,
    ) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        for operand in operands {
            let path = PathBuf::from(operand);
            if is_folder(&path) {
                let mut found = find_in(&path, &Progress::default())?;
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
                    path,
                    of_folder: false,
                });
            }
        }
        if files.is_empty() {
            bail!("{verb} needs a session file or a folder of them: plimsoll {verb} FILE");
        }
        let of_one =
            !shared.restarts.is_empty() || !shared.errors.is_empty() || !shared.by_hand.is_empty();
        if files.len() > 1 && of_one {
            bail!(
                "--restart, --error, --pin, --clear and --drop are about one session; give one file"
            );
        }
        Ok(Self { files })
    }

    /// Whether they are more than one.
    pub(super) fn are_many(&self) -> bool {
        self.files.len() > 1
    }

    /// Reads them one after another and has each looked at, with its name. Files of a folder that hold no session with
    /// calls are left out, and told.
    pub(super) fn each(
        &self,
        shared: &Shared,
        mut look: impl FnMut(&str, Loaded) -> anyhow::Result<()>,
    ) -> anyhow::Result<LeftOut> {
        let mut left_out = LeftOut::default();
        for target in &self.files {
            let name = shown(&target.path);
            let loaded = shared.load(target.path.as_os_str());
            let loaded = loaded.and_then(|loaded| {
                if loaded.case.session.steps.is_empty() {
                    bail!("{name} holds no model call");
                }
                Ok(loaded)
            });
            match loaded {
                Ok(loaded) => look(&name, loaded)?,
                Err(error) if target.of_folder => left_out.0.push((name, format!("{error:#}"))),
                Err(error) => return Err(error),
            }
        }
        if left_out.0.len() == self.files.len() {
            let (_, why) = &left_out.0[0];
            bail!("no file there holds a session; the first: {why}");
        }
        left_out.tell();
        Ok(left_out)
    }
}

impl LeftOut {
    fn tell(&self) {
        match &self.0[..] {
            [] => {}
            [(_, why)] => note(&format!("left out: {why}")),
            [(_, why), rest @ ..] => note(&format!(
                "{} files are left out; the first: {why}",
                rest.len() + 1
            )),
        }
    }
}

/// The same on every platform: baselines name files so.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
