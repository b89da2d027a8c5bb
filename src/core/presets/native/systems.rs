//! The table of systems with a configuration of their own.

use super::FileFormat::{self, Environment, FlatJson, Json, Python, PythonCall, Toml, Yaml};
use super::NativeKind::{self, Fixed, OfSetting};
use super::{Imported, codex_profiles, digitorn};
use crate::json::Value;

/// The configuration of one system.
#[derive(Debug)]
pub struct Native {
    /// Its presets: this name, and this name followed by `-variant`.
    pub system: &'static str,
    /// Notation of its configuration.
    pub form: FileFormat,
    /// Parents of its keys, from the outside in.
    pub root: &'static [&'static str],
    /// Name of the file, for messages.
    pub file: &'static str,
    /// Other places that its settings are read from: notation and keys from the outside in. `*` is each item of a list.
    /// Without it, keys outside the place are read, too.
    pub also_in: &'static [(FileFormat, &'static [&'static str])],
    /// Keys that switch automatic compaction off, with the value that does so.
    pub off: &'static [(&'static str, bool)],
    /// Key of the model's context window, if any.
    pub window: Option<&'static str>,
    /// The `type` of each limit that is an object.
    pub(super) limit_kinds: &'static [(&'static str, &'static str)],
    /// Keys of a list whose items are the objects of the settings, each with its name as `type`.
    pub(super) items: &'static [&'static str],
    /// The configuration is written within the first place of `also_in`.
    pub(super) is_enclosed: bool,
    /// Presets with the class or the `type` that their configuration names.
    pub(super) kinds: &'static [(&'static str, NativeKind)],
    /// Imports a whole configuration, if it contains more than settings can express.
    pub(super) import_whole: Option<fn(&Value) -> Option<Imported>>,
    /// Moves the settings of the selected profile to the top of a configuration, as [`codex_profiles::select`] does.
    pub(super) select_profile: Option<fn(&mut Value, &[&str]) -> codex_profiles::ProfileSelection>,
}

/// Returns a row without the optional fields.
const fn native(system: &'static str, form: FileFormat, file: &'static str) -> Native {
    Native {
        system,
        form,
        root: &[],
        file,
        also_in: &[],
        off: &[],
        window: None,
        limit_kinds: &[],
        items: &[],
        is_enclosed: false,
        kinds: &[],
        import_whole: None,
        select_profile: None,
    }
}

/// Every system with a configuration of its own.
pub static NATIVE: &[Native] = &[
    native("holmesgpt", Environment, "environment variables"),
    Native {
        root: &["execution", "context"],
        import_whole: Some(digitorn::imported),
        ..native("digitorn", Yaml, "app.yaml")
    },
    native("baseagent", Python, "src/config/defaults.py"),
    native("cowagent", Json, "config.json"),
    Native { root: &["agents", "defaults"], ..native("picoclaw", Json, "config.json") },
    Native {
        also_in: &[(Json, &["env"])], // settings.json
        off: &[
            ("autoCompactEnabled", false),
            ("DISABLE_AUTO_COMPACT", true),
            ("DISABLE_COMPACT", true),
        ],
        ..native("claude-code", Environment, "environment variables")
    },
    Native {
        window: Some("model_context_window"),
        select_profile: Some(codex_profiles::select),
        ..native("codex", Toml, "config.toml")
    },
    native("opencode", Json, "opencode.json"),
    native("gemini-cli", Json, "settings.json"),
    native("cline", Json, "the session's config"),
    Native {
        also_in: &[(Json, &["context_management", "edits", "*"]), (Json, &["edits", "*"])],
        kinds: &[
            ("anthropic", Fixed("clear_tool_uses_20250919")),
            ("anthropic-compaction", Fixed("compact_20260112")),
        ],
        limit_kinds: &[
            ("trigger", "input_tokens"),
            ("keep", "tool_uses"),
            ("clear_at_least", "input_tokens"),
        ],
        is_enclosed: true,
        ..native("anthropic", Json, "the body of a request")
    },
    native("copilot-chat", FlatJson, "settings.json"),
    Native { root: &["options"], ..native("crush", Json, "crush.json") },
    Native {
        root: &["defaultCompletionOptions"],
        ..native("continue", Yaml, "config.yaml, in a model")
    },
    native("docker-agent", Yaml, "agent.yaml, in an agent"),
    Native {
        also_in: &[(Yaml, &[])], // config.yaml
        ..native("goose", Environment, "environment variables")
    },
    Native { root: &["globalSettings"], ..native("roo-code", Json, "exported settings") },
    Native {
        kinds: &[
            ("openhands", Fixed("LLMSummarizingCondenser")),
            ("openhands-v0", Fixed("CondenserPipelineConfig")),
            ("openhands-masking", Fixed("ObservationMaskingCondenser")),
            ("openhands-recent", Fixed("RecentEventsCondenser")),
            ("openhands-amortized", Fixed("AmortizedForgettingCondenser")),
        ],
        ..native("openhands", PythonCall, "a Python program with the condenser")
    },
    Native {
        kinds: &[
            ("langchain", Fixed("ClearToolUsesEdit")),
            ("langchain-summarization", Fixed("SummarizationMiddleware")),
        ],
        ..native("langchain", PythonCall, "a Python program with the middleware")
    },
    Native {
        kinds: &[("agent-framework", OfSetting("strategy"))],
        ..native("agent-framework", PythonCall, "a Python program with the strategy")
    },
    Native {
        kinds: &[("adk", Fixed("EventsCompactionConfig"))],
        ..native("adk", PythonCall, "a Python program with the settings of App")
    },
    Native {
        kinds: &[("deepagents", Fixed("SummarizationMiddleware"))],
        ..native("deepagents", PythonCall, "a Python program with the middleware")
    },
    Native {
        kinds: &[("strands", OfSetting("manager"))],
        ..native("strands", PythonCall, "a Python program with the conversation manager")
    },
    Native {
        kinds: &[("pydantic-ai", OfSetting("capability"))],
        ..native("pydantic-ai", PythonCall, "a Python program with the capability")
    },
    Native {
        kinds: &[("haystack", OfSetting("compactor"))],
        ..native("haystack", PythonCall, "a Python program with the hook")
    },
    native("pi", Json, "settings.json"),
    Native { root: &["loop_control"], ..native("kimi-cli", Toml, "config.toml") },
    native("mistral-vibe", Toml, "config.toml"),
    Native { root: &["compression"], ..native("hermes", Yaml, "config.yaml") },
    native("qwen-code", Json, "settings.json"),
    Native { items: &["agent", "history_processors"], ..native("swe-agent", Yaml, "config.yaml") },
    native("aider", Yaml, ".aider.conf.yml"),
    native(
        "openai-agents",
        PythonCall,
        "a Python program with the session and the settings of a run",
    ),
    Native { root: &["pruneMessages"], ..native("ai-sdk", Json, "options of pruneMessages") },
];
