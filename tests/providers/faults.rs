//! Faults between a request and its answer: their errors, and how soon they are reported.

use super::*;
use crate::fault_answers::{
    BROKEN_HEADS, BUSY, LONG_WAITS, OVERLOADED_EVENT, REDIRECTS, endless_bodies, error_json, event,
    incomplete, large_heads, not_answers, rejected_keys, stalls, too_long,
};

#[test]
fn a_rejected_key_is_reported_and_not_quoted() {
    for rejected in rejected_keys(KEY) {
        let n = assert_answer_fails(
            rejected,
            AskErrorKind::Refused,
            &["does not accept the key", "check that it is set"],
        );
        assert_eq!(n, 1, "it is not tried again");
    }
}

#[test]
fn an_unknown_model_and_a_bad_request_are_reported_at_once() {
    let unknown = answer("404 Not Found", "", &error_json("model 'm' not found"));
    assert_eq!(
        assert_answer_fails(
            unknown,
            AskErrorKind::Refused,
            &["does not know m", "model 'm' not found", "base URL"]
        ),
        1
    );
    let wrong = answer("400 Bad Request", "", &error_json("temperature?\u{1b}[31m"));
    assert_eq!(
        assert_answer_fails(wrong, AskErrorKind::Refused, &["HTTP 400: temperature?[31m"]),
        1
    );
    let no_credit =
        json!({"error": {"code": "insufficient_quota", "message": "quota"}}).to_string();
    let no_credit = answer("429 Too Many Requests", "", &no_credit);
    assert_eq!(assert_answer_fails(no_credit, AskErrorKind::Refused, &["no credit"]), 1);
}

#[test]
fn a_prompt_that_overflows_the_window_is_distinguished() {
    for rejected in too_long() {
        let n = assert_answer_fails(
            rejected,
            AskErrorKind::ContextTooLong,
            &["overflows", "send less"],
        );
        assert_eq!(n, 1);
    }
}

#[test]
fn a_wait_requested_by_the_server_is_kept_in_seconds_and_to_a_date() {
    let date =
        "date: Sun, 06 Nov 1994 08:49:36 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    check_each(["retry-after: 1\r\n", date], |headers| {
        let busy = answer("429 Too Many Requests", headers, &error_json("slow down"));
        let server = Server::with_answers(vec![busy, answer("200 OK", "", CHAT)]);
        let (begun, mut waits) = (Instant::now(), Vec::new());
        let client = client("openai", &server.url());
        let answer = ask(&client, &prompt(), &Progress::default(), &mut |news| {
            if let AskEvent::Waits { wait, because } = news {
                waits.push((wait, because.kind));
            }
        });
        assert_eq!(answer.map(gist), Ok(greeting()));
        assert_eq!(waits, [(millis(1_000), AskErrorKind::Unavailable)]);
        assert!((millis(1_000)..millis(2_500)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    });
}

#[test]
fn a_wait_beyond_the_limit_is_reported_instead() {
    let begun = Instant::now();
    for headers in LONG_WAITS {
        let busy = answer("429 Too Many Requests", headers, "");
        let n = assert_answer_fails(
            busy,
            AskErrorKind::Unavailable,
            &["accepts no more requests", "requests a wait of"],
        );
        assert_eq!(n, 1);
    }
    assert!(begun.elapsed() < millis(2_000));
}

#[test]
fn a_failing_server_gets_a_retry_and_then_answers() {
    let failed = answer("500 Internal Server Error", "", "oops");
    let server = Server::with_answers(vec![failed.clone(), failed, answer("200 OK", "", CHAT)]);
    let mut attempts = Vec::new();
    let client = client("openai", &server.url());
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |news| match news {
        AskEvent::Sent { attempt, .. } => attempts.push(format!("sent {attempt}")),
        AskEvent::Waits { wait, .. } => attempts.push(format!("waits {}", wait.as_millis())),
        AskEvent::Text(_) => {}
    });
    assert_eq!(answer.map(gist), Ok(greeting()));
    assert_eq!(attempts, ["sent 1", "waits 20", "sent 2", "waits 40", "sent 3"]);
    let bodies: Vec<_> = server.received().into_iter().map(|seen| seen.body).collect();
    assert!(bodies.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn retries_end_if_the_server_stays_busy() {
    for (status, words) in BUSY {
        let n = assert_answer_fails(
            answer(status, "", ""),
            AskErrorKind::Unavailable,
            &[words, "try again later"],
        );
        assert_eq!(n, 3, "{status}");
    }
}

#[test]
fn a_server_that_never_starts_or_stalls_times_out() {
    check_each(stalls(), |(start, words)| {
        let server = Server::new(move |_, client| {
            client.send(start.as_bytes());
            client.stall();
        });
        let begun = Instant::now();
        let mut client = client("openai", &server.url());
        (client.limits.first_byte, client.limits.idle) = (millis(400), millis(400));
        assert_fails(&client, AskErrorKind::TimedOut, &[words, "within 400ms", "raise the limit"]);
        assert!(
            (millis(400)..millis(1_500)).contains(&begun.elapsed()),
            "{words}: {:?}",
            begun.elapsed()
        );
        assert!(server.wait_for_end().is_some(), "the connection is closed");
        assert_eq!(server.received().len(), 1);
    });
}

#[test]
fn a_server_that_sends_slowly_forever_exceeds_the_total_time() {
    let server = Server::new(|_, client| {
        client.send(STREAM_HEAD.as_bytes());
        for _ in 0..200 {
            client.send(b": still here\n\n");
            std::thread::sleep(millis(20));
        }
    });
    let mut client = client("openai", &server.url());
    client.limits.total = millis(600);
    let begun = Instant::now();
    assert_fails(&client, AskErrorKind::TimedOut, &["no whole answer within 600ms"]);
    assert!(begun.elapsed() < millis(2_000), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_only_sends_informational_responses_times_out() {
    let goes_on = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(50);
    let server = Server::new(move |_, client| client.send_forever(&goes_on));
    let mut client = client("openai", &server.url());
    client.limits.first_byte = millis(400);
    let begun = Instant::now();
    assert_fails(&client, AskErrorKind::TimedOut, &["no answer began within 400ms"]);
    // The reader of HTTP may be busy for longer, but is not waited for.
    assert!(begun.elapsed() < millis(2_000), "{:?}", begun.elapsed());
}

#[test]
fn an_error_page_that_stalls_is_reported_without_its_end() {
    let server = Server::new(|_, client| {
        client.send(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 999\r\n\r\n{\"error\"");
        client.stall();
    });
    let mut client = client("openai", &server.url());
    client.limits.idle = millis(400);
    let begun = Instant::now();
    assert_fails(&client, AskErrorKind::Refused, &["HTTP 401"]);
    assert!(begun.elapsed() < millis(2_000));
}

#[test]
fn an_incomplete_answer_is_an_error_without_retry() {
    for (api, stream) in STREAMS {
        let half = stream.find("Grüße").unwrap() + "Grüße, 世界 🦀\"}}]}\n\n".len();
        let half = &stream.as_bytes()[..half];
        for bytes in incomplete(half) {
            let server = Server::with_answer(bytes);
            assert_fails(
                &client(api, &server.url()),
                AskErrorKind::BadAnswer,
                &["was interrupted before its end", "discarded"],
            );
            assert_eq!(server.received().len(), 1, "{api}");
        }
    }
}

#[test]
fn a_connection_that_breaks_before_the_answer_is_retried() {
    for start in BROKEN_HEADS {
        let server = Server::new(move |seen, client| match seen.n {
            0 => client.send(start.as_bytes()),
            _ => client.send(&answer("200 OK", "", CHAT)),
        });
        assert_eq!(ask_at("openai", &server).map(gist), Ok(greeting()), "after {start:?}");
        assert_eq!(server.received().len(), 2);
    }
    let server = Server::resetting("");
    assert_fails(
        &client("openai", &server.url()),
        AskErrorKind::Unreachable,
        &["the connection to 127.0.0.1:", "broke (Connection reset"],
    );
    assert_eq!(server.received().len(), 3);
    let server = Server::resetting(format!("{STREAM_HEAD}{}", event("half")));
    assert_fails(
        &client("openai", &server.url()),
        AskErrorKind::BadAnswer,
        &["was interrupted before its end"],
    );
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_refused_connection_is_reported_at_once() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let begun = Instant::now();
    let words = ["cannot reach 127.0.0.1:", "refused", "check that the server runs"];
    assert_fails(
        &client("openai", &format!("http://{address}")),
        AskErrorKind::Unreachable,
        &words,
    );
    assert!(begun.elapsed() < millis(2_000));
}

#[test]
fn a_response_that_is_not_an_answer_is_described() {
    for (bytes, words) in not_answers() {
        let n = assert_answer_fails(bytes, AskErrorKind::BadAnswer, &[words]);
        assert_eq!(n, 1, "{words}");
    }
}

#[test]
fn an_endless_answer_is_stopped_and_its_connection_closed() {
    for body in endless_bodies() {
        let server = Server::new(move |_, client| {
            client.send(STREAM_HEAD.as_bytes());
            client.send_forever(&body);
        });
        let begun = Instant::now();
        assert_fails(
            &client("openai", &server.url()),
            AskErrorKind::BadAnswer,
            &["exceeds its limit of 100 tokens by far"],
        );
        assert!(begun.elapsed() < millis(2_000), "{:?}", begun.elapsed());
        assert!(server.wait_for_end().is_some());
    }
}

#[test]
fn a_redirect_is_rejected_and_the_key_is_not_sent() {
    let other = Server::with_answer(answer("200 OK", "", CHAT));
    for status in REDIRECTS {
        let to = format!("location: {}/v1/chat/completions?key={KEY}\r\n", other.url());
        let words = ["redirects to", &other.url(), "use it as the base URL"];
        let n = assert_answer_fails(answer(status, &to, ""), AskErrorKind::BadAnswer, &words);
        assert_eq!(n, 1);
    }
    assert_eq!(other.received().len(), 0);
}

#[test]
fn an_endless_head_is_rejected() {
    for head in large_heads() {
        assert_answer_fails(head, AskErrorKind::BadAnswer, &["too large"]);
    }
    let server = Server::new(|_, client| {
        client.send(b"HTTP/1.1 200 OK\r\n");
        client.send_forever(&b"x-endless: x\r\n".repeat(100));
    });
    assert_fails(&client("openai", &server.url()), AskErrorKind::BadAnswer, &["too large"]);
}

#[test]
fn an_error_within_an_answer_is_a_refusal_with_a_retry_only_before_any_text() {
    let before = answer("200 OK", "", OVERLOADED_EVENT);
    let server = Server::with_answers(vec![before, answer("200 OK", "", ANTHROPIC)]);
    assert_eq!(ask_at("anthropic", &server).map(gist), Ok(greeting()));
    let text = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"half\"}}\n\n";
    let server = Server::with_answer(answer("200 OK", "", &format!("{text}{OVERLOADED_EVENT}")));
    assert_fails(
        &client("anthropic", &server.url()),
        AskErrorKind::Unavailable,
        &["is overloaded", "Overloaded"],
    );
    assert_eq!(server.received().len(), 1);
    let too_long = format!("data: {}\n\n", error_json("maximum context length is 8"));
    let server = Server::with_answer(answer("200 OK", "", &too_long));
    assert_fails(&client("openai", &server.url()), AskErrorKind::ContextTooLong, &["overflows"]);
}

/// Cancels a request after a while. Returns the time until it ended and until the server noticed.
fn cancel(server: &Server, client: &ModelClient, prompt: &Prompt) -> (Duration, Option<Duration>) {
    let stop = Arc::new(Progress::default());
    let stopper = Arc::clone(&stop);
    let thread = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(millis(150));
        stopper.cancel();
        Instant::now()
    });
    let error = ask(client, prompt, &stop, &mut |_| {}).unwrap_err();
    let (back, cancelled) = (Instant::now(), thread.unwrap().join().unwrap());
    assert_eq!(error.kind, AskErrorKind::Cancelled);
    let ended = server.wait_for_end().map(|ended| ended.saturating_duration_since(cancelled));
    (back.saturating_duration_since(cancelled), ended)
}

#[test]
fn cancelling_closes_the_connection_at_once_wherever_it_stalls() {
    let starts = [String::new(), STREAM_HEAD.to_owned(), format!("{STREAM_HEAD}{}", event("half"))];
    for start in starts {
        let server = Server::new(move |_, client| {
            client.send(start.as_bytes());
            client.stall();
        });
        let client = client("openai", &server.url());
        let (back, ended) = cancel(&server, &client, &prompt());
        // About a hundred milliseconds on an idle machine.
        assert!(back < millis(500), "{back:?}");
        assert!(ended.unwrap() < millis(500), "{ended:?}");
    }
}

#[test]
fn cancelling_ends_a_flood_and_a_wait_between_attempts() {
    let server = Server::new(|_, client| {
        client.send(STREAM_HEAD.as_bytes());
        client.send_forever(": ping\n".repeat(1_000).as_bytes());
    });
    // So that the limits do not end the flood.
    let patient = Prompt { max_tokens: 1_000_000, ..prompt() };
    let (back, ended) = cancel(&server, &client("openai", &server.url()), &patient);
    assert!(back < millis(500) && ended.unwrap() < millis(500), "{back:?} {ended:?}");
    let server = Server::new(|_, client| {
        client.send(&answer("429 Too Many Requests", "retry-after: 1\r\n", ""));
        client.stall();
    });
    let (back, _) = cancel(&server, &client("openai", &server.url()), &prompt());
    assert!(back < millis(500), "{back:?}");
}
