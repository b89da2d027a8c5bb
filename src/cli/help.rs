//! `plimsoll help`: help of a command, or options that the help of the commands omits.

use super::args::{GlobalOptions, InputArgs};
use super::model::ApiArgs;
use super::output::print;
use super::status::Status;
use super::window;
use crate::names::unknown;
use anyhow::bail;
use clap::{Args as _, Command};

/// Print the help of a command, or options that it omits
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  plimsoll help replay\n  plimsoll help options")]
pub(super) struct Args {
    /// Command; options: of every command; files: of commands that read many files; models: of models that write summaries; window: of the window
    #[arg(value_name = "COMMAND|options|files|models|window")]
    topic: Option<String>,
}

/// Adds a group of options to a command.
type AddOptions = fn(Command) -> Command;

/// Options that the help of the commands omits.
struct Topic {
    name: &'static str,
    title: &'static str,
    add: AddOptions,
}

const TOPICS: [Topic; 4] = [
    Topic { name: "options", title: "Options of every command", add: GlobalOptions::augment_args },
    Topic {
        name: "files",
        title: "Options of commands that read many files: evaluate, gate, sessions, sweep, table, usage",
        add: InputArgs::augment_args,
    },
    Topic {
        name: "models",
        title: "Options of models that write summaries",
        add: ApiArgs::augment_args,
    },
    Topic { name: "window", title: "Options of the window", add: window::Args::augment_args },
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
    if let Some(Topic { title, add, .. }) = TOPICS.iter().find(|known| known.name == topic) {
        let command = Command::new("plimsoll").disable_help_flag(true);
        let options = add(command).mut_args(|arg| arg.hide(false).help_heading(*title));
        let mut options = options.help_template("{all-args}\n");
        return Ok(options.render_help().to_string());
    }
    cli.build();
    let Some(command) = cli.find_subcommand_mut(topic) else {
        let topics = TOPICS.map(|topic| topic.name.to_owned());
        let commands = cli.get_subcommands().map(|c| c.get_name().to_owned());
        let topics: Vec<String> = commands.chain(topics).collect();
        bail!("{}", unknown("no command is named", topic, &topics));
    };
    Ok(command.render_help().to_string())
}
