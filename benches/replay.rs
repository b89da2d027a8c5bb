//! Replays of every preset over a session of 10,000 messages, and one up to a call in its middle.

mod common;
#[path = "common/loaded.rs"]
mod loaded;

use plimsoll::engine::{Case, recorded, simulate};
use plimsoll::presets;
use plimsoll::units::Tokens;
use std::sync::LazyLock;

static CASE: LazyLock<Case> =
    LazyLock::new(|| loaded::loaded(common::file_of(common::MESSAGES)).case);

fn main() {
    // Reading the file is not measured.
    LazyLock::force(&CASE);
    divan::main();
}

/// Every preset. Real systems process messages and use their own meters.
#[divan::bench(args = presets::PRESETS.iter().map(|p| p.name), sample_count = 20, max_time = 3)]
fn lane(bencher: divan::Bencher<'_, '_>, name: &str) {
    let policy = presets::by_name(name).expect("bundled");
    let knobs = policy.defaults();
    bencher.bench(|| simulate(&CASE, &policy, &knobs, None));
}

#[divan::bench]
fn lane_recorded(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| recorded(&CASE, Tokens(32_000), None));
}

#[divan::bench]
fn context_at_the_middle(bencher: divan::Bencher<'_, '_>) {
    let policy = presets::by_name("prune").expect("bundled");
    let knobs = policy.defaults();
    bencher.bench(|| simulate(&CASE, &policy, &knobs, Some(2_500)));
}
