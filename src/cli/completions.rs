//! `plimsoll completions`: completion scripts for shells.

use super::output::print;
use super::status::Status;
use super::with_all_options;
use clap::Command;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  plimsoll completions bash > plimsoll.bash")]
pub(super) struct Args {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Args {
    pub(super) fn run(&self, cli: Command) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        let mut cli = with_all_options(cli);
        clap_complete::generate(self.shell, &mut cli, "plimsoll", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
