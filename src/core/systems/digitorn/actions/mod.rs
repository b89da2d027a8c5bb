//! Actions, meters and windows of presets.

mod emergency;
mod go_rewrite;
mod hooks;
mod provider_view;
mod tool_result;
mod turn_limit;

use super::estimate::{hook_units, log_units, tokens_of};
use super::reminder::ReminderInputs;
use super::tool_index::ToolIndex;
use super::tool_injection::ToolInjection;
use super::window::window_of;
use crate::chat::Shape;
use crate::engine::{NamedAction, NamedMeter, NamedWindow, RewriteInput};
use crate::systems::stage_settings::choice_setting;
use crate::systems::terms::terms;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[
    tool_result::ACTION,
    turn_limit::ACTION,
    hooks::ACTION,
    provider_view::ACTION,
    emergency::ACTION,
    go_rewrite::COMPACT,
    go_rewrite::FIT,
    go_rewrite::MICRO,
    go_rewrite::EMERGENCY,
];

/// The estimate used by its hooks.
pub static METER: NamedMeter = NamedMeter {
    name: "digitorn",
    help: "Characters of texts and arguments / 4, rounded up once, plus 150 for each tool call. Pictures, ids, names and tool definitions count 0.",
    shape: Shape::OpenAi,
    units: |message| hook_units(message).unwrap_or(0) as u64,
    tokens: |units| tokens_of(units as usize) as u64,
    tools: |_| 0,
};

/// The estimate used by hooks according to its document.
pub static DOCUMENT_METER: NamedMeter = NamedMeter {
    name: "digitorn.document",
    help: "About four characters per token of all messages, as documented.",
    shape: Shape::OpenAi,
    units: |message| log_units(message).unwrap_or(0) as u64,
    tokens: |units| units / 4,
    tools: |_| 0,
};

/// The assumed window of a model if none is configured.
pub static WINDOW: NamedWindow = NamedWindow { name: "digitorn", window: window_of, output: |_| 0 };

/// Whether a preset follows the code or the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Code,
    Document,
}

impl Reading {
    fn of(settings: &toml::Table) -> Result<Self, String> {
        let readings = [("code", Self::Code), ("document", Self::Document)];
        Ok(choice_setting(settings, "reading", &readings)?.unwrap_or(Self::Code))
    }
}

/// Returns how tools are described: as forced by a number (0 by size, then direct, compact direct, discovery), else by
/// their size.
fn mode_of(input: &RewriteInput<'_>, max_tokens: i64) -> ToolInjection {
    match input.count("tool_injection") {
        1 => ToolInjection::Direct,
        2 => ToolInjection::CompactDirect,
        3 => ToolInjection::Discovery,
        _ => {
            let n = input.tools.len() as u64;
            ToolInjection::choose(n, max_tokens.max(0) as u64, input.tools)
        }
    }
}

/// Maps to the two modes of the document.
fn documented(mode: ToolInjection) -> ToolInjection {
    match mode {
        ToolInjection::CompactDirect => ToolInjection::Discovery,
        other => other,
    }
}

fn reminder_inputs<'a>(index: &'a ToolIndex, setup_summary: &'a [String]) -> ReminderInputs<'a> {
    ReminderInputs { tools: Some(index), setup_summary, memory: "" }
}

#[cfg(test)]
mod tests;
