//! Asks a server how long a model's window is.

use super::ask::{read_some, wait_for};
use super::clock::Clock;
use super::{AskError, AskErrorKind, ModelClient, connection};
use crate::progress::Progress;
use crate::providers::{self, Question, Refusal, RefusalKind, window_questions};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use std::time::Duration;

/// Bytes of an answer: lists of routers with hundreds of models are about one million.
const LARGEST: usize = 8 << 20;
/// Nothing is worked out for these answers: a server that takes longer will not tell.
const PATIENCE: Duration = Duration::from_secs(15);

/// The model's window in tokens, where its server tells one. What is asked differs from server to server, so several
/// places are tried; only those of the endpoint's own host.
///
/// # Errors
/// [`AskError`] if the server cannot be reached, does not take the key, or time runs out.
pub fn context_length(client: &ModelClient, stop: &Progress) -> Result<Option<u64>, AskError> {
    let mut client = client.clone();
    let limits = &mut client.limits;
    for limit in [&mut limits.first_byte, &mut limits.idle, &mut limits.total] {
        *limit = PATIENCE.min(*limit);
    }
    let client = &client;
    let http = connection::connect(client)?;
    let headers = connection::headers(client)?;
    wait_for(client, stop, async |clock| {
        for question in window_questions(&client.endpoint) {
            let length = look(client, clock, &http, &headers, &question).await?;
            if length.is_some() {
                return Ok(length);
            }
        }
        Ok(None)
    })
}

async fn look(
    client: &ModelClient,
    clock: &Clock,
    http: &reqwest::Client,
    headers: &HeaderMap,
    question: &Question,
) -> Result<Option<u64>, AskError> {
    let request = match &question.body {
        Some(body) => http
            .post(&question.url)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string()),
        None => http.get(&question.url),
    };
    let limit = client.limits.first_byte;
    let mut response = match clock
        .within(limit, request.headers(headers.clone()).send())
        .await
    {
        None => return Err(AskError::timed_out(client, "no answer began", limit)),
        Some(Err(error)) => return Err(super::error::of_transport(client, &error).0),
        Some(Ok(response)) => response,
    };
    let status = response.status();
    let said = read_some(client, clock, &mut response, LARGEST).await;
    if status != StatusCode::OK {
        let refusal = Refusal::new(&client.endpoint, status.as_u16(), &said, client.secret());
        // Any other refusal: this server has no such place.
        return if refusal.kind == RefusalKind::BadKey {
            Err(AskError::refused(client, &refusal))
        } else {
            Ok(None)
        };
    }
    if said.len() >= LARGEST {
        let message = "the list of models is too long to read";
        return Err(AskError::new(AskErrorKind::BadAnswer, message));
    }
    let json = serde_json::from_slice(&said).ok();
    Ok(json.and_then(|json| providers::context_length(&client.endpoint.model, &json)))
}
