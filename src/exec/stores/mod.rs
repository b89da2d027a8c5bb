//! Finds and lists the sessions of agents on this machine.
//!
//! Only the locations of [`STORES`] are searched, only files with the names of sessions are opened, and links are not
//! followed, since credentials are often stored nearby.

mod cache;
mod cache_file;
mod copies;
mod find;
mod listing;
mod locations;
mod project;
mod summary;
mod tree;
mod usage;
mod usage_cache;

pub use cache::Cache;
pub use copies::{RepeatedCalls, repeated_calls};
pub use find::{FoundFile, FoundFiles, SESSION_EXTENSIONS, find, find_in, may_hold_session};
pub(super) use find::{
    MAX_DEPTH, find_with_archives, is_named_archive, is_searched, left_out_note,
};
pub(super) use listing::moment;
pub use listing::{ListCaches, ListedSession, Listing, Parent, list};
pub(super) use locations::folders;
pub use locations::{AgentFolder, existing_folders};
pub use project::newest_of_project;
pub use summary::{PeakAccuracy, SessionSummary};
pub use tree::{AgentUsage, ListUsage, SessionTree, SessionTrees, TreeLimits, conversation_tree};
pub use usage::{ConversationUsage, FileUsage, Relation};
pub use usage_cache::UsageCache;

/// An agent whose sessions can be found.
#[derive(Debug)]
pub struct Store {
    /// Name of the agent.
    pub agent: &'static str,
    /// Locations of its sessions.
    locations: &'static [Location],
}

/// A path pattern of session files.
#[derive(Debug)]
struct Location {
    base: Base,
    /// Segments below the base; `*` matches any characters within a segment, `**` any folders.
    path: &'static str,
}

/// Base folder of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The value of an environment variable.
    Variable(&'static str),
    /// The home folder.
    Home,
    /// The folder of settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    Config,
    /// The folder of data: `XDG_DATA_HOME` or `~/.local/share`, also on macOS; `%APPDATA%` on Windows.
    Data,
}

const fn at(base: Base, path: &'static str) -> Location {
    Location { base, path }
}

/// Hidden folders in which agents store the sessions of a project. They are searched in a folder that the user names.
const PROJECT_FOLDERS: [&str; 2] = [".crush", ".adk"];

/// Hidden folders in which agents keep their sessions below a home folder. A search of a folder, such as of backups, enters
/// them.
const HOME_FOLDERS: &[&str] = &[
    ".claude",
    ".codex",
    ".continue",
    ".copilot",
    ".factory",
    ".gemini",
    ".kimi",
    ".kiro",
    ".openhands",
    ".pi",
    ".picoclaw",
    ".qwen",
    ".vibe",
];

/// All agents whose sessions can be found. The sources are in the documentation of each format in [`crate::formats`].
pub static STORES: &[Store] = &[
    Store {
        agent: "Claude Code",
        locations: &[
            at(Base::Variable("CLAUDE_CONFIG_DIR"), "projects/*/*.jsonl"),
            at(Base::Variable("CLAUDE_CONFIG_DIR"), "projects/*/*/subagents/**/*.jsonl"),
            at(Base::Home, ".claude/projects/*/*.jsonl"),
            at(Base::Home, ".claude/projects/*/*/subagents/**/*.jsonl"),
            at(Base::Home, ".config/claude/projects/*/*.jsonl"),
            at(Base::Home, ".config/claude/projects/*/*/subagents/**/*.jsonl"),
        ],
    },
    Store {
        agent: "Codex",
        locations: &[
            at(Base::Variable("CODEX_HOME"), "sessions/**/rollout-*.jsonl"),
            at(Base::Variable("CODEX_HOME"), "archived_sessions/**/rollout-*.jsonl"),
            at(Base::Home, ".codex/sessions/**/rollout-*.jsonl"),
            at(Base::Home, ".codex/archived_sessions/**/rollout-*.jsonl"),
        ],
    },
    Store {
        agent: "Gemini CLI",
        locations: &[
            at(Base::Home, ".gemini/tmp/*/chats/session-*.json"),
            at(Base::Home, ".gemini/tmp/*/chats/session-*.jsonl"),
        ],
    },
    Store {
        agent: "Qwen Code",
        locations: &[
            at(Base::Home, ".qwen/projects/*/chats/*.jsonl"),
            at(Base::Home, ".qwen/tmp/*/chats/*.jsonl"),
        ],
    },
    Store {
        agent: "Kimi",
        locations: &[
            at(Base::Variable("KIMI_SHARE_DIR"), "sessions/*/*/wire.jsonl"),
            at(Base::Home, ".kimi/sessions/*/*/wire.jsonl"),
            at(Base::Variable("KIMI_CODE_HOME"), "sessions/*/*/agents/main/wire.jsonl"),
            at(Base::Home, ".kimi-code/sessions/*/*/agents/main/wire.jsonl"),
        ],
    },
    Store {
        agent: "Continue",
        locations: &[
            // `sessions.json` is a list of the sessions.
            at(Base::Variable("CONTINUE_GLOBAL_DIR"), "sessions/*-*.json"),
            at(Base::Home, ".continue/sessions/*-*.json"),
        ],
    },
    Store { agent: "Droid", locations: &[at(Base::Home, ".factory/sessions/**/*.jsonl")] },
    Store { agent: "Kiro", locations: &[at(Base::Home, ".kiro/sessions/cli/*.jsonl")] },
    Store {
        agent: "DeepSeek Harness",
        locations: &[
            at(Base::Variable("DSH_HOME"), "sessions/*/*/session*.jsonl*"),
            at(Base::Home, ".dsh/sessions/*/*/session*.jsonl*"),
        ],
    },
    Store {
        agent: "Cline",
        locations: &[
            at(Base::Home, ".cline/data/sessions/*/*.messages.json"),
            at(Base::Home, ".cline/data/tasks/*/api_conversation_history.json"),
            at(
                Base::Config,
                "Code/User/globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json",
            ),
        ],
    },
    Store {
        agent: "Roo Code",
        locations: &[at(
            Base::Config,
            "Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json",
        )],
    },
    Store {
        agent: "Kilo Code",
        locations: &[
            at(Base::Data, "kilo/kilo*.db"),
            at(Base::Home, ".local/share/kilo/kilo*.db"),
            at(
                Base::Config,
                "Code/User/globalStorage/kilocode.kilo-code/tasks/*/api_conversation_history.json",
            ),
        ],
    },
    Store {
        agent: "GitHub Copilot",
        locations: &[
            at(Base::Home, ".copilot/session-state/*/events.jsonl"),
            at(Base::Config, "Code/User/workspaceStorage/*/chatSessions/*.json"),
        ],
    },
    Store { agent: "Pi", locations: &[at(Base::Home, ".pi/agent/sessions/*/*.jsonl")] },
    Store {
        agent: "OpenClaw",
        locations: &[
            at(Base::Variable("OPENCLAW_STATE_DIR"), "agents/*/sessions/*.jsonl"),
            at(Base::Home, ".openclaw/agents/*/sessions/*.jsonl"),
            at(Base::Home, ".clawdbot/agents/*/sessions/*.jsonl"),
        ],
    },
    Store {
        agent: "Goose",
        locations: &[
            at(Base::Data, "goose/sessions/sessions.db"),
            at(Base::Data, "goose/sessions/*.jsonl"),
            at(Base::Config, "Block/goose/data/sessions/sessions.db"),
            at(Base::Config, "Block/goose/data/sessions/*.jsonl"),
        ],
    },
    Store {
        agent: "OpenCode",
        locations: &[
            at(Base::Data, "opencode/opencode*.db"),
            at(Base::Data, "opencode/storage/session/*/ses_*.json"),
            at(Base::Home, ".local/share/opencode/opencode*.db"),
            at(Base::Home, ".local/share/opencode/storage/session/*/ses_*.json"),
            at(Base::Home, ".opencode/opencode.db"),
        ],
    },
    Store { agent: "Crush", locations: &[at(Base::Home, ".crush/crush.db")] },
    Store {
        agent: "Cursor",
        locations: &[
            at(Base::Config, "Cursor/User/globalStorage/state.vscdb"),
            at(Base::Home, ".cursor/projects/*/agent-transcripts/**/*.jsonl"),
        ],
    },
    Store {
        agent: "Hermes Agent",
        locations: &[
            at(Base::Variable("HERMES_HOME"), "state.db"),
            at(Base::Home, ".hermes/state.db"),
        ],
    },
    Store {
        agent: "Strands Agents",
        locations: &[at(Base::Home, ".strands/sessions/session_*/session.json")],
    },
    Store {
        agent: "Mistral Vibe",
        locations: &[
            at(Base::Variable("VIBE_HOME"), "logs/session/session_*/messages.jsonl"),
            at(Base::Home, ".vibe/logs/session/session_*/messages.jsonl"),
        ],
    },
    Store {
        agent: "CowAgent",
        locations: &[
            at(Base::Home, "cow/sessions/conversations.db"),
            at(Base::Home, "cow/memory/long-term/index.db"),
        ],
    },
];
