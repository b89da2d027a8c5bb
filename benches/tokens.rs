//! Time to count tokens: ordinary text, hostile text, and a whole session.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use plimsoll::session::{Body, Draft, Part, Role, Session, SessionBuilder, Source};
use plimsoll::tokens::{self, Counter, Progress, TokenLedger};

fn main() {
    divan::main();
}

const COUNTERS: &[&str] = &["o200k_base", "cl100k_base", "o200k_base_tiktoken_rs", "chars/4"];
const PROSE: &str = include_str!("../src/ARCHITECTURE.md");
const CODE: &str = include_str!("../src/core/tokens/ledger.rs");
const CASES: &[&str] =
    &["prose", "code", "a", "letters", "spaces", "newlines", "braces", "emoji", "digits", "cjk"];
const BYTES: usize = 1_000_000;

fn counter(name: &str) -> &'static Counter {
    tokens::by_name(name).expect("a counter of the table")
}

fn case(name: &str) -> String {
    let unit = match name {
        "prose" => PROSE,
        "code" => CODE,
        "a" => "a",
        "spaces" => " ",
        "newlines" => "\n",
        "braces" => "}",
        "emoji" => "🚢",
        "digits" => "1",
        "cjk" => "船",
        _ => return letters(),
    };
    unit.repeat(BYTES.div_ceil(unit.len()))
}

/// Returns pseudo-random letters, the same in every run.
fn letters() -> String {
    let mut state = 7_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).expect("below 26"))
    };
    (0..BYTES).map(|_| next()).collect()
}

#[divan::bench(args = CASES, consts = [0, 1, 2, 3], sample_count = 5)]
fn count_a_megabyte<const COUNTER: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (text, counter) = (case(name), counter(COUNTERS[COUNTER]));
    // Loads the vocabulary, which happens once per process.
    (counter.count)("load");
    bencher.counter(BytesCount::of_str(&text)).bench(|| (counter.count)(black_box(&text)));
}

/// Returns a session of 10,000 messages and 10 MB.
fn session() -> Session {
    let mut builder = SessionBuilder::new(Source {
        name: "s".into(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    });
    let lines: Vec<&str> = CODE.lines().collect();
    for idx in 0..10_000 {
        let start = idx % lines.len();
        let text: String =
            lines.iter().cycle().skip(start).take(25).flat_map(|line| [*line, "\n"]).collect();
        let role = if idx % 2 == 0 { Role::User } else { Role::Assistant };
        builder.message(Draft::new(
            role,
            vec![Part { body: Body::Text(text.into()), record: 0, block: 0 }],
        ));
    }
    builder.finish()
}

#[divan::bench(args = COUNTERS, sample_count = 3)]
fn weigh_ten_thousand_messages(bencher: Bencher<'_, '_>, name: &str) {
    let (session, counter) = (session(), counter(name));
    let bytes: usize = session.parts.iter().map(|part| part.body.text().len()).sum();
    (counter.count)("load");
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| TokenLedger::count(black_box(&session), counter, &Progress::default()));
}
