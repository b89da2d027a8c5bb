//! Tests of the parser and of completion.

use super::*;

fn error(text: &str) -> String {
    Query::parse(text).unwrap_err().to_string()
}

fn numbers(text: &str) -> RangeInclusive<u64> {
    match Query::parse(text).unwrap().terms.remove(0).test {
        Test::Number(_, range) => range,
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn words_and_phrases_are_texts() {
    let texts = |text: &str| -> Vec<(String, bool)> {
        let terms = Query::parse(text).unwrap().terms.into_iter();
        let text = |term: Term| match term.test {
            Test::Text(needle) => (needle.as_str().to_owned(), term.is_negated),
            other => panic!("{text} is {other:?}"),
        };
        terms.map(text).collect()
    };
    let found = |text: &str| (text.to_owned(), false);
    assert_eq!(texts("  a  b "), [found("a"), found("b")]);
    assert_eq!(texts("\"a b\" text:\"c d\""), [found("a b"), found("c d")]);
    assert_eq!(texts("\"foo:bar\" text:a:b"), [found("foo:bar"), found("a:b")]);
    // Texts that look like terms.
    for text in [
        "std::io",
        "https://a",
        "--flag",
        "-",
        "a:b",
        "tool>3",
        "x>5",
        "issue#3",
        "error:",
        "C:\\x",
        "12:30",
        "a-b:c",
    ] {
        assert_eq!(texts(text), [found(text)], "{text}");
    }
    assert_eq!(texts("-ab"), [("ab".to_owned(), true)]);
    assert!(Query::parse(" ").unwrap().is_empty());
}

#[test]
fn numbers_are_compared_and_ranges_are_inclusive() {
    assert_eq!(numbers("tokens>2000"), 2001..=u64::MAX);
    assert_eq!(numbers("tokens>=2k"), 2000..=u64::MAX);
    assert_eq!(numbers("tokens<1,000"), 0..=999);
    assert_eq!(numbers("turn<=3"), 0..=3);
    assert_eq!(numbers("call:20-34"), 20..=34);
    assert_eq!(numbers("call:20-"), 20..=u64::MAX);
    assert_eq!(numbers("call:-34"), 0..=34);
    assert_eq!(numbers("turn:3"), 3..=3);
    assert_eq!(numbers("turn=3"), 3..=3);
    assert_eq!(numbers("tokens>1M"), 1_000_001..=u64::MAX);
}

#[test]
fn errors_name_the_place_and_what_to_write() {
    assert_eq!(
        error("abc kind:resul"),
        "character 10: unknown kind `resul`; there are system, tools, user, assistant, thinking, call, result, media, summary, notice"
    );
    assert_eq!(error("role:"), "character 1: `role:` needs a value: system, user, assistant, tool");
    assert_eq!(
        error("é -call:x"),
        "character 9: `call` needs a number or a range, such as call>20 or call:20-34"
    );
    assert_eq!(error("call:9-3"), "character 6: the range `9-3` is empty");
    assert_eq!(error("tokens<0"), "character 8: the range `0` is empty");
    assert_eq!(
        error("tools:Bash"),
        "character 1: unknown key `tools`; did you mean `tool`? there are text, kind, role, tool, is, tokens, call, turn, message; quote the term to search for the text"
    );
    for (text, near) in [
        ("a foo:bar", "unknown key `foo`; there are text,"),
        ("-rolle:user", "character 1: unknown key `rolle`; did you mean `role`?"),
        ("Kind:result", "did you mean `kind`?"),
        ("calls>20", "did you mean `call`?"),
        ("token>2k", "did you mean `tokens`?"),
        ("a \"b c", "character 3: the quote has no end"),
        ("kind:\"result", "character 6: the quote has no end"),
        ("\"", "the quote has no end"),
    ] {
        assert!(error(text).contains(near), "{text}: {}", error(text));
    }
    assert_eq!(error("tool:"), "character 1: `tool:` needs a name");
    assert_eq!(
        error("is:eror"),
        "character 4: unknown is `eror`; there are error, injected, summary"
    );
    assert_eq!(error("text:"), "character 1: the text is empty");
    for text in ["call:99999999999999999999", "call:--", "tokens>k"] {
        assert!(error(text).contains("needs a number"), "{text}");
    }
}

#[test]
fn the_word_before_the_cursor_is_completed() {
    let options = |word: &str| complete(word, &["Bash", "Read file", "mcp"]);
    assert_eq!(options("to"), ["tool:", "tokens>"]);
    assert_eq!(options("-ki"), ["-kind:"]);
    assert_eq!(options("kind:r"), ["kind:result"]);
    assert_eq!(options("-is:er"), ["-is:error"]);
    assert_eq!(options("tool:"), ["tool:Bash", "tool:\"Read file\"", "tool:mcp"]);
    assert_eq!(options("tool:ba"), ["tool:Bash"]);
    // Complete, a text, or a number.
    for word in ["kind:result", "t", "word", "\"to", "call:3", ""] {
        assert!(options(word).is_empty(), "{word}");
    }
}

#[test]
fn occurrences_are_in_order_and_do_not_overlap() {
    let found = |query: &str, text: &str| Query::parse(query).unwrap().occurrences(text);
    assert_eq!(found("TEST cargo", "cargo Test, test"), [0..5, 6..10, 12..16]);
    assert_eq!(found("abc bcd", "abcd"), vec![0..3]);
    assert_eq!(found("ÄNDERN", "Größe ändern"), vec![8..15]);
    assert!(found("-abc kind:user", "abc").is_empty());
}
