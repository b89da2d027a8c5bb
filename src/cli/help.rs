//! `plimsoll help`: help of a command, or options that the help of the commands omits.

use super::args::GlobalOptions;
use super::model::ApiArgs;
use super::nearest::unknown;
use super::output::print;
use super::status::Status;
use anyhow::bail;
use clap::{Args as _, Command};

/// Print the help of a command, the options of every command, or those of models
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Command, options or models
    #[arg(value_name = "COMMAND|options|models")]
    topic: Option<String>,
}

/// Adds a group of options to a command.
type AddOptions = fn(Command) -> Command;

/// Groups of options that the help of the commands omits.
const TOPICS: [(&str, AddOptions); 2] = [
    ("options", GlobalOptions::augment_args),
    ("models", ApiArgs::augment_args),
];

impl Args {
    pub(super) fn run(&self, cli: Command) -> anyhow::Result<Status> {
        print(&help(cli, self.topic.as_deref())?)?;
        Ok(Status::Done)
    }
}

/// Returns the help of a topic (default: of the program).
fn help(mut cli: Command, topic: Option<&str>) -> anyhow::Result<String> {
    let Some(topic) = topic else {
        return Ok(cli.render_help().to_string());
    };
    if let Some((_, options)) = TOPICS.iter().find(|(name, _)| *name == topic) {
        let command = Command::new("plimsoll").disable_help_flag(true);
        let options = options(command).mut_args(|arg| arg.hide(false));
        let mut options = options.help_template("{options}\n");
        return Ok(options.render_help().to_string());
    }
    cli.build();
    let Some(command) = cli.find_subcommand_mut(topic) else {
        let topics = TOPICS.map(|(name, _)| name.to_owned());
        let commands = cli.get_subcommands().map(|c| c.get_name().to_owned());
        let topics: Vec<String> = commands.chain(topics).collect();
        bail!("{}", unknown("no command is named", topic, &topics));
    };
    Ok(command.render_help().to_string())
}
