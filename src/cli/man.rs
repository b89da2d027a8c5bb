//! `plimsoll man`: manual pages.

use super::output::{clean, print};
use super::status::Status;
use super::with_all_options;
use crate::exec::write_file;
use clap::Command;
use std::path::PathBuf;

/// Write the manual pages, one per command, to an existing folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  plimsoll man .\n  man ./plimsoll-replay.1")]
pub(super) struct Args {
    /// Folder for plimsoll.1, plimsoll-inspect.1, …
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Args {
    pub(super) fn run(&self, cli: Command) -> anyhow::Result<Status> {
        let mut cli = with_all_options(cli);
        cli.build();
        let commands = cli.get_subcommands().filter(|command| !command.is_hide_set());
        let names = commands.map(|command| (format!("plimsoll-{}.1", command.get_name()), command));
        for (name, command) in names.chain([("plimsoll.1".to_owned(), &cli)]) {
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page)?;
            let path = self.folder.join(name);
            write_file(&path, &page).map_err(anyhow::Error::msg)?;
            print(&format!("{}\n", clean(&path.to_string_lossy())))?;
        }
        Ok(Status::Done)
    }
}
