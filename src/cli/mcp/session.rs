//! The session that a call asks about: a given file, or the newest session of the project.

use super::tool::{Answer, CallContext, RowLimit};
use crate::cli::args::{GlobalOptions, is_stdin};
use crate::cli::lanes::{self, Lane};
use crate::cli::output::note;
use crate::exec::Loaded;
use crate::exec::stores::{Cache, STORES, newest_of_project};
use crate::units::Tokens;
use anyhow::{Context as _, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::env;
use std::path::{Path, PathBuf};

/// Parameters of every tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SessionParameters {
    /// Path of a session file. Default: the newest session of the folder in which this server runs, or of the nearest
    /// folder above it that has one, which is usually the current conversation.
    file: Option<PathBuf>,
    /// Number of the conversation in a file that holds several, from 1. Default: the first.
    conversation: Option<usize>,
}

/// Parameters of a tool that returns lists.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListParameters {
    #[serde(flatten)]
    pub(super) session: SessionParameters,
    #[serde(flatten)]
    pub(super) limit: RowLimit,
}

/// The session of a call.
pub(super) struct CallSession {
    pub(super) file: PathBuf,
    pub(super) loaded: Loaded,
    /// The lane without any compaction.
    pub(super) none: Lane,
    /// Tokens of the window that are kept for the answer.
    pub(super) reserve: Tokens,
    /// The options of the server, with the conversation.
    pub(super) shared: GlobalOptions,
}

/// The session in an answer.
#[derive(Serialize)]
struct SessionEntry<'a> {
    file: Cow<'a, str>,
    /// From 1.
    conversation: usize,
    conversations: usize,
    title: &'a str,
}

impl CallSession {
    /// Loads the session of a call.
    pub(super) fn open(
        parameters: SessionParameters,
        context: &CallContext<'_>,
    ) -> anyhow::Result<Self> {
        let given = match parameters.conversation {
            Some(0) => bail!("conversations are numbered from 1"),
            number => number.map(|number| number - 1),
        };
        let (file, found) = match parameters.file {
            Some(file) if is_stdin(&file) => {
                bail!("give the path of a file: standard input belongs to the protocol")
            }
            Some(file) => (file, None),
            None => newest(context)?,
        };
        let shared = GlobalOptions { conversation: given.or(found), ..context.shared.clone() };
        let none = lanes::none(&shared)?;
        let loaded = shared.load_file(&file, context.progress)?;
        context.progress.check_cancelled()?;
        let reserve = none.checked_reserve(&loaded.case, &shared)?;
        Ok(Self { file, loaded, none, reserve, shared })
    }

    /// Begins an answer about the session, with this number of rows in each list.
    pub(super) fn answer(&self, rows: usize) -> anyhow::Result<Answer> {
        let session = SessionEntry {
            file: self.file.to_string_lossy(),
            conversation: self.shared.conversation.unwrap_or(0) + 1,
            conversations: self.loaded.conversations.len(),
            title: &self.loaded.case.session.title,
        };
        Answer::new(&session, rows)
    }
}

/// Returns the file of the project's newest session, and the index of the conversation in a file with several.
fn newest(context: &CallContext<'_>) -> anyhow::Result<(PathBuf, Option<usize>)> {
    let folder = env::current_dir()
        .context("the current folder is not known; give the path of a session as `file`")?;
    let agent = context.client.and_then(agent_of);
    let mut cache = if context.shared.no_state { Cache::default() } else { Cache::load() };
    let newest = newest_of_project(&folder, agent, &mut cache, context.progress)?;
    if let Err(error) = cache.save() {
        note(&format!("the list of sessions cannot be cached ({error})"));
    }
    let newest = newest.with_context(|| nothing(&folder, agent))?;
    Ok((newest.found.path, newest.conversation))
}

/// Says that a project has no session.
fn nothing(folder: &Path, agent: Option<&str>) -> String {
    let of_agent = agent.map_or_else(String::new, |agent| format!(" of {agent}"));
    format!(
        "no session{of_agent} was recorded in {} or a folder above it; give the path of a session as `file` (`plimsoll sessions` lists them)",
        folder.display()
    )
}

/// Returns the agent whose program has this name, such as Claude Code for `claude-code` and Codex for `codex-mcp-client`.
fn agent_of(client: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace([' ', '_'], "-");
    let client = plain(client);
    let agents = STORES.iter().map(|store| store.agent);
    agents.filter(|agent| client.starts_with(&plain(agent))).max_by_key(|agent| agent.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_recognized_by_the_start_of_its_name() {
        assert_eq!(agent_of("claude-code"), Some("Claude Code"));
        assert_eq!(agent_of("codex-mcp-client"), Some("Codex"));
        assert_eq!(agent_of("gemini-cli-mcp-client"), Some("Gemini CLI"));
        assert_eq!(agent_of("opencode"), Some("OpenCode"));
        assert_eq!(agent_of("mcp"), None);
    }
}
