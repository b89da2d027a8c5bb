//! `plimsoll completions`: completion scripts for shells.
//!
//! The scripts of bash, zsh and fish ask the program for candidates, so that presets, their settings and session files
//! are among them.

mod candidates;
mod typed;

use super::output::print;
use super::status::Status;
use super::with_all_options;
use candidates::Candidate;
use clap::Command;
use clap_complete::Shell;
use std::fmt::Write as _;
use typed::Typed;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  plimsoll completions bash > plimsoll.bash")]
pub(super) struct Args {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
    /// Print the candidates for the last of these words instead. bash gives the whole line as one word
    #[arg(last = true, hide = true, value_name = "WORD")]
    words: Vec<String>,
}

impl Args {
    pub(super) fn run(&self, cli: Command) -> anyhow::Result<Status> {
        let mut cli = with_all_options(cli);
        let script = match self.shell {
            _ if !self.words.is_empty() => self.candidates(cli),
            Shell::Bash => include_str!("plimsoll.bash").to_owned(),
            Shell::Zsh => include_str!("plimsoll.zsh").to_owned(),
            Shell::Fish => include_str!("plimsoll.fish").to_owned(),
            shell => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut cli, "plimsoll", &mut script);
                String::from_utf8_lossy(&script).into_owned()
            }
        };
        print(&script)?;
        Ok(Status::Done)
    }

    /// Returns a line for each candidate. zsh and fish also show descriptions.
    fn candidates(&self, mut cli: Command) -> String {
        cli.build();
        let is_bash = self.shell == Shell::Bash;
        let words = match &self.words[..] {
            [line] if is_bash => typed::split(line),
            words => words.to_vec(),
        };
        let typed = Typed::new(&cli, &words);
        // bash replaces only what follows the last `=`.
        let kept = match typed.word.rfind('=') {
            Some(at) if is_bash => at + 1,
            _ => 0,
        };
        let mut text = String::new();
        for Candidate { word, help } in candidates::candidates_for(&typed) {
            let word = word.get(kept..).unwrap_or_default();
            let _ = match help {
                Some(help) if !is_bash => writeln!(text, "{word}\t{help}"),
                _ => writeln!(text, "{word}"),
            };
        }
        text
    }
}
