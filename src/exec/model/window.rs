//! Asks a server how long a model's window is.

use super::ask::{read_some, wait_for};
use super::{AskError, AskErrorKind, ModelClient, connection};
use crate::progress::Progress;
use crate::providers::{self, Question, Refusal, RefusalKind, window_questions};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::time::timeout;

/// Bytes of an answer: lists of routers with hundreds of models are about one million.
const LARGEST: usize = 8 << 20;

/// The model's window in tokens, where its server tells one. What is asked differs from server to server, so several
/// places are tried; only those of the endpoint's own host.
///
/// # Errors
/// [`AskError`] if the server cannot be reached, does not take the key, or time runs out.
pub fn context_length(client: &ModelClient, stop: &Progress) -> Result<Option<u64>, AskError> {
    let http = connection::connect(client)?;
    let headers = connection::headers(client)?;
    wait_for(client, stop, async {
        for question in window_questions(&client.endpoint) {
            let length = look(client, &http, &headers, &question).await?;
            if length.is_some() {
                return Ok(length);
            }
        }
        Ok(None)
    })
}

async fn look(
    client: &ModelClient,
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
    let mut response = match timeout(limit, request.headers(headers.clone()).send()).await {
        Err(_elapsed) => return Err(AskError::timed_out(client, "no answer began", limit)),
        Ok(Err(error)) => return Err(super::error::of_transport(client, &error).0),
        Ok(Ok(response)) => response,
    };
    let status = response.status();
    let said = read_some(client, &mut response, LARGEST).await;
    if status != StatusCode::OK {
        let refusal = Refusal::new(&client.endpoint, status.as_u16(), &said, client.secret());
        // Any other refusal: this server has no such place.
        return if refusal.kind == RefusalKind::BadKey {
            Err(refusal.into())
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
