//! Display text of numbers and facts. Only this module formats percentages in the window.
//!
//! Thousands are grouped as on the command line, and `≈` precedes an estimate.

mod number;

pub use number::{
    bytes, cost, count, difference, duration, grouped, minute, number, of_usable, of_window,
    percent, rate, short, shown_difference, signed, tokens, typed_tokens, usd, with_grouped,
};

pub use crate::analysis::query::kind_name as kind;
pub use crate::figure::quantity;

use crate::analysis::insight::{Certainty, Level};
use crate::app::state::model::selection::CallRange;
use crate::engine::{Hook, Knob, MessageStatus, WindowSource};
use crate::session::WrittenKind;
use crate::tokens::{Accuracy, TokenLedger};
use crate::units::Share;
use number::THIN;

/// Returns the believed fill of a policy and the actual fill, such as `believed 75 %, actual 100.4 %`, or only the
/// believed fill if it is right. Believed fill is a share of the policy's own limit, actual fill of the usable window.
pub fn believed_fill(believed: Share, actual: Share) -> String {
    let text = format!("believed {}", fullness(believed));
    if is_believed_right(believed, actual) {
        text
    } else {
        format!("{text}, actual {}", fullness(actual))
    }
}

/// Returns whether believed and actual fill differ by less than one percentage point.
pub fn is_believed_right(believed: Share, actual: Share) -> bool {
    (believed.0 - actual.0).abs() < 0.01
}

/// Formats a share in percent, with one decimal near the limit.
pub fn fullness(share: Share) -> String {
    if (0.95..1.05).contains(&share.0) {
        format!("{:.1}{THIN}%", share.0 * 100.0)
    } else {
        percent(share)
    }
}

/// Returns the accuracy of a session's counts for the chip in the bar.
pub fn accuracy(ledger: &TokenLedger) -> String {
    match ledger.accuracy {
        Accuracy::Reported => "reported by the provider".to_owned(),
        Accuracy::Exact => format!("exact {}", ledger.counter.name),
        Accuracy::Calibrated(error) => format!("calibrated ±{THIN}{}", percent(error)),
        Accuracy::Estimated => format!("≈ estimated with {}", ledger.counter.name),
    }
}

/// Returns a short sign for the accuracy of the counts.
pub fn accuracy_sign(ledger: &TokenLedger) -> &'static str {
    match ledger.accuracy {
        Accuracy::Reported | Accuracy::Exact => "=",
        Accuracy::Calibrated(_) => "±",
        Accuracy::Estimated => "≈",
    }
}

/// Returns the hover text of the accuracy chip.
pub fn accuracy_help(ledger: &TokenLedger) -> String {
    let counter = ledger.counter.name;
    match (ledger.accuracy, &ledger.fit) {
        (Accuracy::Calibrated(_), Some(fit)) => format!(
            "Counted with {counter} and fitted to the usage that {} calls report: {} tokens not recorded, {:.3} tokens for \
             each counted. Mean error {}, without the fit {}.",
            fit.calls,
            grouped(fit.overhead.max(0.0).round() as u64),
            fit.factor,
            percent(fit.error),
            percent(fit.unfitted_error),
        ),
        (Accuracy::Exact, _) => format!(
            "Counted with {counter}, the model's own vocabulary. The file reports no usage to check it against."
        ),
        (Accuracy::Reported, _) => "The provider reports these counts.".to_owned(),
        _ if ledger.distrusted.is_some() => format!(
            "Counted with {counter}. The reported usage contradicts the content of the file, so counts are estimates."
        ),
        _ => format!(
            "Counted with {counter}. The file reports no usage to fit it to, and the vocabulary is not the model's own, so counts are estimates."
        ),
    }
}

/// Returns a short text for the source of the context window.
pub fn window_source(source: WindowSource) -> &'static str {
    match source {
        WindowSource::User => "set manually",
        WindowSource::Recorded => "recorded",
        WindowSource::ModelTable => "from the model table",
        WindowSource::Assumed => "assumed",
    }
}

/// Returns the display name of a hook.
pub fn hook(hook: Hook) -> &'static str {
    match hook {
        Hook::ToolResult => "at a tool result",
        Hook::Resume => "after a restart",
        Hook::TurnStart => "when a turn begins",
        Hook::AfterTools => "after tools",
        Hook::BeforeCall => "before a call",
        Hook::OverflowError => "when a call overflows",
        Hook::AfterCall => "after a call",
        Hook::TurnEnd => "when a turn ends",
        Hook::Manual => "on request",
    }
}

/// Label of sent content that is not recorded, at the bottom of a stack.
pub const NOT_RECORDED: &str = "not recorded";
/// Label of the same part of a stack if some of it is recorded.
pub const PARTLY_NOT_RECORDED: &str = "system + not recorded";
/// Hover text of content that is not recorded.
pub const NOT_RECORDED_HELP: &str = "Content that is not recorded, such as the system prompt and tool definitions. Its size is the difference between reported and recorded tokens. It often grows after a compaction, when programs send files again without logging them.";

/// Returns a one-word status of a message.
pub fn status(status: MessageStatus) -> &'static str {
    match status {
        MessageStatus::Kept => "kept",
        MessageStatus::Cleared => "cleared",
        MessageStatus::Cut => "cut",
        MessageStatus::Summarized => "summary",
        MessageStatus::Dropped => "dropped",
        MessageStatus::Absent => "absent",
    }
}

/// Returns the status of several messages as the end of a phrase: `24 messages summarized`.
pub fn status_of_many(of: MessageStatus) -> &'static str {
    match of {
        MessageStatus::Summarized => "summarized",
        other => status(other),
    }
}

/// Returns a word for a message that a policy wrote.
pub fn written(kind: WrittenKind) -> &'static str {
    match kind {
        WrittenKind::Summary => "summary",
        WrittenKind::Notice | WrittenKind::Addition => "notice",
    }
}

/// Formats a setting for editing: `0.75`, `40,000`.
pub fn knob_value(knob: &Knob, value: f64) -> String {
    if knob.step >= 1.0 && value >= 0.0 {
        return grouped(value.round() as u64);
    }
    let places = decimals(knob.step);
    format!("{value:.places$}")
}

/// Returns the decimal places of a setting with this step.
pub fn decimals(step: f64) -> usize {
    if step >= 1.0 {
        0
    } else {
        // Without a step, values are shown with two places.
        let places = (-step.log10()).ceil();
        if places.is_finite() { places as usize } else { 2 }
    }
}

/// Returns the short form of a unit.
pub fn knob_unit(unit: &str) -> &str {
    match unit {
        "tokens" => "tok",
        other => other.strip_prefix("share ").unwrap_or(other),
    }
}

/// Returns a word for a level.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Bad => "bad",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// Returns a sentence for the certainty of an insight.
pub fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "Certain: the file or the replay shows it.",
        Certainty::Likely => "Likely: it follows from figures that are fitted or estimated.",
        Certainty::Inferred => "Inferred from names: the model may have used what it never named.",
    }
}

/// Describes a call for the middle of a sentence: `at call 212`, `at the end (call 225)`.
pub fn place(call: usize, n_calls: usize) -> String {
    if n_calls == 0 {
        return "at the end".to_owned();
    }
    if call + 1 < n_calls {
        format!("at call {}", number(call))
    } else {
        format!("at the end (call {})", grouped(n_calls as u64))
    }
}

/// Describes a range of calls: `call 20`, `calls 20–34`.
pub fn calls(calls: CallRange) -> String {
    let (first, last) = (number(calls.first), number(calls.last));
    if first == last { format!("call {first}") } else { format!("calls {first}–{last}") }
}

/// Describes a call as a label: `call 212`, `call 225, end`.
pub fn place_label(call: usize, n_calls: usize) -> String {
    if n_calls == 0 {
        return "end".to_owned();
    }
    let end = if call + 1 < n_calls { "" } else { ", end" };
    format!("call {}{end}", number(call.min(n_calls.saturating_sub(1))))
}

/// Returns the end of a path in at most `max_chars` characters, from a separator on if there is one.
pub fn path_end(path: &str, max_chars: usize) -> String {
    let n = path.chars().count();
    if n <= max_chars {
        return path.to_owned();
    }
    let skipped = n + 1 - max_chars.max(1);
    let end: String = path.chars().skip(skipped).collect();
    let from = end.find(['/', '\\']).unwrap_or(0);
    format!("…{}", &end[from..])
}

/// Returns the text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actual_fill_is_added_if_it_differs_from_the_believed_fill() {
        let text = believed_fill(Share(0.75), Share(1.004));
        assert_eq!(text, "believed 75\u{2009}%, actual 100.4\u{2009}%");
        assert_eq!(believed_fill(Share(0.752), Share(0.749)), "believed 75\u{2009}%");
    }

    #[test]
    fn the_end_of_a_path_starts_with_a_separator() {
        let path = "/work/project/src/lib.rs";
        assert_eq!(path_end(path, 24), path);
        assert_eq!(path_end(path, 23), "…/project/src/lib.rs");
        assert_eq!(path_end(path, 13), "…/src/lib.rs");
        assert_eq!(path_end(path, 5), "…b.rs");
    }

    #[test]
    fn units_of_settings_are_shortened() {
        assert_eq!(
            ["tokens", "share of usable", "messages"].map(knob_unit),
            ["tok", "of usable", "messages"]
        );
    }
}
