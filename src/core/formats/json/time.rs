//! Parses the times that session files record, and writes them.

use crate::json::{BorrowedValue, Value};
use crate::units::Millis;
use std::time::{Duration, UNIX_EPOCH};

/// First millisecond of the year 10000. Times of sessions are between 1970 and this.
// RFC 3339 has four digits for the year, so that a later time could not be displayed.
const END_OF_TIME: i64 = 253_402_300_800_000;

/// Returns a time in RFC 3339 with milliseconds, in UTC. Times that the format cannot express become its first one.
pub(crate) fn rfc3339_of(time: Millis) -> String {
    let millis = if (0..END_OF_TIME).contains(&time.0) { time.0 } else { 0 };
    let time = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    humantime::format_rfc3339_millis(UNIX_EPOCH + time).to_string()
}

/// Parses a time: RFC 3339 with `Z` or an offset, or seconds, milliseconds or microseconds since 1970. Returns `None`
/// for implausible times.
pub(crate) fn millis(value: &Value) -> Option<Millis> {
    let millis = match value {
        Value::String(text) => rfc3339(text.trim())?,
        Value::Number(number) => epoch(number.as_f64()?)?,
        _ => return None,
    };
    within_sessions(millis)
}

/// Parses a time from a borrowed value, see [`millis`].
pub(crate) fn millis_read(value: &BorrowedValue<'_>) -> Option<Millis> {
    match value {
        BorrowedValue::Text(_) => within_sessions(rfc3339(value.as_str()?.trim())?),
        BorrowedValue::Number(_) => millis(&value.to_value()),
        _ => None,
    }
}

/// Returns a time if it is plausible for a session.
fn within_sessions(millis: i64) -> Option<Millis> {
    (0..END_OF_TIME).contains(&millis).then_some(Millis(millis))
}

fn rfc3339(text: &str) -> Option<i64> {
    let (local, offset) = split_offset(text);
    let time = humantime::parse_rfc3339_weak(local).ok()?;
    let unix_time = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(unix_time.as_millis()).ok()?.checked_sub(offset)
}

/// Splits `2026-01-02T03:04:05+02:00` into `2026-01-02T03:04:05` and two hours in milliseconds.
fn split_offset(text: &str) -> (&str, i64) {
    let zone = text.len().checked_sub(6).and_then(|at| text.split_at_checked(at));
    zone.and_then(|(local, zone)| Some((local, offset(zone.as_bytes())?))).unwrap_or((text, 0))
}

fn offset(zone: &[u8]) -> Option<i64> {
    let &[sign, h1, h2, b':', m1, m2] = zone else {
        return None;
    };
    let sign = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let hours = digit(h1)? * 10 + digit(h2)?;
    let minutes = digit(m1)? * 10 + digit(m2)?;
    Some(sign * (hours * 60 + minutes) * 60_000)
}

/// Converts a number to milliseconds. Seconds reach 1e11 in the year 5138, milliseconds exceeded it in 1973.
fn epoch(number: f64) -> Option<i64> {
    let millis = match number.abs() {
        n if n < 1e11 => number * 1e3,
        n if n < 1e14 => number,
        n if n < 1e17 => number / 1e3,
        _ => return None,
    };
    Some(millis.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use proptest::prelude::*;

    #[test]
    fn written_times_have_milliseconds() {
        assert_eq!(rfc3339_of(Millis(1_645_557_742_007)), "2022-02-22T19:22:22.007Z");
        assert_eq!(rfc3339_of(Millis(i64::MAX)), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn parses_all_notations_of_a_time() {
        let expected = Some(Millis(1_767_323_045_250));
        for value in [
            json!("2026-01-02T03:04:05.250Z"),
            json!("2026-01-02T05:04:05.250+02:00"),
            json!("2026-01-01T21:34:05.250-05:30"),
            json!("2026-01-02 03:04:05.250"),
            json!(1_767_323_045.25),
            json!(1_767_323_045_250_u64),
            json!(1_767_323_045_250_000_u64),
        ] {
            assert_eq!(millis(&value), expected, "{value}");
            assert_eq!(millis_of(&value), expected, "{value}");
        }
    }

    /// Parses the same value with [`millis_read`].
    fn millis_of(value: &Value) -> Option<Millis> {
        let text = value.to_string();
        millis_read(&BorrowedValue::parse(&text)?)
    }

    #[test]
    fn rejects_implausible_times() {
        for value in [
            json!("soon"),
            json!("äöü+02:00"),
            json!("2026-01-02T00:00:00+a€x"),
            json!("1969-12-31T23:59:59Z"),
            json!("1970-01-01T00:00:00+01:00"),
            json!(null),
            json!(-1),
            json!(1e300),
        ] {
            assert_eq!(millis(&value), None, "{value}");
            assert_eq!(millis_of(&value), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn accepts_any_text(
            text in ".{0,40}",
            zone in "[+-]?[0-9a€:]{0,6}",
            number in any::<f64>(),
        ) {
            for text in [text, format!("2026-01-02T00:00:00{zone}")] {
                let time = millis(&json!(text));
                prop_assert!(time.is_none_or(|t| (0..END_OF_TIME).contains(&t.0)), "{:?}", text);
            }
            millis(&json!(number));
        }
    }
}
