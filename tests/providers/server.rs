//! A real HTTP server on loopback that does to a client whatever a test wants done.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request as the server saw it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// First line.
    pub(crate) line: String,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// 0 for the first connection.
    pub(crate) n: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(n, _)| n == name);
        header.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("requests are JSON")
    }
}

/// A listening server; it goes with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    ended: Receiver<Instant>,
}

/// The client's end, as a test's answer sees it.
pub(crate) struct Client {
    stream: TcpStream,
    ended: Sender<Instant>,
}

impl Server {
    /// Answers every connection's one request with `answer`, each on a thread of its own.
    pub(crate) fn new(answer: impl Fn(&Seen, &mut Client) + Send + Sync + 'static) -> Self {
        let (sender, ended) = channel();
        let mut server = Self::over(move |n, stream, all| {
            let ended = sender.clone();
            let mut client = Client { stream, ended };
            let Some(mut request) = read_request(&client.stream) else {
                return;
            };
            request.n = n;
            all.lock()
                .expect("nobody panics with it")
                .push(request.clone());
            answer(&request, &mut client);
        });
        server.ended = ended;
        server
    }

    /// Does whatever it likes with every connection (0 is the first), and notes what it saw.
    pub(crate) fn over(
        serve: impl Fn(usize, TcpStream, &Mutex<Vec<Seen>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has room");
        let address = listener.local_addr().expect("it is bound");
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (serve, all) = (Arc::new(serve), Arc::clone(&seen));
        named_thread(move || {
            for (n, stream) in listener.incoming().flatten().enumerate() {
                let (serve, all) = (Arc::clone(&serve), Arc::clone(&all));
                named_thread(move || serve(n, stream, &all));
            }
        });
        Self {
            address,
            seen,
            ended: channel().1,
        }
    }

    /// Answers every request with these bytes.
    pub(crate) fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(move |_, client| client.say(&bytes))
    }

    /// Answers one after the other with these bytes, the last again and again.
    pub(crate) fn saying_in_turn(answers: Vec<Vec<u8>>) -> Self {
        Self::new(move |seen, client| client.say(&answers[seen.n.min(answers.len() - 1)]))
    }

    /// Begins to answer before it has read the request and then closes, which the system turns into a reset of the
    /// connection: what the client sent is lost.
    pub(crate) fn resetting(start: impl Into<Vec<u8>>) -> Self {
        let start = start.into();
        Self::over(move |n, stream, all| {
            all.lock().expect("nobody panics with it").push(Seen {
                n,
                ..Seen::default()
            });
            let mut stream = stream;
            let _ = stream.read(&mut [0]);
            let _ = stream.write_all(&start);
            if !start.is_empty() {
                // So that the client has what was said before the reset takes it away.
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("nobody panics with it").clone()
    }

    /// Waits until a client that is watched has closed its connection; when that was.
    pub(crate) fn wait_for_end(&self) -> Option<Instant> {
        self.ended.recv_timeout(Duration::from_secs(5)).ok()
    }
}

impl Client {
    /// Sends bytes at once. The client may have gone, which is its right.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.set_nodelay(true);
        let _ = self.stream.write_all(bytes);
        let _ = self.stream.flush();
    }

    /// Sends bytes again and again until the client has had enough.
    pub(crate) fn say_for_ever(&mut self, bytes: &[u8]) {
        while self.stream.write_all(bytes).is_ok() {}
        self.tell_end();
    }

    /// Says nothing more, keeps the connection, and tells when the client closes it.
    pub(crate) fn stall(&mut self) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_secs(20)));
        let mut rest = [0; 64];
        if matches!(self.stream.read(&mut rest), Ok(0) | Err(_)) {
            self.tell_end();
        }
    }

    fn tell_end(&self) {
        let _ = self.ended.send(Instant::now());
    }
}

fn named_thread(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("server".to_owned());
    thread.spawn(work).expect("threads can be made");
}

/// Reads one request; none if the client goes before its end.
pub(crate) fn read_request(stream: impl std::io::Read) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        let n = reader.read_line(&mut line).ok()?;
        (n > 0).then(|| line.trim_end().to_owned())
    };
    let mut seen = Seen {
        line: line()?,
        ..Seen::default()
    };
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        seen.headers.push(header);
    }
    let length = seen
        .header("content-length")
        .map_or(0, |n| n.parse().expect("a number"));
    seen.body = vec![0; length];
    reader.read_exact(&mut seen.body).ok()?;
    Some(seen)
}

/// An answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// The head of an answer whose length nobody tells: it ends with the connection.
pub(crate) const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// An answer in chunks of these bytes.
pub(crate) fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}
