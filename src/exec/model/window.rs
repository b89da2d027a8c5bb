//! Queries a server for the context window of a model.

use super::ask::{read_some, wait_for};
use super::clock::Clock;
use super::{AskError, AskErrorKind, ModelClient, connection};
use crate::progress::Progress;
use crate::providers::{self, Refusal, RefusalKind, WindowQuery, window_queries};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use std::time::Duration;

/// Maximum size of a response, in bytes. The list of a router with hundreds of models has about one million.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Longest time for these queries, which need no computation. It equals the default time for a connection; the user
/// waits for the answer before anything is sent.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// Returns the model's context window in tokens, if its server has it. Servers differ, so that several URLs are tried,
/// all on the endpoint's own host.
///
/// # Errors
/// Returns an [`AskError`] if the server cannot be reached, rejects the key, or a time limit is exceeded.
pub fn context_length(client: &ModelClient, stop: &Progress) -> Result<Option<u64>, AskError> {
    let mut client = client.clone();
    let limits = &mut client.limits;
    for limit in [&mut limits.first_byte, &mut limits.idle, &mut limits.total] {
        *limit = TIME_LIMIT.min(*limit);
    }
    let client = &client;
    let http = connection::connect(client)?;
    let headers = connection::headers(client)?;
    wait_for(client, stop, async |clock| {
        for query in window_queries(&client.endpoint) {
            let length = send(client, clock, &http, &headers, &query).await?;
            if length.is_some() {
                return Ok(length);
            }
        }
        Ok(None)
    })
}

async fn send(
    client: &ModelClient,
    clock: &Clock,
    http: &reqwest::Client,
    headers: &HeaderMap,
    query: &WindowQuery,
) -> Result<Option<u64>, AskError> {
    let request = match &query.body {
        Some(body) => {
            http.post(&query.url).header(CONTENT_TYPE, "application/json").body(body.to_string())
        }
        None => http.get(&query.url),
    };
    let limit = client.limits.first_byte;
    let mut response = match clock.within(limit, request.headers(headers.clone()).send()).await {
        None => return Err(AskError::timed_out(client, "no answer began", limit)),
        Some(Err(error)) => return Err(super::error::of_transport(client, &error).0),
        Some(Ok(response)) => response,
    };
    let status = response.status();
    let bytes = read_some(client, clock, &mut response, MAX_RESPONSE_BYTES).await;
    if status != StatusCode::OK {
        let refusal = Refusal::new(&client.endpoint, status.as_u16(), &bytes, client.secret());
        // With any other refusal, the server does not have this URL.
        return if refusal.kind == RefusalKind::BadKey {
            Err(AskError::refused(client, &refusal))
        } else {
            Ok(None)
        };
    }
    if bytes.len() >= MAX_RESPONSE_BYTES {
        let message = "the list of models is too large; set the window manually";
        return Err(AskError::new(AskErrorKind::BadAnswer, message));
    }
    let json = crate::json::from_slice(&bytes).ok();
    Ok(json.and_then(|json| providers::context_length(&client.endpoint.model, &json)))
}
