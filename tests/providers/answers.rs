//! Answers that arrive, in every way that they can be cut and framed.

use super::*;

#[test]
fn an_answer_arrives_whole_wherever_its_stream_is_cut() {
    let bytes = CHAT.as_bytes();
    let server = Server::new(|seen, client| {
        let at = seen.n;
        client.say(&chunked(&[&CHAT.as_bytes()[..at], &CHAT.as_bytes()[at..]]));
    });
    let client = client("openai", &server.url());
    for at in 0..=bytes.len() {
        let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {});
        assert_eq!(answer.map(gist), Ok(greeting()), "cut at {at}");
    }
    assert_eq!(server.seen().len(), bytes.len() + 1);
}

#[test]
fn an_answer_arrives_byte_by_byte() {
    for (api, stream) in STREAMS {
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        let server = Server::saying(chunked(&pieces));
        let mut told = Vec::new();
        let answer = ask(
            &client(api, &server.url()),
            &prompt(),
            &Progress::default(),
            &mut |news| {
                if let News::Text(text) = news {
                    told.push(text.to_owned());
                }
            },
        );
        assert_eq!(answer.map(gist), Ok(greeting()), "{api}");
        // What is told on the way only grows, and ends with all of it.
        assert!(told.windows(2).all(|w| w[1].starts_with(&w[0])), "{told:?}");
        assert_eq!(told.last(), Some(&greeting().0));
    }
}

#[test]
fn an_answer_may_be_framed_in_any_way() {
    for (api, stream) in STREAMS {
        let untold = format!("{STREAM_HEAD}{stream}");
        let slow = Server::new(move |_, client| {
            for piece in untold.as_bytes().chunks(untold.len() / 5) {
                client.say(piece);
                std::thread::sleep(millis(10));
            }
        });
        assert_eq!(ask_at(api, &slow).map(gist), Ok(greeting()), "{api}");
        // A type that is none is no reason to throw an answer away.
        for kind in [
            "",
            "content-type: text/html\r\n",
            "content-type: application/json\r\n",
        ] {
            let server = Server::saying(answer("200 OK", kind, stream));
            assert_eq!(
                ask_at(api, &server).map(gist),
                Ok(greeting()),
                "{api} {kind}"
            );
        }
    }
}

#[test]
fn an_answer_is_done_when_the_model_is_although_the_connection_stays() {
    for (api, stream) in STREAMS {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let bytes = format!("{head}{:x}\r\n{stream}\r\n", stream.len());
        let server = Server::new(move |_, client| {
            client.say(bytes.as_bytes());
            client.stall();
        });
        let begun = Instant::now();
        assert_eq!(ask_at(api, &server).map(gist), Ok(greeting()), "{api}");
        assert!(
            begun.elapsed() < millis(2_000),
            "{api} waited {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn an_answer_that_is_not_streamed_arrives() {
    let whole = json!({"model": "m-1", "choices": [{"message": {"content": "Grüße, 世界 🦀"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5}});
    let server = Server::saying(answer(
        "200 OK",
        "content-type: application/json\r\n",
        &whole.to_string(),
    ));
    assert_eq!(ask_at("openai", &server).map(gist), Ok(greeting()));
}

#[test]
fn an_empty_a_refused_and_a_cut_off_answer_are_told_apart() {
    let cases = [
        ("stop", "", Stop::Finished),
        ("content_filter", "", Stop::Refused),
        ("length", "half a", Stop::Length),
        ("tool_calls", "", Stop::ToolCall),
    ];
    for (reason, text, stop) in cases {
        let event = json!({"choices": [{"delta": {"content": text}, "finish_reason": reason}]});
        let server = Server::saying(answer(
            "200 OK",
            "",
            &format!("data: {event}\n\ndata: [DONE]\n\n"),
        ));
        let answer = ask_at("openai", &server).unwrap();
        assert_eq!((&*answer.text, answer.stop), (text, stop));
    }
}

#[test]
fn a_key_that_the_server_echoes_is_in_nothing_that_was_answered() {
    let halves = KEY.split_at(9);
    let server = Server::saying(answer(
        "200 OK",
        "",
        &format!(
            "data: {}\n\ndata: {}\n\n",
            json!({"model": KEY, "choices": [{"delta": {"content": format!("You sent {}", halves.0)}}]}),
            json!({"choices": [{"delta": {"content": halves.1, "refusal": KEY}, "finish_reason": "stop"}]}),
        ),
    ));
    let mut client = client("openai", &server.url());
    let mut told = String::new();
    let mut tell = |news: News<'_>| {
        if let News::Text(text) = news {
            text.clone_into(&mut told);
        }
    };
    let echoed = ask(&client, &prompt(), &Progress::default(), &mut tell).unwrap();
    assert_eq!(
        (&*echoed.text, &*told),
        ("You sent [key]", "You sent [key]")
    );
    assert!(!format!("{echoed:?}").contains(KEY));
    // A word that local servers are given as a key is one that an answer may hold by itself.
    client.key = Some(Key::typed("sent".to_owned()).unwrap());
    let answer = ask(&client, &prompt(), &Progress::default(), &mut |_| {}).unwrap();
    assert!(answer.text.starts_with("You sent "));
}
