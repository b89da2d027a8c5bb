//! A text of any length that can be selected: only the pieces in view are laid out.

use super::roll::roll;
use egui::{Id, Label, RichText, TextStyle, Ui};
use std::ops::Range;

/// A piece is about so many bytes, and ends where a line does.
const PIECE: usize = 2 * 1024;
/// A line longer than this is cut.
const LONGEST: usize = 3 * PIECE;

/// Shows a text, wrapped.
pub fn long_text(ui: &mut Ui, id: Id, text: &str, style: &TextStyle) {
    let pieces = pieces(text);
    let font = style.resolve(ui.style());
    // As wide as the letters of code are; lines of prose come out a little shorter.
    let columns = (ui.available_width() / (font.size * 0.6)).max(1.0);
    let row = ui.text_style_height(style);
    let guess = |nth: usize| {
        let lines = text[pieces[nth].clone()].lines();
        let rows = lines.map(|line| (line.len() as f32 / columns).ceil().max(1.0));
        row * rows.sum::<f32>()
    };
    roll(ui, id.with(text.len()), pieces.len(), guess, |ui, nth| {
        let piece = &text[pieces[nth].clone()];
        let is_last = nth + 1 == pieces.len();
        // The end of its last line is where the next piece begins.
        let piece = if is_last {
            piece
        } else {
            piece.strip_suffix('\n').unwrap_or(piece)
        };
        let piece = RichText::new(piece).text_style(style.clone());
        ui.add(Label::new(piece).wrap().selectable(true));
    });
}

/// Where the pieces of a text are, each of whole lines unless a line is too long.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while text.len() - from > PIECE + PIECE / 2 {
        let least = text.floor_char_boundary(from + PIECE);
        let most = text.floor_char_boundary((from + LONGEST).min(text.len()));
        let line_end = text[least..most].find('\n').map(|at| least + at + 1);
        // The last space of what is too long, else anywhere.
        let space = || text[least..most].rfind(' ').map(|at| least + at + 1);
        let rest = (most == text.len()).then_some(most);
        let end = line_end.or(rest).or_else(space).unwrap_or(most);
        pieces.push(from..end);
        from = end;
    }
    if from < text.len() || pieces.is_empty() {
        pieces.push(from..text.len());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Vec<&str> {
        let pieces: Vec<&str> = pieces(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST));
        pieces
    }

    #[test]
    fn a_short_text_is_one_piece() {
        assert_eq!(whole(""), [""]);
        assert_eq!(whole("a\nb\n"), ["a\nb\n"]);
    }

    #[test]
    fn a_long_text_is_cut_at_the_ends_of_lines() {
        let text = "a line of some words\n".repeat(1_000);
        let pieces = whole(&text);
        assert!(pieces.len() > 8);
        assert!(pieces.iter().all(|piece| piece.ends_with('\n')));
        assert!(pieces.iter().all(|piece| piece.len() < 2 * PIECE));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_at_a_space_if_it_has_one() {
        let words = "word ".repeat(4_000);
        assert!(whole(&words).iter().all(|piece| piece.ends_with(' ')));
        let bare = "漢".repeat(9_000);
        assert!(whole(&bare).len() > 3);
    }
}
