//! Description of tools to the model, which decides what the reminder after a compaction lists.

use crate::json::Value;
use crate::languages::python::{Layout, python_dumps};

/// Tokens assumed for a tool whose definition is unknown.
// The numbers of this file are those of mbathe/digitorn-bridge @8d8eb4a6.
const FALLBACK_TOKENS: u64 = 200;

/// Tokens of a tool described by name and one line.
const COMPACT_TOKENS: u64 = 30;

/// Share of the window that tools may take.
const MAX_SHARE: f64 = 0.20;

/// The form in which tools are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolInjection {
    /// Every definition.
    Direct,
    /// Names and one line each.
    CompactDirect,
    /// Tools that search for tools.
    Discovery,
}

impl ToolInjection {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::CompactDirect => "compact_direct",
            Self::Discovery => "discovery",
        }
    }

    /// Returns the mode of this name; `None` for other names, which force nothing.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Direct, Self::CompactDirect, Self::Discovery];
        all.into_iter().find(|mode| mode.name() == name)
    }

    /// Selects the mode for a number of tools and a window. Without definitions each tool counts a fixed number.
    pub fn choose(total_tools: u64, window: u64, definitions: &[Value]) -> Self {
        let tokens = if definitions.is_empty() {
            total_tools * FALLBACK_TOKENS
        } else {
            let chars = |tool| python_dumps(tool, Layout::UNICODE).chars().count();
            definitions.iter().map(chars).sum::<usize>() as u64 / 4
        };
        let budget = (window as f64 * MAX_SHARE) as u64;
        if tokens <= budget {
            Self::Direct
        } else if total_tools * COMPACT_TOKENS <= budget {
            Self::CompactDirect
        } else {
            Self::Discovery
        }
    }
}
