//! `plimsoll hook`: handles events of agents, and adds the hooks to their settings.

mod json_output;

use super::args::{FileArg, GlobalOptions};
use super::output::{clean, json, print};
use super::status::Status;
use crate::exec::hooks::{
    HOOKED_AGENTS, HookChange, HookedAgent, constraints_of, handle_event, hook_log_path, install,
    read_hook_log, uninstall,
};
use anyhow::Context as _;
pub(super) use json_output::{HookConstraints, HookLog, HookSettings};
use std::ffi::OsString;
use std::io;

/// Keep your instructions through the compactions of a running agent
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An installed hook adds your standing instructions (always, never, only, use, make sure, from now on; in English) to the agent's request for a summary, and gives those that were lost back to the agent once. Nothing leaves this machine, and nothing blocks the agent: a hook that fails or takes 2 s prints nothing, and `plimsoll hook log` shows the reason. docs/hooks.md lists what each agent allows.\n\nExamples:\n  plimsoll hook install claude-code --dry-run\n  plimsoll hook constraints sample_sessions/compacted.jsonl\n  plimsoll hook log"
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<HookAction>,
}

/// Operations on hooks.
#[derive(Debug, clap::Subcommand)]
enum HookAction {
    /// Add the hooks to an agent's settings
    #[command(
        after_help = "Changes settings.json of Claude Code (CLAUDE_CONFIG_DIR), hooks.json of Codex (CODEX_HOME), or adds a plugin to OpenCode (XDG_CONFIG_HOME). The rest of the file stays byte for byte. A file with comments is not changed; the error lists the hooks to add yourself.\n\nExamples:\n  plimsoll hook install codex --dry-run"
    )]
    Install(SettingsArgs),
    /// Remove the hooks from an agent's settings
    #[command(
        after_help = "Removes exactly the entries that run `plimsoll hook AGENT`. If the file was not changed since `install`, it becomes what it was before, byte for byte.\n\nExamples:\n  plimsoll hook uninstall codex --dry-run"
    )]
    Uninstall(SettingsArgs),
    /// Print what the hooks did: one line per compaction and failure (default)
    #[command(after_help = "Examples:\n  plimsoll hook log --json")]
    Log,
    /// Print your standing instructions in a session, which a hook would keep
    #[command(
        after_help = "Keys and passwords are left out, as in a hook. docs/hooks.md lists which sentences count.\n\nExamples:\n  plimsoll hook constraints sample_sessions/compacted.jsonl"
    )]
    Constraints(FileArg),
    /// Handle an event of Claude Code, read from standard input
    #[command(
        after_help = "Claude Code runs this.\n\nExamples:\n  echo '{\"hook_event_name\": \"PreCompact\", \"session_id\": \"x\", \"transcript_path\": \"FILE\"}' | plimsoll hook claude-code"
    )]
    ClaudeCode,
    /// Handle an event of Codex, read from standard input
    #[command(
        after_help = "Codex runs this.\n\nExamples:\n  echo '{\"hook_event_name\": \"SessionStart\", \"session_id\": \"x\", \"transcript_path\": \"FILE\", \"source\": \"compact\"}' | plimsoll hook codex"
    )]
    Codex,
    #[command(
        name = "opencode",
        about = "Handle an event of OpenCode, read from standard input",
        after_help = "The plugin in OpenCode runs this.\n\nExamples:\n  echo '{}' | plimsoll hook opencode"
    )]
    OpenCode,
}

/// An agent whose settings are changed.
#[derive(Debug, clap::Args)]
struct SettingsArgs {
    /// Agent
    #[arg(value_parser = HOOKED_AGENTS.each_ref().map(|agent| agent.name))]
    agent: String,
    /// Print the change without writing it
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        match &self.action {
            Some(HookAction::Install(args)) => args.run(shared, install)?,
            Some(HookAction::Uninstall(args)) => args.run(shared, uninstall)?,
            None | Some(HookAction::Log) => log(shared)?,
            Some(HookAction::Constraints(args)) => constraints(args, shared)?,
            Some(HookAction::ClaudeCode) => handle("claude-code", shared.no_state),
            Some(HookAction::Codex) => handle("codex", shared.no_state),
            Some(HookAction::OpenCode) => handle("opencode", shared.no_state),
        }
        Ok(Status::Done)
    }
}

impl SettingsArgs {
    fn run(
        &self,
        shared: &GlobalOptions,
        plan: fn(&HookedAgent) -> Result<HookChange, String>,
    ) -> anyhow::Result<()> {
        let agent = HookedAgent::by_name(&self.agent).context("no such agent")?;
        let change = plan(agent).map_err(anyhow::Error::msg)?;
        if !self.dry_run {
            change.apply(!shared.no_state).map_err(anyhow::Error::msg)?;
        }
        let settings = HookSettings::new(agent, &change, self.dry_run);
        if shared.json { json(&settings) } else { print(&settings.text()) }
    }
}

fn constraints(args: &FileArg, shared: &GlobalOptions) -> anyhow::Result<()> {
    let loaded = shared.load(&args.file)?;
    let constraints = HookConstraints { constraints: constraints_of(&loaded.case.session) };
    if shared.json { json(&constraints) } else { print(&constraints.text()) }
}

fn log(shared: &GlobalOptions) -> anyhow::Result<()> {
    let path = hook_log_path().context("there is no home folder, so nothing is logged")?;
    let log = HookLog::new(&path, &read_hook_log());
    if shared.json {
        return json(&log);
    }
    if log.is_empty() {
        return print(&format!("nothing is logged in {}\n", clean(&path.to_string_lossy())));
    }
    print(&log.text())
}

/// Handles an event. Agents interpret exit codes: 2 would block a compaction. So this always succeeds.
fn handle(agent: &str, no_state: bool) {
    if let Some(agent) = HookedAgent::by_name(agent) {
        handle_event(agent, io::stdin(), !no_state, |text| print(text).map_err(io::Error::other));
    }
}

/// Handles an event if these arguments (the program's own name first) are those of an agent. Tables of models or options
/// that cannot be read must not disturb the agent.
pub(super) fn handled(args: &[OsString]) -> bool {
    let is = |idx: usize, word: &str| args.get(idx).is_some_and(|arg| arg == word);
    let agent = HOOKED_AGENTS.iter().find(|agent| is(2, agent.name)).filter(|_| is(1, "hook"));
    let options = args.get(3..).unwrap_or_default();
    let is_help = options.iter().any(|arg| arg == "--help" || arg == "-h");
    let Some(agent) = agent.filter(|_| !is_help) else {
        return false;
    };
    handle(agent.name, options.iter().any(|arg| arg == "--no-state"));
    true
}
