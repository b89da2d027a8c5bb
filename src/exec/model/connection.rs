//! The HTTP client and the headers of a request.

use super::{AskError, ModelClient, Proxy};
use crate::providers::KeyHeader;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Once;

/// Maximum size of a certificate file, in bytes. The bundle of all public root certificates has a quarter of it.
const MAX_CA_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of headers of a response. It is the default of the HTTP library (hyper), stated so that an update
/// cannot change it.
const MAX_HEADERS: usize = 100;

/// Creates an HTTP client with the limits, proxy and certificates of a model.
pub(super) fn connect(client: &ModelClient) -> Result<reqwest::Client, AskError> {
    static ENCRYPTION: Once = Once::new();
    ENCRYPTION.call_once(|| {
        // Fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let builder = reqwest::Client::builder()
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(client.limits.connect)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        // An idle connection may be closed by the server, which looks like a failure.
        .pool_max_idle_per_host(0)
        .http1_only()
        .http1_max_headers(MAX_HEADERS);
    let builder = with_certificates(builder, client)?;
    let builder = with_proxy(builder, client)?;
    builder.build().map_err(|error| {
        let cause = super::error::deepest(&error);
        AskError::settings(client.hide(&format!("cannot prepare a connection ({cause})")))
    })
}

fn with_certificates(
    builder: reqwest::ClientBuilder,
    client: &ModelClient,
) -> Result<reqwest::ClientBuilder, AskError> {
    let extra = match &client.ca_file {
        Some(path) => read_certificates(path).map_err(AskError::settings)?,
        None => Vec::new(),
    };
    // An unencrypted connection must work on a machine without root certificates, so none are loaded.
    Ok(if is_never_encrypted(client) {
        builder.tls_certs_only(extra)
    } else {
        builder.tls_certs_merge(extra)
    })
}

fn is_never_encrypted(client: &ModelClient) -> bool {
    !client.endpoint.is_encrypted()
        && match &client.proxy {
            Proxy::Direct => true,
            Proxy::System => client.endpoint.is_local(),
            Proxy::At(proxy) => !proxy.trim_start().to_ascii_lowercase().starts_with("https"),
        }
}

fn read_certificates(path: &Path) -> Result<Vec<reqwest::Certificate>, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| format!("cannot read {shown} ({error})");
    let metadata = fs::metadata(path).map_err(unreadable)?;
    let invalid =
        || format!("{shown} contains no certificates; give a PEM file (BEGIN CERTIFICATE)");
    if !metadata.is_file() || metadata.len() > MAX_CA_FILE_BYTES {
        return Err(invalid());
    }
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut pem = Vec::new();
    file.take(MAX_CA_FILE_BYTES).read_to_end(&mut pem).map_err(unreadable)?;
    match reqwest::Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(invalid()),
    }
}

fn with_proxy(
    builder: reqwest::ClientBuilder,
    client: &ModelClient,
) -> Result<reqwest::ClientBuilder, AskError> {
    match &client.proxy {
        Proxy::System if !client.endpoint.is_local() => Ok(builder),
        Proxy::System | Proxy::Direct => Ok(builder.no_proxy()),
        Proxy::At(address) => {
            // The error of reqwest may quote a password.
            let invalid = || {
                let message = "the proxy's address is invalid; give http://HOST:PORT, https://… or socks5h://…";
                AskError::settings(message)
            };
            let address = address.trim();
            let is_supported = ["http://", "https://", "socks4://", "socks5://", "socks5h://"]
                .iter()
                .any(|scheme| address.to_ascii_lowercase().starts_with(scheme));
            if !is_supported {
                return Err(invalid());
            }
            let proxy = reqwest::Proxy::all(address).map_err(|_quoting| invalid())?;
            Ok(builder.proxy(proxy))
        }
    }
}

/// Returns the headers of a request. The key is marked as sensitive, so that it is not logged.
pub(super) fn headers(client: &ModelClient) -> Result<HeaderMap, AskError> {
    let api = client.endpoint.api;
    let mut headers = HeaderMap::new();
    for (name, value) in api.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(
        reqwest::header::ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    if let Some(key) = client.secret() {
        let KeyHeader { name, prefix } = api.key_header;
        // The error may quote the key.
        let mut value = HeaderValue::try_from(format!("{prefix}{key}"))
            .map_err(|_quoting| AskError::settings(super::KeyError::Unsendable.to_string()))?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}
