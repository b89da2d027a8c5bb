//! Malformed files: no reader panics, and every session that is read satisfies the invariants of sessions.

use crate::rules::keeps_the_rules;
use plimsoll::formats::{self, Input, Parsed, Refused};
use plimsoll::progress::Progress;
use plimsoll::tokens::{TokenLedger, by_name};
use proptest::prelude::*;

/// Sample sessions of the program, one per structure. Large ones are truncated, so that hundreds of variants are fast.
const SAMPLES: [(&str, &[u8]); 4] = [
    ("compacted", include_bytes!("../../sample_sessions/compacted.jsonl")),
    ("handoff", include_bytes!("../../sample_sessions/handoff.json")),
    ("images", include_bytes!("../../sample_sessions/images-and-cjk.json")),
    ("growth", include_bytes!("../../sample_sessions/slow-growth.jsonl")),
];
/// Maximum number of bytes of a sample that are varied.
const SAMPLE_BYTES: usize = 24 * 1024;

fn parse(bytes: &[u8]) -> Result<Parsed, Refused> {
    formats::parse(&Input { name: "hostile".to_owned(), bytes: bytes.to_vec().into() })
}

/// Parses a file, counts its tokens, and checks the invariants of its sessions.
fn check(bytes: &[u8]) -> Result<Parsed, Refused> {
    let parsed = parse(bytes)?;
    assert!(!parsed.sessions.is_empty());
    for session in &parsed.sessions {
        keeps_the_rules(session);
        let counter = by_name("bytes/4").expect("the counter exists");
        TokenLedger::count(session, counter, &Progress::default())
            .expect("the progress is not cancelled");
    }
    Ok(parsed)
}

/// Returns a short conversation in each format with this id, text, number, time and tool name, each as JSON.
fn conversations(
    id: &str,
    text: &str,
    number: &str,
    time: &str,
    name: &str,
) -> [(&'static str, String); 4] {
    let claude = [
        format!(
            r#"{{"type":"user","uuid":"a","parentUuid":{id},"sessionId":"s","timestamp":{time},"message":{{"role":"user","content":{text}}}}}"#
        ),
        format!(
            r#"{{"type":"assistant","uuid":{id},"parentUuid":"a","sessionId":"s","version":"2.1.99","timestamp":{time},"message":{{"id":{id},"model":{name},"role":"assistant","content":[{{"type":"tool_use","id":{id},"name":{name},"input":{text}}}],"usage":{{"input_tokens":{number},"cache_read_input_tokens":{number},"cache_creation_input_tokens":{number},"output_tokens":{number}}}}}}}"#
        ),
        format!(
            r#"{{"type":"user","uuid":"c","parentUuid":{id},"sessionId":"s","timestamp":{time},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":{id},"content":{text}}}]}}}}"#
        ),
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"d","sessionId":"s","timestamp":{time},"compactMetadata":{{"trigger":{name},"preTokens":{number},"postTokens":{number},"preservedSegment":{{"headUuid":{id},"tailUuid":"a","anchorUuid":{id}}}}}}}"#
        ),
        format!(
            r#"{{"type":"user","uuid":"e","parentUuid":"d","sessionId":"s","isCompactSummary":true,"message":{{"role":"user","content":{text}}}}}"#
        ),
    ];
    let codex = [
        format!(
            r#"{{"timestamp":{time},"type":"session_meta","payload":{{"id":{id},"base_instructions":{{"text":{text}}}}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"event_msg","payload":{{"type":"task_started","turn_id":{id},"model_context_window":{number}}}}}"#
        ),
        format!(r#"{{"timestamp":{time},"type":"turn_context","payload":{{"model":{name}}}}}"#),
        format!(
            r#"{{"timestamp":{time},"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"response_item","payload":{{"type":"function_call","name":{name},"arguments":{text},"call_id":{id}}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{number}}},"last_token_usage":{{"input_tokens":{number},"output_tokens":{number},"reasoning_output_tokens":{number},"total_tokens":{number}}},"model_context_window":{number}}}}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"response_item","payload":{{"type":"function_call_output","call_id":{id},"output":{text}}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"compacted","payload":{{"message":{text},"replacement_history":[{{"type":"message","role":"user","content":{text}}}]}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{number}}}}}"#
        ),
    ];
    let openai = format!(
        r#"{{"model":{name},"context_window":{number},"tools":[{{"type":"function","function":{{"name":{name}}}}}],"messages":[{{"role":"user","id":{id},"timestamp":{time},"content":{text}}},{{"role":"assistant","content":null,"tool_calls":[{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{text}}}}}],"usage":{{"prompt_tokens":{number},"completion_tokens":{number},"prompt_tokens_details":{{"cached_tokens":{number}}},"completion_tokens_details":{{"reasoning_tokens":{number}}}}}}},{{"role":"tool","tool_call_id":{id},"content":{text}}}]}}"#
    );
    let anthropic = format!(
        r#"{{"model":{name},"context_window":{number},"system":{text},"messages":[{{"role":"user","content":{text}}},{{"role":"assistant","id":{id},"timestamp":{time},"content":[{{"type":"tool_use","id":{id},"name":{name},"input":{{"x":{text}}}}}],"usage":{{"input_tokens":{number},"cache_read_input_tokens":{number},"cache_creation_input_tokens":{number},"output_tokens":{number}}}}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":{id},"content":{text}}}]}}]}}"#
    );
    [
        ("claude_code", claude.join("\n")),
        ("codex_rollout", codex.join("\n")),
        ("openai_chat", openai),
        ("anthropic_messages", anthropic),
    ]
}

/// Returns ordinary conversations.
fn plain() -> [(&'static str, String); 4] {
    conversations("\"id1\"", "\"words\"", "1200", "\"2026-01-02T03:04:05Z\"", "\"read\"")
}

#[test]
fn ordinary_conversations_are_detected_and_read() {
    for (format, text) in plain() {
        let parsed = check(text.as_bytes()).expect(format);
        assert_eq!(parsed.sessions[0].source.format, format);
        let has_usage = parsed.sessions[0].calls.iter().any(|s| s.usage.is_some());
        assert!(has_usage, "{format}");
    }
}

#[test]
fn absurd_numbers_are_left_out_with_a_warning() {
    for number in [
        "99999999999999999999999999",
        "18446744073709551615",
        "1000000000000",
        "-5",
        "1e400",
        "-1e400",
        "1e30",
    ] {
        for (format, text) in conversations("\"i\"", "\"t\"", number, "1", "\"n\"") {
            let parsed = check(text.as_bytes()).expect(format);
            assert_eq!(parsed.sessions[0].source.format, format, "{number}");
            assert!(
                parsed.sessions[0].calls.iter().all(|s| s.usage.is_none() && s.window.is_none())
            );
            let reported = parsed.warnings.iter().filter(|w| w.text.contains("cannot be right"));
            let reported: Vec<_> = reported.collect();
            assert!(!reported.is_empty(), "{format} {number}: {:?}", parsed.warnings);
            assert!(reported.iter().all(|w| w.line.is_some()), "{reported:?}");
        }
    }
    for number in ["null", "\"12\"", "0", "0.4", "[]", "true"] {
        for (format, text) in conversations("\"i\"", "\"t\"", number, "1", "\"n\"") {
            let parsed = check(text.as_bytes()).expect(format);
            let reported = parsed.warnings.iter().any(|w| w.text.contains("cannot be right"));
            assert!(!reported, "{format} {number}: {:?}", parsed.warnings);
        }
    }
}

#[test]
fn reads_unusual_times_names_and_texts() {
    let long = format!("\"{}\"", "i".repeat(1 << 20));
    let times = [
        "\"2026-01-02T00:00:00+a€x\"",
        "\"9999-12-31T23:59:59-99:99\"",
        "\"0000-00-00T00:00:00Z\"",
        "-1e300",
        "99999999999999999999",
        "{}",
        "\"+a€x\"",
        "\"\"",
    ];
    let names = [
        r#""\u001b]0;owned\u0007\u001b[2J""#,
        r#""\u0000""#,
        "\"\u{202e}evil\"",
        "\"\\ud83d\"",
        "\"\"",
        "7",
        "null",
        &long,
    ];
    let texts = [
        r#"[{"type":"text"},{"type":"image","source":7},{"type":"image_url","image_url":{"url":"data:,"}},null,[]]"#,
        r#"[{"type":"tool_result","tool_use_id":{},"content":[{"type":"document"}]}]"#,
        r#"{"a":{"a":1,"a":2},"a":[]}"#,
        "null",
        "\"\\ud800\\udc00\\udc00\"",
        "3",
        "[]",
        &long,
    ];
    for time in times {
        run(&conversations("\"i\"", "\"t\"", "1", time, "\"n\""));
    }
    for name in names {
        run(&conversations(name, "\"t\"", "1", "1", name));
    }
    for text in texts {
        run(&conversations("\"i\"", text, "1", "1", "\"n\""));
    }
}

/// Parses files, which must not panic, and checks that messages for users are short.
fn run(files: &[(&str, String)]) {
    for (_, text) in files {
        check_messages(check(text.as_bytes()));
    }
}

fn check_messages(read: Result<Parsed, Refused>) {
    match read {
        Ok(parsed) => {
            for warning in parsed.warnings {
                let words = warning.to_string();
                assert!(words.len() < 600, "{} bytes", words.len());
            }
        }
        Err(refused) => assert!(refused.to_string().len() < 1000, "{refused}"),
    }
}

#[test]
fn reads_deep_nesting_and_repeated_keys() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let objects = "{\"content\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    for text in [&deep, &objects] {
        run(&conversations("\"i\"", text, "1", "1", "\"n\""));
        check_messages(check(text.as_bytes()));
        check_messages(check(&text.as_bytes()[..text.len() / 2]));
    }
    let repeated = format!(
        "{{{}\"messages\":[]}}",
        "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],".repeat(50)
    );
    check_messages(check(repeated.as_bytes()));
    for (_, text) in plain() {
        check_messages(check(text.replace("\"role\":", "\"role\":3,\"role\":").as_bytes()));
        check_messages(check(
            text.replace("\"content\":", "\"content\":3,\"content\":").as_bytes(),
        ));
    }
}

#[test]
fn reads_records_whose_parents_form_a_cycle() {
    let line = |uuid: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"s","message":{{"role":"{role}","content":"x"}}}}"#
        )
    };
    let ring =
        [line("a", "c", "user"), line("b", "a", "assistant"), line("c", "b", "user")].join("\n");
    let own = [line("a", "a", "user"), line("a", "a", "assistant")].join("\n");
    for text in [ring, own] {
        assert!(!check(text.as_bytes()).expect("a session").sessions[0].messages.is_empty());
    }
}

#[test]
fn reads_bytes_that_are_not_text() {
    for (format, text) in plain() {
        let bytes = text.as_bytes();
        let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
        let same = [
            [b"\xef\xbb\xbf", bytes].concat(),
            lines.join(&b"\r\n"[..]),
            [bytes, b"\n\n \n"].concat(),
        ];
        for variant in same {
            let parsed = check(&variant).expect(format);
            assert_eq!(parsed.sessions[0].source.format, format);
        }
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for utf16 in [little, big] {
            let refused = check(&utf16).expect_err("UTF-16 is not read").to_string();
            assert!(refused.contains("UTF-16"), "{refused}");
        }
        let words = text.replace("words", "\u{1}");
        let with =
            |byte: u8| words.bytes().map(|b| if b == 1 { byte } else { b }).collect::<Vec<_>>();
        for odd in [with(0), with(0xff), with(0x1b), lines.concat(), lines.join(&b"\n{\"torn"[..])]
        {
            check_messages(check(&odd));
        }
    }
}

#[test]
fn a_call_before_any_user_message_is_in_the_first_turn() {
    let line = |role: &str, content: &str, n: usize| {
        format!(
            r#"{{"type":"{role}","uuid":"u{n}","parentUuid":{},"sessionId":"s","message":{{"role":"{role}","id":"m{n}","content":"{content}"}}}}"#,
            n.checked_sub(1).map_or("null".to_owned(), |p| format!("\"u{p}\""))
        )
    };
    let text = [
        line("user", "<command-name>/init</command-name>", 0),
        line("assistant", "Looking.", 1),
        line("user", "Now the tests", 2),
        line("assistant", "Done.", 3),
    ]
    .join("\n");
    let parsed = check(text.as_bytes()).expect("a session");
    let session = &parsed.sessions[0];
    let turns: Vec<_> = session.messages.iter().map(|m| m.turn).collect();
    assert_eq!((turns, session.turns), (vec![1, 1, 2, 2], 2));
    let calls: Vec<_> = session.calls.iter().map(|s| s.turn).collect();
    assert_eq!(calls, [1, 2]);
}

/// Returns the start of a sample up to the end of a line, or all of a small one.
fn sample(bytes: &[u8]) -> &[u8] {
    let cut = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let end = cut.iter().rposition(|b| *b == b'\n').map_or(cut.len(), |at| at + 1);
    if cut.len() == bytes.len() { bytes } else { &cut[..end] }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_sessions_do_not_panic_and_satisfy_the_invariants(
        cut in 0.0..1.0_f64,
        flips in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 0..24),
        gone in proptest::collection::vec(0.0..1.0_f64, 0..6),
        is_cut in any::<bool>(),
    ) {
        let generic = plain();
        let made = generic.iter().map(|(_, text)| text.as_bytes());
        for bytes in SAMPLES.iter().map(|(_, bytes)| sample(bytes)).chain(made) {
            let at = |share: f64, len: usize| (share * len as f64) as usize;
            let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            for share in &gone {
                if lines.len() > 1 {
                    lines.remove(at(*share, lines.len()));
                }
            }
            let mut damaged = lines.join(&b'\n');
            for (share, byte) in &flips {
                let place = at(*share, damaged.len());
                if let Some(flipped) = damaged.get_mut(place) {
                    *flipped = *byte;
                }
            }
            if is_cut {
                damaged.truncate(at(cut, damaged.len()));
            }
            check_messages(check(&damaged));
        }
    }
}
