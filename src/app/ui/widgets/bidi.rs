//! Layout of text that contains right-to-left words, in visual order.
//!
//! egui shapes Hebrew and Arabic words correctly but places all words from left to right. This module therefore breaks
//! the lines itself and passes each line to egui as separate sections, ordered from left to right as displayed.

use egui::text::{LayoutJob, TextFormat};
use egui::{FontSelection, Label, Response, RichText, Role, Ui, WidgetInfo, WidgetText};
use std::ops::Range;
use unicode_bidi::{BidiInfo, Level};

/// Returns whether a text contains right-to-left characters.
pub(crate) fn is_any(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_right_to_left)
}

/// Shows a text on one line and truncates it to the available width.
pub fn one_line(ui: &mut Ui, text: RichText) -> Response {
    if !is_any(text.text()) {
        return ui.add(Label::new(text).truncate());
    }
    let plain = text.text().to_owned();
    let format = format(ui, text);
    let space = Space { width: ui.available_width(), max_lines: Some(1) };
    let job = lines(ui, &plain, &format, space);
    let response = ui.add(Label::new(job).extend());
    // Assistive tools read the text in logical order.
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &plain));
    response
}

/// Lays out a text for a width in points.
pub(crate) fn wrapped(ui: &Ui, text: RichText, width: f32) -> LayoutJob {
    let plain = text.text().to_owned();
    let format = format(ui, text);
    let space = Space { width, max_lines: None };
    lines(ui, &plain, &format, space)
}

fn format(ui: &Ui, text: RichText) -> TextFormat {
    let job = WidgetText::from(text).into_layout_job(
        ui.style(),
        FontSelection::Default,
        ui.text_valign(),
    );
    let format = job.sections.first().map(|section| section.format.clone());
    let mut format = format.unwrap_or_default();
    if format.color == egui::Color32::PLACEHOLDER {
        format.color = ui.visuals().text_color();
    }
    format
}

/// The space for a text.
#[derive(Clone, Copy)]
struct Space {
    /// Width of a line, in points.
    width: f32,
    max_lines: Option<usize>,
}

/// Lays out a text line by line.
fn lines(ui: &Ui, text: &str, format: &TextFormat, space: Space) -> LayoutJob {
    let width = |text: &str| {
        let mut job = LayoutJob::default();
        job.append(text, 0.0, format.clone());
        ui.painter().layout_job(job).size().x
    };
    let mut job = LayoutJob::default();
    for (nth, paragraph) in text.split('\n').enumerate() {
        if nth > 0 {
            job.append("\n", 0.0, format.clone());
        }
        if !is_any(paragraph) && space.max_lines.is_none() {
            job.append(paragraph, 0.0, format.clone());
            continue;
        }
        let lines = broken(paragraph, space.width, &width);
        let level = level(paragraph);
        let most = space.max_lines.unwrap_or(lines.len());
        for (nth, line) in lines.iter().take(most).enumerate() {
            if nth > 0 {
                job.append("\n", 0.0, format.clone());
            }
            let line = &paragraph[line.clone()];
            if nth + 1 == most && most < lines.len() {
                let line = cut(line, space.width, &width);
                append(&mut job, &line, level, format);
            } else {
                append(&mut job, line, level, format);
            }
        }
    }
    // egui breaks only words that are longer than a line.
    job.wrap.max_width = if space.max_lines.is_some() { f32::INFINITY } else { space.width };
    job
}

/// Returns the byte ranges of a paragraph's lines, each as long as `room` allows. Words are never broken.
fn broken(text: &str, room: f32, width: &dyn Fn(&str) -> f32) -> Vec<Range<usize>> {
    let (mut lines, mut start, mut end) = (Vec::new(), 0, 0);
    let mut used = 0.0;
    for word in text.split_inclusive(char::is_whitespace) {
        let (seen, whole) = (width(word.trim_end()), width(word));
        if end > start && used + seen > room {
            lines.push(start..end);
            (start, used) = (end, 0.0);
        }
        end += word.len();
        used += whole;
    }
    lines.push(start..end);
    lines
}

/// Truncates a line to the words that fit before a final `…`.
fn cut(line: &str, room: f32, width: &dyn Fn(&str) -> f32) -> String {
    let mut line = line.trim_end();
    while let Some(space) = line.rfind(char::is_whitespace) {
        if width(line) + width(" …") <= room {
            break;
        }
        line = line[..space].trim_end();
    }
    format!("{line} …")
}

/// Returns the base direction of a paragraph: that of its first letter.
fn level(paragraph: &str) -> Level {
    let info = BidiInfo::new(paragraph, None);
    let first = info.paragraphs.first();
    first.map_or_else(Level::ltr, |paragraph| paragraph.level)
}

/// Appends a line as sections from left to right.
fn append(job: &mut LayoutJob, line: &str, level: Level, format: &TextFormat) {
    for piece in pieces(line, level) {
        job.append(&piece, 0.0, format.clone());
    }
}

/// Splits a line into pieces in visual order: left-to-right text, right-to-left words, and the characters between those
/// words one by one. `level` is the base direction of the paragraph that contains the line.
fn pieces(line: &str, level: Level) -> Vec<String> {
    let info = BidiInfo::new(line, Some(level));
    let mut pieces = Vec::new();
    for paragraph in &info.paragraphs {
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            if levels[run.start].is_ltr() {
                pieces.push(line[run].to_owned());
            } else {
                let mut words = words(&line[run.clone()], &levels[run]);
                words.reverse();
                pieces.extend(words);
            }
        }
    }
    pieces
}

/// Splits a right-to-left run into its words. Each character between words becomes a piece of its own.
fn words(run: &str, levels: &[Level]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_in_word = false;
    for (at, c) in run.char_indices() {
        debug_assert!(levels[at].is_rtl(), "a run has one direction");
        let is_letter = is_right_to_left(c);
        match words.last_mut() {
            Some(word) if is_letter && is_in_word => word.push(c),
            _ => words.push(mirrored(c).to_string()),
        }
        is_in_word = is_letter;
    }
    words
}

/// Returns whether a character belongs to a Unicode block of a right-to-left script.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Returns the mirrored form of a bracket for right-to-left text.
fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_words_visually() {
        let pieces = |line: &str| crate::app::ui::widgets::bidi::pieces(line, level(line));
        // A Hebrew sentence: the first word is rightmost.
        let all = pieces("שלום לכל עולם.");
        assert_eq!(all, [".", "עולם", " ", "לכל", " ", "שלום"]);
        // A Hebrew sentence with a file name, which reads from left to right.
        let all = pieces("פתח payments.py עכשיו");
        assert_eq!(all, ["עכשיו", " ", "payments.py", " ", "פתח"]);
        // Two Hebrew words in an English sentence.
        let all = pieces("say שלום עולם now");
        assert_eq!(all, ["say ", "עולם", " ", "שלום", " now"]);
        // Brackets are mirrored; digits read from left to right.
        let all = pieces("שלום (12) עולם");
        assert_eq!(all, ["עולם", " ", "(", "12", ")", " ", "שלום"]);
        assert_eq!(pieces("plain text"), ["plain text"]);
        // A line of a Hebrew paragraph keeps its direction when it begins with a Latin name.
        let all = crate::app::ui::widgets::bidi::pieces("v2 ישן.", level("הקובץ v2 ישן."));
        assert_eq!(all, [".", "ישן", " ", "v2"]);
    }

    #[test]
    fn breaks_lines_before_it_orders_words() {
        let width = |text: &str| text.chars().count() as f32;
        let text = "אחת שתיים שלוש ארבע";
        let lines: Vec<_> =
            broken(text, 10.0, &width).into_iter().map(|line| text[line].trim_end()).collect();
        assert_eq!(lines, ["אחת שתיים", "שלוש ארבע"]);
        assert_eq!(cut("אחת שתיים", 9.0, &width), "אחת …");
        assert!(broken("", 10.0, &width)[0].is_empty());
    }

    #[test]
    fn detects_right_to_left_text() {
        assert!(!is_any("plain"));
        assert!(!is_any("漢字 é ✓"));
        assert!(is_any("say שלום"));
        assert!(is_any("مرحبا"));
    }
}
