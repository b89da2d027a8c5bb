//! Expected re-reads. Expected figures are computed from the published coefficients without the program.

use crate::conversation::{Talk, case, case_of, part, text};
use crate::repository::repository;
use flate2::read::GzDecoder;
use plimsoll_core::analysis::cost::{Billing, Bills};
use plimsoll_core::analysis::rereads::{
    FileReads, RereadItem, RereadMeasure, RereadModel, RereadPrices, RereadTotal, Validity,
    ValidityVerdict, observed_items, parse_items, retention_curves,
};
use plimsoll_core::engine::{Case, Outcome, recorded, simulate};
use plimsoll_core::presets::{self, prices::Prices};
use plimsoll_core::session::{Body, Role};
use plimsoll_core::units::Tokens;
use proptest::prelude::*;
use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, LazyLock};

/// The table behind the bundled coefficients.
static ITEMS: LazyLock<Vec<RereadItem>> = LazyLock::new(|| {
    let file = repository().join("src/core/assets/reread_items.csv.gz");
    let mut text = String::new();
    let mut table = GzDecoder::new(File::open(file).expect("the table"));
    table.read_to_string(&mut text).expect("gzip");
    parse_items(&text, "person").expect("a table of items")
});

static VALIDITY: LazyLock<Validity> = LazyLock::new(|| {
    let source = "reread_items.csv.gz".to_owned();
    Validity::of(&ITEMS, RereadModel::bundled(), source)
});

fn assert_close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected} ± {within}");
}

#[test]
fn the_bundled_coefficients_are_fitted_to_the_table() {
    let fitted = VALIDITY.model.as_ref().expect("enough items");
    assert_eq!(
        fitted,
        RereadModel::bundled(),
        "plimsoll evaluate src/core/assets/reread_items.csv.gz --fit src/core/assets/reread_model.toml"
    );
    // As an independent fit of the same table gave them.
    let published = [
        (&fitted.removed[..], &[-0.43, -0.64, 0.72, -0.74][..]),
        (&fitted.removed_known, &[-0.97, -0.63, 0.69, -1.03, 0.92]),
        (&fitted.held, &[-1.95, -0.41, 0.615, -0.06]),
    ];
    for (own, published) in published {
        for (own, published) in own.iter().zip(published) {
            assert_close(*own, *published, 0.006);
        }
    }
    // Half of the published intervals.
    for (idx, half) in [(0, 0.67), (1, 0.155), (2, 0.285), (3, 0.495)] {
        assert_close(1.96 * fitted.covariance[idx][idx].sqrt(), half, 0.25 * half);
    }
}

#[test]
fn people_who_were_left_out_are_predicted() {
    let left_out = VALIDITY.left_out.as_ref().expect("coefficients");
    assert_close(left_out.calibration[1], 0.96, 0.02);
    assert_close(left_out.per_compaction[0], 1.99, 0.01);
    assert_close(left_out.per_compaction[1], 1.99, 0.01);
    assert_close(left_out.correlation, 0.49, 0.01);
    assert_close(left_out.explained, 0.20, 0.01);
    assert_close(left_out.area, 0.732, 0.001);
    assert_eq!(VALIDITY.counts.fitted, 197);
    assert_eq!(VALIDITY.verdict(), ValidityVerdict::Predicts);
}

#[test]
fn people_without_an_effect_never_make_it_predict() {
    // Re-reads of another file of the table: age, uses and edits say nothing.
    let mut items = ITEMS.clone();
    let after: Vec<Option<u32>> = items.iter().map(|item| item.read_again_after).collect();
    let n = items.len();
    for (idx, item) in items.iter_mut().enumerate() {
        item.read_again_after = after[(idx * 7_919 + 13) % n];
    }
    let verdict = Validity::of(&items, RereadModel::bundled(), String::new()).verdict();
    assert_ne!(verdict, ValidityVerdict::Predicts);
    // One person, however many sessions.
    let mut items = ITEMS.clone();
    for item in &mut items {
        item.person = 0;
    }
    let verdict = Validity::of(&items, RereadModel::bundled(), String::new()).verdict();
    assert_eq!(verdict, ValidityVerdict::TooFewPersons);
}

/// Returns the logistic function of published coefficients.
fn logistic(constant: f64, age: f64, uses: f64, edited: f64, file: (f64, f64, bool)) -> f64 {
    let (calls, n, is_edited) = file;
    let sum = constant
        + age * (1.0 + calls).ln()
        + uses * (1.0 + n).ln()
        + if is_edited { edited } else { 0.0 };
    1.0 / (1.0 + (-sum).exp())
}

/// Returns the re-reads that the removal of a file adds, by the published coefficients.
fn extra(age: u32, uses: u32, is_edited: bool) -> f64 {
    let file = (f64::from(age), f64::from(uses), is_edited);
    logistic(-0.43, -0.64, 0.72, -0.74, file) - logistic(-1.95, -0.41, 0.615, -0.06, file)
}

fn call(talk: &mut Talk, id: &str, tool: &str, arguments: &str, result: &str) {
    let call = Body::ToolCall { call: id.into(), tool: tool.into(), arguments: arguments.into() };
    talk.message(Role::Assistant, vec![part(call)]);
    let result = Body::ToolResult {
        call: id.into(),
        tool: tool.into(),
        is_error: false,
        text: result.into(),
    };
    talk.message(Role::Tool, vec![part(result)]);
}

fn with_model(mut case: Case) -> Case {
    let mut session = (*case.session).clone();
    session.models = vec!["claude-sonnet-4-5-20250929".to_owned()];
    session.calls.iter_mut().for_each(|call| call.model = Some(0));
    case.session = Arc::new(session);
    case
}

fn total(case: &Case, outcome: &Outcome) -> RereadTotal {
    let bills = Bills::new(case, Billing::at(Prices::bundled()));
    let measure = RereadMeasure {
        model: RereadModel::bundled(),
        files: &FileReads::new(case),
        prices: &RereadPrices::new(&bills, case.session.calls.len()),
    };
    measure.total(case, outcome)
}

/// Returns a session that reads `src/a.rs`, edits it, prints it in a shell, works on for ten calls, and is compacted.
fn compacted() -> Case {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Please do the task.")]);
    let file = "fn a() {}\n".repeat(300);
    call(&mut talk, "c0", "Read", r#"{"file_path":"/home/me/p/src/a.rs"}"#, &file);
    call(
        &mut talk,
        "c1",
        "Edit",
        r#"{"file_path":"/home/me/p/src/a.rs","old_string":"fn a","new_string":"fn b"}"#,
        "done",
    );
    call(&mut talk, "c2", "Bash", r#"{"command":"cd p && cat src/a.rs"}"#, &file);
    call(&mut talk, "c3", "Grep", r#"{"pattern":"fn a","path":"src/a.rs"}"#, "1: fn a");
    for n in 0..9 {
        call(&mut talk, &format!("d{n}"), "Bash", r#"{"command":"cargo test"}"#, "ok");
    }
    talk.message(Role::User, vec![text("Go on.")]);
    for n in 0..30 {
        call(&mut talk, &format!("e{n}"), "Bash", r#"{"command":"cargo test"}"#, "ok");
    }
    // System, user, 13 calls with their results.
    talk.compact_before(2 + 26, "Work on b in the sources goes on.");
    with_model(case(&talk, 200_000))
}

#[test]
fn a_constructed_session_has_the_known_answer() {
    let case = compacted();
    let outcome = recorded(&case, Tokens(32_000), None);
    let found = total(&case, &outcome);
    // Touched by calls 0, 1 and 2; call 13 is the first without the content: ten calls lie between.
    let expected = extra(10, 3, true);
    assert_eq!(found.removals, 1);
    assert_close(found.files.value, expected, 0.003);
    assert!(found.files.low < expected && expected < found.files.high);
    let part =
        case.session.parts.iter().position(
            |part| matches!(&part.body, Body::ToolResult { call, .. } if &**call == "c2"),
        );
    let read = case.ledger.part(part.expect("the result")).as_f64();
    assert_close(found.tokens.value, 1.5 * expected * read, 0.02 * read);
    // Written at $3.75 a million, and read at $0.30 by each of the calls behind the first without the content.
    let later = (case.session.calls.len() - 13 - 1) as f64;
    let price = 1.5 * expected * read * (3.75 + 0.3 * later) / 1e6;
    let usd = found.usd.expect("prices are known");
    assert_close(usd.value, price, 0.02 * price);
    assert!(usd.high / usd.value > 1.9 / 1.5, "the error of the tokens is part of it");
}

#[test]
fn what_stays_in_the_context_is_no_removal() {
    let case = compacted();
    let none = presets::by_name("none").expect("bundled");
    let outcome = simulate(&case, &none, &none.defaults(), None);
    let found = total(&case, &outcome);
    assert_eq!((found.removals, found.is_none()), (0, true));
    assert_eq!(found.words(), "no re-reads expected");
}

#[test]
fn observed_items_count_reads_before_edits_only() {
    let session = |after: &[(&str, &str)]| {
        let mut talk = Talk::new();
        talk.message(Role::User, vec![text("Please do the task.")]);
        for n in 0..50 {
            call(&mut talk, &format!("c{n}"), "Bash", r#"{"command":"cargo test"}"#, "ok");
        }
        call(&mut talk, "r", "Read", r#"{"file_path":"src/a.rs"}"#, "fn a() {}");
        talk.message(Role::User, vec![text("Go on.")]);
        for (n, (tool, arguments)) in after.iter().enumerate() {
            call(&mut talk, &format!("d{n}"), tool, arguments, "ok");
        }
        talk.compact_before(2 + 102, "The work on a.rs goes on.");
        let case = case_of(talk.session(), 200_000);
        observed_items(&FileReads::new(&case), &case, (0, 0))
    };
    let other = ("Bash", r#"{"command":"cargo test"}"#);
    let read = ("Read", r#"{"file_path":"src/a.rs"}"#);
    let edit = ("Edit", r#"{"file_path":"src/a.rs","old_string":"a","new_string":"b"}"#);
    let of_compaction = |items: Vec<RereadItem>| {
        let mut items = items.into_iter().filter(|item| !item.is_control);
        items.next().expect("the file at the compaction")
    };
    let again = of_compaction(session(&[other, read, edit]));
    assert_eq!((again.read_again_after, again.observed_calls), (Some(2), 3));
    assert_eq!((again.known.age, again.known.uses), (0, 1));
    assert_eq!(again.is_named, Some(true));
    assert_eq!(of_compaction(session(&[edit, read])).read_again_after, None);
    // The control point lies 45 calls before the compaction, where the file was not read yet.
    assert!(session(&[other]).iter().all(|item| !item.is_control));
}

#[test]
fn an_unknown_summary_says_nothing_about_names() {
    let sealed = |text: &str, sealed_bytes: u32| {
        let mut session = (*compacted().session).clone();
        let summary = session.messages.iter().position(|message| message.is_summary);
        let part = session.messages[summary.expect("a summary")].parts.start;
        session.parts[part].body =
            Body::Thinking { text: text.into(), sealed_bytes, reported: None };
        let case = case_of(session, 200_000);
        observed_items(&FileReads::new(&case), &case, (0, 0))
    };
    let items = sealed("", 4_000);
    assert!(items.iter().all(|item| item.is_encrypted && item.is_named.is_none()));
    assert!(sealed("a.rs", 0).iter().all(|item| !item.is_encrypted && item.is_named.is_some()));
}

#[test]
fn a_file_that_is_attached_again_is_no_removal() {
    let session = |attached: Option<&str>| {
        let mut talk = Talk::new();
        talk.message(Role::User, vec![text("Please do the task.")]);
        let lines = |number: fn(usize) -> String| -> String {
            let line = |n| format!("{}fn number_{n}() {{}}\n", number(n));
            (0..60).map(line).collect()
        };
        let numbered = lines(|n| format!("{n:>6}→"));
        call(&mut talk, "c0", "Read", r#"{"file_path":"src/a.rs"}"#, &numbered);
        for n in 0..5 {
            let id = format!("d{n}");
            call(&mut talk, &id, "Bash", r#"{"command":"cargo test"}"#, "ok");
        }
        let before = 2 + 12;
        let content = format!("src/a.rs\n{}", lines(|_| String::new()));
        let mut session = {
            talk.message(Role::User, vec![text(attached.unwrap_or(&content))]);
            for n in 0..25 {
                let id = format!("e{n}");
                call(&mut talk, &id, "Bash", r#"{"command":"cargo test"}"#, "ok");
            }
            talk.compact_before(before, "The work goes on.");
            talk.session()
        };
        let is_own = |message: &plimsoll_core::session::Message| {
            message.role == Role::User && !message.is_summary && message.in_history
        };
        let last = session.messages.iter().rposition(is_own).expect("a message");
        session.messages[last].is_injected = true;
        let case = case_of(session, 200_000);
        let outcome = recorded(&case, Tokens(32_000), None);
        total(&case, &outcome).removals
    };
    assert_eq!(session(None), 0);
    assert_eq!(session(Some("Nothing of it.")), 1);
}

#[test]
fn retention_falls_to_nothing() {
    let case = compacted();
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let measure = RereadMeasure {
        model: RereadModel::bundled(),
        files: &FileReads::new(&case),
        prices: &RereadPrices::new(&bills, case.session.calls.len()),
    };
    let curves = retention_curves(&measure, &case);
    for curve in [&curves.messages, &curves.results] {
        assert!(curve.at(0).rereads > 0.0);
        assert_eq!(curve.at(u64::MAX).rereads, 0.0);
        assert_eq!(
            curve.at(curve.smallest(0.5)).rereads,
            curve.steps().find(|(_, n)| *n <= 0.5 * curve.at(0).rereads).expect("it falls").1
        );
        let steps: Vec<_> = curve.steps().collect();
        assert!(steps.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1));
    }
}

/// A call of a random session: the file, and whether it edits it.
fn touches() -> impl Strategy<Value = Vec<(u8, bool)>> {
    prop::collection::vec((0_u8..8, any::<bool>()), 40..90)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn more_kept_content_never_has_more_expected_rereads(
        touches in touches(),
        keep in 1_u32..18,
        more in 1_u32..18,
    ) {
        let mut talk = Talk::new();
        talk.message(Role::User, vec![text("Please do the task.")]);
        for (n, (file, is_edit)) in touches.iter().enumerate() {
            let path = format!("src/{file}.rs");
            let (tool, arguments) = if *is_edit {
                ("Edit", format!(r#"{{"file_path":"{path}","old_string":"a","new_string":"b"}}"#))
            } else {
                ("Read", format!(r#"{{"file_path":"{path}"}}"#))
            };
            call(&mut talk, &format!("c{n}"), tool, &arguments, &"word ".repeat(100));
        }
        let case = case(&talk, 8_000);
        let policy = presets::by_name("truncate").expect("bundled");
        let found = |keep_recent: u32| {
            let mut knobs = policy.defaults();
            // Acts once, at the call that fills two fifths of the window: it has more than 40 messages then.
            let settings = [
                ("keep_recent", f64::from(keep_recent)),
                ("compression_trigger", 0.4),
                ("output_reserve", 1_000.0),
                ("cooldown", 100.0),
            ];
            for (name, value) in settings {
                policy.set(&mut knobs, name, value).expect("in range");
            }
            total(&case, &simulate(&case, &policy, &knobs, None)).files.value
        };
        prop_assert!(found(keep) >= found(keep + more) - 1e-9);
    }
}
