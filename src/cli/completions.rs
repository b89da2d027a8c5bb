//! `plimsoll completions`: completion scripts for shells.

use super::output::print;
use super::status::Status;
use clap::Command;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Args {
    pub(super) fn run(&self, mut cli: Command) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli, "plimsoll", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
