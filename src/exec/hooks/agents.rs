//! The agents whose hooks Plimsoll handles.

use super::event::Event;
use super::reply::Reply;
use super::{claude_code, codex, opencode};
use std::env;
use std::path::PathBuf;

/// An agent whose hooks Plimsoll handles.
#[derive(Debug)]
pub struct HookedAgent {
    /// Name on the command line.
    pub name: &'static str,
    /// Display name of the program.
    pub program: &'static str,
    /// Handles an event.
    pub(super) handle: fn(&Event, bool) -> Result<Reply, String>,
    /// Where hooks are declared.
    pub(super) declares: Declares,
    /// Step that the user must do after an installation, if any.
    pub(super) next_step: Option<&'static str>,
}

/// Where an agent declares hooks.
#[derive(Debug)]
pub(super) enum Declares {
    /// In a settings file.
    Settings {
        /// Path below the agent's folder.
        file: &'static str,
        folder: AgentHome,
        /// Events, each with the kinds for which the hook runs.
        events: &'static [(&'static str, Option<&'static str>)],
    },
    /// In a plugin, a file of its own.
    Plugin {
        /// Path below the agent's folder.
        file: &'static str,
        folder: AgentHome,
        /// Content of the file.
        text: &'static str,
    },
}

/// The folder of an agent.
#[derive(Debug)]
pub(super) struct AgentHome {
    /// Variable that names a folder.
    variable: &'static str,
    /// Path from the named folder to the agent's folder.
    below_variable: &'static str,
    /// Path from the home folder.
    below_home: &'static str,
}

impl AgentHome {
    /// Returns the folder; `None` without a home folder.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let named = env::var_os(self.variable).filter(|folder| !folder.is_empty());
        match named {
            Some(named) => Some(PathBuf::from(named).join(self.below_variable)),
            None => Some(etcetera::home_dir().ok()?.join(self.below_home)),
        }
    }
}

/// All agents, in the order of the help text.
pub static HOOKED_AGENTS: [HookedAgent; 3] = [
    HookedAgent {
        name: claude_code::NAME,
        program: "Claude Code",
        handle: claude_code::handle,
        declares: Declares::Settings {
            file: "settings.json",
            folder: AgentHome {
                variable: "CLAUDE_CONFIG_DIR",
                below_variable: "",
                below_home: ".claude",
            },
            events: &[
                ("PreCompact", None),
                ("SessionStart", Some("compact")),
                ("PostCompact", None),
                ("UserPromptSubmit", None),
                ("PostToolUse", None),
            ],
        },
        next_step: None,
    },
    HookedAgent {
        name: codex::NAME,
        program: "Codex",
        handle: codex::handle,
        declares: Declares::Settings {
            file: "hooks.json",
            folder: AgentHome { variable: "CODEX_HOME", below_variable: "", below_home: ".codex" },
            events: &[("SessionStart", Some("compact"))],
        },
        next_step: Some(
            "Codex does not run hooks that you have not reviewed: start `codex`, enter /hooks, and trust this one",
        ),
    },
    HookedAgent {
        name: opencode::NAME,
        program: "OpenCode",
        handle: opencode::handle,
        declares: Declares::Plugin {
            file: "plugins/plimsoll.js",
            folder: AgentHome {
                variable: "XDG_CONFIG_HOME",
                below_variable: "opencode",
                below_home: ".config/opencode",
            },
            text: include_str!("install/opencode_plugin.js"),
        },
        next_step: Some("a running OpenCode loads the plugin when it is started again"),
    },
];

impl HookedAgent {
    /// Returns the agent with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        HOOKED_AGENTS.iter().find(|agent| agent.name == name)
    }
}
