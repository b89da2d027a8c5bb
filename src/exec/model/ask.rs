//! Asks a model and waits for its answer.

use super::clock::Clock;
use super::error::{of_reading, of_transport};
use super::retry::asked_wait;
use super::{AskError, AskErrorKind, ModelClient, connection};
use crate::progress::Progress;
use crate::providers::{
    Answer, Endpoint, LimitField, Prompt, ReadError, Reading, Refusal, body, plain_line,
};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use std::time::{Duration, Instant, SystemTime};

/// Bytes of an error's page that are read.
const MOST_OF_AN_ERROR: usize = 64 << 10;

/// What happens while a question is asked.
#[derive(Debug)]
pub enum News<'a> {
    /// The question is sent, for the first time or again.
    Sent {
        /// 1 is the first.
        attempt: u32,
        /// The body, to the byte.
        body: &'a str,
    },
    /// The answer so far; it only grows.
    Text(&'a str),
    /// It will be asked again after this wait.
    Waits {
        /// How long.
        wait: Duration,
        /// Why.
        because: &'a AskError,
    },
}

/// Asks a model and waits for the whole answer. May be stopped through `stop` at any time, which closes the connection;
/// `tell` hears of it on this thread.
///
/// # Errors
/// [`AskError`]; nothing is left of half an answer.
pub fn ask(
    client: &ModelClient,
    prompt: &Prompt,
    stop: &Progress,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<Answer, AskError> {
    let http = connection::connect(client)?;
    let headers = connection::headers(client)?;
    wait_for(client, stop, async |clock| {
        let question = Question {
            client,
            prompt,
            http,
            headers,
            clock,
        };
        question.ask(tell).await
    })
}

/// Runs work to its end, until it is stopped, or until its time is over. What is still open then is closed.
pub(super) fn wait_for<T>(
    client: &ModelClient,
    stop: &Progress,
    work: impl AsyncFnOnce(&Clock) -> Result<T, AskError>,
) -> Result<T, AskError> {
    let cannot = |error| AskError::settings(format!("cannot wait for a connection ({error})"));
    let clock = Clock::start().map_err(cannot)?;
    // The connection has a thread of its own, which nothing here waits for.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(2)
        .thread_name("model")
        .enable_all()
        .build()
        .map_err(cannot)?;
    let total = client.limits.total;
    let result = runtime.block_on(async {
        // In this order: a server that never pauses must not keep the others from being asked.
        tokio::select! {
            biased;
            () = clock.until(|| stop.is_cancelled()) => Err(AskError::cancelled()),
            () = clock.wait(total) => Err(AskError::timed_out(client, "no whole answer", total)),
            result = work(&clock) => result,
        }
    });
    // Looking up a host's name cannot be stopped at once; it is left behind.
    runtime.shutdown_background();
    result
}

/// A question on its way.
struct Question<'a> {
    client: &'a ModelClient,
    prompt: &'a Prompt,
    http: reqwest::Client,
    headers: HeaderMap,
    clock: &'a Clock,
}

/// A try that failed.
struct Failure {
    error: AskError,
    /// Another try may do better, after the wait that the server asks for.
    may_pass: bool,
    wait: Option<Duration>,
    wants_limit: Option<LimitField>,
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self {
            error,
            may_pass: false,
            wait: None,
            wants_limit: None,
        }
    }
}

impl Question<'_> {
    async fn ask(&self, tell: &mut dyn FnMut(News<'_>)) -> Result<Answer, AskError> {
        let begun = Instant::now();
        let retries = self.client.retries;
        let mut tries = 0;
        let mut sent = 0;
        loop {
            sent += 1;
            let failure = match self.ask_once(sent, tell).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let learned = failure.wants_limit.map(|f| self.client.learned.set(f));
            if learned.is_some_and(|result| result.is_ok()) {
                continue;
            }
            tries += 1;
            if !failure.may_pass || tries > retries.most {
                return Err(failure.error);
            }
            let wait = failure.wait.unwrap_or_default().max(retries.wait(tries));
            let end = begun + self.client.limits.total;
            if wait > retries.longest_wait || Instant::now() + wait >= end {
                return Err(without_patience(failure));
            }
            let because = &failure.error;
            tell(News::Waits { wait, because });
            self.clock.wait(wait).await;
        }
    }

    async fn ask_once(
        &self,
        attempt: u32,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Answer, Failure> {
        let endpoint = self.client.endpoint();
        let body = body(&endpoint, self.prompt).to_string();
        tell(News::Sent {
            attempt,
            body: &body,
        });
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
            self.read(&endpoint, response, tell).await
        } else {
            Err(self.refused(&endpoint, response).await)
        }
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        let (error, may_pass) = of_transport(self.client, error);
        Failure {
            may_pass,
            ..error.into()
        }
    }

    /// What a head may not say.
    fn check_head(&self, response: &Response) -> Result<(), AskError> {
        let bad = |what: &str| Err(AskError::bad_answer(self.client, what));
        let headers = response.headers();
        let n_bytes: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if n_bytes > self.client.limits.head_bytes {
            return bad(
                "the head of the answer is too large; check for proxies between this machine and the server",
            );
        }
        let status = response.status();
        if status.is_redirection() {
            let to = headers
                .get(LOCATION)
                .map(|to| String::from_utf8_lossy(to.as_bytes()));
            let to = plain_line(to.as_deref().unwrap_or("elsewhere"), 200);
            return bad(&format!(
                "HTTP {} redirects to {to}, and the key is not sent there; if you trust it, make it the base URL",
                status.as_u16()
            ));
        }
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(AskError::new(
                AskErrorKind::Refused,
                "the proxy wants a name and a password; give them in its address (http://NAME:PASSWORD@HOST:PORT)",
            ));
        }
        let encoding = headers
            .get(CONTENT_ENCODING)
            .map(|e| e.as_bytes().to_ascii_lowercase());
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
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Answer, Failure> {
        let mut reading = Reading::new(endpoint.api, self.prompt.max_tokens);
        let limit = self.client.limits.idle;
        let mut told = 0;
        while !reading.is_over() {
            let piece = match self.clock.within(limit, response.chunk()).await {
                None => {
                    return Err(
                        AskError::timed_out(self.client, "no more of the answer", limit).into(),
                    );
                }
                Some(Ok(None)) => break,
                // What is complete may be cut off behind its end.
                Some(Err(_)) if reading.has_stopped() => break,
                Some(Err(error)) if reading.text().is_empty() => return Err(self.broken(&error)),
                Some(Err(_)) => {
                    return Err(of_reading(self.client, &ReadError::CutOff).into());
                }
                Some(Ok(Some(piece))) => piece,
            };
            let result = reading.feed(&piece);
            if reading.text().len() > told {
                told = reading.text().len();
                tell(News::Text(&self.client.hide_key(reading.text())));
            }
            result.map_err(|error| self.unread(endpoint, &error, told > 0))?;
        }
        let has_text = told > 0;
        let answer = reading
            .finish()
            .map_err(|error| self.unread(endpoint, &error, has_text))?;
        let hide = |said: String| self.client.hide_key(&said);
        Ok(Answer {
            text: hide(answer.text),
            refusal: answer.refusal.map(hide),
            model: answer.model.map(hide),
            ..answer
        })
    }

    fn unread(&self, endpoint: &Endpoint, error: &ReadError, has_text: bool) -> Failure {
        let ReadError::Server(said) = error else {
            return of_reading(self.client, error).into();
        };
        let refusal = Refusal::in_answer(endpoint, said, self.client.secret());
        Failure {
            may_pass: refusal.kind.may_pass() && !has_text,
            ..AskError::refused(self.client, &refusal).into()
        }
    }

    async fn refused(&self, endpoint: &Endpoint, mut response: Response) -> Failure {
        let (status, wait) = (
            response.status().as_u16(),
            asked_wait(response.headers(), SystemTime::now()),
        );
        let said = read_some(self.client, self.clock, &mut response, MOST_OF_AN_ERROR).await;
        let refusal = Refusal::new(endpoint, status, &said, self.client.secret());
        Failure {
            may_pass: refusal.kind.may_pass(),
            wait,
            wants_limit: refusal.wants_limit,
            error: AskError::refused(self.client, &refusal),
        }
    }
}

/// As much of an answer as comes in time, up to so many bytes.
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

/// A server that asks for more time than there is should be seen to do so.
fn without_patience(failure: Failure) -> AskError {
    let Failure { error, wait, .. } = failure;
    let Some(wait) = wait else {
        return error;
    };
    // Whole seconds are enough to decide by.
    let wait = humantime::format_duration(Duration::from_secs(wait.as_secs().max(1)));
    AskError::new(error.kind, format!("{error} (it asks to wait {wait})"))
}
