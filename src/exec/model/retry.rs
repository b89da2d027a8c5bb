//! Wait times before retries.

use super::RetryPolicy;
use reqwest::header::{HeaderMap, HeaderName};
use std::time::{Duration, SystemTime};

impl RetryPolicy {
    /// Returns the wait after this number of failed attempts, without jitter.
    pub(super) fn wait(&self, n_failed: u32) -> Duration {
        let factor = 2_u32.saturating_pow(n_failed.saturating_sub(1));
        self.first_wait.saturating_mul(factor).min(self.max_wait)
    }
}

/// Returns the wait that a server requests: `retry-after-ms`, or `Retry-After` in seconds or as a date relative to the
/// server's `Date`, if present.
pub(super) fn requested_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text(HeaderName::from_static("retry-after-ms")) {
        let millis: f64 = millis.parse().ok()?;
        return Duration::try_from_secs_f64(millis / 1e3).ok();
    }
    let wait = text(reqwest::header::RETRY_AFTER)?;
    if let Ok(seconds) = wait.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let now = text(reqwest::header::DATE).and_then(http_date).unwrap_or(now);
    // A past date requests no wait.
    Some(http_date(wait)?.duration_since(now).unwrap_or_default())
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only format that servers may write
/// (<https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>).
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let words: Vec<&str> = date.split(' ').collect();
    let &[day, month, year, time, "GMT"] = &*words else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    humantime::parse_rfc3339(&format!("{year}-{month:02}-{day}T{time}Z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use std::time::UNIX_EPOCH;

    fn wait_of(pairs: &[(&'static str, &str)]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        // 1994-11-06T08:49:37Z.
        requested_wait(&headers, UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn the_wait_doubles_up_to_the_maximum() {
        let retries = RetryPolicy {
            max_retries: 9,
            first_wait: Duration::from_secs(1),
            max_wait: Duration::from_secs(5),
        };
        let waits = [1, 2, 3, 4, 90].map(|n_failed| retries.wait(n_failed).as_secs());
        assert_eq!(waits, [1, 2, 4, 5, 5]);
    }

    #[test]
    fn a_wait_is_read_in_every_notation() {
        let seconds = |n: u64| Some(Duration::from_secs(n));
        assert_eq!(wait_of(&[("retry-after", "7")]), seconds(7));
        assert_eq!(wait_of(&[("retry-after", "1.5")]), Some(Duration::from_millis(1_500)));
        assert_eq!(
            wait_of(&[("retry-after-ms", "250"), ("retry-after", "9")]),
            Some(Duration::from_millis(250))
        );
        let date = "Sun, 06 Nov 1994 08:50:37 GMT";
        assert_eq!(wait_of(&[("retry-after", date)]), seconds(60));
        let clock = ("date", "Sun, 06 Nov 1994 08:50:30 GMT");
        assert_eq!(wait_of(&[("retry-after", date), clock]), seconds(7));
        assert_eq!(wait_of(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), seconds(0));
    }

    #[test]
    fn an_invalid_wait_is_ignored() {
        for text in
            ["soon", "-1", "NaN", "1e400", "", "Sun, 06 Nov 1994", "Sun, 99 Foo 1994 08:49:37 GMT"]
        {
            assert_eq!(wait_of(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(wait_of(&[]), None);
    }
}
