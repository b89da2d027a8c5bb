//! Findings about a system's own count: how far it is from what is sent, and what it gives no weight to.

use super::{Finding, FindingKind, Seen, percent};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Image};
use crate::engine::{Count, NamedMeter, Sample};
use crate::session::Kind;
use serde_json::json;
use std::sync::Arc;

/// A count below this share of what is sent, or above its inverse, is told.
const TOLD: f64 = 0.8;

/// Smaller contexts are not judged: constants and missing instructions weigh too much in them.
const LEAST: u64 = 4_000;

/// The call at which the system's count is furthest from what is sent.
pub(super) fn miscounts(seen: &Seen<'_>) -> Option<Finding> {
    let Count::Named(meter) = seen.policy.meter.count else {
        return None;
    };
    let ratio = |s: &Sample| s.metered.as_f64() / s.tokens.as_f64();
    let judged = seen.outcome.samples.iter().filter(|s| s.tokens.0 >= LEAST);
    let off: Vec<&Sample> = judged
        .filter(|s| !(TOLD..1.0 / TOLD).contains(&ratio(s)))
        .collect();
    let worst = off
        .iter()
        .max_by_key(|s| s.metered.0.abs_diff(s.tokens.0))?;
    let missed = missed(seen, meter, worst);
    let why = if missed.is_empty() || ratio(worst) > 1.0 {
        String::new()
    } else {
        format!(" It undercounts {}.", missed.join(", "))
    };
    Some(Finding {
        kind: FindingKind::Miscounts,
        step: worst.step,
        times: off.len(),
        text: format!(
            "It counts {} tokens where {} are sent ({}), {} more than a fifth off.{why}",
            worst.metered.short(),
            worst.tokens.short(),
            percent(ratio(worst)),
            match off.len() {
                1 => "1 call is".to_owned(),
                n => format!("{n} calls are"),
            }
        ),
    })
}

/// What is in this context and has no weight, or a small one, on the meter: told by weighing samples of it.
fn missed(seen: &Seen<'_>, meter: &NamedMeter, sample: &Sample) -> Vec<&'static str> {
    let holds = |kind: Kind| u64::from(sample.by_kind[kind.index()]) * 50 > sample.tokens.0;
    let weight = |message: &ChatMessage| (meter.tokens)((meter.units)(message));
    let empty = weight(&ChatMessage::new("user", ""));
    let said = |role: &str, text: &str| weight(&ChatMessage::new(role, text)).saturating_sub(empty);
    let truly = |text: &str| seen.case.ledger.weigh(text).0;
    let prose = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let cjk = "\u{4e0a}\u{4e0b}\u{6587}\u{7ba1}\u{7406}".repeat(40);
    let checks = [
        (
            "images",
            holds(Kind::Media) && weight(&picture()) <= empty + 10,
        ),
        (
            "instructions",
            holds(Kind::System) && said("system", &prose) == 0,
        ),
        (
            "tool definitions",
            holds(Kind::Tools) && (meter.tools)(&[tool()]) == 0,
        ),
        (
            "reasoning",
            holds(Kind::Thinking) && weight(&thought(&prose)) <= empty + 10,
        ),
        (
            "CJK text",
            has_cjk(seen) && said("user", &cjk) * 3 < truly(&cjk) * 2,
        ),
    ];
    checks
        .into_iter()
        .filter_map(|(name, is_missed)| is_missed.then_some(name))
        .collect()
}

/// Whether a notable part of the session's text is CJK.
fn has_cjk(seen: &Seen<'_>) -> bool {
    let is_cjk =
        |c: char| ('\u{2e80}'..='\u{9fff}').contains(&c) || ('\u{ac00}'..='\u{d7af}').contains(&c);
    let texts = seen.case.session.parts.iter().map(|part| part.body.text());
    let (cjk, all) = texts.fold((0_usize, 0_usize), |(cjk, all), text| {
        // A CJK character takes three bytes.
        let n = if text.is_ascii() {
            0
        } else {
            text.chars().filter(|c| is_cjk(*c)).count()
        };
        (cjk + 3 * n, all + text.len())
    });
    cjk * 20 > all
}

fn picture() -> ChatMessage {
    let image = Image {
        json: Arc::new(json!({"type": "image"})),
        pixels: Some((800, 600)),
    };
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![Block {
            part: None,
            body: BlockBody::Image(image),
        }]),
        ..ChatMessage::new("user", "").into_fields()
    })
}

fn thought(text: &str) -> ChatMessage {
    ChatMessage::from(Fields {
        reasoning: Some(crate::chat::Text {
            text: text.into(),
            part: None,
        }),
        ..ChatMessage::new("assistant", "").into_fields()
    })
}

fn tool() -> serde_json::Value {
    json!({"type": "function", "function": {
        "name": "read_file",
        "description": "Reads a file and returns its text.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}
    }})
}
