//! Flows of mitmproxy (`mitmdump -w FILE`): a dictionary for each request with its answer.

use super::encodings::decoded;
use super::websocket::{self, Frame};
use crate::formats::captures::exchange::{Captured, Exchange};
use crate::formats::captures::response::Response;
use crate::formats::json;
use crate::formats::read_log::ReadLog;
use crate::formats::tnetstring::{Item, pop};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::units::Millis;

/// Reads the exchanges of all flows, as far as the file is valid.
pub(super) fn read(
    bytes: &[u8],
    progress: &Progress,
    log: &mut ReadLog,
) -> Result<Vec<Captured>, Cancelled> {
    let mut captured = Vec::new();
    let mut rest = bytes;
    while let Some((flow, after)) = pop(rest) {
        progress.check_cancelled()?;
        progress.advance((rest.len() - after.len()) as u64);
        let start = bytes.len() - rest.len();
        let mut note = |encoding: String| {
            let encoding = json::shortened(&encoding);
            log.notes.once(start, format!("answers with the encoding `{encoding}` could not be read: save the flows as HAR"));
        };
        let exchanges = exchanges(flow, &mut note);
        if exchanges.is_empty() {
            captured.push(Captured::Other);
        }
        captured.extend(exchanges.into_iter().map(Exchange::captured));
        rest = after;
    }
    if !rest.is_empty() {
        let text = "the rest of the file is not a whole flow and was left out";
        log.notes.add(bytes.len() - rest.len(), text);
    }
    Ok(captured)
}

fn exchanges(flow: Item<'_>, note: &mut impl FnMut(String)) -> Vec<Exchange> {
    let (request, response) = (flow.get("request"), flow.get("response"));
    let text =
        |item: Option<Item<'_>>, key: &str| item?.get(key).and_then(Item::text).map(str::to_owned);
    let path = Exchange::path_of(&text(request, "path").unwrap_or_default());
    let time = text(request, "timestamp_start").and_then(|time| seconds(&time));
    let frames = flow.get("websocket").and_then(|socket| socket.get("messages"));
    if let Some(frames) = frames {
        return websocket::exchanges(&path, frames.items().filter_map(frame));
    }
    let mut body = |message: Option<Item<'_>>| {
        let data = message?.get("content").filter(|content| content.kind == b',')?.data;
        match decoded(data, &header(message?, "content-encoding").unwrap_or_default()) {
            Ok(data) => Some(String::from_utf8_lossy(&data).into_owned()),
            Err(encoding) => {
                note(encoding);
                None
            }
        }
    };
    let request = body(request).and_then(|text| json::parse_lenient(text.trim().as_bytes()).ok());
    let Some(request) = request else {
        return Vec::new();
    };
    let status = text(response, "status_code").and_then(|status| status.parse().ok());
    let response = body(response).and_then(|text| Response::of_text(&text));
    vec![Exchange { time, path, request, response, status }]
}

/// Returns a header of a request or an answer.
fn header(message: Item<'_>, name: &str) -> Option<String> {
    let mut headers = message.get("headers")?.items();
    headers.find_map(|header| {
        let (key, value) = {
            let mut pair = header.items();
            (pair.next()?, pair.next()?)
        };
        key.data.eq_ignore_ascii_case(name.as_bytes()).then(|| value.text().map(str::to_owned))?
    })
}

/// Reads a message of a websocket: its type, whether the program sent it, its data and its time.
fn frame(item: Item<'_>) -> Option<Frame> {
    let mut items = item.items();
    let (_, is_request, data, time) = (items.next()?, items.next()?, items.next()?, items.next());
    Some(Frame {
        is_request: is_request.data == b"true",
        text: String::from_utf8_lossy(data.data).into_owned(),
        time: time.and_then(Item::text).and_then(seconds),
    })
}

/// Parses a time in seconds since 1970.
fn seconds(text: &str) -> Option<Millis> {
    let number: Value = crate::json::from_str(text).ok()?;
    json::millis(&number)
}
