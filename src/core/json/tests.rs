//! Compares values with `serde_json`. Its own values lose the order of keys and the notation of numbers, so that the expected
//! text is put together from its raw values.

use super::{
    BorrowedValue, Map, Number, Value, from_slice, from_str, json, leading_value, to_value,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Test texts, separated by bars and line breaks.
const TEXTS: &str = r#"
null| true |falsey|nul|tru|"|"\|"\"|"a\"b"|NaN|{a:1}
[]|[ ]|[,]|[1,]|[1 2]|{}|{ }|{,}|{"a"}|{"a":}|{"a":1,}|[1]]|1 2
0|-0|00|01|-|1.|.5|1.50|1e5|1E5|1e+5|1E-05|1e|1e+|+1|1e400|0x1|123456789012345678901234567890
{"a":1,"b":2,"a":[3],"\u0061":4}|{"text":"x","text":7}|[{"text":"a"},"b",3,{"text":"c\n"}]
"\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\u0000\u001F\u007f"|"long enough to be read by eights \\ and \" on"
"\ud83d"|"\ude00\ud83d"|"\ud83dx"|"\ud83d\u0041"|"\u12g4"|"\u+123"|"\x"|"\u12""#;

/// Returns the JSON that `serde_json` reads from a text, without whitespace and duplicate keys, or `None` if it is not a value.
fn expected(text: &str) -> Option<String> {
    let raw = serde_json::from_str::<&RawValue>(text).ok()?.get();
    match raw.as_bytes()[0] {
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let elements: Option<Vec<_>> = elements.iter().map(|e| expected(e.get())).collect();
            Some(format!("[{}]", elements?.join(",")))
        }
        b'{' => {
            let members: Map<String, &RawValue> = serde_json::from_str(raw).ok()?;
            let member = |(key, value): (&String, &&RawValue)| {
                Some(format!("{}:{}", serde_json::to_string(key).ok()?, expected(value.get())?))
            };
            let members: Option<Vec<_>> = members.iter().map(member).collect();
            Some(format!("{{{}}}", members?.join(",")))
        }
        b'"' => {
            let text: String = serde_json::from_str(raw).ok()?;
            serde_json::to_string(&text).ok()
        }
        // Exponents are written with their sign.
        b'-' | b'0'..=b'9' => Some(match raw.to_lowercase().split_once('e') {
            Some((digits, power)) if power.starts_with(['+', '-']) => format!("{digits}e{power}"),
            Some((digits, power)) => format!("{digits}e+{power}"),
            None => raw.to_owned(),
        }),
        _ => Some(raw.to_owned()),
    }
}

/// Checks that both kinds of values are read and written as `serde_json` does.
fn agree(text: &str) {
    let expected = expected(text);
    let value = from_str(text).ok();
    let borrowed = BorrowedValue::parse(text);
    assert_eq!(value.as_ref().map(Value::to_string), expected, "{text:?}");
    assert_eq!(borrowed.as_ref().map(BorrowedValue::to_json), expected, "{text:?}");
    assert_eq!(borrowed.map(|borrowed| borrowed.to_value()), value, "{text:?}");
    assert_eq!(from_slice(text.as_bytes()).ok(), value, "{text:?}");
    let Some(value) = value else { return };
    assert_eq!(serde_json::to_string(&value).ok(), expected, "{text:?}");
    assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), Some(&value), "{text:?}");
    assert_eq!(format!("{value:#}"), serde_json::to_string_pretty(&value).unwrap(), "{text:?}");
}

#[test]
fn agrees_with_serde_json() {
    for text in TEXTS.lines().flat_map(|line| line.split('|')) {
        agree(text);
    }
    for text in ["\"\t\"", "\"\u{7f}\u{80}äöü漢🚢\"", "\u{feff}1", " \r\n\t1 ", "\u{c}1"] {
        agree(text);
    }
    assert!(from_slice(b"\"\xff\"").is_err());
}

#[test]
fn has_the_nesting_limit_of_serde_json() {
    for depth in [1, 126, 127, 128, 129, 100_000] {
        for text in [
            format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
        ] {
            let expected = serde_json::from_str::<serde_json::Value>(&text);
            let expected = expected.map(|_| ()).map_err(|error| error.to_string());
            let parsed = from_str(&text).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(parsed, expected);
            assert_eq!(BorrowedValue::parse(&text).is_some(), expected.is_ok());
        }
    }
}

#[test]
fn uses_the_last_of_equal_names() {
    let members =
        |n: usize| (0..n).map(|i| format!("\"k{}\":{i}", i % 20)).collect::<Vec<_>>().join(" , ");
    for n in [1, 15, 16, 25, 300] {
        agree(&format!("{{{}}}", members(n)));
    }
    let text = format!("{{{}}}", members(300));
    let value = BorrowedValue::parse(&text).unwrap();
    assert_eq!(value.number_at(&["k7"]), Some("287"));
}

#[test]
fn errors_are_those_of_serde_json() {
    for text in ["", "{\"a\":", "[1,]", "{\"a\" 1}", "[1]]", "nul", "{\"a\":\"\\ud83d\"}", "\"\t\""]
    {
        let expected = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
        let error = from_str(text).unwrap_err();
        assert_eq!(error.to_string(), expected.to_string());
        assert_eq!(error.is_eof(), expected.is_eof());
    }
}

#[test]
fn leading_values_end_where_those_of_serde_json_do() {
    for text in ["{} x", "[1]2", "\"a\"b", "12,", "12 3", "1x", "true}", "truex", "", "[", " {}"] {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        let expected = stream.next().and_then(Result::ok).map(|_| &text[stream.byte_offset()..]);
        assert_eq!(leading_value(text).map(|(_, rest)| rest), expected, "{text:?}");
    }
}

#[test]
fn numbers_are_equal_by_notation_and_read_by_value() {
    let number = |text: &str| from_str(text).unwrap();
    assert_eq!(number("1.0"), json!(1.0));
    assert_ne!(number("1.00"), json!(1.0));
    assert_eq!(number("1.00").as_f64(), Some(1.0));
    assert_eq!(number("1e400").as_f64(), None);
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!((number("-0").as_u64(), number("-0").as_i64()), (None, Some(0)));
    assert_eq!(number("1.0").as_i64(), None);
    let as_serde_json_does = serde_json::to_string(&1e300).unwrap();
    assert_eq!(Number::from_f64(1e300).unwrap().to_string(), as_serde_json_does);
    assert_eq!(Value::from(f64::NAN), Value::Null);
}

#[test]
fn the_macro_accepts_nested_values_and_expressions() {
    let (key, list) = ("k", vec![1, 2]);
    let value = json!({
        key: list,
        "a": null, "b": [true, [], {}, -1.5, {"c": "d",},],
        (format!("e{}", 1)): Some("f"),
        "none": None::<u8>,
    });
    let expected = r#"{"k":[1,2],"a":null,"b":[true,[],{},-1.5,{"c":"d"}],"e1":"f","none":null}"#;
    assert_eq!(value.to_string(), expected);
}

#[test]
fn members_and_elements_are_found_by_index_and_pointer() {
    let mut value = json!({"a": [{"b/c": 1}, 2]});
    assert_eq!(value["a"][1], 2);
    assert_eq!(value["x"]["y"], Value::Null);
    assert_eq!(value.pointer("/a/0/b~1c"), Some(&json!(1)));
    assert_eq!((value.pointer("/a/01"), value.pointer("a")), (None, None));
    value["x"]["y"] = json!("z");
    *value.pointer_mut("/a/1").unwrap() = Value::Null;
    assert_eq!(value.to_string(), r#"{"a":[{"b/c":1},null],"x":{"y":"z"}}"#);
}

#[test]
fn fields_of_types_keep_order_and_notation() {
    #[derive(Deserialize, Serialize)]
    struct Record {
        value: Value,
        members: Map<String, Value>,
    }
    let text = r#"{"value":{"b":1.50,"a":-0},"members":{"d":1e+5,"c":123456789012345678901}}"#;
    let record: Record = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), text);
    assert_eq!(to_value(&record).unwrap().to_string(), text);
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_odd_texts(
        text in "([\\[\\]{},:]|\"a\"|\"b\"|[0-9.eE+-]{1,4}|true|null| |\"(\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-fd]{4}|[a-zé漢]){0,9}\"){0,12}"
    ) {
        agree(&text);
    }

    #[test]
    fn reads_all_output_of_serde_json(
        names in proptest::collection::vec(".{0,9}", 0..5),
        texts in proptest::collection::vec(".{0,40}", 0..5),
        number in any::<f64>(),
    ) {
        let object: serde_json::Map<_, _> =
            names.into_iter().zip(texts.iter().cloned().map(serde_json::Value::String)).collect();
        let value = serde_json::json!([texts, object, number, {"o": object}]).to_string();
        prop_assert!(from_str(&value).is_ok());
        agree(&value);
    }
}
