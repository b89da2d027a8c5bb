//! The samples as CSV, for spreadsheets and other plotting programs.

use super::Played;
use crate::safe_text::clean;
use std::fmt::Write as _;

/// Returns the samples of all lanes as CSV.
pub fn series(played: &[Played]) -> String {
    let mut text =
        "lane,call,turn,window,metered,tokens,pressure,overflows,into_reserve\n".to_owned();
    for lane in played {
        let name = quoted(&clean(&lane.lane));
        for s in &lane.outcome.samples {
            let (call, pressure) = (s.call + 1, s.pressure.0);
            let _ = writeln!(
                text,
                "{name},{call},{},{},{},{},{pressure},{},{}",
                s.turn,
                s.window.0,
                s.metered.0,
                s.tokens.0,
                s.overflows,
                s.is_into_reserve()
            );
        }
    }
    text
}

/// Returns a text as a CSV field, quoted if needed. A leading apostrophe keeps spreadsheets from reading it as a
/// formula.
pub fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']);
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_neither_two_fields_nor_a_formula() {
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)"] {
            assert_eq!(quoted(formula), format!("'{formula}"));
        }
        assert_eq!(quoted("=A,B"), "\"'=A,B\"");
        assert_eq!(quoted("a=-1"), "a=-1");
    }
}
