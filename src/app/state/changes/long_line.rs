//! Long lines: shows only the differences, or the two ends.

use crate::app::state::changes::diff_line::{DiffLine, DiffPiece, Side};
use crate::app::state::changes::plain_line::{plain, without_middle};

/// Characters shown before and after the difference of two long lines.
const AROUND: usize = 160;
/// Minimum characters of the common ends of two long lines to treat one as a change of the other.
const MIN_COMMON: usize = 16;

/// Returns two long lines, reduced to their difference and some characters around it.
pub(crate) fn pair(removed: &str, added: &str) -> [DiffLine; 2] {
    let (a, b) = (removed.as_bytes(), added.as_bytes());
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let begin = removed.floor_char_boundary(same);
    let most = removed.len().min(added.len()) - begin;
    let same = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let end = removed.len() - removed.ceil_char_boundary(removed.len() - same);
    let ending = &removed[removed.len() - end..];
    if removed[..begin].chars().count() + ending.chars().count() < MIN_COMMON {
        return [plain(Side::Removed, removed), plain(Side::Added, added)];
    }
    let line = |side: Side, text: &str| {
        let (before, rest) = text.split_at(begin);
        let (differs, after) = rest.split_at(rest.len() - end);
        let n_before = before.chars().count();
        let n_after = after.chars().count();
        let before = match n_before.checked_sub(AROUND) {
            Some(skipped) if skipped > 0 => {
                format!("…{}", before.chars().skip(skipped).collect::<String>())
            }
            _ => before.to_owned(),
        };
        let after = if n_after > AROUND {
            format!("{}…", after.chars().take(AROUND).collect::<String>())
        } else {
            after.to_owned()
        };
        let piece = |text: String, is_changed: bool| DiffPiece { text, is_changed };
        DiffLine {
            side,
            pieces: vec![
                piece(before, false),
                piece(without_middle(differs), true),
                piece(after, false),
            ],
        }
    };
    [line(Side::Removed, removed), line(Side::Added, added)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::changes::diff::{Diff, Row};

    /// Formats the lines as text, with changes in brackets.
    fn formatted(old: &str, new: &str) -> Vec<(Side, String)> {
        let piece = |piece: &DiffPiece| {
            if piece.is_changed { format!("[{}]", piece.text) } else { piece.text.clone() }
        };
        let diff = Diff::new(old, new);
        let lines = diff.rows.iter().filter_map(|row| match row {
            Row::Line(line) => Some((line.side, line.pieces.iter().map(piece).collect())),
            Row::Fold(_) => None,
        });
        lines.collect()
    }

    #[test]
    fn long_lines_show_only_their_differences() {
        let old = format!("{}é middle {}", "ab ".repeat(9_000), "yz ".repeat(9_000));
        let formatted = formatted(&old, &old.replace("é middle", "è"));
        let [(Side::Removed, was), (Side::Added, is)] = &formatted[..] else {
            panic!("{formatted:?}");
        };
        assert!(was.contains("[é middle]") && is.contains("[è]"), "{formatted:?}");
        let most = 2 * AROUND + 20;
        assert!(formatted.iter().all(|(_, line)| line.chars().count() < most));
    }

    #[test]
    fn long_lines_without_common_text_are_not_compared() {
        let formatted = formatted(&"x y ".repeat(2_000), "[cleared]");
        assert_eq!(formatted[0], (Side::Added, "[cleared]".to_owned()));
        assert!(formatted[1].1.starts_with("x y x y"), "{formatted:?}");
    }

    #[test]
    fn the_middle_of_a_long_line_is_omitted() {
        let formatted = formatted(&"x".repeat(100_000), "");
        assert_eq!(formatted.len(), 1);
        assert!(formatted[0].1.contains("98,800 characters"), "{formatted:?}");
    }
}
