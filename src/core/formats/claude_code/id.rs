//! Record ids. Nearly all are UUIDs, which are stored as numbers to save memory in large files.

use std::fmt;

/// Id of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    /// A UUID in the usual notation: 32 lowercase hexadecimal digits in five groups.
    Uuid(u128),
    /// Any other id.
    Other(Box<str>),
}

/// Number of digits of each group (RFC 9562, section 4).
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        uuid(text).map_or_else(|| Self::Other(text.into()), Self::Uuid)
    }
}

impl fmt::Display for Id {
    /// Writes the id in the notation of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = match self {
            Self::Uuid(number) => number,
            Self::Other(text) => return f.write_str(text),
        };
        let mut left = 128;
        for (nth, digits) in GROUPS.into_iter().enumerate() {
            left -= digits * 4;
            let group = (number >> left) & ((1 << (digits * 4)) - 1);
            let hyphen = if nth == 0 { "" } else { "-" };
            write!(f, "{hyphen}{group:0digits$x}")?;
        }
        Ok(())
    }
}

fn uuid(text: &str) -> Option<u128> {
    let mut number = 0;
    let mut rest = text.as_bytes();
    for (nth, digits) in GROUPS.into_iter().enumerate() {
        if nth > 0 {
            rest = rest.strip_prefix(b"-")?;
        }
        let (group, after) = rest.split_at_checked(digits)?;
        for byte in group {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            number = number << 4 | u128::from(digit);
        }
        rest = after;
    }
    rest.is_empty().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_every_id_in_its_original_notation() {
        let usual = [
            "00000000-0000-0000-0000-000000000000",
            "0197f3a2-00c4-7b1e-8d05-00000000000f",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ];
        for text in usual {
            let id = Id::from(text);
            assert!(matches!(id, Id::Uuid(_)), "{text}");
            assert_eq!(id.to_string(), text);
        }
        let others = [
            "",
            "a",
            "é",
            "0197F3A2-00C4-7B1E-8D05-00000000000F",
            "0197f3a200c47b1e8d0500000000000f",
            "0197f3a2-00c4-7b1e-8d05-00000000000f-",
            "0197f3a2-00c4-7b1e-8d05-00000000000",
            "0197f3a2-00c4-7b1e-8d05+00000000000f",
            "+197f3a2-00c4-7b1e-8d05-00000000000f",
        ];
        for text in others {
            let id = Id::from(text);
            assert_eq!(id, Id::Other(text.into()));
            assert_eq!(id.to_string(), text);
        }
    }
}
