//! Requests: fields, headers, proxies.

use super::*;
use crate::server::read_request;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.iter().any(has_null),
        Value::Object(all) => all.values().any(has_null),
        _ => false,
    }
}

#[test]
fn a_request_has_the_limit_and_the_key_where_its_api_requires_them() {
    let cases = [
        ("openai", "/v1/chat/completions", "max_tokens", "authorization"),
        ("openai-responses", "/v1/responses", "max_output_tokens", "authorization"),
        ("anthropic", "/v1/messages", "max_tokens", "x-api-key"),
    ];
    for ((api, path, limit, header), (_, stream)) in cases.into_iter().zip(STREAMS) {
        let server = Server::with_answer(answer("200 OK", "", stream));
        assert_eq!(ask_at(api, &server).map(gist), Ok(greeting()));
        let seen = &server.received()[0];
        assert_eq!(seen.line, format!("POST {path} HTTP/1.1"));
        let body = seen.json();
        assert_eq!(
            (&body[limit], &body["model"], &body["stream"]),
            (&json!(100), &json!("m"), &json!(true))
        );
        assert!(!has_null(&body), "{body}");
        let with_key: Vec<_> =
            seen.headers.iter().filter(|(_, value)| value.contains(KEY)).collect();
        let value =
            if header == "authorization" { format!("Bearer {KEY}") } else { KEY.to_owned() };
        assert_eq!(with_key, [&(header.to_owned(), value)]);
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert_eq!(seen.header("anthropic-version").is_some(), api == "anthropic");
        assert_eq!(
            (seen.header("accept-encoding"), seen.header("referer"), seen.header("cookie")),
            (None, None, None)
        );
        assert!(!String::from_utf8_lossy(&seen.body).contains(KEY));
    }
}

#[test]
fn without_a_key_there_is_no_key_header() {
    let server = Server::with_answer(answer("200 OK", "", CHAT));
    let mut client = client("openai", &server.url());
    client.key = None;
    ask(&client, &prompt(), &Progress::default(), &mut |_| {}).unwrap();
    assert_eq!(server.received()[0].header("authorization"), None);
}

#[test]
fn a_server_that_requires_the_other_limit_field_gets_it_from_then_on() {
    let server = Server::new(|seen, client| {
        let error = json!({"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}});
        client.send(&if seen.json().get("max_tokens").is_some() {
            answer("400 Bad Request", "", &error.to_string())
        } else {
            answer("200 OK", "", CHAT)
        });
    });
    let client = client("openai", &server.url());
    for _ in 0..2 {
        let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
        assert_eq!(answer.map(gist), Ok(greeting()));
    }
    let fields: Vec<bool> = server
        .received()
        .iter()
        .map(|seen| seen.json().get("max_completion_tokens").is_some())
        .collect();
    assert_eq!(fields, [false, true, true]);
}

#[test]
fn a_server_that_rejects_both_limit_fields_gets_two_requests() {
    let error = r#"{"error":{"message":"unknown: max_completion_tokens, max_tokens"}}"#;
    let n = assert_answer_fails(
        answer("400 Bad Request", "", error),
        AskErrorKind::Refused,
        &["HTTP 400"],
    );
    assert_eq!(n, 2);
}

#[test]
fn a_configured_proxy_is_used() {
    let proxy = Server::with_answer(answer("200 OK", "", CHAT));
    let mut client = client("openai", "http://model.invalid:8000/v1");
    client.proxy = Proxy::At(format!("http://me:pass%20word@{}", proxy.address));
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
    assert_eq!(answer.map(gist), Ok(greeting()));
    let seen = &proxy.received()[0];
    assert_eq!(seen.line, "POST http://model.invalid:8000/v1/chat/completions HTTP/1.1");
    // "me:pass word".
    assert_eq!(seen.header("proxy-authorization"), Some("Basic bWU6cGFzcyB3b3Jk"));
}

#[test]
fn encrypted_requests_use_a_tunnel_so_that_the_proxy_never_sees_the_key() {
    let proxy = Server::with_answer(answer("403 Forbidden", "", ""));
    let mut client = client("openai", "https://model.invalid/v1");
    client.proxy = Proxy::At(format!("http://{}", proxy.address));
    client.ca_file = Some(tls::authority());
    assert_fails(&client, AskErrorKind::Unreachable, &["cannot reach model.invalid", "proxy"]);
    let seen = proxy.received();
    assert_eq!(seen[0].line, "CONNECT model.invalid:443 HTTP/1.1");
    assert!(seen.iter().all(|seen| seen.headers.iter().all(|(_, value)| !value.contains(KEY))));
}

#[test]
fn a_socks_proxy_resolves_the_host() {
    let server = Server::over(|_, mut stream, all| {
        let take = |stream: &mut TcpStream, n: u8| {
            let mut bytes = vec![0; usize::from(n)];
            stream.read_exact(&mut bytes).expect("the client speaks SOCKS");
            bytes
        };
        let methods = take(&mut stream, 2)[1];
        take(&mut stream, methods);
        let _ = stream.write_all(&[5, 0]);
        let length = take(&mut stream, 5)[4];
        let host = take(&mut stream, length + 2);
        let _ = stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        let mut request = read_request(&stream).expect("a request follows");
        request
            .headers
            .push(("socks-host".to_owned(), String::from_utf8_lossy(&host).into_owned()));
        all.lock().expect("nobody panics with it").push(request);
        let _ = stream.write_all(&answer("200 OK", "", CHAT));
    });
    let mut client = client("openai", "http://model.invalid:80/v1");
    client.proxy = Proxy::At(format!("socks5h://{}", server.address));
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
    assert_eq!(answer.map(gist), Ok(greeting()));
    assert_eq!(server.received()[0].header("socks-host"), Some("model.invalid\0P"));
}

#[test]
fn a_proxy_that_requires_a_password_is_reported_and_an_invalid_address_is_not_quoted() {
    let proxy = Server::with_answer(answer("407 Proxy Authentication Required", "", ""));
    let mut client = client("openai", "http://model.invalid/v1");
    client.proxy = Proxy::At(format!("http://{}", proxy.address));
    assert_fails(&client, AskErrorKind::Refused, &["proxy requires a name and a password"]);
    for address in ["me:hidden@proxy", "ftp://me:hidden@proxy", "http://me:hidden@[", ""] {
        client.proxy = Proxy::At(address.to_owned());
        let error = fail(&client);
        assert_eq!(error.kind, AskErrorKind::Settings);
        assert!(!format!("{error} {client:?}").contains("hidden"), "{error}");
    }
}

/// Runs an ignored test of this file in a process with other environment variables. Returns true if it passed.
fn run_with(test: &str, variables: &[(&str, &str)]) -> bool {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--test-threads=1"]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("running 1 test"), "{told}");
    output.status.success()
}

#[test]
fn the_environments_proxy_is_used_unless_the_settings_or_the_address_exclude_it() {
    let proxy = Server::with_answer(answer("200 OK", "", CHAT));
    let at = proxy.url();
    let test = "requests::sends_through_the_environments_proxy";
    assert!(run_with(test, &[("HTTP_PROXY", &at), ("PLIMSOLL_TEST_PATH", "system")]));
    assert_eq!(proxy.received().len(), 1);
    assert!(run_with(test, &[("http_proxy", &at), ("PLIMSOLL_TEST_PATH", "direct")]));
    assert!(run_with(test, &[("ALL_PROXY", &at), ("PLIMSOLL_TEST_PATH", "local")]));
    assert_eq!(proxy.received().len(), 1, "neither went through the proxy");
}

#[test]
#[ignore = "run by another test, with variables set"]
fn sends_through_the_environments_proxy() {
    let ask_it = |client: &ModelClient| ask(client, &prompt(), &Progress::default(), &mut |_| {});
    let mut remote = client("openai", "http://model.invalid/v1");
    match std::env::var("PLIMSOLL_TEST_PATH").as_deref() {
        Ok("system") => assert_eq!(ask_it(&remote).map(gist), Ok(greeting())),
        Ok("direct") => {
            remote.proxy = Proxy::Direct;
            // Some machines take long to find that a host does not exist.
            let kind = ask_it(&remote).unwrap_err().kind;
            assert!(matches!(kind, AskErrorKind::Unreachable | AskErrorKind::TimedOut), "{kind:?}");
        }
        _ => {
            let server = Server::with_answer(answer("200 OK", "", CHAT));
            assert_eq!(ask_at("openai", &server).map(gist), Ok(greeting()));
            assert_eq!(server.received().len(), 1);
        }
    }
}

#[test]
fn the_window_is_found_at_the_servers_url() {
    let server = Server::new(|seen, client| {
        client.send(&match &*seen.line {
            "GET /v1/models HTTP/1.1" => answer("200 OK", "", r#"{"data":[{"id":"m"}]}"#),
            "GET /props HTTP/1.1" => answer("200 OK", "", "<html>no"),
            "POST /api/show HTTP/1.1" => {
                answer("200 OK", "", r#"{"model_info":{"llama.context_length":4096}}"#)
            }
            _ => answer("404 Not Found", "", "{}"),
        });
    });
    let found = context_length(&client("openai", &server.url()), &Progress::default());
    assert_eq!(found, Ok(Some(4096)));
    assert_eq!(server.received().last().unwrap().json(), json!({"model": "m"}));
    let silent = Server::with_answer(answer("404 Not Found", "", ""));
    assert_eq!(context_length(&client("anthropic", &silent.url()), &Progress::default()), Ok(None));
    assert_eq!(silent.received()[0].header("x-api-key"), Some(KEY));
    let closed = Server::with_answer(answer("401 Unauthorized", "", KEY));
    let error = context_length(&client("openai", &closed.url()), &Progress::default()).unwrap_err();
    assert!(error.kind == AskErrorKind::Refused && !error.to_string().contains(KEY), "{error}");
}
