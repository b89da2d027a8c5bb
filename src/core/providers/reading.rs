//! Incremental reader of answers: a stream of events, cut at any byte, or one JSON text if the server does not stream.

use super::answer::{Answer, AnswerDraft};
use super::api::Api;
use super::plain_text::plain_line;
use super::sse::Sse;
use super::web_page;
use crate::json::Value;

/// Bytes of text that a token may have. The longest tokens of vocabularies have 128, most have four.
const BYTES_A_TOKEN: u64 = 32;
/// Bytes of text that are always allowed: small limits are exceeded by a server that counts tokens differently, not by
/// one that never stops.
const FREE_TEXT: u64 = 4 << 10;
/// Bytes that a token may take in the stream, since each can be a separate event and reasoning is streamed, too.
/// Chosen: an event has a few hundred bytes besides its text, and the same text may follow in another event.
const STREAM_BYTES_A_TOKEN: u64 = 2 << 10;
/// Bytes of a stream that are always allowed, for comments and lists of settings.
const FREE_STREAM: u64 = 1 << 20;
/// Maximum number of bytes of a stream, reached with an output limit of 130,000 tokens. A server that never ends is
/// stopped before it fills the memory.
const MAX_STREAM_BYTES: u64 = 256 << 20;
/// Bytes that are kept to describe a response that is not an answer.
const START_BYTES: usize = 2 << 10;
/// Byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Errors of an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// The server reports an error within its answer.
    #[error("the server reports an error in its answer")]
    Server(Value),
    /// A web page instead of an answer.
    #[error("the server sent a web page instead of an answer: {0}")]
    Page(String),
    /// The answer does not follow the API.
    #[error("the answer does not follow this API: {0}")]
    Malformed(String),
    /// The answer exceeds every limit.
    #[error("the answer exceeds its limit of {0} tokens by far")]
    Endless(u64),
    /// The answer is empty.
    #[error("the answer is empty")]
    Empty,
    /// The connection ended before the answer did.
    #[error("the answer was interrupted before its end")]
    CutOff,
}

/// Reader of an answer that is received in pieces.
#[derive(Debug)]
pub struct Reading {
    api: &'static Api,
    max_tokens: u64,
    n_bytes: u64,
    head: Vec<u8>,
    kind: AnswerKind,
    draft: AnswerDraft,
    /// Number of events read.
    n_events: u64,
}

/// Kind of an answer, detected from its first character.
#[derive(Debug)]
enum AnswerKind {
    /// Holds a possible start of a byte order mark.
    Unknown(Vec<u8>),
    Events(Sse),
    Whole(Vec<u8>),
    Page(Vec<u8>),
}

impl Reading {
    /// Creates a reader for an answer of at most this many tokens.
    pub fn new(api: &'static Api, max_tokens: u64) -> Self {
        Self {
            api,
            max_tokens,
            n_bytes: 0,
            head: Vec::new(),
            kind: AnswerKind::Unknown(Vec::new()),
            draft: AnswerDraft::default(),
            n_events: 0,
        }
    }

    /// Reads received bytes.
    ///
    /// # Errors
    /// Fails with [`ReadError`] as soon as the bytes cannot become an answer.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.n_bytes = self.n_bytes.saturating_add(bytes.len() as u64);
        if self.n_bytes > self.most_bytes() {
            return Err(ReadError::Endless(self.max_tokens));
        }
        let room = START_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        let AnswerKind::Unknown(start) = &mut self.kind else {
            return self.take(bytes);
        };
        start.extend_from_slice(bytes);
        let start = std::mem::take(start);
        let start = without_mark(start.trim_ascii_start());
        self.kind = match start.first() {
            Some(b'{' | b'[') => AnswerKind::Whole(Vec::new()),
            Some(b'<') => AnswerKind::Page(Vec::new()),
            Some(_) if !MARK.starts_with(start) => AnswerKind::Events(Sse::default()),
            _ => AnswerKind::Unknown(start.to_vec()),
        };
        self.take(start)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        match &mut self.kind {
            AnswerKind::Unknown(_) => {}
            AnswerKind::Whole(whole) => whole.extend_from_slice(bytes),
            AnswerKind::Page(page) => {
                let room = (START_BYTES * 8).saturating_sub(page.len()).min(bytes.len());
                page.extend_from_slice(&bytes[..room]);
            }
            AnswerKind::Events(sse) => {
                let (api, draft, n_events) = (self.api, &mut self.draft, &mut self.n_events);
                sse.feed(bytes, |data| read_event(api, draft, n_events, data))?;
            }
        }
        self.check_length()
    }

    fn check_length(&self) -> Result<(), ReadError> {
        let most = self.max_tokens.saturating_mul(BYTES_A_TOKEN).saturating_add(FREE_TEXT);
        if self.draft.n_bytes() as u64 > most {
            return Err(ReadError::Endless(self.max_tokens));
        }
        Ok(())
    }

    fn most_bytes(&self) -> u64 {
        self.max_tokens
            .saturating_mul(STREAM_BYTES_A_TOKEN)
            .saturating_add(FREE_STREAM)
            .min(MAX_STREAM_BYTES)
    }

    /// Returns the text so far.
    pub fn text(&self) -> &str {
        &self.draft.text
    }

    /// Returns true if the answer is complete, although the connection may stay open.
    pub fn is_over(&self) -> bool {
        self.draft.is_over
    }

    /// Returns true if the model has ended, although usage may still follow.
    pub fn has_stopped(&self) -> bool {
        self.draft.stop.is_some() || self.draft.is_over
    }

    /// Returns the answer at the end of the connection.
    ///
    /// # Errors
    /// Fails with [`ReadError`] if the answer is missing or incomplete.
    pub fn finish(mut self) -> Result<Answer, ReadError> {
        match std::mem::replace(&mut self.kind, AnswerKind::Unknown(Vec::new())) {
            AnswerKind::Unknown(_) => return Err(ReadError::Empty),
            AnswerKind::Page(page) => return Err(ReadError::Page(web_page::title(&page))),
            AnswerKind::Whole(whole) => self.finish_whole(&whole)?,
            AnswerKind::Events(mut sse) => {
                let (api, draft, n_events) = (self.api, &mut self.draft, &mut self.n_events);
                let end = sse.end(|data| read_event(api, draft, n_events, data));
                // An incomplete event means that the answer was interrupted.
                end.map_err(|error| match error {
                    ReadError::Malformed(_) => ReadError::CutOff,
                    error => error,
                })?;
                if self.n_events == 0 {
                    return Err(self.malformed());
                }
                if !self.has_stopped() {
                    return Err(ReadError::CutOff);
                }
            }
        }
        self.check_length()?;
        Ok(self.draft.into_answer())
    }

    fn finish_whole(&mut self, whole: &[u8]) -> Result<(), ReadError> {
        let answer = parsed(&mut self.draft, whole)
            .map_err(|error| if error.is_eof() { ReadError::CutOff } else { self.malformed() })?;
        let is_answer = (self.api.read)(&mut self.draft, &answer);
        match self.draft.error.take() {
            Some(error) => Err(ReadError::Server(error)),
            None if is_answer => Ok(()),
            None => Err(self.malformed()),
        }
    }

    /// Returns the error with the start of the received bytes.
    fn malformed(&self) -> ReadError {
        let start = plain_line(&String::from_utf8_lossy(&self.head), 120);
        ReadError::Malformed(format!("it starts with “{start}”"))
    }
}

fn read_event(
    api: &Api,
    draft: &mut AnswerDraft,
    n_events: &mut u64,
    data: &[u8],
) -> Result<(), ReadError> {
    let data = data.trim_ascii();
    if draft.is_over || data.is_empty() {
        return Ok(());
    }
    *n_events += 1;
    if data == b"[DONE]" {
        draft.is_over = true;
        return Ok(());
    }
    let Ok(event) = parsed(draft, data) else {
        let start = plain_line(&String::from_utf8_lossy(data), 120);
        return Err(ReadError::Malformed(format!("an event contains “{start}”")));
    };
    (api.read_event)(draft, &event);
    draft.error.take().map_or(Ok(()), |error| Err(ReadError::Server(error)))
}

/// Parses JSON of a server, which may split a character between two events.
fn parsed(draft: &mut AnswerDraft, json: &[u8]) -> serde_json::Result<Value> {
    let mut mended = || crate::json::from_slice(&draft.surrogates.mend(json)).ok();
    crate::json::from_slice(json).or_else(|error| mended().ok_or(error))
}

/// Skips a byte order mark and white space.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).map_or(bytes, <[u8]>::trim_ascii_start)
}
