//! How numbers and facts are said to people: the only place of the window that turns shares into percent.
//!
//! Thousands are grouped by thin spaces, `≈` stands before what is estimated, and a percentage always says of what.

use crate::analysis::insight::{Certainty, Level};
use crate::engine::{Fate, Hook, Knob, WindowSource};
use crate::session::{Kind, WrittenKind};
use crate::tokens::{Basis, TokenLedger};
use crate::units::{Bytes, Rate, Share, Tokens, Usd};
use std::time::SystemTime;

/// Groups thousands; does not break.
const THIN: char = '\u{2009}';

/// A number with its thousands grouped: `12 804`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(digit);
    }
    out
}

/// Tokens in full: `12 804`.
pub fn tokens(n: Tokens) -> String {
    grouped(n.0)
}

/// Tokens as short as a figure can be: `310`, `12.8k`, `126k`, `2.16M`.
pub fn short(n: Tokens) -> String {
    n.short()
}

/// Three digits of precision.
fn scaled(n: u64, unit: u64, name: &str) -> String {
    let value = n as f64 / unit as f64;
    // The thresholds are where rounding would add a digit.
    let places = match value {
        ..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}{name}")
}

/// `≈` where a count is a guess, nothing where it is known.
pub fn about(basis: Basis) -> &'static str {
    if matches!(basis, Basis::Estimated) {
        "≈"
    } else {
        ""
    }
}

/// A share in percent: `8.9 %`, `92 %`.
pub fn percent(share: Share) -> String {
    let value = share.0 * 100.0;
    if !value.is_finite() {
        return "–".to_owned();
    }
    let places = usize::from(value.abs() < 9.95);
    format!("{value:.places$}{THIN}%")
}

/// How full a policy believes itself to be beside how full it is: `believes 75 %, really 100.4 %`, or the belief alone
/// where it is right. The one is a share of its own limit, the other of usable.
pub fn belief(believed: Share, really: Share) -> String {
    let said = format!("believes {}", fullness(believed));
    if is_belief_right(believed, really) {
        said
    } else {
        format!("{said}, really {}", fullness(really))
    }
}

/// A belief is right where it is less than a percent of the limit away.
pub fn is_belief_right(believed: Share, really: Share) -> bool {
    (believed.0 - really.0).abs() < 0.01
}

/// A share in percent, with a decimal near the limit, where it decides.
fn fullness(share: Share) -> String {
    if (0.95..1.05).contains(&share.0) {
        format!("{:.1}{THIN}%", share.0 * 100.0)
    } else {
        percent(share)
    }
}

/// `85 % of usable`.
pub fn of_usable(share: Share) -> String {
    format!("{} of usable", percent(share))
}

/// `92 % of window`.
pub fn of_window(share: Share) -> String {
    format!("{} of window", percent(share))
}

/// How the counts of a session are known, for the chip in the bar.
pub fn basis(ledger: &TokenLedger) -> String {
    match ledger.basis {
        Basis::Reported => "reported by the provider".to_owned(),
        Basis::Exact => format!("exact {}", ledger.counter.name),
        Basis::Calibrated(error) => format!("calibrated ±{THIN}{}", percent(error)),
        Basis::Estimated => format!("≈ estimated with {}", ledger.counter.name),
    }
}

/// The same where there is no room for words.
pub fn basis_sign(ledger: &TokenLedger) -> &'static str {
    match ledger.basis {
        Basis::Reported | Basis::Exact => "=",
        Basis::Calibrated(_) => "±",
        Basis::Estimated => "≈",
    }
}

/// What the basis means, for the chip's tooltip.
pub fn basis_help(ledger: &TokenLedger) -> String {
    let counter = ledger.counter.name;
    match (ledger.basis, &ledger.fit) {
        (Basis::Calibrated(_), Some(fit)) => format!(
            "Counted with {counter} and fitted to the usage that {} calls report: {} tokens that the file does not hold, \
             {:.3} tokens for each counted. Predicting each call from the ones before it: error {}. Without the fit: {}.",
            fit.calls,
            grouped(fit.overhead.max(0.0).round() as u64),
            fit.factor,
            percent(fit.prequential_error),
            percent(fit.unfitted_error),
        ),
        (Basis::Exact, _) => format!(
            "Counted with {counter}, the model's own vocabulary. The file reports no usage to check it against."
        ),
        (Basis::Reported, _) => "The provider reports these counts.".to_owned(),
        _ => format!(
            "Counted with {counter}. The file reports no usage to fit it to, and the vocabulary is not the model's own, so counts are estimates."
        ),
    }
}

/// Where the context window comes from, in a word.
pub fn window_source(source: WindowSource) -> &'static str {
    match source {
        WindowSource::ByHand => "set by hand",
        WindowSource::Recorded => "recorded",
        WindowSource::ModelTable => "from the model table",
        WindowSource::Assumed => "assumed",
    }
}

/// Where in a step a stage may act, for people.
pub fn hook(hook: Hook) -> &'static str {
    match hook {
        Hook::ToolResult => "at a tool's result",
        Hook::Resume => "when started again",
        Hook::TurnStart => "when a turn begins",
        Hook::AfterTools => "after tools",
        Hook::BeforeCall => "before a call",
        Hook::OverflowError => "when a call does not fit",
        Hook::AfterCall => "after a call",
        Hook::TurnEnd => "when a turn ends",
        Hook::Manual => "when a person asks",
    }
}

/// A kind, for people.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::System => "system",
        Kind::Tools => "tools",
        Kind::User => "user",
        Kind::Assistant => "assistant",
        Kind::Thinking => "thinking",
        Kind::ToolCall => "call",
        Kind::ToolResult => "result",
        Kind::Media => "media",
        Kind::Summary => "summary",
        Kind::Notice => "notice",
    }
}

/// What the file does not hold of what was sent: told of the lowest part of a stack.
pub const UNSEEN: &str = "not in the file";
/// The same where some of it is there.
pub const PARTLY_UNSEEN: &str = "system + not in the file";
/// What that is.
pub const UNSEEN_HELP: &str = "What the file does not hold, such as instructions and tool definitions: known only as the rest of what calls report. After a compaction it is worked out anew, and is often more: programs then send files again that their log does not tell of.";

/// What became of a message, in a word.
pub fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Cleared => "cleared",
        Fate::Cut => "cut",
        Fate::Summarized => "summary",
        Fate::Dropped => "dropped",
        Fate::Absent => "absent",
    }
}

/// The same of many, as the end of a phrase: `24 messages summarized`.
pub fn fate_of_many(of: Fate) -> &'static str {
    match of {
        Fate::Summarized => "summarized",
        other => fate(other),
    }
}

/// What a policy wrote, in a word.
pub fn written(kind: WrittenKind) -> &'static str {
    match kind {
        WrittenKind::Summary => "summary",
        WrittenKind::Notice => "notice",
    }
}

/// A knob's value as it is edited: `0.75`, `40 000`.
pub fn knob_value(knob: &Knob, value: f64) -> String {
    if knob.step >= 1.0 && value >= 0.0 {
        return grouped(value.round() as u64);
    }
    let places = if knob.step >= 0.1 { 1 } else { 2 };
    format!("{value:.places$}")
}

/// A knob's unit, as short as it can be.
pub fn knob_unit(unit: &str) -> &str {
    match unit {
        "tokens" => "tok",
        other => other.strip_prefix("share ").unwrap_or(other),
    }
}

/// `1 message`, `3 messages`.
pub fn count(n: usize, one: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(n as u64))
}

/// A sentence with its longer numbers grouped; what is part of a word stays.
pub fn with_grouped(text: &str) -> String {
    let word = |word: &str| match word.parse::<u64>() {
        Ok(n) if word.len() > 3 && !word.starts_with('0') => grouped(n),
        _ => word.to_owned(),
    };
    let is_inner = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut out = String::new();
    for piece in text.split_inclusive(|c| !is_inner(c)) {
        let end = piece.trim_end_matches(|c| !is_inner(c));
        out.push_str(&word(end));
        out.push_str(&piece[end.len()..]);
    }
    out
}

/// Dollars as short as a figure can be: `$25.24`, `$0.0093`, `$1 204`, `−$0.16`.
pub fn usd(sum: Usd) -> String {
    let (sign, value) = (if sum.0 < 0.0 { "\u{2212}" } else { "" }, sum.0.abs());
    match value {
        // The thresholds are where rounding would add a digit.
        value if value >= 999.5 => format!("{sign}${}", grouped(value.round() as u64)),
        value if value >= 0.0095 => format!("{sign}${value:.2}"),
        value if value >= 0.000_05 => format!("{sign}${value:.4}"),
        _ => "$0".to_owned(),
    }
}

/// A price for a million tokens: `$5`, `$0.50`, `$6.25`, `$0.075`.
pub fn rate(rate: Rate) -> String {
    let cents = rate.0 * 100.0;
    match rate.0 {
        whole if whole.fract() == 0.0 => format!("${whole}"),
        _ if (cents - cents.round()).abs() < 1e-9 => format!("${:.2}", rate.0),
        other => format!("${other}"),
    }
}

/// How bad something is, in a word.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Bad => "bad",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// How sure an insight is, as a sentence.
pub fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "Certain: the file or the replay shows it.",
        Certainty::Likely => "Likely: it follows from figures that are fitted or estimated.",
        Certainty::Inferred => "Inferred from names: the model may have used what it never named.",
    }
}

/// Seconds, roughly: `5 minutes`, `1 hour`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => count(seconds as usize, "second"),
        60..3_600 => count((seconds / 60) as usize, "minute"),
        _ => count((seconds / 3_600) as usize, "hour"),
    }
}

/// Bytes, roughly: `812 B`, `45.2 MB`.
pub fn bytes(n: Bytes) -> String {
    let n = n.0;
    match n {
        0..1_000 => format!("{n} B"),
        1_000..999_500 => scaled(n, 1_000, " kB"),
        999_500..999_500_000 => scaled(n, 1_000_000, " MB"),
        _ => scaled(n, 1_000_000_000, " GB"),
    }
}

/// A time to the minute, as the world's clock has it: `2026-11-22 08:01 UTC`.
pub fn minute(at: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(at).to_string();
    let minute: String = text.chars().take(16).collect();
    format!("{} UTC", minute.replace('T', " "))
}

/// A quantity of an expression: whole numbers grouped, shares with three places.
pub fn quantity(value: f64) -> String {
    if value.is_infinite() {
        return "never".to_owned();
    }
    if value.fract().abs() < 1e-9 && value >= 0.0 {
        grouped(value as u64)
    } else {
        format!("{value:.3}")
    }
}

/// Where in a session the lanes are looked at: `at call 212`, `at the end (call 225)`.
pub fn place(step: usize, n_steps: usize) -> String {
    if step + 1 < n_steps {
        format!("at call {}", number(step))
    } else {
        format!("at the end (call {})", grouped(n_steps as u64))
    }
}

/// The same as a label: `call 212`, `call 225, end`.
pub fn place_label(step: usize, n_steps: usize) -> String {
    if n_steps == 0 {
        return "end".to_owned();
    }
    let end = if step + 1 < n_steps { "" } else { ", end" };
    format!("call {}{end}", number(step.min(n_steps.saturating_sub(1))))
}

/// The number of an index, as people count: from 1.
pub fn number(index: usize) -> String {
    grouped(index as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_by_thin_spaces() {
        let said = [0, 7, 999, 1_000, 12_804, 1_000_000].map(grouped);
        assert_eq!(
            said,
            [
                "0",
                "7",
                "999",
                "1\u{2009}000",
                "12\u{2009}804",
                "1\u{2009}000\u{2009}000"
            ]
        );
    }

    #[test]
    fn percentages_say_of_what_and_show_a_decimal_only_when_small() {
        assert_eq!(of_usable(Share(0.852)), "85\u{2009}% of usable");
        assert_eq!(of_window(Share(0.0893)), "8.9\u{2009}% of window");
        assert_eq!(percent(Share(f64::NAN)), "–");
        assert_eq!(percent(Share(1.004)), "100\u{2009}%");
    }

    #[test]
    fn a_belief_is_told_beside_the_truth_only_where_they_part() {
        let said = belief(Share(0.75), Share(1.004));
        assert_eq!(said, "believes 75\u{2009}%, really 100.4\u{2009}%");
        assert_eq!(belief(Share(0.752), Share(0.749)), "believes 75\u{2009}%");
    }

    #[test]
    fn only_estimates_are_marked_as_such() {
        let marks = [
            Basis::Reported,
            Basis::Exact,
            Basis::Calibrated(Share(0.02)),
            Basis::Estimated,
        ]
        .map(about);
        assert_eq!(marks, ["", "", "", "≈"]);
    }

    #[test]
    fn units_are_as_short_as_they_can_be() {
        assert_eq!(
            ["tokens", "share of usable", "messages"].map(knob_unit),
            ["tok", "of usable", "messages"]
        );
    }

    #[test]
    fn numbers_in_a_sentence_are_grouped_and_names_are_not() {
        assert_eq!(
            with_grouped("promised 44979, not 999 of call-44979.json"),
            "promised 44\u{2009}979, not 999 of call-44979.json"
        );
    }

    #[test]
    fn money_has_cents_and_less_than_a_cent_is_not_nothing() {
        let said = [25.238, 0.64, 0.0093, 1_204.4, -0.16, 0.0, 0.000_01].map(|sum| usd(Usd(sum)));
        assert_eq!(
            said,
            [
                "$25.24",
                "$0.64",
                "$0.0093",
                "$1\u{2009}204",
                "\u{2212}$0.16",
                "$0",
                "$0"
            ]
        );
    }

    #[test]
    fn prices_have_cents_where_they_are_not_whole() {
        let said = [5.0, 0.5, 6.25, 0.075].map(|price| rate(Rate(price)));
        assert_eq!(said, ["$5", "$0.50", "$6.25", "$0.075"]);
    }

    #[test]
    fn a_time_is_told_to_the_minute() {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_795_305_661);
        assert_eq!(minute(at), "2026-11-22 00:01 UTC");
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(
            [count(1, "call"), count(2, "call"), count(0, "call")],
            ["1 call", "2 calls", "0 calls"]
        );
    }
}
