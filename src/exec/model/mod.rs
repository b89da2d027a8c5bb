//! Talks to a model over HTTP: one request at a time, with limits on everything, stopped within a moment.
//!
//! What is sent and how answers read is [`crate::providers`]; this is connections, time, keys and trying again. Whoever
//! calls waits, and watches the clock and the wish to stop while another thread keeps the connection. Nothing is
//! sent but what was asked for: no cookies, no referer, no redirects followed.

mod ask;
mod clock;
mod connection;
mod error;
mod key;
mod limits;
mod retry;
mod window;

pub use ask::{News, ask};
pub use error::{AskError, AskErrorKind};
pub use key::{Key, KeyError};
pub use limits::{Limits, Retries};
pub use window::context_length;

use crate::providers::{Endpoint, LimitField};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A model and how to reach it.
#[derive(Clone, Debug)]
pub struct ModelClient {
    /// Which model, where.
    pub endpoint: Endpoint,
    /// The key; local servers often want none.
    pub key: Option<Key>,
    /// How long to wait for what, and how much to take.
    pub limits: Limits,
    /// How often to try again.
    pub retries: Retries,
    /// The way there.
    pub proxy: Proxy,
    /// Certificates (PEM) to trust beside the system's own, as companies' proxies need.
    pub ca_file: Option<PathBuf>,
    /// The field of the output limit that the server turned out to want.
    learned: OnceLock<LimitField>,
}

/// Which proxy is used.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The environment's (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) or the desktop's, except to this machine.
    #[default]
    System,
    /// This one, for every host: `http://`, `https://` or `socks5h://`, with name and password if it wants them.
    At(String),
    /// None.
    Direct,
}

impl std::fmt::Debug for Proxy {
    /// A proxy's address may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::At(_) => "At(…)",
            Self::Direct => "Direct",
        })
    }
}

impl ModelClient {
    /// With everything else as it is by default.
    pub fn new(endpoint: Endpoint, key: Option<Key>) -> Self {
        Self {
            endpoint,
            key,
            limits: Limits::default(),
            retries: Retries::default(),
            proxy: Proxy::default(),
            ca_file: None,
            learned: OnceLock::new(),
        }
    }

    /// The endpoint with what was learned about it.
    fn endpoint(&self) -> Endpoint {
        let mut endpoint = self.endpoint.clone();
        if let Some(learned) = self.learned.get() {
            endpoint.limit_field = *learned;
        }
        endpoint
    }

    /// What must never be shown: the key, and the password of a proxy.
    fn hide(&self, text: &str) -> String {
        let text = crate::providers::hide(text, self.secret());
        let Proxy::At(proxy) = &self.proxy else {
            return text;
        };
        let account = proxy.rsplit_once('@').map(|(before, _)| before);
        let password = account.and_then(|account| account.rsplit_once(':'));
        crate::providers::hide(&text, password.map(|(_, password)| password))
    }

    /// What a model said, without the key: servers under test echo what they were sent.
    fn hide_key(&self, said: &str) -> String {
        let key = self.secret().filter(|key| !is_placeholder(key));
        crate::providers::hide(said, key)
    }

    fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(Key::reveal)
    }
}

/// Whether a key is one of the plain words that servers without keys are given, which an answer may hold by itself.
fn is_placeholder(key: &str) -> bool {
    key.len() < 16
        && key
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || b"-_".contains(&b))
}
