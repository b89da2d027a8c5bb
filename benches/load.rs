//! Time to open a session of 10,000 messages on all cores: parsing alone, and with token counts.

mod common;
#[path = "common/loaded.rs"]
mod loaded;

use plimsoll::formats::{Input, parse};
use std::sync::LazyLock;

static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| common::file_of(common::MESSAGES));

fn main() {
    // Loads the vocabulary, which happens once per process.
    let _ = (plimsoll::tokens::default_counter().count)("warm");
    divan::main();
}

#[divan::bench(sample_count = 10)]
fn parse_only(bencher: divan::Bencher<'_, '_>) {
    let bytes = FILE.clone().into();
    let input = Input { name: "bench.jsonl".to_owned(), bytes };
    bencher
        .counter(divan::counter::BytesCount::new(FILE.len()))
        .bench(|| parse(&input).expect("a session"));
}

#[divan::bench(sample_count = 10)]
fn parse_and_count(bencher: divan::Bencher<'_, '_>) {
    let counter = divan::counter::BytesCount::new(FILE.len());
    bencher.counter(counter).with_inputs(|| FILE.clone()).bench_values(loaded::loaded);
}
