//! Sends requests to models over HTTP: one at a time, with limits, and cancelled at once on request.
//!
//! [`crate::providers`] defines requests and answers. This module handles connections, time, keys and retries. The
//! calling thread watches limits and cancellation while another thread runs the connection. There are no cookies, no
//! referer and no redirects.

mod ask;
mod clock;
mod connection;
mod error;
mod key;
mod limits;
mod retry;
mod window;

pub use ask::{AskEvent, ask};
pub use error::{AskError, AskErrorKind, FailureScope};
pub use key::{Key, KeyError};
pub use limits::{RequestLimits, RetryPolicy};
pub use window::context_length;

use crate::providers::{Endpoint, LimitField};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A model with its connection settings.
#[derive(Clone, Debug)]
pub struct ModelClient {
    /// Model and address.
    pub endpoint: Endpoint,
    /// The key. Local servers often need none.
    pub key: Option<Key>,
    /// Limits of time and size.
    pub limits: RequestLimits,
    /// Retry policy.
    pub retries: RetryPolicy,
    /// Proxy.
    pub proxy: Proxy,
    /// File of further trusted certificates (PEM), as companies' proxies require.
    pub ca_file: Option<PathBuf>,
    /// The field for the output limit that the server turned out to require.
    learned: OnceLock<LimitField>,
}

/// The proxy of a connection.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The proxy of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) or of the desktop, except
    /// for servers on this machine.
    #[default]
    System,
    /// This proxy for every host: `http://`, `https://` or `socks5h://`, with name and password if required.
    At(String),
    /// No proxy.
    Direct,
}

impl std::fmt::Debug for Proxy {
    /// Omits the address, which may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::At(_) => "At(…)",
            Self::Direct => "Direct",
        })
    }
}

impl ModelClient {
    /// Creates a client with default settings.
    pub fn new(endpoint: Endpoint, key: Option<Key>) -> Self {
        Self {
            endpoint,
            key,
            limits: RequestLimits::default(),
            retries: RetryPolicy::default(),
            proxy: Proxy::default(),
            ca_file: None,
            learned: OnceLock::new(),
        }
    }

    /// Returns the endpoint with the field that the server requires.
    fn endpoint(&self) -> Endpoint {
        let mut endpoint = self.endpoint.clone();
        if let Some(learned) = self.learned.get() {
            endpoint.limit_field = *learned;
        }
        endpoint
    }

    /// Removes the key and the password of a proxy from a text.
    fn hide(&self, text: &str) -> String {
        let text = crate::providers::hide(text, self.secret());
        let Proxy::At(proxy) = &self.proxy else {
            return text;
        };
        let account = proxy.rsplit_once('@').map(|(before, _)| before);
        let password = account.and_then(|account| account.rsplit_once(':'));
        crate::providers::hide(&text, password.map(|(_, password)| password))
    }

    /// Removes the key from the text of an answer, since a server may echo the request.
    fn hide_key(&self, text: &str) -> String {
        let key = self.secret().filter(|key| !is_placeholder(key));
        crate::providers::hide(text, key)
    }

    fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(Key::reveal)
    }
}

/// Returns true for a plain word as used for servers without keys (`ollama`), which an answer may contain by chance.
/// Keys of providers are longer or contain digits.
fn is_placeholder(key: &str) -> bool {
    key.len() < 16 && key.bytes().all(|b| b.is_ascii_alphabetic() || b"-_".contains(&b))
}
