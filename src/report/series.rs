//! The curve as a table: a line of every sample, for spreadsheets and plots of other programs.

use super::Played;
use crate::safe_text::clean;
use std::fmt::Write as _;

/// The samples of all lanes as CSV.
pub fn series(played: &[Played]) -> String {
    let mut text = "lane,step,turn,window,metered,tokens,pressure,overflows\n".to_owned();
    for lane in played {
        let name = quoted(&clean(&lane.lane));
        for s in &lane.outcome.samples {
            let (step, pressure) = (s.step + 1, s.pressure.0);
            let _ = writeln!(
                text,
                "{name},{step},{},{},{},{},{pressure},{}",
                s.turn, s.window.0, s.metered.0, s.tokens.0, s.overflows
            );
        }
    }
    text
}

/// A CSV field; a lane's name may hold quotes and commas.
pub fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
