//! Truncation of tool results on arrival.

use crate::languages::javascript::{first_units, last_units, length};
use crate::languages::python::with_commas;

/// Share of the limit that is kept of the start.
// As in gemini-cli-core 0.61.0, `utils/fileUtils.js`, which `scheduler/tool-executor.js` calls.
const HEAD: f64 = 0.2;

/// Returns whether results of a tool are truncated: shell commands and tools of MCP servers.
pub(super) fn applies_to(tool: &str) -> bool {
    tool == "run_shell_command" || tool.starts_with("mcp_")
}

/// `ToolExecutor.truncateOutputIfNeeded`: returns a text shortened to its start and end; `None` if it is within the limit.
pub(super) fn truncate(text: &str, limit: usize, path: &str) -> Option<String> {
    let n = length(text);
    if limit == 0 || n <= limit {
        return None;
    }
    let head = (limit as f64 * HEAD).floor() as usize;
    let tail = limit - head;
    let (start, end) = (first_units(text, head), last_units(text, tail));
    Some(format!(
        "Output too large. Showing first {} and last {} characters. For full output see: {path}\n{start}\n\n... [{} characters omitted] ...\n\n{end}",
        with_commas(head),
        with_commas(tail),
        with_commas(n - limit)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_fifth_of_the_limit_from_the_start() {
        assert_eq!(truncate("aaaaabbbbb", 10, "p"), None);
        let cut = truncate("aabbbbbbbbcccccccc", 10, "p").expect("it is too long");
        assert!(cut.ends_with("p\naa\n\n... [8 characters omitted] ...\n\ncccccccc"));
    }
}
