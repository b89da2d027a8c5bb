//! Parser of server-sent events, from bytes in pieces of any size.
//!
//! Follows <https://html.spec.whatwg.org/multipage/server-sent-events.html>, except that the last event of a stream may
//! lack its empty line.

use memchr::memchr2;

/// The received part of an incomplete event.
#[derive(Debug, Default)]
pub(super) struct Sse {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
    has_begun: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Sse {
    /// Parses bytes and passes the data of each completed event to `on_data`.
    pub(super) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut on_data: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((&first, more)) = bytes.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = more;
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(&mut on_data)?;
        }
        Ok(())
    }

    /// Ends the stream and passes the data of the last event to `on_data`.
    pub(super) fn end<E>(
        &mut self,
        mut on_data: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_line(&mut on_data)?;
        self.end_line(&mut on_data)
    }

    fn end_line<E>(&mut self, on_data: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        let mut line = &*line;
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return if std::mem::take(&mut self.has_data) { on_data(&data) } else { Ok(()) };
        }
        // llama.cpp sends errors in a field of their own.
        let value = [&b"data:"[..], b"error:"].iter().find_map(|field| line.strip_prefix(*field));
        if let Some(value) = value {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let (mut sse, mut events) = (Sse::default(), Vec::new());
        let mut on_data = |data: &[u8]| -> Result<(), Infallible> {
            events.push(String::from_utf8(data.to_vec()).unwrap());
            Ok(())
        };
        for piece in pieces {
            sse.feed(piece, &mut on_data).unwrap();
        }
        sse.end(&mut on_data).unwrap();
        events
    }

    #[test]
    fn events_do_not_depend_on_pieces_and_line_endings() {
        for end in ["\n", "\r\n", "\r"] {
            let stream =
                ["\u{feff}: hi", "", "event: a", "data: é1", "data:2", "id: 7", "", "data: 3"];
            let stream = stream.join(end);
            let bytes = stream.as_bytes();
            for at in 0..=bytes.len() {
                let cut = events(&[&bytes[..at], &bytes[at..]]);
                assert_eq!(cut, ["é1\n2", "3"], "cut at {at} of {stream:?}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(events(&single), ["é1\n2", "3"]);
        }
    }

    #[test]
    fn a_stream_without_data_has_no_events() {
        assert_eq!(events(&[b"\n\n: nothing\nevent: a\n\nretry: 5"]), [""; 0]);
        assert_eq!(events(&[b"data\n\ndata:\n\n"]), [""]);
    }
}
