//! Bundled policies: a TOML file per preset in `assets/presets`, a row per preset in [`PRESETS`].

mod families;
pub mod forms;
pub mod models;
pub mod native;
pub mod own;
mod own_prompt;
pub mod prices;
mod prompts;
mod provider_errors;

pub use own_prompt::{MAX_HALVINGS, OwnPrompt, tool_definitions, verbatim_prompt};
pub use prompts::{BundledPrompt, PROMPTS, prompt};
pub use provider_errors::{KnownError, known_error, provider_error, provider_errors};

use crate::engine::{Policy, PolicyError};
use crate::systems::REGISTRY;
use crate::units::Tokens;

/// One bundled preset.
#[derive(Debug)]
pub struct Preset {
    /// Name on the command line and of the file.
    pub name: &'static str,
    /// Its TOML.
    pub toml: &'static str,
}

/// Creates a row; the name is also that of the file.
macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, toml: include_str!(concat!("../assets/presets/", $name, ".toml")) }
    };
}

/// Every bundled preset, in the order in which they are offered.
pub static PRESETS: &[Preset] = &[
    preset!("truncate"),
    preset!("prune"),
    preset!("dedupe"),
    preset!("summarize"),
    preset!("none"),
    preset!("holmesgpt"),
    preset!("holmesgpt-document"),
    preset!("holmesgpt-v038"),
    preset!("holmesgpt-legacy"),
    preset!("digitorn"),
    preset!("digitorn-hooks"),
    preset!("digitorn-document"),
    preset!("digitorn-go"),
    preset!("baseagent"),
    preset!("baseagent-document"),
    preset!("cowagent"),
    preset!("cowagent-document"),
    preset!("picoclaw"),
    preset!("picoclaw-before"),
    preset!("picoclaw-proposed"),
    preset!("claude-code"),
    preset!("codex"),
    preset!("codex-remote"),
    preset!("opencode"),
    preset!("opencode-v2"),
    preset!("gemini-cli"),
    preset!("cline"),
    preset!("cline-legacy"),
    preset!("anthropic"),
    preset!("anthropic-compaction"),
    preset!("copilot-chat"),
    preset!("crush"),
    preset!("continue"),
    preset!("continue-cli"),
    preset!("docker-agent"),
    preset!("goose"),
    preset!("roo-code"),
    preset!("openhands"),
    preset!("openhands-v0"),
    preset!("openhands-masking"),
    preset!("openhands-recent"),
    preset!("openhands-amortized"),
    preset!("swe-agent"),
    preset!("aider"),
    preset!("aider-document"),
    preset!("langchain"),
    preset!("langchain-summarization"),
    preset!("deepagents"),
    preset!("strands"),
    preset!("pydantic-ai"),
    preset!("pydantic-ai-history"),
    preset!("haystack"),
    preset!("pi"),
    preset!("kimi-cli"),
    preset!("mistral-vibe"),
    preset!("hermes"),
    preset!("qwen-code"),
    preset!("openai-agents"),
    preset!("ai-sdk"),
    preset!("agent-framework"),
    preset!("adk"),
];

impl Preset {
    /// Returns the policy that the preset describes.
    ///
    /// # Errors
    /// [`PolicyError`]. A test parses every bundled preset.
    pub fn policy(&self) -> Result<Policy, PolicyError> {
        parse(self.toml)
    }
}

/// Parses a policy, with the vocabulary of the bundled presets.
///
/// # Errors
/// [`PolicyError`] with the location.
pub fn parse(toml: &str) -> Result<Policy, PolicyError> {
    Policy::parse(toml, &REGISTRY)
}

/// Returns the policy of this name.
pub fn by_name(name: &str) -> Option<Policy> {
    PRESETS.iter().find(|p| p.name == name)?.policy().ok()
}

/// Returns the output reserve of a session without a policy: the default of the preset `none`.
pub fn default_output_reserve() -> Tokens {
    let none = by_name("none");
    let reserve = none.and_then(|none| none.defaults().get("output_reserve"));
    Tokens(reserve.unwrap_or_default() as u64)
}

/// Returns the names of all presets as a list for a sentence.
pub fn names() -> String {
    PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}
