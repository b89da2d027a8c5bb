//! Endpoints: the API, the address and the name of a model.

use super::APIS;
use super::api::{Api, LimitField};
use super::plain_text::plain_line;
use super::prompt::Prompt;
use crate::json::Value;
// From core, which has addresses as values but no network.
use core::net::{IpAddr, Ipv6Addr};

/// A model at an address.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// API of the server.
    pub api: &'static Api,
    /// The model, as the server names it.
    pub model: String,
    /// Field for the output limit, if the API has two.
    pub limit_field: LimitField,
    address: Address,
}

/// An invalid address or model name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EndpointError(String);

/// A parsed address.
#[derive(Clone, PartialEq, Eq)]
struct Address {
    is_encrypted: bool,
    /// Host and port as given, in lower case.
    authority: String,
    /// Path before the API's own, with the version; empty or with a leading slash.
    prefix: String,
    /// Query with its question mark; may be empty.
    query: String,
}

impl Endpoint {
    /// Creates the endpoint of a model at a base address, with or without the version, a slash at its end, or the API's
    /// whole path. An empty address is the provider's own.
    ///
    /// # Errors
    /// Fails with one line if the address or the name is invalid.
    pub fn new(api: &'static Api, base_url: &str, model: &str) -> Result<Self, EndpointError> {
        let base_url = match base_url.trim() {
            "" => api.base_url,
            given => given,
        };
        let model = model.trim();
        if model.is_empty() || model.chars().any(char::is_control) {
            return Err(EndpointError(
                "the model is missing; give its name as the server lists it".to_owned(),
            ));
        }
        let address = Address::parse(api, base_url).map_err(EndpointError)?;
        let limit_field = if is_openai(address.host()) {
            LimitField::MaxCompletionTokens
        } else {
            LimitField::MaxTokens
        };
        Ok(Self { api, model: model.to_owned(), limit_field, address })
    }

    /// Returns the body of a request: streamed, with an explicit limit, and without `null`.
    ///
    /// Reasoning of earlier answers is left out, since servers only accept their own. Images whose bytes the session
    /// lacks are replaced by a word.
    pub fn body(&self, prompt: &Prompt) -> Value {
        (self.api.write)(&self.model, self.limit_field, prompt)
    }

    /// Returns the URL for requests.
    pub fn url(&self) -> String {
        self.url_of(self.api.path)
    }

    /// Returns the URL of another path of the API, after its version.
    pub(super) fn url_of(&self, path: &str) -> String {
        let Address { prefix, query, .. } = &self.address;
        format!("{}{prefix}{path}{query}", self.origin())
    }

    /// Returns scheme, host and port.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_encrypted() { "https" } else { "http" };
        format!("{scheme}://{}", self.address.authority)
    }

    /// Returns the host, with the port if given. It is shown to the user before data is sent.
    pub fn host(&self) -> &str {
        &self.address.authority
    }

    /// Returns the host without a port.
    pub fn host_name(&self) -> &str {
        self.address.host()
    }

    /// Returns true if the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.address.is_encrypted
    }

    /// Returns true if the server is this machine.
    pub fn is_local(&self) -> bool {
        let host = self.address.host();
        host == "localhost"
            || host.ends_with(".localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns true if it is the provider's own server, not a compatible one.
    pub fn is_providers_own(&self) -> bool {
        self.api.base_url.split("//").nth(1) == Some(self.host())
    }
}

impl std::fmt::Debug for Address {
    /// Omits the query, which may contain a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.authority, self.prefix)
    }
}

impl Address {
    fn parse(api: &Api, url: &str) -> Result<Self, String> {
        let shown = plain_line(&shown(url), 120);
        let (is_encrypted, rest) = split_scheme(url)
            .ok_or_else(|| format!("{shown}: an address must begin with https:// or http://"))?;
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
        if rest.contains(is_odd) {
            return Err(format!("{shown}: an address must not contain spaces or backslashes"));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(format!(
                "{shown}: an address must not contain a name or password; give the key separately"
            ));
        }
        if !is_authority(authority) {
            return Err(format!("{shown}: the host is missing or contains invalid characters"));
        }
        Ok(Self {
            is_encrypted,
            authority: authority.to_ascii_lowercase(),
            prefix: prefix(api, path).map_err(|error| format!("{shown}: {error}"))?,
            query: query.to_owned(),
        })
    }

    /// Returns the host without its port and brackets.
    fn host(&self) -> &str {
        if let Some(inside) = self.authority.strip_prefix('[') {
            return inside.split(']').next().unwrap_or(inside);
        }
        self.authority.split(':').next().unwrap_or_default()
    }
}

/// Returns an address for error messages: without user information and query, which may hold a key.
fn shown(url: &str) -> String {
    let url = url.split('?').next().unwrap_or(url);
    match (url.split_once("//"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}//…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        _ => url.to_owned(),
    }
}

/// Returns whether the scheme encrypts, and the rest of the address.
fn split_scheme(url: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let is_encrypted = match &*scheme.to_ascii_lowercase() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    Some((is_encrypted, rest))
}

/// Returns true for characters that all URL parsers treat alike, so that the shown host is the one contacted.
fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((inside, port)) if inside.parse::<Ipv6Addr>().is_ok() => ("v6", port),
            _ => return false,
        },
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    !host.is_empty() && host.chars().all(is_host) && is_port
}

/// Returns the path before the API's own; adds a version if the address has none.
fn prefix(api: &Api, path: &str) -> Result<String, String> {
    let path = path.trim_end_matches('/');
    if let Some(prefix) = path.strip_suffix(api.path) {
        return Ok(prefix.to_owned());
    }
    if let Some(other) = APIS.iter().find(|other| path.ends_with(other.path)) {
        return Err(format!("this is an address of {}, not of {}", other.label, api.label));
    }
    let is_version = |segment: &str| {
        let mut chars = segment.chars();
        chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
    };
    if path.split('/').any(is_version) {
        Ok(path.to_owned())
    } else {
        Ok(format!("{path}{}", api.version))
    }
}

/// Returns true for servers that require the newer field of the output limit.
fn is_openai(host: &str) -> bool {
    host == "api.openai.com" || host.ends_with(".openai.azure.com")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::{anthropic_messages, openai_chat, openai_responses};

    fn url(api: &'static Api, base: &str) -> String {
        match Endpoint::new(api, base, "m") {
            Ok(endpoint) => endpoint.url(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn all_spellings_of_an_address_lead_to_the_same_url() {
        let whole = "http://localhost:11434/v1/chat/completions";
        for base in [
            "http://localhost:11434",
            "HTTP://LocalHost:11434/",
            "http://localhost:11434/v1",
            " http://localhost:11434/v1/ ",
            "http://localhost:11434/v1/chat/completions",
            "http://localhost:11434/v1/chat/completions/#here",
        ] {
            assert_eq!(url(&openai_chat::API, base), whole, "{base}");
        }
        let pairs = [
            ("", "https://api.openai.com/v1/chat/completions"),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
            ),
            (
                "https://a.openai.azure.com/openai/deployments/b/chat/completions?api-version=1",
                "https://a.openai.azure.com/openai/deployments/b/chat/completions?api-version=1",
            ),
            ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ];
        for (base, whole) in pairs {
            assert_eq!(url(&openai_chat::API, base), whole);
        }
        assert_eq!(
            url(&anthropic_messages::API, "https://api.deepseek.com/anthropic"),
            "https://api.deepseek.com/anthropic/v1/messages"
        );
        assert_eq!(url(&openai_responses::API, ""), "https://api.openai.com/v1/responses");
    }

    #[test]
    fn misleading_addresses_are_rejected() {
        for (base, word) in [
            ("localhost:11434", "must begin with"),
            ("file:///etc/passwd", "must begin with"),
            ("https://user:secret@api.openai.com", "key separately"),
            ("https://api.openai.com:secret@evil.com/v1", "key separately"),
            ("https://good.com\\@evil.com", "backslashes"),
            ("https://good.com /v1", "spaces"),
            ("https://", "host"),
            ("https://:80", "host"),
            ("https://a:0", "host"),
            ("https://a:99999", "host"),
            ("https://[::1", "host"),
            ("https://bücher.example", "host"),
            ("https://api.anthropic.com/v1/messages", "Anthropic"),
        ] {
            let error = url(&openai_chat::API, base);
            assert!(error.contains(word) && !error.contains("secret"), "{base}: {error}");
        }
        assert!(Endpoint::new(&openai_chat::API, "", " ").is_err());
    }

    #[test]
    fn the_shown_host_is_the_one_that_is_contacted() {
        let at = |base: &str| Endpoint::new(&openai_chat::API, base, "m").unwrap();
        let own = at("");
        assert_eq!(
            (own.host(), own.is_encrypted(), own.is_local()),
            ("api.openai.com", true, false)
        );
        assert_eq!(own.limit_field, LimitField::MaxCompletionTokens);
        assert!(own.is_providers_own());
        for base in ["http://127.0.0.1:1", "http://LOCALHOST", "http://[::1]"] {
            let local = at(base);
            assert!(local.is_local() && !local.is_encrypted() && !local.is_providers_own());
            assert_eq!(local.limit_field, LimitField::MaxTokens);
        }
        assert!(!at("http://localhost.evil.com").is_local());
        let with_query = at("http://a/v1?key=hidden");
        assert_eq!(with_query.url(), "http://a/v1/chat/completions?key=hidden");
        assert!(!format!("{with_query:?}").contains("hidden"));
    }
}
