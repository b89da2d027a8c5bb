//! Global options, loading of the files that they apply to, and parsers of option values.

mod error;
mod inputs;
mod values;

pub(super) use error::one_line;
pub(super) use inputs::{DEFAULT_FILES, InputArgs};
pub(super) use values::{
    calls, fact_kind, nonzero_tokens, number, ordinal, row_limit, share_number,
};

use super::manual_edits::ManualEditArgs;
use super::output::{clean, counted, grouped, note};
use crate::analysis::attribution::{self, Selector, Sources, without};
use crate::analysis::rereads::RereadModel;
use crate::engine::{Case, ProviderError};
use crate::exec::{
    FileSessions, LoadOptions, Loaded, install_tables, load, load_reread_model, load_stream,
    load_tool_definitions,
};
use crate::session::{Body, Part};
use crate::tokens::{self, Counter, Progress};
use crate::units::Tokens;
use anyhow::bail;
use std::io;
use std::path::{Path, PathBuf};

/// Name of standard input in messages.
const STDIN: &str = "standard input";

/// Options that every command accepts, before its name or after it.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// Context window in tokens (200000, 200k, 1M) [default: the model's]
    #[arg(long, global = true, hide = true, value_name = "TOKENS", value_parser = nonzero_tokens)]
    pub(crate) window: Option<Tokens>,
    /// File with context windows of models, which take precedence over the bundled ones: litellm's price map, or TOML with [models]
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// File with prices of models, which take precedence over the bundled ones: litellm's price map, or TOML with [[price]] rows
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// File with coefficients of expected re-reads that `plimsoll evaluate --fit` wrote [default: the bundled ones]
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub(crate) risk_model: Option<PathBuf>,
    /// The content of that file.
    #[arg(skip)]
    pub(crate) given_reread_model: Option<RereadModel>,
    /// Tokens of the window that are kept for the answer; policies without this setting ignore it [default: the policy's]
    #[arg(long, global = true, hide = true, value_name = "TOKENS", value_parser = values::tokens)]
    pub(crate) output_reserve: Option<Tokens>,
    /// Tokenizer
    #[arg(long, global = true, hide = true, value_name = "NAME", value_parser = values::counter(), default_value = tokens::default_counter().name)]
    pub(crate) counter: &'static Counter,
    /// Conversation of a file that holds several, from 1 [default: the first; evaluate, sweep and gate: all]
    #[arg(long, global = true, hide = true, value_name = "N", value_parser = ordinal)]
    pub(crate) conversation: Option<usize>,
    /// Assume that the agent's program was restarted before this call (repeatable)
    #[arg(long = "restart", global = true, hide = true, value_name = "CALL", value_parser = ordinal)]
    pub(crate) restarts: Vec<usize>,
    /// Assume that the provider rejects the first attempt of this call: the name of a known error, or its full text (repeatable)
    #[arg(long = "error", global = true, hide = true, value_name = "CALL=ERROR", value_parser = values::provider_error_at)]
    pub(crate) errors: Vec<ProviderError>,
    #[command(flatten)]
    pub(crate) manual_edits: ManualEditArgs,
    /// Compute everything as if this had never been sent: mcp:SERVER, tool:NAME, section:HEADING, memory:FILE, or a kind such as skills or reminder (repeatable)
    #[arg(long, global = true, hide = true, value_name = "KIND[:NAME]")]
    pub(crate) without: Vec<Selector>,
    /// File with the tool definitions that the program sent, for sessions that do not record them: JSON as in a request or an MCP server's tools/list
    #[arg(long = "tools", global = true, hide = true, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true, hide = true)]
    pub(crate) json: bool,
    /// Neither read nor write recent files, workspaces, caches, tables of models and prices, the search index and logs; read saved presets
    #[arg(long, global = true, hide = true)]
    pub(crate) no_state: bool,
}

impl GlobalOptions {
    /// Installs the tables of models and prices of the options and of the data folder for the whole program.
    pub(crate) fn install_tables(&self) -> anyhow::Result<()> {
        let (models, prices) = (self.models.as_deref(), self.prices.as_deref());
        for warning in install_tables(models, prices, !self.no_state)? {
            note(&warning);
        }
        Ok(())
    }

    /// Reads the file of `--risk-model`.
    pub(crate) fn read_risk_model(&mut self) -> anyhow::Result<()> {
        let path = self.risk_model.as_deref();
        self.given_reread_model = path.map(load_reread_model).transpose()?;
        Ok(())
    }

    /// Returns the coefficients of expected re-reads: those of `--risk-model`, or the bundled ones.
    pub(crate) fn reread_model(&self) -> &RereadModel {
        let given = self.given_reread_model.as_ref();
        given.unwrap_or(RereadModel::bundled())
    }

    /// Returns the options for loading a file.
    pub(crate) fn load_options(&self) -> LoadOptions {
        LoadOptions {
            counter: self.counter,
            window: self.window,
            conversation: self.conversation.unwrap_or(0),
        }
    }

    /// Loads a session file, or standard input for `-`.
    pub(crate) fn load(&self, file: &Path) -> anyhow::Result<Loaded> {
        let (options, progress) = (self.load_options(), Progress::default());
        if is_stdin(file) {
            self.loaded(file, load_stream(STDIN, io::stdin().lock(), &options, &progress)?)
        } else {
            self.load_file(file, &progress)
        }
    }

    /// Loads a session file.
    pub(crate) fn load_file(&self, file: &Path, progress: &Progress) -> anyhow::Result<Loaded> {
        self.loaded(file, load(file, &self.load_options(), progress)?)
    }

    /// Applies the options to a session.
    fn loaded(&self, file: &Path, mut loaded: Loaded) -> anyhow::Result<Loaded> {
        if self.conversation.is_none() && loaded.has_several_conversations() {
            note(&format!(
                "{} holds {} conversations; this is the first (--conversation N selects another)",
                file.display(),
                loaded.conversations.len()
            ));
        }
        loaded.case = self.apply(&loaded.case)?;
        if let Some(selector) = self.without.iter().find(|s| !selects_any(&loaded.case, s)) {
            bail!("--without {selector}: {}", known_sources(&loaded.case, selector));
        }
        loaded.case = self.without(loaded.case, true);
        Ok(loaded)
    }

    /// Returns one of the sessions of a file.
    pub(crate) fn case_of(&self, several: &FileSessions, number: usize) -> anyhow::Result<Case> {
        let case = several.case(number, &self.load_options(), &Progress::default())?;
        Ok(self.without(self.apply(&case)?, false))
    }

    /// Returns the options that change how a session is read and replayed, with their values. The output reserve is a setting
    /// of the policy.
    pub(crate) fn session_options(&self) -> impl Iterator<Item = (&'static str, String)> {
        let window = self.window.map(|window| ("--window", window.0.to_string()));
        let name = self.counter.name;
        let is_default = name == tokens::default_counter().name;
        let counter = (!is_default).then(|| ("--counter", name.to_owned()));
        let restart = |call: &usize| ("--restart", (call + 1).to_string());
        let error =
            |error: &ProviderError| ("--error", format!("{}={}", error.call + 1, error.text));
        window
            .into_iter()
            .chain(counter)
            .chain(self.restarts.iter().map(restart))
            .chain(self.errors.iter().map(error))
            .chain(self.manual_edits.options())
            .chain(self.without.iter().map(|selector| ("--without", selector.to_string())))
            .chain(self.tools.iter().map(|path| ("--tools", path.display().to_string())))
    }

    /// Returns true if an option refers to calls or messages of one session.
    pub(crate) fn refers_to_one_session(&self) -> bool {
        !self.restarts.is_empty() || !self.errors.is_empty() || !self.manual_edits.is_empty()
    }

    /// Refuses options that only change figures, for a command that writes what was recorded.
    pub(crate) fn refuse_what_if(&self, command: &str) -> anyhow::Result<()> {
        let given = [("--without", !self.without.is_empty()), ("--tools", self.tools.is_some())];
        match first_given(given) {
            Some(option) => {
                bail!("{option} changes figures only; {command} writes what was recorded")
            }
            None => Ok(()),
        }
    }

    /// Returns the session without the selected sources that it has.
    fn without(&self, case: Case, says_so: bool) -> Case {
        let selectors: Vec<Selector> =
            self.without.iter().filter(|selector| selects_any(&case, selector)).cloned().collect();
        if selectors.is_empty() {
            return case;
        }
        let Ok(less) = without(&case, &selectors) else {
            return case;
        };
        if says_so {
            let uses = match less.uses {
                0 => String::new(),
                n => format!("; the conversation still has {} of these tools", counted(n, "call")),
            };
            let names: Vec<String> = selectors.iter().map(ToString::to_string).collect();
            note(&format!(
                "computed without {}, {} tokens{uses}",
                clean(&names.join(", ")),
                grouped(less.tokens.0)
            ));
        }
        less.case
    }

    /// Returns the session with given tools, restarts, provider errors and manual edits applied.
    fn apply(&self, case: &Case) -> anyhow::Result<Case> {
        let with_tools;
        let case = match &self.tools {
            None => case,
            Some(path) => {
                if !lacks_tools(case) {
                    bail!("--tools {}: the session records its tools", path.display());
                }
                let tools = load_tool_definitions(path)?;
                with_tools = attribution::with_tools(case, &tools, &Progress::default())?;
                &with_tools
            }
        };
        let n = case.session.calls.len();
        let calls = counted(n, "call");
        if let Some(call) = self.restarts.iter().find(|call| **call >= n) {
            bail!("--restart {}: the session has {calls}", call + 1);
        }
        if let Some(error) = self.errors.iter().find(|error| error.call >= n) {
            bail!("--error {}: the session has {calls}", error.call + 1);
        }
        let edits = self.manual_edits.within(case.session.messages.len())?;
        Ok(case.with_restarts(&self.restarts).with_errors(&self.errors).with_manual_edits(edits))
    }
}

/// Returns whether a session has a source that this selector selects.
fn selects_any(case: &Case, selector: &Selector) -> bool {
    Sources::new(case).all.iter().any(|source| selector.matches(source))
}

/// Describes the sources of a session, for a selector that selects none.
fn known_sources(case: &Case, selector: &Selector) -> String {
    // Chosen: an error stays within a few lines.
    const MAX_LISTED: usize = 20;
    let all = Sources::new(case).all;
    let servers = all.iter().filter_map(|source| Some(format!("mcp:{}", source.server()?)));
    let mut names: Vec<String> = servers.chain(all.iter().map(ToString::to_string)).collect();
    names.dedup();
    let kind = selector.to_string();
    let kind = kind.split(':').next().unwrap_or_default();
    names.sort_by_key(|name| !name.starts_with(kind));
    match names.len() {
        0 => "the session records neither system prompt nor tools (--tools FILE gives these)"
            .to_owned(),
        n => {
            let more = if n > MAX_LISTED { ", …" } else { "" };
            names.truncate(MAX_LISTED);
            format!("the session has no such source; it has {}{more}", names.join(", "))
        }
    }
}

/// Returns whether a session records no tool definition.
fn lacks_tools(case: &Case) -> bool {
    let is_definition = |part: &Part| matches!(part.body, Body::ToolDefinition { .. });
    !case.session.parts.iter().any(is_definition)
}

/// Returns the name of the first option that was given.
pub(crate) fn first_given<const N: usize>(
    options: [(&'static str, bool); N],
) -> Option<&'static str> {
    let mut given = options.into_iter().filter(|(_, is_given)| *is_given);
    given.next().map(|(name, _)| name)
}

/// Returns true for `-`, the name of standard input.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The session file of a command.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FileArg {
    /// Session file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
