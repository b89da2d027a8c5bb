//! Token counts: counters against their reference, hostile text, sums, and the fit to reported usage.

use crate::repository::repository;
use plimsoll_core::session::{
    Body, CallDraft, Draft, Kind, MediaKind, ModelVendor, Part, Role, Session, SessionBuilder,
    Source, Usage,
};
use plimsoll_core::tokens::{self, Accuracy, Counter, Progress, TokenLedger, recorded_estimates};
use plimsoll_core::units::Tokens;
use proptest::prelude::*;
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

const ODD_TEXTS: &[&str] = &[
    "",
    " ",
    "\n",
    "The ship's Plimsoll mark shows how deep she may be loaded. It's true; they'LL see.",
    "fn main() {\n\tlet x = 0x1F_u32;\r\n    println!(\"{x:?}\");   \n}\n\n\n",
    "载重线显示船只可以装载多深。喫水線。만재흘수선은 배가 얼마나 깊이 잠기는지 보여 준다.",
    "👩‍👩‍👧‍👦🚢⚓️ e\u{301}gale\u{301} naïve ﷽ ไทย हिन्दी \u{200b}\u{feff}",
    r#"{"a":[1,2.50,-3e10],"b":"line\nbreak\t\"q\"","c":null,"d":"héllo"}"#,
    " \t \n \r\n  \u{a0}\u{3000} x  \n\n y\t\t\tz   ",
    "<|endoftext|><|im_start|>user<|im_sep|>hi<|im_end|><|endofprompt|><|fim_prefix|>",
    "AAAAAAaaaaAAAAaaa camelCaseWordsAndSNAKE_CASE 1234567890 12 345 ½ ² Ⅻ ٣٤٥",
];

fn counter(name: &str) -> &'static Counter {
    tokens::by_name(name).expect("a counter of the table")
}

fn ours(text: &str) -> u32 {
    (counter("o200k_base").count)(text)
}

fn reference(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Returns all text files of the project below a folder.
fn texts_below(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts_below(&path, texts);
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push(text);
        }
    }
}

#[test]
fn counts_equal_the_reference_on_odd_texts() {
    for text in ODD_TEXTS {
        assert_eq!(ours(text) as usize, reference(text), "o200k_base: {text:?}");
        let cl100k = (counter("cl100k_base").count)(text) as usize;
        assert_eq!(
            cl100k,
            tiktoken_rs::cl100k_base_singleton().count_ordinary(text),
            "cl100k_base: {text:?}"
        );
    }
}

#[test]
fn counts_equal_the_reference_on_this_repository() {
    let root = repository();
    let mut texts = Vec::new();
    for folder in ["src", "tests", "sample_sessions"] {
        texts_below(&root.join(folder), &mut texts);
    }
    texts.extend(
        ["README.md", "Cargo.toml", "Cargo.lock"]
            .iter()
            .filter_map(|f| fs::read_to_string(root.join(f)).ok()),
    );
    assert!(texts.len() > 20, "only {} files found", texts.len());
    texts.par_iter().for_each(|text| {
        assert_eq!(ours(text) as usize, reference(text), "{text:.60}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_the_reference_on_random_text(
        text in prop_oneof![
            "\\PC{0,200}",
            "[ \t\r\n\u{a0}a-cA-C0-9.,/'{}é语🚢]{0,200}",
            "(  |\n|\r\n|\t|the|'s|'LL|Ab|42|::|<\\|endoftext\\|>|船|é|\u{301}){0,80}",
        ]
    ) {
        prop_assert_eq!(ours(&text) as usize, reference(&text));
        #[cfg(feature = "tiktoken-rs")]
        prop_assert_eq!((counter("o200k_base_tiktoken_rs").count)(&text), ours(&text));
        prop_assert_eq!(
            (counter("cl100k_base").count)(&text) as usize,
            tiktoken_rs::cl100k_base_singleton().count_ordinary(&text)
        );
    }
}

#[test]
fn names_of_special_tokens_count_as_plain_text() {
    assert_eq!(ours("<|endoftext|>") as usize, reference("<|endoftext|>"));
    assert!(ours("<|endoftext|>") > 1);
}

/// A reproducible sequence of pseudo-random numbers.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

fn random_of(alphabet: &[u8], bytes: usize) -> String {
    let mut next = noise(7);
    (0..bytes).map(|_| char::from(alphabet[next() as usize % alphabet.len()])).collect()
}

/// Returns texts of `bytes` on which some counter is slow or panics.
fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
    let fill = |unit: &str| unit.repeat(bytes / unit.len());
    let line = "function f(a,b){return a.map(x=>x*b+\"str\").filter(Boolean)||[1,2,3]};var q=document.querySelector('#a');";
    vec![
        ("a", fill("a")),
        ("letters", random_of(b"abcdefghijklmnopqrstuvwxyz", bytes)),
        (
            "base64",
            random_of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", bytes),
        ),
        ("spaces", fill(" ")),
        ("newlines", fill("\n")),
        ("braces", fill("}")),
        ("emoji", fill("🚢")),
        ("digits", fill("1")),
        ("cjk", fill("船")),
        ("one line", fill(line)),
    ]
}

#[test]
fn counts_equal_the_reference_on_hostile_texts() {
    for (name, text) in hostile(50_000) {
        assert_eq!(ours(&text) as usize, reference(&text), "{name}");
    }
}

#[test]
fn no_counter_panics_on_a_megabyte() {
    let mut texts = hostile(1_000_000);
    texts.extend(hostile(5_000_000).pop());
    texts.par_iter().for_each(|(name, text)| {
        let counts: Vec<u32> = tokens::COUNTERS.iter().map(|c| (c.count)(text)).collect();
        assert!(counts.iter().all(|n| *n > 0), "{name}: {counts:?}");
        // Only builds with the feature `tiktoken-rs` have it.
        let is_reference = |c: &tokens::Counter| c.name == "o200k_base_tiktoken_rs";
        if let Some(at) = tokens::COUNTERS.iter().position(is_reference) {
            assert_eq!(counts[0], counts[at], "{name}: the guarded reference");
        }
    });
}

#[test]
fn runs_have_known_counts() {
    // The vocabulary has tokens of 8 letters a, of 128 spaces, of 2 braces, of 3 digits.
    let runs = [("a", 125_000), (" ", 7_813), ("}", 500_000), ("1", 333_334)];
    for (unit, tokens) in runs {
        assert_eq!(ours(&unit.repeat(1_000_000)), tokens, "{unit:?}");
    }
}

#[test]
fn heuristic_counters_use_the_length() {
    let of = |name, text| (counter(name).count)(text);
    assert_eq!(
        (of("chars/4", "船船船船船"), of("bytes/4", "船船船船船"), of("chars/3", "船船船船船")),
        (2, 4, 2)
    );
    assert_eq!((of("chars/4", ""), of("chars/4", "abcd"), of("chars/3", "abcd")), (0, 1, 2));
}

fn builder() -> SessionBuilder {
    let mut builder = SessionBuilder::new(Source {
        name: "s".into(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    });
    builder.default_vendor(ModelVendor::OpenAi);
    builder
}

fn part(body: Body) -> Part {
    Part { body, record: 0, block: 0 }
}

fn text(text: &str) -> Part {
    part(Body::Text(text.into()))
}

fn result(text: &str) -> Part {
    part(Body::ToolResult {
        call: "c".into(),
        tool: "read".into(),
        is_error: false,
        text: text.into(),
    })
}

fn image(bytes: u64, pixels: Option<(u32, u32)>) -> Part {
    part(Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes,
        pixels,
        detail: plimsoll_core::session::ImageDetail::Auto,
        within: None,
    })
}

fn weigh(session: &Session, name: &str) -> TokenLedger {
    TokenLedger::count(session, counter(name), &Progress::default()).expect("not cancelled")
}

/// Returns one message of every kind.
fn varied() -> Session {
    let mut b = builder();
    b.message(Draft::new(
        Role::System,
        vec![
            text("You help."),
            part(Body::ToolDefinition { tool: "read".into(), json: r#"{"name":"read"}"#.into() }),
        ],
    ));
    b.message(Draft::new(
        Role::User,
        vec![text("Read a.txt, please."), image(40_000, Some((1024, 1024)))],
    ));
    let thought =
        Body::Thinking { text: "Let me read it.".into(), sealed_bytes: 0, reported: None };
    let call = Body::ToolCall {
        call: "c".into(),
        tool: "read".into(),
        arguments: r#"{"path":"a.txt"}"#.into(),
    };
    b.message(Draft::new(Role::Assistant, vec![part(thought), text("I read."), part(call)]));
    b.message(Draft::new(Role::Tool, vec![result(&"one line\n".repeat(50))]));
    let opaque = Body::Opaque { name: "citation".into(), json: r#"{"type":"citation"}"#.into() };
    b.message(Draft::new(Role::Assistant, vec![text("It says so."), part(opaque)]));
    b.message(Draft {
        is_summary: true,
        in_history: false,
        ..Draft::new(Role::User, vec![text("We read a file.")])
    });
    b.finish()
}

#[test]
fn sums_are_sums_of_their_parts() {
    let session = varied();
    let ledger = weigh(&session, "o200k_base");
    let sum: u64 = ledger.truth.per_part.iter().map(|n| u64::from(*n)).sum();
    assert_eq!(sum, ledger.truth.per_message.iter().map(|n| u64::from(*n)).sum::<u64>());
    // The summary is not part of the history.
    assert_eq!(ledger.total(), Tokens(sum) - ledger.message(5));
    assert_eq!(ledger.truth.history_prefix.len(), 7);
    assert_eq!(ledger.truth.history_prefix[5], ledger.truth.history_prefix[6]);
    let kinds = ledger.by_kind(&session);
    assert_eq!(kinds.iter().copied().sum::<Tokens>(), ledger.total());
    assert_eq!(kinds[Kind::Summary.index()], Tokens::ZERO);
    assert_eq!(kinds[Kind::Media.index()], Tokens(765));
    assert!(
        [Kind::System, Kind::Tools, Kind::Thinking, Kind::ToolCall]
            .iter()
            .all(|k| kinds[k.index()] > Tokens::ZERO)
    );
    assert_eq!(kinds[Kind::ToolResult.index()], ledger.message(3));
}

#[test]
fn media_are_not_tokenized() {
    let weight = |part: Part| {
        let mut b = builder();
        b.message(Draft::new(Role::User, vec![part]));
        let session = b.finish();
        tokens::COUNTERS.iter().map(|c| weigh(&session, c.name).part(0)).collect::<Vec<_>>()
    };
    let small = weight(image(1_000, Some((512, 512))));
    assert!(small.iter().all(|n| *n == Tokens(255)), "{small:?}");
    assert_eq!(small, weight(image(20_000_000, Some((512, 512)))));
    assert!(weight(image(20_000_000, None)).iter().all(|n| *n == Tokens(1500)));
}

#[test]
fn progress_ends_at_the_bytes_of_all_text_and_cancel_stops() {
    let session = varied();
    let progress = Progress::default();
    TokenLedger::count(&session, counter("chars/4"), &progress).expect("not cancelled");
    let bytes: usize = session.parts.iter().map(|p| p.body.text().len()).sum();
    assert_eq!(progress.total.load(Ordering::Relaxed), bytes as u64);
    assert_eq!(progress.done.load(Ordering::Relaxed), bytes as u64);
    progress.cancel();
    assert!(TokenLedger::count(&session, counter("chars/4"), &progress).is_err());
}

/// Returns a session of `calls` calls that reports `usage(call, counted)`; `counted` is the estimated count of a call's
/// context.
fn reporting(calls: usize, usage: impl Fn(usize, f64) -> f64) -> Session {
    let build = |inputs: &[u64]| {
        let (mut b, mut next) = (builder(), noise(3));
        for idx in 0..calls {
            let words = "a word or two, ".repeat(20 + next() as usize % 400);
            b.message(Draft::new(Role::User, vec![text(&words)]));
            let usage =
                inputs.get(idx).map(|input| Usage { input: Tokens(*input), ..Usage::default() });
            b.call(CallDraft {
                model: Some("claude-sonnet-4-5".into()),
                usage,
                ..CallDraft::default()
            });
            b.message(Draft::new(Role::Assistant, vec![text("Done, and here is why it was so.")]));
        }
        b.finish()
    };
    let silent = build(&[]);
    let counted = weigh(&silent, "o200k_base").truth.per_message;
    let estimates = recorded_estimates(&silent, &counted);
    let inputs: Vec<u64> =
        estimates.iter().enumerate().map(|(idx, n)| usage(idx, *n as f64).round() as u64).collect();
    build(&inputs)
}

#[test]
fn a_fit_is_robust_against_noise_and_outliers() {
    let session = reporting(120, |idx, counted| {
        let wobble = 1.0 + 0.01 * ((idx * 7 % 13) as f64 / 6.0 - 1.0);
        let truth = (18_000.0 + 1.3 * counted) * wobble;
        if idx % 10 == 4 { truth * 0.4 } else { truth }
    });
    let ledger = weigh(&session, "o200k_base");
    let fit = ledger.fit.expect("usage is reported");
    assert!((fit.factor - 1.3).abs() < 0.03, "{fit:?}");
    assert!((fit.overhead - 18_000.0).abs() < 900.0, "{fit:?}");
    assert_eq!(fit.calls, 120);
    // One call in ten reports 1.5 times its tokens; the others deviate by half a percent.
    assert!(fit.error.0 < 0.17 && fit.error < fit.unfitted_error, "{fit:?}");
    assert_eq!(ledger.accuracy, Accuracy::Calibrated(fit.error));
    assert_eq!(ledger.overhead, Tokens(fit.overhead.round() as u64));
}

#[test]
fn an_exact_line_is_predicted_from_the_calls_before() {
    let session = reporting(60, |_, counted| 5_000.0 + 1.2 * counted);
    let ledger = weigh(&session, "o200k_base");
    let fit = ledger.fit.expect("usage is reported");
    assert!((fit.factor - 1.2).abs() < 1e-3 && (fit.overhead - 5_000.0).abs() < 5.0, "{fit:?}");
    assert!(
        fit.error.0 < 1e-4 && fit.prequential_error.0 < 0.01 && fit.unfitted_error.0 > 0.1,
        "{fit:?}"
    );
    let estimates = recorded_estimates(&session, &ledger.truth.per_message);
    for (call, estimate) in session.calls.iter().zip(estimates) {
        let reported = call.usage.expect("each call reports").input.as_f64();
        assert!(
            ((ledger.overhead.0 + estimate) as f64 / reported - 1.0).abs() < 0.01,
            "{estimate} {reported}"
        );
    }
}

#[test]
fn a_fit_never_has_a_negative_overhead() {
    let ledger = weigh(&reporting(40, |_, counted| (0.8 * counted - 300.0).max(1.0)), "o200k_base");
    let fit = ledger.fit.expect("usage is reported");
    assert!(fit.overhead >= 0.0 && (0.7..0.8).contains(&fit.factor), "{fit:?}");
}

#[test]
fn final_calls_that_sent_less_than_recorded_do_not_change_the_overhead() {
    let next = |last: fn(f64) -> f64| {
        let session = reporting(40, |idx, counted| match idx {
            38.. => last(counted),
            _ => 25_000.0 + counted,
        });
        let ledger = weigh(&session, "o200k_base");
        (ledger.overhead_next().0, ledger.overhead_at(39).0)
    };
    let (next_call, last_call) = next(|counted| 0.4 * counted);
    assert_eq!((next_call.abs_diff(25_000) < 10, last_call), (true, 0));
    // Fewer tools: the last calls still report the tokens sent with their messages.
    let (next_call, last_call) = next(|counted| 3_000.0 + counted);
    assert!(next_call.abs_diff(3_000) < 10 && next_call == last_call);
}

#[test]
fn two_calls_give_an_overhead_without_a_factor() {
    let session = reporting(2, |_, counted| 90_000.0 + 1.5 * counted);
    let fit = weigh(&session, "o200k_base").fit.expect("usage is reported");
    assert!((fit.factor - 1.0).abs() < f64::EPSILON && fit.overhead > 90_000.0, "{fit:?}");
    assert!(fit.error.0 > 0.001 && fit.error < fit.unfitted_error, "{fit:?}");
    let one = weigh(&reporting(1, |_, counted| 1.5 * counted), "o200k_base")
        .fit
        .expect("usage is reported");
    assert!(one.error.0 > 0.15, "{one:?}");
}

#[test]
fn calls_that_report_zero_are_left_out() {
    let usage = |idx: usize, counted: f64| {
        if idx.is_multiple_of(3) { 0.0 } else { 4_000.0 + counted }
    };
    let fit = weigh(&reporting(30, usage), "o200k_base").fit.expect("usage is reported");
    assert_eq!(fit.calls, 20);
    assert!((fit.factor - 1.0).abs() < 1e-3 && (fit.overhead - 4_000.0).abs() < 5.0, "{fit:?}");
}

#[test]
fn without_usage_only_the_models_own_vocabulary_is_exact() {
    let accuracy = |model: Option<&str>, name| {
        let mut b = builder();
        b.message(Draft::new(Role::User, vec![text("hi")]));
        b.call(CallDraft { model: model.map(Into::into), ..CallDraft::default() });
        weigh(&b.finish(), name).accuracy
    };
    assert_eq!(accuracy(Some("gpt-4o-2024-11-20"), "o200k_base"), Accuracy::Exact);
    #[cfg(feature = "tiktoken-rs")]
    assert_eq!(accuracy(Some("openai/gpt-5.1-codex"), "o200k_base_tiktoken_rs"), Accuracy::Exact);
    assert_eq!(accuracy(Some("gpt-4o"), "cl100k_base"), Accuracy::Estimated);
    assert_eq!(accuracy(Some("gpt-4-turbo"), "cl100k_base"), Accuracy::Exact);
    assert_eq!(accuracy(Some("gpt-4o"), "chars/4"), Accuracy::Estimated);
    assert_eq!(accuracy(Some("claude-opus-4-7"), "o200k_base"), Accuracy::Estimated);
    assert_eq!(accuracy(None, "o200k_base"), Accuracy::Estimated);
}

#[test]
fn redacted_text_and_counts_that_contradict_the_reported_usage_are_not_exact() {
    let gpt = |content: &str, usage: &[u64]| {
        let mut b = builder();
        for input in usage.iter().chain((usage.is_empty()).then_some(&0)) {
            b.message(Draft::new(Role::User, vec![text(content)]));
            b.call(CallDraft {
                model: Some("gpt-4o".to_owned()),
                usage: (*input > 0).then(|| Usage { input: Tokens(*input), ..Usage::default() }),
                ..CallDraft::default()
            });
            b.message(Draft::new(Role::Assistant, vec![text("ho")]));
        }
        weigh(&b.finish(), "o200k_base")
    };
    assert_eq!(gpt("hi", &[]).accuracy, Accuracy::Exact);
    assert_eq!(gpt("[REDACTED_TEXT len=90 sha=0a]", &[]).accuracy, Accuracy::Estimated);
    let contradicted = gpt("hi", &[90, 3, 900, 5, 70, 2, 800, 4]);
    assert!(contradicted.distrusted.is_some(), "{:?}", contradicted.fit);
    assert_eq!(contradicted.accuracy, Accuracy::Estimated);
    // One call says little, but not that a long text had six tokens.
    let alone = |input| gpt(&"word ".repeat(400), &[input]);
    assert!(matches!(alone(450).accuracy, Accuracy::Calibrated(_)));
    assert_eq!(alone(6).accuracy, Accuracy::Estimated);
}

#[test]
fn written_files_have_the_same_counts_when_read_again() {
    let ledger = weigh(&reporting(40, |_, counted| 7_000.0 + 1.37 * counted), "o200k_base");
    let texts = [
        "",
        "[Old tool result content cleared]",
        "A summary.\n\n- one\n- 二\n",
        &"long text ".repeat(9_000),
    ];
    for written in texts {
        let mut b = builder();
        b.message(Draft::new(Role::User, vec![text(written)]));
        b.message(Draft::new(Role::Tool, vec![text("first"), result(written)]));
        let again = ledger.recount(&b.finish());
        let weight = ledger.weigh(written);
        assert_eq!(again.part(0), weight, "a text: {written:.20}");
        assert_eq!(again.part(2), weight, "a cleared result: {written:.20}");
        assert_eq!(ledger.weigh(written), weight, "remembered: {written:.20}");
    }
}

#[test]
fn texts_beyond_the_cache_have_the_same_counts() {
    let ledger = weigh(&varied(), "chars/4");
    let first = ledger.weigh("notice 0");
    for idx in 0..10_000 {
        ledger.weigh(&format!("notice {idx}"));
    }
    assert_eq!(ledger.weigh("notice 0"), first);
}

#[test]
fn a_recount_gives_the_same_weights_and_keeps_the_fit() {
    let session = reporting(30, |_, counted| 7_000.0 + 1.37 * counted);
    let ledger = weigh(&session, "o200k_base");
    let again = ledger.recount(&session);
    assert_eq!(again.truth, ledger.truth);
    assert_eq!(
        (again.overhead, again.accuracy, again.fit),
        (ledger.overhead, ledger.accuracy, ledger.fit)
    );
    // Without models and usage the weights are unchanged.
    let mut b = builder();
    b.message(Draft::new(Role::User, vec![session.parts[0].clone()]));
    assert_eq!(ledger.recount(&b.finish()).part(0), ledger.part(0));
}

#[test]
fn a_recorded_compaction_keeps_its_own_and_later_messages() {
    let mut b = builder();
    let say = |b: &mut SessionBuilder| {
        b.message(Draft::new(Role::User, vec![text("x")]));
        b.call(CallDraft::default());
        b.message(Draft::new(Role::Assistant, vec![text("y")]))
    };
    say(&mut b);
    let resent = say(&mut b);
    let summary =
        Draft { is_summary: true, in_history: false, ..Draft::new(Role::User, vec![text("s")]) };
    // The summary follows the compaction, as in Claude Code's files.
    b.compaction("auto", None, None, vec![resent, resent + 1]);
    b.message(summary);
    say(&mut b);
    let session = b.finish();
    let weights: Vec<u32> = (0..7).map(|idx| 10_u32.pow(idx)).collect();
    assert_eq!(recorded_estimates(&session, &weights), [1, 111, 1_000 + 10_000 + 100_000]);
    let none: Vec<u64> = recorded_estimates(&builder().finish(), &[]);
    assert!(none.is_empty());
}

#[test]
fn reported_reasoning_tokens_are_used() {
    let mut b = builder();
    let thinking = Body::Thinking {
        text: "A summary of it.".into(),
        sealed_bytes: 9_000,
        reported: Some(321),
    };
    b.message(Draft::new(Role::Assistant, vec![part(thinking)]));
    assert_eq!(weigh(&b.finish(), "o200k_base").part(0), Tokens(321));
}
