//! Encrypted servers with a certificate of a company's own authority.
//!
//! The certificates in this folder are only valid for `localhost`; the key of the authority does not exist any more.

use super::*;
use crate::server::{Received, read_request};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/providers/certificates").join(name)
}

/// Returns the certificate of the authority that signed the server's certificate.
pub(super) fn authority() -> PathBuf {
    file("authority.pem")
}

/// Starts a server that answers one request if the client trusts it. Returns the port.
fn encrypted_server() -> u16 {
    server_with("server")
}

/// Starts a server with one of the certificates. Returns the port.
fn server_with(name: &str) -> u16 {
    answering(name, |_| answer("200 OK", "", CHAT))
}

/// Starts a server with one of the certificates that answers one request of each connection. Returns the port.
pub(crate) fn answering(name: &str, answer: impl Fn(&Received) -> Vec<u8> + Send + 'static) -> u16 {
    let certificate = CertificateDer::from_pem_file(file(&format!("{name}.pem"))).unwrap();
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            if let Some(request) = read_request(&mut stream) {
                let _ = stream.write_all(&answer(&request));
                let _ = stream.flush();
            }
        }
    };
    let thread = std::thread::Builder::new().name("server".to_owned());
    thread.spawn(serve).unwrap();
    port
}

#[test]
fn a_companys_certificate_is_only_trusted_with_the_file_of_its_authority() {
    let mut client = client("openai", &format!("https://localhost:{}", encrypted_server()));
    client.ca_file = Some(authority());
    client.limits.connect = millis(3_000);
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
    assert_eq!(answer.map(gist), Ok(greeting()));
    // The certificate is valid, but for another name.
    client.endpoint = Endpoint::new(
        client.endpoint.api,
        &format!("https://127.0.0.1:{}", encrypted_server()),
        "m",
    )
    .unwrap();
    assert_fails(&client, AskErrorKind::Unreachable, &["certificate", "CA file"]);
}

#[test]
fn a_file_without_certificates_is_rejected_before_anything_is_sent() {
    let mut client = client("openai", "https://localhost:1");
    for (name, words) in
        [("server.key", "no certificates"), ("none.pem", "cannot read"), ("", "no certificates")]
    {
        client.ca_file = Some(file(name));
        assert_fails(&client, AskErrorKind::Settings, &[words]);
    }
}

#[test]
fn a_self_signed_certificate_is_trusted_or_the_error_explains_how_to_create_one_that_is() {
    let with = |name: &str, host: &str| {
        let url = format!("https://{host}:{}", server_with(name));
        let mut client = client("openai", &url);
        client.ca_file = Some(file(&format!("{name}.pem")));
        client
    };
    let leaf = with("self-signed-leaf", "localhost");
    let answer = ask(&leaf, &prompt(), &Progress::default(), &mut |_| {});
    assert_eq!(answer.map(gist), Ok(greeting()));
    for (name, host, words) in [
        ("self-signed-plain", "localhost", ["CA:TRUE", "subjectAltName=DNS:localhost"]),
        (
            "self-signed-leaf",
            "127.0.0.1",
            ["does not name this host", "subjectAltName=IP:127.0.0.1"],
        ),
    ] {
        let more = ["basicConstraints=critical,CA:FALSE", "CA file"];
        let words = [&words[..], &more].concat();
        assert_fails(&with(name, host), AskErrorKind::Unreachable, &words);
    }
}
