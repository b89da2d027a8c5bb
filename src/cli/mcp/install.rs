//! Commands that add the server to agents.

use crate::exec::shell::{own_program, quoted};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Name of the server in agents.
const NAME: &str = "plimsoll";

/// Commands that add the server to agents.
#[derive(Serialize, JsonSchema)]
pub(crate) struct McpInstallation {
    /// Program that the agents start: `plimsoll` if the shell finds it, else its path.
    program: String,
    /// Agents whose own command adds the server.
    commands: Vec<InstallCommand>,
    /// Agents whose configuration file lists servers.
    files: Vec<InstallFile>,
}

/// A command that adds the server to an agent.
#[derive(Serialize, JsonSchema)]
struct InstallCommand {
    /// Name of the agent.
    agent: &'static str,
    /// Shell command.
    command: String,
}

/// A configuration file in which an agent lists servers.
#[derive(Serialize, JsonSchema)]
struct InstallFile {
    /// Names of the agents.
    agents: &'static str,
    /// The files.
    file: &'static str,
    /// Text to add.
    text: String,
}

impl McpInstallation {
    /// Returns the commands for this program.
    pub(super) fn here() -> Self {
        Self::of(&own_program())
    }

    fn of(program: &str) -> Self {
        let word = quoted(program);
        let command =
            |agent, add: &str| InstallCommand { agent, command: format!("{add}{word} mcp") };
        Self {
            commands: vec![
                command("Claude Code", &format!("claude mcp add --scope user {NAME} -- ")),
                command("Codex", &format!("codex mcp add {NAME} -- ")),
                command("Gemini CLI", &format!("gemini mcp add --scope user {NAME} ")),
                command("Qwen Code", &format!("qwen mcp add --scope user {NAME} ")),
                command("OpenCode", &format!("opencode mcp add {NAME} -- ")),
            ],
            files: vec![InstallFile {
                agents: "Cursor, Cline, Copilot CLI and others",
                file: ".cursor/mcp.json, cline_mcp_settings.json, ~/.copilot/mcp-config.json",
                text: serde_json::json!({
                    "mcpServers": { NAME: { "command": program, "args": ["mcp"] } },
                })
                .to_string(),
            }],
            program: program.to_owned(),
        }
    }

    /// Returns the text.
    pub(super) fn text(&self) -> String {
        let mut text = "One command adds the server to an agent:\n".to_owned();
        for InstallCommand { agent, command } in &self.commands {
            let _ = writeln!(text, "\n{agent}\n  {command}");
        }
        for InstallFile { agents, file, text: content } in &self.files {
            let _ = writeln!(text, "\n{agents} ({file})\n  {content}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_is_one_word() {
        let installation = McpInstallation::of("/opt/my tools/plimsoll");
        let text = installation.text();
        assert!(
            text.contains("codex mcp add plimsoll -- '/opt/my tools/plimsoll' mcp\n"),
            "{text}"
        );
        assert!(text.contains(r#"{"command":"/opt/my tools/plimsoll","args":["mcp"]}"#), "{text}");
    }
}
