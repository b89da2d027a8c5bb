//! Excerpts of matching messages: one line, centered on the match.

use super::hits::Hit;
use super::{Query, QuerySubject};
use crate::session::{Kind, Role, kind_of};
use crate::units::Tokens;
use std::ops::Range;

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetPiece {
    /// Text on one line.
    pub text: String,
    /// Whether a text of the query matches here.
    pub is_match: bool,
}

/// A message that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundMessage {
    /// Its first match.
    pub hit: Hit,
    /// Number of its matches.
    pub n_hits: usize,
    /// Index of the call that wrote it or included it first; `None` if no call included it.
    pub call: Option<usize>,
    /// Turn, from 1; 0 before the first.
    pub turn: u32,
    /// Role of its author.
    pub role: Role,
    /// Kind of the part with the first match.
    pub kind: Kind,
    /// Tool of that part, if any.
    pub tool: Option<Box<str>>,
    /// Its tokens; `None` if they are not counted.
    pub tokens: Option<Tokens>,
    /// Bytes of the first match in the text of its part; `None` if the message matches without a text.
    pub span: Option<Range<usize>>,
    /// The text around the first match.
    pub snippet: Vec<SnippetPiece>,
}

impl Query {
    /// Returns a message with its matches and a snippet of about `chars` characters; `None` if it does not match.
    pub fn find_in(&self, subject: &QuerySubject<'_>, chars: usize) -> Option<FoundMessage> {
        if !self.accepts(subject) {
            return None;
        }
        let hits = self.hits_of(subject, usize::MAX);
        let hit = hits[0];
        let part = subject.parts.get(hit.part as usize);
        Some(FoundMessage {
            hit,
            n_hits: hits.len(),
            call: subject.call,
            turn: subject.message.turn,
            role: subject.message.author(subject.parts),
            kind: part.map_or(Kind::Notice, |part| kind_of(subject.message, part)),
            tool: part
                .and_then(|part| part.body.tool())
                .filter(|tool| !tool.is_empty())
                .map(Into::into),
            tokens: subject.tokens,
            span: part.and_then(|part| {
                self.occurrences(part.body.text()).into_iter().nth(hit.nth as usize)
            }),
            snippet: self.snippet(subject, hit, chars),
        })
    }

    /// Returns the first match in the texts of a message; `None` if its texts have none.
    pub fn first_hit(&self, subject: &QuerySubject<'_>) -> Option<Hit> {
        let mut texts = subject.parts.iter().map(|part| part.body.text());
        let is_in = |text: &str| self.needles().any(|needle| needle.is_in(text));
        let part = texts.position(is_in)?;
        Some(Hit { message: subject.index as u32, part: part as u32, nth: 0 })
    }

    /// Returns the text around a match, or the start of the message if it matches without a text.
    pub fn snippet(&self, subject: &QuerySubject<'_>, hit: Hit, chars: usize) -> Vec<SnippetPiece> {
        let text = subject.parts.get(hit.part as usize);
        let text = text.map_or("", |part| part.body.text());
        let place = self.occurrences(text).into_iter().nth(hit.nth as usize);
        if place.is_none() && text.trim().is_empty() {
            let mut texts = subject.parts.iter().map(|part| part.body.text());
            let text = texts.find(|text| !text.trim().is_empty());
            return self.excerpt(text.unwrap_or_default(), 0..0, chars);
        }
        self.excerpt(text, place.unwrap_or(0..0), chars)
    }

    fn excerpt(&self, text: &str, place: Range<usize>, chars: usize) -> Vec<SnippetPiece> {
        let (start, end) = bounds(text, &place, chars);
        let shown = &text[start..end];
        let mut line = SnippetLine::default();
        line.push(if start > 0 { "…" } else { "" }, false);
        let mut at = 0;
        for found in self.occurrences(shown) {
            line.push(&shown[at..found.start], false);
            line.push(&shown[found.clone()], true);
            at = found.end;
        }
        line.push(&shown[at..], false);
        line.push(if end < text.len() { "…" } else { "" }, false);
        line.0
    }
}

/// Returns the byte range of about `chars` characters around a place. What one side does not need, the other side gets.
fn bounds(text: &str, place: &Range<usize>, chars: usize) -> (usize, usize) {
    let len = text[place.clone()].chars().count().min(chars);
    let sides = chars - len;
    let after = text[place.end..].chars().take(sides).count();
    let before = sides - after.min(sides - sides / 2);
    let start = text[..place.start].char_indices().rev().take(before).last();
    let start = start.map_or(place.start, |(at, _)| at);
    let taken = text[start..place.start].chars().count();
    let mut rest = text[place.start..].char_indices();
    let end = rest.nth(chars - taken);
    (start, end.map_or(text.len(), |(at, _)| place.start + at))
}

/// A line that is put together from pieces. White space is folded.
#[derive(Default)]
struct SnippetLine(Vec<SnippetPiece>);

impl SnippetLine {
    fn push(&mut self, text: &str, is_match: bool) {
        let last = self.0.last().and_then(|piece| piece.text.chars().last());
        let mut is_after_space = last.is_none_or(char::is_whitespace);
        let mut folded = String::with_capacity(text.len());
        for c in text.chars() {
            if !c.is_whitespace() {
                folded.push(c);
            } else if !is_after_space {
                folded.push(' ');
            }
            is_after_space = c.is_whitespace();
        }
        if folded.is_empty() {
            return;
        }
        match self.0.last_mut().filter(|last| last.is_match == is_match) {
            Some(last) => last.text.push_str(&folded),
            None => self.0.push(SnippetPiece { text: folded, is_match }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(query: &str, text: &str, chars: usize) -> String {
        let query = Query::parse(query).unwrap();
        let place = query.occurrences(text).into_iter().next();
        let pieces = query.excerpt(text, place.unwrap_or(0..0), chars);
        let shown = pieces
            .into_iter()
            .map(|piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text });
        shown.collect()
    }

    #[test]
    fn the_match_is_in_the_middle_and_at_the_ends_the_other_side_is_longer() {
        let text = "0123456789 word 0123456789";
        assert_eq!(line("word", text, 10), "…89 [word] 01…");
        assert_eq!(line("0123", text, 10), "[0123]456789…");
        assert_eq!(line("word", "a word", 20), "a [word]");
        assert_eq!(
            line("word", &format!("{text} word"), 60),
            "0123456789 [word] 0123456789 [word]"
        );
        assert_eq!(line("6789", "0123456789 wo", 12), "…12345[6789] wo");
        assert_eq!(line("role:user", text, 12), "0123456789 w…");
    }

    #[test]
    fn white_space_is_folded_and_long_matches_are_cut() {
        assert_eq!(line("b", "a\n\n  b\tc ", 40), "a [b] c ");
        assert_eq!(line("é", "ééé", 2), "[éé]…");
        assert_eq!(line("\"abcdef\"", "abcdef", 3), "abc…");
    }
}
