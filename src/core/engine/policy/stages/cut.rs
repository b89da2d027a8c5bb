//! Shortens tool results; the full results may be written to files.

use crate::engine::expr::{Expr, Moment};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings of the action `cut`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Unit of lengths.
    pub unit: Unit,
    /// Only longer texts are cut.
    pub over: Expr,
    /// Length that is kept.
    pub keep: Expr,
    /// Maximum number of lines. A longer text is also cut, and then only whole lines are kept.
    pub lines: Option<Expr>,
    /// Share of the kept text before the marker; the rest follows it.
    pub head: f64,
    /// Text in the place of removed content. Placeholders: `{removed}` units, `{tokens}` (four characters each),
    /// `{lines}`, and `{path}` of the file.
    pub marker: Arc<str>,
    /// Whether the full text is written to a file.
    pub spills: bool,
}

/// The unit of text lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Code points.
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

impl Cut {
    /// Returns the shortened text with each of these paths of the file with the full text; none if it is unchanged.
    /// Only the first path decides, so that it does not depend on the folder of an export.
    pub(crate) fn shorten<const N: usize>(
        &self,
        text: &str,
        moment: &Moment,
        paths: [&str; N],
    ) -> Option<[String; N]> {
        let over = self.over.value(moment);
        let most_lines = self.lines.as_ref().map(|lines| lines.value(moment).max(0.0) as usize);
        // No text has more characters or lines than bytes, so most texts need no count.
        if text.len() as f64 <= over && most_lines.is_none_or(|most| text.len() <= most) {
            return None;
        }
        let length = self.unit.length(text);
        let is_long = length as f64 > over;
        let n_lines = most_lines.map(|_| text.lines().count());
        if !is_long && n_lines <= most_lines {
            return None;
        }
        let keep = self.keep.value(moment).max(0.0) as usize;
        let (head, tail) = match most_lines {
            Some(most) => (self.whole_lines(text, keep, most), ""),
            None => self.ends(text, keep),
        };
        let removed = length.saturating_sub(self.unit.length(head) + self.unit.length(tail));
        let gone_lines =
            text.lines().count().saturating_sub(head.lines().count() + tail.lines().count());
        let marker = self
            .marker
            .replace("{removed}", &removed.to_string())
            .replace("{tokens}", &removed.div_ceil(4).to_string())
            .replace("{lines}", &gone_lines.to_string());
        let short = paths.map(|path| format!("{head}{}{tail}", marker.replace("{path}", path)));
        let is_shorter = short.first().is_some_and(|short| short.len() < text.len());
        is_shorter.then_some(short)
    }

    /// Returns the start and the end of a text that are kept.
    fn ends<'t>(&self, text: &'t str, keep: usize) -> (&'t str, &'t str) {
        let head = (keep as f64 * self.head).floor() as usize;
        let tail = keep.saturating_sub(head);
        let length = self.unit.length(text);
        let start = self.unit.before(text, head);
        let end = self.unit.behind(text, length.saturating_sub(tail));
        (&text[..start], &text[end.max(start)..])
    }

    /// Returns as many whole lines from the start as fit.
    fn whole_lines<'t>(&self, text: &'t str, keep: usize, most: usize) -> &'t str {
        let (mut end, mut used) = (0, 0);
        for line in text.split_inclusive('\n').take(most) {
            used += self.unit.length(line);
            if used > keep {
                break;
            }
            end += line.len();
        }
        text[..end].trim_end_matches('\n')
    }

    /// Returns the expressions in its settings.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        [&self.over, &self.keep].into_iter().chain(&self.lines).collect()
    }

    /// Replaces names by their expressions.
    pub(crate) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        Self {
            over: self.over.bind(names),
            keep: self.keep.bind(names),
            lines: self.lines.as_ref().map(|lines| lines.bind(names)),
            ..self.clone()
        }
    }
}

impl Unit {
    fn length(self, text: &str) -> usize {
        match self {
            Self::Chars => text.chars().count(),
            Self::Bytes => text.len(),
        }
    }

    /// Returns the byte offset after `n` units from the start, without a partial character.
    fn before(self, text: &str, n: usize) -> usize {
        match self {
            Self::Chars => text.char_indices().nth(n).map_or(text.len(), |(at, _)| at),
            Self::Bytes => text.floor_char_boundary(n),
        }
    }

    /// Returns the byte offset at which the rest after `n` units begins, without a partial character.
    fn behind(self, text: &str, n: usize) -> usize {
        match self {
            Self::Chars => self.before(text, n),
            Self::Bytes => text.ceil_char_boundary(n.min(text.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(unit: Unit, over: f64, keep: f64, head: f64, marker: &str) -> Cut {
        Cut {
            unit,
            over: Expr::constant(over),
            keep: Expr::constant(keep),
            lines: None,
            head,
            marker: marker.into(),
            spills: false,
        }
    }

    fn short(cut: &Cut, text: &str) -> Option<String> {
        let [short] = cut.shorten(text, &Moment::default(), ["a/file"])?;
        Some(short)
    }

    #[test]
    fn keeps_texts_up_to_the_limit_and_cuts_longer_ones() {
        let cut = cut(Unit::Chars, 20.0, 4.0, 0.5, "…");
        assert_eq!(short(&cut, &"a".repeat(20)), None);
        assert_eq!(short(&cut, &"a".repeat(21)).unwrap(), "aa…aa");
    }

    #[test]
    fn keeps_characters_whole_and_fills_in_the_marker() {
        let cut = cut(Unit::Bytes, 12.0, 8.0, 0.5, "{removed}");
        assert_eq!(short(&cut, "日月火水木").unwrap(), "日9木");
    }

    #[test]
    fn keeps_a_text_that_a_cut_would_not_shorten() {
        let cut = cut(Unit::Chars, 3.0, 2.0, 1.0, " and much more than there was, in {path}");
        assert_eq!(short(&cut, "four"), None);
    }

    #[test]
    fn keeps_only_whole_lines_with_a_line_limit() {
        let lines = Some(Expr::constant(2.0));
        let cut = Cut { lines, ..cut(Unit::Bytes, 100.0, 100.0, 1.0, "\n{lines} more in {path}") };
        let text = "one line\nanother line\na third line of them\nthe last line\n";
        assert_eq!(short(&cut, text).unwrap(), "one line\nanother line\n2 more in a/file");
        assert_eq!(short(&cut, "one\ntwo\n"), None);
    }
}
