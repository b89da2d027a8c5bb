//! `plimsoll completions`: completion scripts for shells.

use super::args::Shared;
use super::output::print;
use super::{Status, command_line};
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Args {
    pub(super) fn run(&self, _shared: &Shared) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(), "plimsoll", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
