//! Findings about a system's own count: its distance from the actual count, and content that it ignores.

use super::{Finding, FindingKind, PolicyRun};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Image};
use crate::engine::{Count, NamedMeter, Sample};
use crate::figure::whole_percent;
use crate::json::json;
use crate::session::Kind;
use crate::units::Share;
use std::sync::Arc;

/// Reports counts below this share of the actual count, or above its inverse. Chosen: a system that compacts at 80 % of
/// the window and counts a fifth too little compacts when the window is already full.
const REPORTED: f64 = 0.8;

/// Minimum size of a context to compare; constants and missing instructions dominate smaller ones.
const MIN_TOKENS: u64 = 4_000;

/// Finds the call at which the system's count is furthest from the actual one.
pub(super) fn miscounts(run: &PolicyRun<'_>) -> Option<Finding> {
    let Count::Named(meter) = run.policy.meter.count else {
        return None;
    };
    let ratio = |s: &Sample| s.metered.as_f64() / s.tokens.as_f64();
    let judged = run.outcome.samples.iter().filter(|s| s.tokens.0 >= MIN_TOKENS);
    let off: Vec<&Sample> =
        judged.filter(|s| !(REPORTED..1.0 / REPORTED).contains(&ratio(s))).collect();
    let worst = off.iter().max_by_key(|s| s.metered.0.abs_diff(s.tokens.0))?;
    let missed = missed(run, meter, worst);
    let why = if missed.is_empty() || ratio(worst) > 1.0 {
        String::new()
    } else {
        format!(" It undercounts {}.", missed.join(", "))
    };
    Some(Finding {
        kind: FindingKind::Miscounts,
        call: worst.call,
        times: off.len(),
        text: format!(
            "It counts {} tokens where {} are sent ({}), {} more than a fifth off.{why}",
            worst.metered.short(),
            worst.tokens.short(),
            whole_percent(Share(ratio(worst))),
            match off.len() {
                1 => "1 call is".to_owned(),
                n => format!("{n} calls are"),
            }
        ),
    })
}

/// Returns the kinds of content in this context that the meter counts as little or nothing, by samples.
fn missed(run: &PolicyRun<'_>, meter: &NamedMeter, sample: &Sample) -> Vec<&'static str> {
    // Content of less than 2 % of the context cannot explain a count that is off by a fifth.
    let holds = |kind: Kind| u64::from(sample.by_kind[kind.index()]) * 50 > sample.tokens.0;
    let weight = |message: &ChatMessage| (meter.tokens)((meter.units)(message));
    let empty = weight(&ChatMessage::new("user", ""));
    let counted =
        |role: &str, text: &str| weight(&ChatMessage::new(role, text)).saturating_sub(empty);
    let actual = |text: &str| run.case.ledger.weigh(text).0;
    let prose = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let cjk = "\u{4e0a}\u{4e0b}\u{6587}\u{7ba1}\u{7406}".repeat(40);
    let checks = [
        ("images", holds(Kind::Media) && weight(&picture()) <= empty + 10),
        ("instructions", holds(Kind::System) && counted("system", &prose) == 0),
        ("tool definitions", holds(Kind::Tools) && (meter.tools)(&[tool()]) == 0),
        ("reasoning", holds(Kind::Thinking) && weight(&thought(&prose)) <= empty + 10),
        ("CJK text", has_cjk(run) && counted("user", &cjk) * 3 < actual(&cjk) * 2),
    ];
    checks.into_iter().filter_map(|(name, is_missed)| is_missed.then_some(name)).collect()
}

/// Returns whether more than 5 % of the session's text is CJK.
fn has_cjk(run: &PolicyRun<'_>) -> bool {
    let is_cjk =
        |c: char| ('\u{2e80}'..='\u{9fff}').contains(&c) || ('\u{ac00}'..='\u{d7af}').contains(&c);
    let texts = run.case.session.parts.iter().map(|part| part.body.text());
    let (cjk, all) = texts.fold((0_usize, 0_usize), |(cjk, all), text| {
        // A CJK character takes three bytes.
        let n = if text.is_ascii() { 0 } else { text.chars().filter(|c| is_cjk(*c)).count() };
        (cjk + 3 * n, all + text.len())
    });
    cjk * 20 > all
}

fn picture() -> ChatMessage {
    let image = Image { json: Arc::new(json!({"type": "image"})), pixels: Some((800, 600)) };
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![Block { part: None, body: BlockBody::Image(image) }]),
        ..ChatMessage::new("user", "").into_fields()
    })
}

fn thought(text: &str) -> ChatMessage {
    ChatMessage::from(Fields {
        reasoning: Some(crate::chat::Text { text: text.into(), part: None }),
        ..ChatMessage::new("assistant", "").into_fields()
    })
}

fn tool() -> crate::json::Value {
    json!({"type": "function", "function": {
        "name": "read_file",
        "description": "Reads a file and returns its text.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}
    }})
}
