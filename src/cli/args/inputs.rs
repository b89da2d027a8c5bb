//! The files of a command that reads many.

use super::{STDIN, is_stdin};
use crate::exec::{Inputs, list_from, read_list};
use crate::progress::Progress;
use anyhow::bail;
use std::io;
use std::path::PathBuf;

/// Help of the operands where the agents' own folders are read without any.
pub(crate) const DEFAULT_FILES: &str = "Session files, archives or folders (--files-from: `help files`) [default: the agents' own folders]";

/// The files of a command that reads many, as operands and in a list.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// Session files, archives or folders (--files-from: `help files`)
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) files: Vec<PathBuf>,
    /// Read further paths from a file, or from standard input for -: one a line, or separated by NUL
    #[arg(long, hide = true, value_name = "LIST")]
    files_from: Option<PathBuf>,
}

impl InputArgs {
    /// Returns true if neither operands nor a list are given.
    pub(crate) fn are_empty(&self) -> bool {
        self.files.is_empty() && self.files_from.is_none()
    }

    /// Finds the files. Standard input and files of archives are stored until the result is dropped.
    pub(crate) fn find(&self) -> anyhow::Result<Inputs> {
        self.add_to(Inputs::default())
    }

    /// Finds the files like [`Self::find`], however many a folder has.
    pub(crate) fn find_all(&self) -> anyhow::Result<Inputs> {
        self.add_to(Inputs::unlimited())
    }

    fn add_to(&self, mut inputs: Inputs) -> anyhow::Result<Inputs> {
        let progress = Progress::default();
        let list = self.files_from.as_deref();
        let n_stdin = self.files.iter().map(PathBuf::as_path).chain(list);
        if n_stdin.filter(|path| is_stdin(path)).count() > 1 {
            bail!("standard input can be read once: give - as a file or to --files-from");
        }
        for path in &self.files {
            if is_stdin(path) {
                inputs.add_stream((STDIN, "-"), io::stdin().lock(), &progress)?;
            } else {
                inputs.add(path, &progress)?;
            }
        }
        let listed = match list {
            None => Vec::new(),
            Some(list) if is_stdin(list) => list_from(STDIN, io::stdin().lock())?,
            Some(list) => read_list(list)?,
        };
        for path in &listed {
            inputs.add_listed(path, &progress);
        }
        if self.files.len() + listed.len() > 1 {
            inputs.remove_repeated();
        }
        Ok(inputs)
    }
}
