//! One lane over a 10,000-message session, series included; and the same up to a call in its middle.

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
    // Reading the file is no part of what is measured.
    LazyLock::force(&CASE);
    divan::main();
}

/// Every preset; the real systems work on messages and count their own way.
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
