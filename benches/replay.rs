//! One lane over a 10,000-message session, series included; and the same up to a step in its middle.

use plimsoll::engine::{Case, WindowPlan, WindowSource, recorded, simulate};
use plimsoll::presets;
use plimsoll::session::{Body, Draft, Part, Role, Session, SessionBuilder, Source};
use plimsoll::tokens::{Progress, TokenLedger, default_counter};
use plimsoll::units::Tokens;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// A person speaks every 20 messages; the rest are calls with results of 10 to 1,500 tokens.
fn session() -> Session {
    let source = Source {
        name: "bench".into(),
        format: "openai_chat",
        bytes: Arc::from(&b""[..]),
    };
    let mut builder = SessionBuilder::new(source);
    let part = |body| {
        vec![Part {
            body,
            record: 0,
            block: 0,
        }]
    };
    for idx in 0..10_000_u32 {
        let call: Box<str> = format!("call_{}", idx / 2).into();
        let (role, body) = match idx % 20 {
            0 => (
                Role::User,
                Body::Text("please go on with the next task".into()),
            ),
            n if n % 2 == 1 => {
                let arguments = format!("{{\"path\": \"src/file_{idx}.rs\"}}").into();
                (
                    Role::Assistant,
                    Body::ToolCall {
                        call,
                        tool: "read".into(),
                        arguments,
                    },
                )
            }
            _ => {
                let words = 10 + (idx.wrapping_mul(2_654_435_761) >> 16) % 1_490;
                let text = "the ".repeat(words as usize).into();
                let call = format!("call_{}", (idx - 1) / 2).into();
                (
                    Role::Tool,
                    Body::ToolResult {
                        call,
                        tool: "read".into(),
                        is_error: false,
                        text,
                    },
                )
            }
        };
        builder.message(Draft::new(role, part(body)));
    }
    builder.finish()
}

fn case() -> Case {
    let session = session();
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())
        .expect("nobody cancels");
    let windows = WindowPlan::constant(Tokens(200_000), session.steps.len(), WindowSource::ByHand);
    Case::new(Arc::new(session), ledger, windows)
}

#[divan::bench(args = ["truncate", "prune", "summarize", "none"])]
fn lane(bencher: divan::Bencher<'_, '_>, name: &str) {
    let case = case();
    let policy = presets::by_name(name).expect("bundled");
    let knobs = policy.defaults();
    bencher.bench(|| simulate(&case, &policy, &knobs, None));
}

#[divan::bench]
fn lane_recorded(bencher: divan::Bencher<'_, '_>) {
    let case = case();
    bencher.bench(|| recorded(&case, Tokens(32_000), None));
}

#[divan::bench]
fn context_at_the_middle(bencher: divan::Bencher<'_, '_>) {
    let case = case();
    let policy = presets::by_name("prune").expect("bundled");
    let knobs = policy.defaults();
    bencher.bench(|| simulate(&case, &policy, &knobs, Some(2_500)));
}
