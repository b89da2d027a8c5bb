//! Complete answers, split and framed in every way.

use super::*;

#[test]
fn an_answer_is_complete_wherever_its_stream_is_split() {
    let bytes = CHAT.as_bytes();
    let server = Server::new(|seen, client| {
        let at = seen.n;
        client.send(&chunked(&[&CHAT.as_bytes()[..at], &CHAT.as_bytes()[at..]]));
    });
    let client = client("openai", &server.url());
    for at in 0..=bytes.len() {
        let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
        assert_eq!(answer.map(gist), Ok(greeting()), "cut at {at}");
    }
    assert_eq!(server.received().len(), bytes.len() + 1);
}

#[test]
fn an_answer_arrives_byte_by_byte() {
    for (api, stream) in STREAMS {
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        let server = Server::with_answer(chunked(&pieces));
        let mut reported = Vec::new();
        let answer =
            ask(&client(api, &server.url()), &prompt(), &Progress::default(), &mut |news| {
                if let AskEvent::Text(text) = news {
                    reported.push(text.to_owned());
                }
            });
        assert_eq!(answer.map(gist), Ok(greeting()), "{api}");
        // The reported text only grows and ends with the whole answer.
        assert!(reported.windows(2).all(|w| w[1].starts_with(&w[0])), "{reported:?}");
        assert_eq!(reported.last(), Some(&greeting().0));
    }
}

#[test]
fn every_framing_is_supported() {
    for (api, stream) in STREAMS {
        let unreported = format!("{STREAM_HEAD}{stream}");
        let slow = Server::new(move |_, client| {
            for piece in unreported.as_bytes().chunks(unreported.len() / 5) {
                client.send(piece);
                std::thread::sleep(millis(10));
            }
        });
        assert_eq!(ask_at(api, &slow).map(gist), Ok(greeting()), "{api}");
        // An invalid content type is ignored.
        for kind in ["", "content-type: text/html\r\n", "content-type: application/json\r\n"] {
            let server = Server::with_answer(answer("200 OK", kind, stream));
            assert_eq!(ask_at(api, &server).map(gist), Ok(greeting()), "{api} {kind}");
        }
    }
}

#[test]
fn an_answer_ends_with_the_model_although_the_connection_stays_open() {
    for (api, stream) in STREAMS {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let bytes = format!("{head}{:x}\r\n{stream}\r\n", stream.len());
        let server = Server::new(move |_, client| {
            client.send(bytes.as_bytes());
            client.stall();
        });
        let begun = Instant::now();
        assert_eq!(ask_at(api, &server).map(gist), Ok(greeting()), "{api}");
        assert!(begun.elapsed() < millis(2_000), "{api} waited {:?}", begun.elapsed());
    }
}

#[test]
fn an_answer_that_is_not_streamed_arrives() {
    let whole = json!({"model": "m-1", "choices": [{"message": {"content": "Grüße, 世界 🦀"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5}});
    let server = Server::with_answer(answer(
        "200 OK",
        "content-type: application/json\r\n",
        &whole.to_string(),
    ));
    assert_eq!(ask_at("openai", &server).map(gist), Ok(greeting()));
}

#[test]
fn empty_refused_and_cut_off_answers_are_distinguished() {
    let cases = [
        ("stop", "", Stop::Finished),
        ("content_filter", "", Stop::Refused),
        ("length", "half a", Stop::Length),
        ("tool_calls", "", Stop::ToolCall),
    ];
    for (reason, text, stop) in cases {
        let event = json!({"choices": [{"delta": {"content": text}, "finish_reason": reason}]});
        let server = Server::with_answer(answer(
            "200 OK",
            "",
            &format!("data: {event}\n\ndata: [DONE]\n\n"),
        ));
        let answer = ask_at("openai", &server).unwrap();
        assert_eq!((&*answer.text, answer.stop), (text, stop));
    }
}

#[test]
fn a_key_echoed_by_the_server_is_removed_from_the_answer() {
    let halves = KEY.split_at(9);
    let server = Server::with_answer(answer(
        "200 OK",
        "",
        &format!(
            "data: {}\n\ndata: {}\n\n",
            json!({"model": KEY, "choices": [{"delta": {"content": format!("You sent {}", halves.0)}}]}),
            json!({"choices": [{"delta": {"content": halves.1, "refusal": KEY}, "finish_reason": "stop"}]}),
        ),
    ));
    let mut client = client("openai", &server.url());
    let mut reported = String::new();
    let mut tell = |news: AskEvent<'_>| {
        if let AskEvent::Text(text) = news {
            text.clone_into(&mut reported);
        }
    };
    let echoed = ask(&client, &prompt(), &Progress::default(), &mut tell).unwrap();
    assert_eq!((&*echoed.text, &*reported), ("You sent [key]", "You sent [key]"));
    assert!(!format!("{echoed:?}").contains(KEY));
    // A placeholder key is a word that an answer may contain by chance.
    client.key = Some(Key::typed("sent".to_owned()).unwrap());
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {}).unwrap();
    assert!(answer.text.starts_with("You sent "));
}
