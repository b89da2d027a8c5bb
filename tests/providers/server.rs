//! A real HTTP server on loopback with scripted behaviour.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request that the server received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// First line.
    pub(crate) line: String,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Index of the connection.
    pub(crate) n: usize,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(n, _)| n == name);
        header.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> plimsoll::json::Value {
        serde_json::from_slice(&self.body).expect("requests are JSON")
    }
}

/// A listening server that ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Received>>>,
    ended: Receiver<Instant>,
}

/// The connection to a client.
pub(crate) struct Client {
    stream: TcpStream,
    ended: Sender<Instant>,
}

impl Server {
    /// Answers the only request of every connection with `answer`, on separate threads.
    pub(crate) fn new(answer: impl Fn(&Received, &mut Client) + Send + Sync + 'static) -> Self {
        let (sender, ended) = channel();
        let mut server = Self::over(move |n, stream, all| {
            let ended = sender.clone();
            let mut client = Client { stream, ended };
            let Some(mut request) = read_request(&client.stream) else {
                return;
            };
            request.n = n;
            all.lock().expect("nobody panics with it").push(request.clone());
            answer(&request, &mut client);
        });
        server.ended = ended;
        server
    }

    /// Handles every connection with a function that gets its index, and records the requests.
    pub(crate) fn over(
        serve: impl Fn(usize, TcpStream, &Mutex<Vec<Received>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has room");
        let address = listener.local_addr().expect("it is bound");
        let requests: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (serve, all) = (Arc::new(serve), Arc::clone(&requests));
        named_thread(move || {
            for (n, stream) in listener.incoming().flatten().enumerate() {
                let (serve, all) = (Arc::clone(&serve), Arc::clone(&all));
                named_thread(move || serve(n, stream, &all));
            }
        });
        Self { address, requests, ended: channel().1 }
    }

    /// Answers every request with these bytes.
    pub(crate) fn with_answer(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(move |_, client| client.send(&bytes))
    }

    /// Answers the requests with these bytes in turn, and all further ones with the last.
    pub(crate) fn with_answers(answers: Vec<Vec<u8>>) -> Self {
        Self::new(move |request, client| client.send(&answers[request.n.min(answers.len() - 1)]))
    }

    /// Starts to answer before it has read the request and then closes, so that the system resets the connection.
    pub(crate) fn resetting(start: impl Into<Vec<u8>>) -> Self {
        let start = start.into();
        Self::over(move |n, stream, all| {
            all.lock().expect("nobody panics with it").push(Received { n, ..Received::default() });
            let mut stream = stream;
            let _ = stream.read(&mut [0]);
            let _ = stream.write_all(&start);
            if !start.is_empty() {
                // So that the client receives the bytes before the reset.
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.requests.lock().expect("nobody panics with it").clone()
    }

    /// Waits until a stalled client has closed its connection and returns the time.
    pub(crate) fn wait_for_end(&self) -> Option<Instant> {
        self.ended.recv_timeout(Duration::from_secs(5)).ok()
    }
}

impl Client {
    /// Sends bytes. The client may have closed the connection.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.set_nodelay(true);
        let _ = self.stream.write_all(bytes);
        let _ = self.stream.flush();
    }

    /// Sends bytes repeatedly until the client closes the connection.
    pub(crate) fn send_forever(&mut self, bytes: &[u8]) {
        while self.stream.write_all(bytes).is_ok() {}
        self.record_end();
    }

    /// Sends nothing more, keeps the connection open, and records when the client closes it.
    pub(crate) fn stall(&mut self) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_secs(20)));
        let mut rest = [0; 64];
        if matches!(self.stream.read(&mut rest), Ok(0) | Err(_)) {
            self.record_end();
        }
    }

    fn record_end(&self) {
        let _ = self.ended.send(Instant::now());
    }
}

fn named_thread(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("server".to_owned());
    thread.spawn(work).expect("threads can be made");
}

/// Reads a request; `None` if the client closes the connection before its end.
pub(crate) fn read_request(stream: impl std::io::Read) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        let n = reader.read_line(&mut line).ok()?;
        (n > 0).then(|| line.trim_end().to_owned())
    };
    let mut request = Received { line: line()?, ..Received::default() };
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.push(header);
    }
    let length = request.header("content-length").map_or(0, |n| n.parse().expect("a number"));
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// Returns an answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// The head of an answer without a length, which ends with the connection.
pub(crate) const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Returns an answer in chunks of these bytes.
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
