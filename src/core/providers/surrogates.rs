//! Surrogate pairs that a server split between two events: the first escape at the end of one event's text, the second
//! at the start of the next.

/// Length of an escape: `\u` and four digits.
const ESCAPE: usize = 6;
/// Replacement of a single surrogate.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// The first surrogate of a pair whose second one has not been received.
#[derive(Debug, Default)]
pub(super) struct Surrogates(Option<[u8; ESCAPE]>);

impl Surrogates {
    /// Returns JSON without single surrogates: each is joined with that of the previous JSON, kept for the next, or
    /// replaced.
    pub(super) fn mend(&mut self, json: &[u8]) -> Vec<u8> {
        let mut mended = Vec::with_capacity(json.len() + ESCAPE);
        let mut rest = json;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
            mended.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            let Some((escape, unit)) = escaped(rest) else {
                // Every other escape is a backslash and one character.
                let (other, behind) = rest.split_at(rest.len().min(2));
                mended.extend_from_slice(other);
                rest = behind;
                continue;
            };
            rest = &rest[ESCAPE..];
            match unit {
                0xd800..=0xdbff => match escaped(rest) {
                    Some((low, 0xdc00..=0xdfff)) => {
                        mended.extend([escape, low].concat());
                        rest = &rest[ESCAPE..];
                    }
                    _ if rest.first() == Some(&b'"') => self.0 = Some(escape),
                    _ => mended.extend_from_slice(REPLACEMENT),
                },
                0xdc00..=0xdfff => match self.0.take() {
                    Some(high) => mended.extend([high, escape].concat()),
                    None => mended.extend_from_slice(REPLACEMENT),
                },
                _ => mended.extend(escape),
            }
        }
        mended.extend_from_slice(rest);
        mended
    }

    /// Returns the replacement of a surrogate that was never completed.
    pub(super) fn rest(&mut self) -> Option<char> {
        self.0.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}

/// Returns the escape at the start of JSON and its UTF-16 code unit.
fn escaped(json: &[u8]) -> Option<([u8; ESCAPE], u16)> {
    let escape: [u8; ESCAPE] = json.get(..ESCAPE)?.try_into().ok()?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    Some((escape, u16::from_str_radix(digits, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    /// Joins the texts of these pieces of JSON.
    fn joined(pieces: &[&str]) -> String {
        let mut surrogates = Surrogates::default();
        let mut text = String::new();
        for piece in pieces {
            let value: Value = serde_json::from_slice(&surrogates.mend(piece.as_bytes())).unwrap();
            text += value.as_str().unwrap();
        }
        text.extend(surrogates.rest());
        text
    }

    #[test]
    fn pairs_are_joined_and_single_surrogates_are_replaced() {
        let cases: [(&[&str], &str); 7] = [
            (&[r#""a\ud83e""#, r#""\uDD80b""#], "a🦀b"),
            (&[r#""\ud83e\udd80""#], "🦀"),
            (&[r#""\ud83e""#, r#""""#, r#""\udd80""#], "🦀"),
            (&[r#""\ud83e b""#], "\u{fffd} b"),
            (&[r#""a\udd80""#], "a\u{fffd}"),
            (&[r#""a\ud83e""#], "a\u{fffd}"),
            (&[r#""\\ud83e\n\u00e9""#], "\\ud83e\né"),
        ];
        for (pieces, text) in cases {
            assert_eq!(joined(pieces), text, "{pieces:?}");
        }
    }
}
