//! The reminder of tools after a compaction, since the messages that described them are gone.

use super::estimate::{calls_of, tool_name};
use super::tool_index::{ToolIndex, qualified};
use super::tool_injection::ToolInjection;
use crate::chat::ChatMessage;
use crate::json::Value;
use crate::languages::python::PythonError;
use crate::languages::python::{Layout, python_dumps};

/// Maximum number of names listed of a category.
// As in mbathe/digitorn-bridge @8d8eb4a6, like the number of examples.
const MAX_LISTED_NAMES: usize = 5;

/// Maximum number of tools whose examples are shown.
const MAX_EXAMPLES: usize = 5;

const TITLE: &str = "[Context reminder — your tools and capabilities are still available]";
const SEARCH: &str = "Use search_tools or list_categories to rediscover tools if needed.";
const EXECUTE: &str = "CRITICAL: ALL tools MUST be called via execute_tool(name, params). NEVER call tools directly by \
    name — only search_tools, get_tool, execute_tool, list_categories, browse_category can be called directly.";
const PRIMITIVES: &str = "Primitive capabilities (always available): run_parallel (execute multiple actions \
    simultaneously), background_run (1 tool, 5 modes: launch/status/cancel/wait/list background tasks), \
    watch_start/watch_stop/watch_pause/watch_resume/watch_status/watch_list/watch_history (persistent periodic \
    monitoring). Background tasks and watchers auto-notify you — no polling needed.";
const SPAWN: &str = "You have sub-agents available (spawn_agent). Delegate large file reads and parallel tasks to \
    protect your context.";
const DELEGATE: &str = "Delegate large reads and parallel work to them. Your context has been compacted -- protect \
    the remaining space.";
const IMPORTANT: &str = "IMPORTANT: The context was compacted to save space. Your memory above contains your full \
    cognitive state (goal, plan, progress, facts). The summary above preserves what happened. Continue working on \
    the task -- check your tasks and keep going. Do NOT restart or re-read files you already analyzed. Delegate heavy \
    reads to sub-agents to protect your remaining context.";

/// Inputs of a reminder.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReminderInputs<'a> {
    /// The tools; `None` if there is no context builder.
    pub tools: Option<&'a ToolIndex>,
    /// Lines about resources set up earlier.
    pub setup_summary: &'a [String],
    /// The memory module's state; empty without such a module.
    pub memory: &'a str,
}

/// Returns the reminder; empty if no tools are known.
///
/// # Errors
/// As the original raises, on `tool_calls: null` in a kept message.
pub fn context_reminder(
    inputs: ReminderInputs<'_>,
    mode: ToolInjection,
    kept: &[ChatMessage],
) -> Result<String, PythonError> {
    let Some(index) = inputs.tools.filter(|index| !index.categories.is_empty()) else {
        return Ok(String::new());
    };
    let mut lines = vec![TITLE.to_owned(), String::new()];
    match mode {
        ToolInjection::Direct | ToolInjection::CompactDirect => every_tool(index, &mut lines),
        ToolInjection::Discovery => categories(index, &mut lines),
    }
    if !inputs.setup_summary.is_empty() {
        lines.push(String::new());
        lines.push("Pre-configured resources (still active):".to_owned());
        lines.extend(inputs.setup_summary.iter().map(|entry| format!("- {entry}")));
    }
    let examples = examples(index, kept)?;
    if !examples.is_empty() {
        lines.push(String::new());
        lines.push("Quick reference — examples for your most-used tools:".to_owned());
        lines.extend(examples);
    }
    let mut paragraph = |text: &str| lines.extend([String::new(), text.to_owned()]);
    paragraph(PRIMITIVES);
    if !inputs.memory.is_empty() {
        paragraph(inputs.memory);
    }
    if let Some(agents) = sub_agents(index) {
        paragraph(&agents);
    }
    if !index.skills.is_empty() {
        paragraph(&format!("Available skills: {}", index.skills.join(", ")));
    }
    paragraph(IMPORTANT);
    Ok(lines.join("\n"))
}

fn every_tool(index: &ToolIndex, lines: &mut Vec<String>) {
    lines.push(format!(
        "You have {} tools available. Call them directly by name — no discovery step needed.",
        index.tools.len()
    ));
    lines.push(String::new());
    let line = |tool: &super::tool_index::IndexedTool| {
        format!("- {}: {}", tool.fqn, tool.short_description())
    };
    lines.extend(index.tools.iter().map(line));
}

fn categories(index: &ToolIndex, lines: &mut Vec<String>) {
    lines.push(format!(
        "You have {} tools across {} categories:",
        index.tools.len(),
        index.categories.len()
    ));
    for category in &index.categories {
        let n = category.tool_names.len();
        let names: Vec<_> = category.tool_names.iter().take(MAX_LISTED_NAMES).collect();
        let names = names.into_iter().map(String::as_str).collect::<Vec<_>>();
        let more = match n.checked_sub(MAX_LISTED_NAMES) {
            None | Some(0) => String::new(),
            Some(more) => format!(" (+{more} more)"),
        };
        let (module, names) = (&category.module_id, names.join(", "));
        lines.push(format!("- {module} ({n} tools): {names}{more}"));
    }
    lines.extend(["", SEARCH, EXECUTE].map(str::to_owned));
}

/// Returns examples of the tools that the kept messages call most; the first called wins a tie.
fn examples(index: &ToolIndex, kept: &[ChatMessage]) -> Result<Vec<String>, PythonError> {
    let mut usage: Vec<(&str, usize)> = Vec::new();
    for message in kept {
        for name in calls_of(message)?.iter().filter_map(tool_name) {
            match usage.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None if name.is_empty() => {}
                None => usage.push((name, 1)),
            }
        }
    }
    usage.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let example = |(name, _): &(&str, usize)| {
        let fqn = qualified(name);
        let example = index.tool(&fqn)?.examples.first()?;
        let value = match example {
            Value::Object(fields) => fields.get("value").unwrap_or(example),
            other => other,
        };
        Some(format!("- {fqn}: `{}`", python_dumps(value, Layout::UNICODE)))
    };
    let top = usage.iter().take(MAX_EXAMPLES);
    Ok(top.filter_map(example).collect())
}

fn sub_agents(index: &ToolIndex) -> Option<String> {
    if index.specialists.is_empty() {
        let can_spawn = index.tools.iter().any(|t| t.fqn.contains("spawn_agent"));
        return can_spawn.then(|| SPAWN.to_owned());
    }
    let agent = |(id, what): &(String, String)| format!("  - {id}: {what}");
    let agents = index.specialists.iter().map(agent);
    let lines = std::iter::once("Sub-agents available:".to_owned()).chain(agents);
    let lines: Vec<String> = lines.chain([DELEGATE.to_owned()]).collect();
    Some(lines.join("\n"))
}
