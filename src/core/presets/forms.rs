//! A tuned policy in every form that runs it: a system's own settings, a policy file, programs, hooks.

use super::native::{self, Exported};
use super::{PRESETS, own};
use crate::engine::{KnobValues, Policy};
use std::fmt::Write as _;

/// A form of a tuned policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The configuration of the system that the preset describes.
    Settings,
    /// A policy file.
    Toml,
    /// A Python program with the package `plimsoll-context`.
    Python,
    /// A TypeScript program with the package `@plimsoll/context`.
    TypeScript,
    /// Commands that install hooks in the agent.
    Hook,
}

/// A policy to write.
#[derive(Clone, Copy, Debug)]
pub struct Tuned<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its text.
    pub toml: &'a str,
    /// Its settings.
    pub knobs: &'a KnobValues,
    /// Context window, if known.
    pub window: Option<u64>,
}

/// Agents with hooks, by the preset that describes each.
const HOOKS: [&str; 3] = ["claude-code", "codex", "opencode"];

/// A window in programs if none is known.
// Chosen: the window of most current models. A comment says that it is to be checked.
const USUAL_WINDOW: u64 = 200_000;

impl Form {
    /// All forms, in the order of menus.
    pub const ALL: [Self; 5] =
        [Self::Settings, Self::Toml, Self::Python, Self::TypeScript, Self::Hook];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Toml => "toml",
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Hook => "hook",
        }
    }

    /// Returns the name in menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::Settings => "Settings of the system",
            Self::Toml => "Policy file (TOML)",
            Self::Python => "Python program",
            Self::TypeScript => "TypeScript program",
            Self::Hook => "Hooks of the agent",
        }
    }

    /// Returns whether a policy can be written in this form.
    pub fn applies_to(self, policy: &Policy) -> bool {
        match self {
            Self::Settings => native::Native::of(&policy.name).is_some(),
            Self::Toml | Self::Python | Self::TypeScript => !policy.stages.is_empty(),
            Self::Hook => HOOKS.contains(&policy.name.as_str()),
        }
    }

    /// Writes a tuned policy.
    ///
    /// # Errors
    /// A sentence with the reason why it cannot be written in this form.
    pub fn write(self, tuned: Tuned<'_>) -> Result<Exported, String> {
        let policy = tuned.policy;
        if self != Self::Settings && !self.applies_to(policy) {
            return Err(match self {
                Self::Hook => {
                    format!("{} has no hooks; supported: {}", policy.name, HOOKS.join(", "))
                }
                _ => format!(
                    "{} never removes anything, so there is nothing to run; choose another policy",
                    policy.name
                ),
            });
        }
        match self {
            Self::Settings => native::export(policy, tuned.knobs),
            Self::Toml => Ok(exported(tuned.own_toml()?, "a policy file")),
            Self::Python => Ok(exported(tuned.python(), "a Python program")),
            Self::TypeScript => Ok(exported(tuned.typescript(), "a TypeScript program")),
            Self::Hook => Ok(tuned.hook()),
        }
    }
}

impl Tuned<'_> {
    /// Returns the settings that differ from the policy's defaults.
    fn changed(&self) -> Vec<(&str, f64)> {
        let default = |name: &str| self.policy.knob(name).map(|knob| knob.value);
        let knobs = self.knobs.iter();
        knobs.filter(|(name, value)| default(name) != Some(*value)).collect()
    }

    /// Returns the policy with its settings as defaults.
    fn own_toml(&self) -> Result<String, String> {
        if self.changed().is_empty() {
            return Ok(self.toml.to_owned());
        }
        let tuned = own::own(self.toml, self.knobs, &format!("{} tuned", self.policy.name))?;
        Ok(tuned.toml)
    }

    /// Returns whether the packages have the policy, so that its name is enough.
    fn is_bundled(&self) -> bool {
        PRESETS.iter().any(|preset| preset.name == self.policy.name && preset.toml == self.toml)
    }

    fn window_and_comment(&self, comment: &str) -> (u64, String) {
        match self.window {
            Some(window) => (window, String::new()),
            None => (USUAL_WINDOW, format!("  {comment} the context window of your model")),
        }
    }

    fn python(&self) -> String {
        let mut text =
            "# pip install plimsoll-context, or the file plimsoll_context-*.whl of a release\nfrom plimsoll import Manager\n\n".to_owned();
        let policy = if self.is_bundled() {
            json_text(&self.policy.name)
        } else {
            let _ = write!(text, "POLICY = {}\n\n", python_text(self.toml));
            "POLICY".to_owned()
        };
        let (window, comment) = self.window_and_comment("#");
        let _ = writeln!(text, "manager = Manager(\n    {policy},\n    window={window},{comment}");
        let changed = self.changed();
        if !changed.is_empty() {
            text += "    settings={\n";
            for (name, value) in changed {
                let _ = writeln!(text, "        {}: {value},", json_text(name));
            }
            text += "    },\n";
        }
        text += ")\n\n\ndef send(history, ask_model):\n";
        text += "    \"\"\"Sends a request. `ask_model(messages, max_tokens)` calls your model, which also writes the summaries.\n\n";
        text += "    After the answer, call `manager.report(input_tokens=…, output_tokens=…)` with the reported usage.\n    \"\"\"\n";
        text += "    return manager.call(\n        history,\n        lambda request: ask_model(request.plain, request.max_tokens),\n";
        text += "        lambda ready: ask_model(ready.messages, None),\n    )\n";
        text
    }

    fn typescript(&self) -> String {
        let mut text =
            "// npm install @plimsoll/context, or the files plimsoll-context-*.tgz of a release\nimport { Manager } from \"@plimsoll/context\";\n\n"
                .to_owned();
        let policy = if self.is_bundled() {
            json_text(&self.policy.name)
        } else {
            let _ = write!(text, "const policy = {};\n\n", template_text(self.toml));
            "policy".to_owned()
        };
        let (window, comment) = self.window_and_comment("//");
        let _ = writeln!(
            text,
            "export const manager = new Manager({policy}, {{\n  window: {window},{comment}"
        );
        let changed = self.changed();
        if !changed.is_empty() {
            text += "  settings: {\n";
            for (name, value) in changed {
                let _ = writeln!(text, "    {}: {value},", json_text(name));
            }
            text += "  },\n";
        }
        text += "});\n\n";
        text += "/**\n * Sends a request. `askModel` calls your model, which also writes the summaries.\n";
        text += " * After the answer, call `manager.report({ inputTokens, outputTokens })` with the reported usage.\n */\n";
        text += "export async function send(history: any[], askModel: (messages: any[], maxTokens?: number) => Promise<any>) {\n";
        text += "  return await manager.call(history, {\n";
        text += "    summarize: (request) => askModel(request.messages, request.maxTokens),\n";
        text += "    send: (ready) => askModel(ready.messages),\n  });\n}\n";
        text
    }

    fn hook(&self) -> Exported {
        let agent = &self.policy.name;
        let text = format!(
            "# Keeps your instructions through the compactions of {}; `plimsoll hook uninstall {agent}` takes it back.\nplimsoll hook install {agent}\n",
            self.policy.label
        );
        let mut exported = exported(text, "a shell");
        if !self.changed().is_empty() {
            exported.notes.push(
                "Hooks cannot change when the agent compacts: set the changed settings in its own configuration."
                    .to_owned(),
            );
        }
        exported
    }
}

fn exported(text: String, place: &'static str) -> Exported {
    Exported { text, place, notes: Vec::new() }
}

/// Returns a text as a literal of JSON, Python and JavaScript.
fn json_text(text: &str) -> String {
    crate::json::Value::from(text).to_string()
}

/// Returns a text of several lines as a literal of Python.
fn python_text(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
    // The literal must not end with a quotation mark of the text.
    let end = if text.ends_with('"') { "\n" } else { "" };
    format!("\"\"\"\\\n{text}{end}\"\"\"")
}

/// Returns a text of several lines as a literal of JavaScript.
fn template_text(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('`', "\\`").replace("${", "\\${");
    format!("`{text}`")
}
