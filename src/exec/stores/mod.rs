//! Where agents keep their sessions on this machine, and what lies there.
//!
//! Only the places of this table are looked into, only files whose names are those of sessions are opened, and no link
//! is followed: credentials often lie beside.

mod cache;
mod find;
mod listing;
mod places;
mod summary;

pub use cache::Cache;
pub use find::{Found, find, find_in};
pub use listing::{Listed, Listing, Parent, list};
pub(super) use places::folders;
pub use places::looked_into;
pub use summary::{PeakBasis, SessionSummary};

/// An agent whose sessions can be found.
#[derive(Debug)]
pub struct Store {
    /// Its name for people.
    pub agent: &'static str,
    /// Where it keeps them.
    places: &'static [Place],
}

/// A place with sessions.
#[derive(Debug)]
struct Place {
    base: Base,
    /// Segments below it; `*` stands for any characters within one, `**` for any folders.
    path: &'static str,
}

/// What a place lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The folder that an environment variable names.
    Variable(&'static str),
    /// A person's home.
    Home,
    /// Where programs keep their settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    Config,
    /// `~/.local/share`, also on macOS, or what `XDG_DATA_HOME` says; `%APPDATA%` on Windows.
    Data,
}

const fn at(base: Base, path: &'static str) -> Place {
    Place { base, path }
}

/// All agents whose sessions can be found. Sources: each format's page in `src/formats`.
pub static STORES: &[Store] = &[
    Store {
        agent: "Claude Code",
        places: &[
            at(Base::Variable("CLAUDE_CONFIG_DIR"), "projects/*/*.jsonl"),
            at(Base::Home, ".claude/projects/*/*.jsonl"),
            at(Base::Home, ".config/claude/projects/*/*.jsonl"),
        ],
    },
    Store {
        agent: "Codex",
        places: &[
            at(Base::Variable("CODEX_HOME"), "sessions/**/rollout-*.jsonl"),
            at(
                Base::Variable("CODEX_HOME"),
                "archived_sessions/**/rollout-*.jsonl",
            ),
            at(Base::Home, ".codex/sessions/**/rollout-*.jsonl"),
            at(Base::Home, ".codex/archived_sessions/**/rollout-*.jsonl"),
        ],
    },
    Store {
        agent: "Gemini CLI",
        places: &[
            at(Base::Home, ".gemini/tmp/*/chats/session-*.json"),
            at(Base::Home, ".gemini/tmp/*/chats/session-*.jsonl"),
        ],
    },
    Store {
        agent: "Cline",
        places: &[
            at(Base::Home, ".cline/data/sessions/*/*.messages.json"),
            at(
                Base::Home,
                ".cline/data/tasks/*/api_conversation_history.json",
            ),
            at(
                Base::Config,
                "Code/User/globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json",
            ),
        ],
    },
    Store {
        agent: "Roo Code",
        places: &[at(
            Base::Config,
            "Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json",
        )],
    },
    Store {
        agent: "Kilo Code",
        places: &[at(
            Base::Config,
            "Code/User/globalStorage/kilocode.kilo-code/tasks/*/api_conversation_history.json",
        )],
    },
    Store {
        agent: "GitHub Copilot",
        places: &[
            at(Base::Home, ".copilot/session-state/*/events.jsonl"),
            at(
                Base::Config,
                "Code/User/workspaceStorage/*/chatSessions/*.json",
            ),
        ],
    },
    Store {
        agent: "Pi",
        places: &[at(Base::Home, ".pi/agent/sessions/*/*.jsonl")],
    },
    Store {
        agent: "Goose",
        places: &[
            at(Base::Data, "goose/sessions/sessions.db"),
            at(Base::Data, "goose/sessions/*.jsonl"),
            at(Base::Config, "Block/goose/data/sessions/sessions.db"),
            at(Base::Config, "Block/goose/data/sessions/*.jsonl"),
        ],
    },
    Store {
        agent: "OpenCode",
        places: &[
            at(Base::Data, "opencode/opencode*.db"),
            at(Base::Data, "opencode/storage/session/*/ses_*.json"),
            at(Base::Home, ".local/share/opencode/opencode*.db"),
            at(
                Base::Home,
                ".local/share/opencode/storage/session/*/ses_*.json",
            ),
        ],
    },
    Store {
        agent: "Cursor",
        places: &[at(Base::Config, "Cursor/User/globalStorage/state.vscdb")],
    },
    Store {
        agent: "CowAgent",
        places: &[
            at(Base::Home, "cow/sessions/conversations.db"),
            at(Base::Home, "cow/memory/long-term/index.db"),
        ],
    },
];
