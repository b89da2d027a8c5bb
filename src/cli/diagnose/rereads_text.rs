//! Expected re-reads of the lanes, in the text of `plimsoll diagnose`.

use super::Diagnosis;
use crate::analysis::rereads::WINDOW_CALLS;
use crate::cli::output::{clean, tokens};
use crate::figure::whole_percent;
use crate::report::{MAX_REREAD_FILES, REREADS_HEAD, rereads_cells};
use crate::units::Share;
use std::fmt::Write as _;

impl Diagnosis<'_> {
    pub(super) fn rereads_text(&self, text: &mut String) {
        let lanes = &self.losses.lanes;
        let _ = writeln!(
            text,
            "\nexpected re-reads (of files whose content was removed, within {WINDOW_CALLS} calls)\n  {:<16} {}",
            "",
            line(&REREADS_HEAD.map(str::to_owned))
        );
        for lane in lanes {
            let cells = line(&rereads_cells(&lane.expected));
            let _ = writeln!(text, "  {:<16} {cells}", clean(&lane.lane));
        }
        for lane in lanes.iter().filter(|lane| !lane.expected.total.is_none()) {
            let _ = writeln!(text, "  most likely read again in {}", clean(&lane.lane));
            for removed in lane.expected.likeliest(MAX_REREAD_FILES) {
                let _ = writeln!(
                    text,
                    "  {:>6}  {}: removed at call {}, {} tokens",
                    whole_percent(Share(removed.probability)),
                    clean(self.files.name(removed.file)),
                    removed.call + 1,
                    tokens(removed.tokens),
                );
            }
        }
    }
}

fn line(cells: &[String; 5]) -> String {
    let [number, interval, tokens, price, first] = cells;
    format!("{number:>8} {interval:>14} {tokens:>9} {price:>8} {first:>10}")
}
