//! Sends a prompt to a model and waits for the answer.

use super::clock::Clock;
use super::error::{of_reading, of_transport};
use super::retry::requested_wait;
use super::{AskError, AskErrorKind, ModelClient, connection};
use crate::progress::Progress;
use crate::providers::{
    Answer, AnswerCall, Endpoint, LimitField, Prompt, ReadError, Reading, Refusal, plain_line,
};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use std::time::{Duration, Instant, SystemTime};

/// Maximum number of bytes of an error response that are read. The reason is in the first few hundred; error pages of
/// proxies have tens of thousands, and JSON that is cut cannot be parsed.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// An event while a prompt is sent and answered.
#[derive(Debug)]
pub enum AskEvent<'a> {
    /// The prompt is sent, for the first time or again.
    Sent {
        /// Number of the attempt, from 1.
        attempt: u32,
        /// The exact body.
        body: &'a str,
    },
    /// The answer so far; it only grows.
    Text(&'a str),
    /// The prompt will be sent again after a wait.
    Waits {
        /// Length of the wait.
        wait: Duration,
        /// Reason of the retry.
        because: &'a AskError,
    },
}

/// Sends a prompt to a model and waits for the whole answer. Cancelling `stop` closes the connection. `on_event` is
/// called on this thread.
///
/// # Errors
/// Returns an [`AskError`] if there is no complete answer.
pub fn ask(
    client: &ModelClient,
    prompt: &Prompt,
    stop: &Progress,
    on_event: &mut dyn FnMut(AskEvent<'_>),
) -> Result<Answer, AskError> {
    let http = connection::connect(client)?;
    let headers = connection::headers(client)?;
    wait_for(client, stop, async |clock| {
        let exchange = Exchange { client, prompt, http, headers, clock };
        exchange.run(on_event).await
    })
}

/// Runs work until it ends, is cancelled, or exceeds the total time limit. Open connections are closed.
pub(super) fn wait_for<T>(
    client: &ModelClient,
    stop: &Progress,
    work: impl AsyncFnOnce(&Clock) -> Result<T, AskError>,
) -> Result<T, AskError> {
    let cannot = |error| AskError::settings(format!("cannot wait for a connection ({error})"));
    let clock = Clock::start().map_err(cannot)?;
    // Connections run on a thread of their own, which is never waited for.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(2)
        .thread_name("model")
        .enable_all()
        .build()
        .map_err(cannot)?;
    let total = client.limits.total;
    let result = runtime.block_on(async {
        // Biased, so that a server that never pauses does not starve the first two.
        tokio::select! {
            biased;
            () = clock.until(|| stop.is_cancelled()) => Err(AskError::cancelled()),
            () = clock.wait(total) => Err(AskError::timed_out(client, "no whole answer", total)),
            result = work(&clock) => result,
        }
    });
    // A lookup of a host's name cannot be cancelled and continues in the background.
    runtime.shutdown_background();
    result
}

/// A prompt, the connection and the attempts to get an answer.
struct Exchange<'a> {
    client: &'a ModelClient,
    prompt: &'a Prompt,
    http: reqwest::Client,
    headers: HeaderMap,
    clock: &'a Clock,
}

/// A failed attempt.
struct AttemptFailure {
    error: AskError,
    /// A retry may succeed.
    may_pass: bool,
    /// The wait that the server requests.
    wait: Option<Duration>,
    /// The field that the server requires for the output limit.
    wants_limit: Option<LimitField>,
}

impl From<AskError> for AttemptFailure {
    fn from(error: AskError) -> Self {
        Self { error, may_pass: false, wait: None, wants_limit: None }
    }
}

impl Exchange<'_> {
    async fn run(&self, on_event: &mut dyn FnMut(AskEvent<'_>)) -> Result<Answer, AskError> {
        let begun = Instant::now();
        let retries = self.client.retries;
        let mut tries = 0;
        let mut sent = 0;
        loop {
            sent += 1;
            let failure = match self.attempt(sent, on_event).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let learned = failure.wants_limit.map(|f| self.client.learned.set(f));
            if learned.is_some_and(|result| result.is_ok()) {
                continue;
            }
            tries += 1;
            if !failure.may_pass || tries > retries.max_retries {
                return Err(failure.error);
            }
            let wait = failure.wait.unwrap_or_default().max(retries.wait(tries));
            let end = begun + self.client.limits.total;
            if wait > retries.max_wait || Instant::now() + wait >= end {
                return Err(with_wait(failure));
            }
            let because = &failure.error;
            on_event(AskEvent::Waits { wait, because });
            self.clock.wait(wait).await;
        }
    }

    async fn attempt(
        &self,
        attempt: u32,
        on_event: &mut dyn FnMut(AskEvent<'_>),
    ) -> Result<Answer, AttemptFailure> {
        let endpoint = self.client.endpoint();
        let body = endpoint.body(self.prompt).to_string();
        on_event(AskEvent::Sent { attempt, body: &body });
        let limit = self.client.limits.first_byte;
        let request = self
            .http
            .post(endpoint.url())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let response = match self.clock.within(limit, request.send()).await {
            None => {
                return Err(AskError::timed_out(self.client, "no answer began", limit).into());
            }
            Some(Err(error)) => return Err(self.broken(&error)),
            Some(Ok(response)) => response,
        };
        self.check_head(&response)?;
        if response.status().is_success() {
            self.read(&endpoint, response, on_event).await
        } else {
            Err(self.refused(&endpoint, response).await)
        }
    }

    fn broken(&self, error: &reqwest::Error) -> AttemptFailure {
        let (error, may_pass) = of_transport(self.client, error);
        AttemptFailure { may_pass, ..error.into() }
    }

    /// Rejects redirects, requests of a proxy, compression, and a large head.
    fn check_head(&self, response: &Response) -> Result<(), AskError> {
        let bad = |fault: &str| Err(AskError::bad_answer(self.client, fault));
        let headers = response.headers();
        let n_bytes: usize =
            headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if n_bytes > self.client.limits.head_bytes {
            return bad(
                "the head of the answer is too large; check for proxies between this machine and the server",
            );
        }
        let status = response.status();
        if status.is_redirection() {
            let to = headers.get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()));
            let to = plain_line(to.as_deref().unwrap_or("elsewhere"), 200);
            return bad(&format!(
                "HTTP {} redirects to {to}, to which the key is not sent; if you trust it, use it as the base URL",
                status.as_u16()
            ));
        }
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(AskError::new(
                AskErrorKind::Refused,
                "the proxy requires a name and a password; give them in its address (http://NAME:PASSWORD@HOST:PORT)",
            ));
        }
        let encoding = headers.get(CONTENT_ENCODING).map(|e| e.as_bytes().to_ascii_lowercase());
        if encoding.is_some_and(|encoding| encoding != b"identity") {
            return bad(
                "the answer is compressed, which was not requested; check for proxies between this machine and the server",
            );
        }
        Ok(())
    }

    async fn read(
        &self,
        endpoint: &Endpoint,
        mut response: Response,
        on_event: &mut dyn FnMut(AskEvent<'_>),
    ) -> Result<Answer, AttemptFailure> {
        let mut reading = Reading::new(endpoint.api, self.prompt.max_tokens);
        let limit = self.client.limits.idle;
        let mut n_shown = 0;
        while !reading.is_over() {
            let piece = match self.clock.within(limit, response.chunk()).await {
                None => {
                    return Err(
                        AskError::timed_out(self.client, "no more of the answer", limit).into()
                    );
                }
                Some(Ok(None)) => break,
                // The connection may break after a complete answer.
                Some(Err(_)) if reading.has_stopped() => break,
                Some(Err(error)) if reading.text().is_empty() => return Err(self.broken(&error)),
                Some(Err(_)) => {
                    return Err(of_reading(self.client, &ReadError::CutOff).into());
                }
                Some(Ok(Some(piece))) => piece,
            };
            let result = reading.feed(&piece);
            if reading.text().len() > n_shown {
                n_shown = reading.text().len();
                on_event(AskEvent::Text(&self.client.hide_key(reading.text())));
            }
            result.map_err(|error| self.unreadable(endpoint, &error, n_shown > 0))?;
        }
        let has_text = n_shown > 0;
        let answer =
            reading.finish().map_err(|error| self.unreadable(endpoint, &error, has_text))?;
        let hide = |text: String| self.client.hide_key(&text);
        let hide_call = |call: AnswerCall| AnswerCall {
            tool: hide(call.tool),
            arguments: hide(call.arguments),
        };
        Ok(Answer {
            text: hide(answer.text),
            refusal: answer.refusal.map(hide),
            model: answer.model.map(hide),
            calls: answer.calls.into_iter().map(hide_call).collect(),
            ..answer
        })
    }

    fn unreadable(&self, endpoint: &Endpoint, error: &ReadError, has_text: bool) -> AttemptFailure {
        let ReadError::Server(message) = error else {
            return of_reading(self.client, error).into();
        };
        let refusal = Refusal::in_answer(endpoint, message, self.client.secret());
        AttemptFailure {
            may_pass: refusal.kind.may_pass() && !has_text,
            ..AskError::refused(self.client, &refusal).into()
        }
    }

    async fn refused(&self, endpoint: &Endpoint, mut response: Response) -> AttemptFailure {
        let (status, wait) =
            (response.status().as_u16(), requested_wait(response.headers(), SystemTime::now()));
        let body = read_some(self.client, self.clock, &mut response, MAX_ERROR_BYTES).await;
        let refusal = Refusal::new(endpoint, status, &body, self.client.secret());
        AttemptFailure {
            may_pass: refusal.kind.may_pass(),
            wait,
            wants_limit: refusal.wants_limit,
            error: AskError::refused(self.client, &refusal),
        }
    }
}

/// Reads a response until it ends, stalls, or reaches `most` bytes.
pub(super) async fn read_some(
    client: &ModelClient,
    clock: &Clock,
    response: &mut Response,
    most: usize,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(Ok(Some(piece))) = clock.within(client.limits.idle, response.chunk()).await {
        let room = most.saturating_sub(bytes.len()).min(piece.len());
        bytes.extend_from_slice(&piece[..room]);
        if bytes.len() >= most {
            break;
        }
    }
    bytes
}

/// Returns the error of a failed attempt, with the wait that the server requested.
fn with_wait(failure: AttemptFailure) -> AskError {
    let AttemptFailure { error, wait, .. } = failure;
    let Some(wait) = wait else {
        return error;
    };
    // Rounded to whole seconds.
    let wait = humantime::format_duration(Duration::from_secs(wait.as_secs().max(1)));
    AskError::new(error.kind, format!("{error} (the server requests a wait of {wait})"))
}
