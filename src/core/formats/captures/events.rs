//! The events of a streamed answer.

use crate::formats::json;
use crate::json::Value;

/// Parses an event stream: the data of each event as JSON, or one JSON value on each line. Other events are skipped.
pub(super) fn of_text(text: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let mut data = String::new();
    for line in text.lines() {
        if let Some(more) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
            continue;
        }
        if line.trim().is_empty() || line.starts_with("event:") {
            add(&mut events, &mut data);
        } else if line.starts_with('{') {
            events.extend(json::parse_lenient(line.as_bytes()).ok());
        }
    }
    add(&mut events, &mut data);
    events
}

/// Ends an event. Its lines of data may be separate values, because some logs leave out blank lines.
fn add(events: &mut Vec<Value>, data: &mut String) {
    let text = std::mem::take(data);
    if text.is_empty() {
        return;
    }
    match json::parse_lenient(text.as_bytes()) {
        Ok(event) => events.push(event),
        Err(_) => {
            events
                .extend(text.lines().filter_map(|line| json::parse_lenient(line.as_bytes()).ok()));
        }
    }
}

/// Returns an event that a log stores as a value: the event itself, its text, or an object with its `data`.
pub(super) fn of_value(value: &Value) -> Option<Value> {
    let data = value.get("data").unwrap_or(value);
    match data {
        Value::String(text) => {
            let text = text.trim();
            let text = text.strip_prefix("data:").unwrap_or(text);
            json::parse_lenient(text.trim().as_bytes()).ok()
        }
        Value::Object(_) => Some(data.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_events_in_all_notations() {
        let events = "event: a\r\ndata: {\"n\":1}\r\n\r\n: ping\n\ndata:{\"n\":\ndata:2}\n\ndata: [DONE]\n\n";
        let numbers = |events: Vec<Value>| -> Vec<String> {
            events.iter().filter_map(|event| Some(event.get("n")?.to_string())).collect()
        };
        assert_eq!(numbers(of_text(events)), ["1", "2"]);
        assert_eq!(numbers(of_text("data: {\"n\":1}\ndata: {\"n\":2}\n")), ["1", "2"]);
        assert_eq!(numbers(of_text("{\"n\":1}\n{\"n\":2}\n{\"torn")), ["1", "2"]);
        assert_eq!(numbers(of_text("no events")), [""; 0]);
        for stored in [r#"{"n":3}"#, r#"{"event":"a","data":{"n":3}}"#, r#""data: {\"n\":3}""#] {
            let value = crate::json::from_str(stored).unwrap();
            assert_eq!(numbers(of_value(&value).into_iter().collect()), ["3"], "{stored}");
        }
    }
}
