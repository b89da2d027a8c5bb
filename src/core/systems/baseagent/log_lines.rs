//! Log lines of the context management.

use super::Limits;
use crate::languages::python::PythonError;
use crate::units::Tokens;

/// Log line at the start.
pub const OVERFLOW: &str = "[compaction] Context overflow detected, managing...";

/// Returns the log line before every call.
///
/// # Errors
/// `ZeroDivisionError` if no window is left for input.
pub fn status(total: Tokens, limits: &Limits) -> Result<String, PythonError> {
    let percent = limits.percent(total)?;
    Ok(format!("[compaction] Context: {} tokens ({percent:.1}% of {})", total.0, limits.usable()))
}

/// Returns the log line if clearing was enough.
pub fn sufficient(before: Tokens, after: Tokens) -> String {
    format!("[compaction] Pruning sufficient: {} -> {} tokens", before.0, after.0)
}

/// Returns the log line if clearing was not enough.
pub fn insufficient(after: Tokens) -> String {
    format!("[compaction] Pruning insufficient ({} tokens), running AI compaction...", after.0)
}

/// Returns the log line at the end, with or without a summary.
pub fn compaction_result(before: Tokens, after: Tokens) -> String {
    format!("[compaction] Compaction result: {} -> {} tokens", before.0, after.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_as_python_rounds_them() {
        let limits = Limits { context: 1000, output: 0, ..Limits::SHIPPED };
        let shown = |total| status(Tokens(total), &limits).unwrap();
        assert_eq!(shown(2), "[compaction] Context: 2 tokens (0.2% of 1000)");
        let limits = Limits { context: 800, ..limits };
        let shown = |total| status(Tokens(total), &limits).unwrap();
        assert_eq!(shown(2), "[compaction] Context: 2 tokens (0.2% of 800)");
        assert_eq!(shown(6), "[compaction] Context: 6 tokens (0.8% of 800)");
    }
}
