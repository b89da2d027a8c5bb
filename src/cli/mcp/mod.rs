//! `plimsoll mcp`: a server with read-only tools, through which an agent asks about its own session.
//!
//! # How to write a tool
//!
//! Add a file with `const TOOL: SessionTool`, and a row to `TOOLS` in `toolbox.rs`. Parameters are a type whose doc
//! comments are their descriptions. A tool calls the functions of a command and returns fields of its JSON output, so
//! that both have the same figures. `UPDATE_DOCS=1 cargo test --test cli mcp` writes `tests/cli/mcp_tools.json`.

mod cost;
mod find;
mod inspect;
mod install;
mod lost;
mod message;
mod session;
mod tool;
mod toolbox;

use super::args::GlobalOptions;
use super::output::{json, note, print};
use super::status::Status;
use crate::exec::mcp::serve;
use anyhow::{Context as _, bail};
pub(super) use install::McpInstallation;
use std::io::{self, IsTerminal as _};
use toolbox::SessionTools;

/// Serve read-only tools to agents: a server of the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The agent starts the server and talks to it through standard input and output. Tools: inspect, find, lost, message, cost. They only read, and without a file they read the newest session of the current folder, or of the nearest folder above it that has one.\n\nExamples:\n  plimsoll mcp --install"
)]
pub(super) struct Args {
    /// Print the command that adds the server to each agent
    #[arg(long)]
    install: bool,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        if self.install {
            let installation = McpInstallation::here();
            if shared.json {
                json(&installation)?;
            } else {
                print(&installation.text())?;
            }
            return Ok(Status::Done);
        }
        if shared.json {
            bail!("--json requires --install: the server answers in JSON always");
        }
        if shared.refers_to_one_session() || shared.conversation.is_some() {
            bail!(
                "the tools read several sessions: leave out --conversation, --restart, --error and manual edits"
            );
        }
        if io::stdin().is_terminal() {
            note(
                "waiting for an agent on standard input; `plimsoll mcp --install` prints the command that adds this server to an agent",
            );
        }
        serve(SessionTools { shared: shared.clone() }).context("the connection failed")?;
        Ok(Status::Done)
    }
}
