//! Exchanges over a websocket: a request, then the events of its answer.

use crate::formats::captures::exchange::Exchange;
use crate::formats::captures::response::Response;
use crate::formats::json;
use crate::json::Value;
use crate::units::Millis;

/// A message of a websocket.
pub(super) struct Frame {
    /// Whether the program sent it.
    pub(super) is_request: bool,
    /// Its text.
    pub(super) text: String,
    /// Its time.
    pub(super) time: Option<Millis>,
}

/// Returns the exchanges of a websocket.
pub(super) fn exchanges(path: &str, frames: impl Iterator<Item = Frame>) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for frame in frames {
        let Ok(value) = json::parse_lenient(frame.text.as_bytes()) else {
            continue;
        };
        if frame.is_request {
            // Other messages of the program are acknowledgements.
            if is_request(&value) {
                exchanges.push(Exchange {
                    time: frame.time,
                    path: path.to_owned(),
                    request: value,
                    response: None,
                    status: None,
                });
            }
        } else if let Some(last) = exchanges.last_mut() {
            match &mut last.response {
                Some(Response::Events(events)) => events.push(value),
                _ => last.response = Some(Response::Events(vec![value])),
            }
        }
    }
    exchanges
}

fn is_request(value: &Value) -> bool {
    ["input", "messages", "contents"].iter().any(|key| value.get(key).is_some())
}
