//! Connection settings as entered: timeouts, attempts, proxy and certificates; and the temperature.

use crate::app::state::model_form::typed::{Secret, typed, typed_path};
use crate::exec::model::{ModelClient, Proxy};
use std::time::Duration;

/// Connection settings; an empty field means the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionDraft {
    /// Time limit for a complete answer: seconds, or a time with a unit such as `5 min`.
    pub total: String,
    /// Time limit for the start of an answer, in the same format.
    pub first_byte: String,
    /// Maximum number of attempts per request.
    pub attempts: String,
    /// Sampling temperature, 0 to 2.
    pub temperature: String,
    /// Proxy, or `none`; the system's if empty. May contain a password.
    pub proxy: Secret,
    /// Certificates (PEM) to trust in addition to the system's.
    pub ca_file: String,
}

const MAX_ATTEMPTS: u32 = 100;
const MAX_TIME_LIMIT: Duration = Duration::from_hours(24 * 7);

impl ConnectionDraft {
    /// Returns whether any setting is changed.
    pub fn is_changed(&self) -> bool {
        *self != Self::default()
    }

    /// Returns a one-line error for invalid settings. Never quotes the proxy, which may contain a password.
    pub fn problem(&self) -> Option<String> {
        let checks = [
            time_limit("total", &self.total).err(),
            time_limit("first byte", &self.first_byte).err(),
            self.attempts().err(),
            self.temperature().err(),
        ];
        checks.into_iter().flatten().next()
    }

    /// Applies the settings of the connection to a client.
    ///
    /// # Errors
    ///
    /// Returns a one-line message that names the invalid setting.
    pub fn applied(&self, mut client: ModelClient) -> Result<ModelClient, String> {
        if let Some(limit) = time_limit("total", &self.total)? {
            client.limits.total = limit;
        }
        if let Some(limit) = time_limit("first byte", &self.first_byte)? {
            client.limits.first_byte = limit;
        }
        if let Some(attempts) = self.attempts()? {
            client.retries.max_retries = attempts - 1;
        }
        client.proxy = match typed(&self.proxy) {
            None => Proxy::System,
            Some("none") => Proxy::Direct,
            Some(address) => Proxy::At(address.to_owned()),
        };
        client.ca_file = typed_path(&self.ca_file);
        Ok(client)
    }

    /// Returns the sampling temperature.
    ///
    /// # Errors
    ///
    /// Returns a one-line message if it is not a number from 0 to 2.
    pub fn temperature(&self) -> Result<Option<f64>, String> {
        let text = self.temperature.trim();
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(n) if (0.0..=2.0).contains(&n) => Ok(Some(n)),
            _ => Err(format!("temperature {text:?}: enter a number from 0 to 2")),
        }
    }

    fn attempts(&self) -> Result<Option<u32>, String> {
        let text = self.attempts.trim();
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse() {
            Ok(n) if (1..=MAX_ATTEMPTS).contains(&n) => Ok(Some(n)),
            _ => Err(format!("attempts {text:?}: enter a whole number from 1 to {MAX_ATTEMPTS}")),
        }
    }
}

/// Parses seconds, or a number with a unit.
fn time_limit(name: &str, text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = text.parse::<f64>().ok();
    let parsed = seconds.map_or_else(
        || humantime::parse_duration(text).ok(),
        |seconds| Duration::try_from_secs_f64(seconds).ok(),
    );
    match parsed {
        Some(limit) if limit > Duration::ZERO && limit <= MAX_TIME_LIMIT => Ok(Some(limit)),
        _ => Err(format!("{name} time limit {text:?}: enter seconds or a time such as 5 min")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::{APIS, Endpoint};

    fn client() -> ModelClient {
        let endpoint = Endpoint::new(APIS[0], "http://127.0.0.1:1", "m").unwrap();
        ModelClient::new(endpoint, None)
    }

    #[test]
    fn typed_values_reach_the_client_and_others_keep_their_defaults() {
        let plain = ConnectionDraft::default().applied(client()).unwrap();
        assert_eq!((plain.limits, plain.retries), (client().limits, client().retries));
        let draft = ConnectionDraft {
            total: "90".to_owned(),
            first_byte: "5 min".to_owned(),
            attempts: "2".to_owned(),
            temperature: "0.5".to_owned(),
            proxy: Secret(" none ".to_owned()),
            ca_file: "ca.pem".to_owned(),
        };
        let set = draft.applied(client()).unwrap();
        assert_eq!(set.limits.total, Duration::from_secs(90));
        assert_eq!(set.limits.first_byte, Duration::from_mins(5));
        assert_eq!(set.retries.max_retries, 1);
        assert!(set.proxy == Proxy::Direct);
        assert_eq!(set.ca_file.as_deref(), Some(std::path::Path::new("ca.pem")));
        assert_eq!(draft.temperature(), Ok(Some(0.5)));
        assert!(draft.is_changed() && draft.problem().is_none());
    }

    #[test]
    fn invalid_values_are_named_except_proxies() {
        let wrong = |change: fn(&mut ConnectionDraft)| {
            let mut draft = ConnectionDraft {
                proxy: Secret("http://me:secret@proxy".to_owned()),
                ..ConnectionDraft::default()
            };
            change(&mut draft);
            assert!(!format!("{draft:?}").contains("secret"));
            draft.problem().unwrap_or_default()
        };
        for text in ["soon", "-1", "0", "nan", "1e30", "5 parsecs"] {
            let draft = ConnectionDraft { total: text.to_owned(), ..ConnectionDraft::default() };
            assert!(draft.problem().unwrap_or_default().contains("5 min"), "{text}");
        }
        assert!(wrong(|d| d.first_byte = "x".to_owned()).contains("first byte"));
        assert!(wrong(|d| d.attempts = "0".to_owned()).contains("from 1"));
        assert!(wrong(|d| d.temperature = "3".to_owned()).contains("0 to 2"));
        assert_eq!(wrong(|_| {}), "");
    }
}
