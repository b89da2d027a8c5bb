//! Text with unpaired surrogates, which case files escape.

use plimsoll::languages::python::PythonError;

/// Decodes UTF-16 units to text. Rejects unpaired surrogates as Python's `str.encode` does.
///
/// # Errors
/// `UnicodeEncodeError` with the position of the first run of unpaired surrogates.
pub(super) fn utf8_of(units: impl IntoIterator<Item = u16>) -> Result<String, PythonError> {
    let chars: Vec<_> = char::decode_utf16(units).collect();
    let Some(first) = chars.iter().position(Result::is_err) else {
        return Ok(chars.into_iter().flatten().collect());
    };
    let run = chars[first..].iter().take_while(|c| c.is_err()).count();
    let unencodable = match &chars[first] {
        Err(unit) if run == 1 => {
            let unit = unit.unpaired_surrogate();
            format!("character '\\u{unit:04x}' in position {first}")
        }
        _ => format!("characters in position {first}-{}", first + run - 1),
    };
    Err(PythonError::new(
        "UnicodeEncodeError",
        format!("'utf-8' codec can't encode {unencodable}: surrogates not allowed"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpaired_surrogate_is_an_error() {
        assert_eq!(utf8_of([0xd83d, 0xde00]).unwrap(), "😀");
        assert_eq!(
            utf8_of([0x61, 0xd800]).unwrap_err().text,
            "'utf-8' codec can't encode character '\\ud800' in position 1: surrogates not allowed"
        );
        assert_eq!(
            utf8_of([0xd800, 0xd800]).unwrap_err().text,
            "'utf-8' codec can't encode characters in position 0-1: surrogates not allowed"
        );
    }
}
