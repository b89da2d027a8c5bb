//! Results as `MessageBuilder.buildForApi` sends them: the middle of long ones is removed.

use crate::languages::javascript::{first_units, last_units, length};

/// Maximum UTF-16 units of a result.
// As in Cline at 21cb8d25, `session/services/message-builder.ts`.
const RESULT_CHARS: usize = 8_000;

/// Returns the ends of a long text around a marker; `None` if it is short enough.
pub(super) fn shortened_result(text: &str) -> Option<String> {
    let n = length(text);
    if n <= RESULT_CHARS {
        return None;
    }
    let marker = |removed: usize| format!("\n\n...[truncated {removed} chars]...\n\n");
    let mut removed = n - RESULT_CHARS;
    // The marker has the number of characters that it takes the place of.
    for _ in 0..4 {
        let kept = RESULT_CHARS - marker(removed).len();
        if n - kept == removed {
            break;
        }
        removed = n - kept;
    }
    let kept = RESULT_CHARS - marker(removed).len();
    let head = kept.div_ceil(2);
    let (start, end) = (first_units(text, head), last_units(text, kept - head));
    Some(format!("{start}{}{end}", marker(removed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_within_the_limit() {
        assert_eq!(shortened_result(&"x".repeat(8_000)), None);
        let cut = shortened_result(&"x".repeat(9_000)).expect("it is too long");
        assert_eq!(cut.len(), 8_000);
        assert!(cut.contains("\n\n...[truncated 1032 chars]...\n\n"), "{cut}");
    }
}
