//! Findings: a real system's bugs are reported if they affect a replay, and only then.

use crate::conversation::{Talk, case, text};
use plimsoll_core::analysis::{Finding, FindingKind, findings};
use plimsoll_core::engine::{Case, ProviderError, simulate};
use plimsoll_core::presets;
use plimsoll_core::session::{Body, Role};

/// Returns the findings of a preset over a session, at its defaults except these settings.
fn found(case: &Case, preset: &str, knobs: &[(&str, f64)]) -> Vec<Finding> {
    let policy = presets::by_name(preset).expect("bundled");
    let mut values = policy.defaults();
    for (name, value) in knobs {
        policy.set(&mut values, name, *value).expect("a knob");
    }
    let outcome = simulate(case, &policy, &values, None);
    outcome.context.check(case).expect("the account is complete");
    findings(case, &policy, &values, &outcome)
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|f| f.kind).collect()
}

#[test]
fn a_quiet_session_has_no_findings() {
    let case = case(&Talk::turns(3, 2, 40), 200_000);
    for preset in ["truncate", "prune", "summarize", "baseagent", "digitorn"] {
        let found = found(&case, preset, &[]);
        assert!(found.is_empty(), "{preset}: {found:?}");
    }
}

#[test]
fn a_turn_that_cannot_be_compacted_is_reported_with_its_attempts() {
    // One request and a chain of calls: the safe cut moves back to the beginning.
    let case = case(&Talk::tool_calls(40, 600), 200_000);
    let found = found(&case, "digitorn", &[("max_tokens", 16_000.0), ("cooldown", 0.0)]);
    let kinds = kinds(&found);
    assert!(kinds.contains(&FindingKind::NeverAgain), "{found:?}");
    assert!(kinds.contains(&FindingKind::NoOp), "{found:?}");
}

#[test]
fn a_cut_between_calls_and_results_is_reported() {
    let case = case(&Talk::turns(6, 5, 60), 200_000);
    let before = found(&case, "picoclaw-before", &[]);
    assert!(kinds(&before).contains(&FindingKind::OrphanedPairs), "{before:?}");
    let after = found(&case, "picoclaw", &[]);
    assert!(!kinds(&after).contains(&FindingKind::OrphanedPairs), "{after:?}");
}

#[test]
fn a_constant_larger_than_the_window_is_reported() {
    let case = case(&Talk::turns(2, 2, 40), 32_000);
    let found = found(&case, "baseagent", &[]);
    let above = found.iter().find(|f| f.kind == FindingKind::AboveWindow);
    assert!(above.is_some_and(|f| f.text.contains("model_context_limit")), "{found:?}");
}

#[test]
fn an_estimate_that_undercounts_cjk_is_reported_with_the_reason() {
    let mut talk = Talk::new();
    let words = "\u{4e0a}\u{4e0b}\u{6587}\u{7ba1}\u{7406}\u{7cfb}\u{7edf}".repeat(1_500);
    for _ in 0..3 {
        talk.message(Role::User, vec![text(&words)]);
        talk.message(Role::Assistant, vec![text("\u{597d}")]);
    }
    let case = case(&talk, 200_000);
    let found = found(&case, "digitorn", &[]);
    let off = found.iter().find(|f| f.kind == FindingKind::Miscounts);
    assert!(off.is_some_and(|f| f.text.contains("CJK")), "{found:?}");
}

#[test]
fn a_wiped_short_conversation_is_reported_with_the_systems_message() {
    let mut talk = Talk::new();
    // Fifteen results of 9,000 characters: none is long enough to be shortened, and there is only one turn.
    talk.turn(15, 1_800);
    let case = case(&talk, 12_000);
    let found = found(&case, "cowagent", &[]);
    let kinds = kinds(&found);
    assert!(
        kinds.contains(&FindingKind::GivesUp) && kinds.contains(&FindingKind::Wiped),
        "{found:?}"
    );
    assert!(found[0].text.contains('\u{5df2}'), "its error is Chinese: {}", found[0].text);
}

#[test]
fn a_request_that_survives_only_in_a_summary_is_reported() {
    let case = case(&Talk::turns(8, 5, 600), 200_000);
    let found = found(&case, "baseagent", &[("model_context_limit", 60_000.0)]);
    let lost = found.iter().find(|f| f.kind == FindingKind::InstructionLost);
    assert!(lost.is_some_and(|f| f.text.contains("survives only if a summary")), "{found:?}");
}

/// Returns the session with a provider error at one call.
fn with_error(case: &Case, call: usize, name: &str) -> Case {
    let text = presets::provider_error(name).expect("a known error").into();
    case.with_errors(&[ProviderError { call, text }])
}

#[test]
fn history_removed_for_an_unrelated_error_is_reported_with_the_error() {
    let plain = case(&Talk::turns(6, 2, 40), 200_000);
    let missing = with_error(&plain, 9, "model_not_found");
    let cow = found(&missing, "cowagent", &[]);
    let unrelated = cow
        .iter()
        .find(|f| f.kind == FindingKind::UnrelatedError)
        .unwrap_or_else(|| panic!("{cow:?}"));
    assert_eq!(unrelated.call, 9);
    assert!(unrelated.text.contains("model 'xyz' not found"), "{unrelated:?}");
    assert!(kinds(&cow).contains(&FindingKind::GivesUp), "{cow:?}");

    let parameter = with_error(&plain, 9, "bad_max_tokens");
    for preset in ["picoclaw", "picoclaw-before"] {
        let claw = found(&parameter, preset, &[]);
        let kinds = kinds(&claw);
        assert!(kinds.contains(&FindingKind::UnrelatedError), "{preset}: {claw:?}");
    }
}

#[test]
fn a_transient_error_has_no_finding_of_an_unrelated_error() {
    let plain = case(&Talk::turns(6, 2, 40), 200_000);
    for (preset, error) in [
        ("cowagent", "timeout"),
        ("picoclaw", "timeout"),
        ("picoclaw-before", "timeout"),
        ("baseagent", "rate_limit"),
    ] {
        let found = found(&with_error(&plain, 9, error), preset, &[]);
        let kinds = kinds(&found);
        assert!(
            !kinds.contains(&FindingKind::UnrelatedError) && !kinds.contains(&FindingKind::GivesUp),
            "{preset}: {found:?}"
        );
    }
}

#[test]
fn a_summary_missing_from_the_next_request_is_reported() {
    // More than ten messages are summarized in two halves, and neither request contains the earlier summary.
    let plain = case(&Talk::turns(60, 0, 0), 200_000);
    let claw = found(&plain, "picoclaw", &[]);
    assert!(kinds(&claw).contains(&FindingKind::SummaryForgotten), "{claw:?}");
    // BaseAgent includes its own earlier summaries.
    let base = found(
        &case(&Talk::turns(16, 5, 600), 200_000),
        "baseagent",
        &[("model_context_limit", 60_000.0)],
    );
    assert!(!kinds(&base).contains(&FindingKind::SummaryForgotten), "{base:?}");
}

#[test]
fn a_list_cut_inside_an_item_is_reported() {
    let mut talk = Talk::new();
    talk.turn(0, 0);
    let item = format!("{{\"line\": \"{}\"}}", "word ".repeat(4_000));
    let call = Body::ToolCall { call: "c".into(), tool: "list".into(), arguments: "{}".into() };
    let result = Body::ToolResult {
        call: "c".into(),
        tool: "list".into(),
        is_error: false,
        text: format!("[{item}, {item}, {item}]").into(),
    };
    talk.message(Role::Assistant, vec![crate::conversation::part(call)]);
    talk.message(Role::Tool, vec![crate::conversation::part(result)]);
    talk.message(Role::Assistant, vec![text("Done.")]);
    let found = found(&case(&talk, 200_000), "digitorn", &[("max_tokens", 16_000.0)]);
    assert!(kinds(&found).contains(&FindingKind::BrokenJson), "{found:?}");
}
