//! `plimsoll help`: help of a command, or the global options.

use super::args::Shared;
use super::nearest::unknown;
use super::output::print;
use super::{Status, command_line, verbs};
use anyhow::bail;
use clap::Args as _;

/// Print the help of a command, or the options that every command accepts
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Command, or options
    #[arg(value_name = "COMMAND|options")]
    topic: Option<String>,
}

impl Args {
    pub(super) fn run(&self, _shared: &Shared) -> anyhow::Result<Status> {
        let mut cli = command_line();
        let Some(topic) = &self.topic else {
            print(&cli.render_help().to_string())?;
            return Ok(Status::Done);
        };
        if topic == "options" {
            let options = clap::Command::new("plimsoll").disable_help_flag(true);
            let mut options = Shared::augment_args(options)
                .mut_args(|arg| arg.hide(false))
                .help_template("{options}\n");
            print(&options.render_help().to_string())?;
            return Ok(Status::Done);
        }
        cli.build();
        let Some(command) = cli.find_subcommand_mut(topic) else {
            let topics: Vec<String> = verbs().into_iter().chain(["options".to_owned()]).collect();
            bail!("{}", unknown("no command is named", topic, &topics));
        };
        print(&command.render_help().to_string())?;
        Ok(Status::Done)
    }
}
