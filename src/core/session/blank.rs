//! Texts without a visible character.

/// Returns whether a text has no visible character: only white space, control characters, and characters that Unicode
/// displays as nothing (<https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point>).
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            // An empty braille pattern.
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_blank_and_joined_emoji_are_not() {
        for text in ["", " \n\u{a0}", "\u{200b}\u{feff}\u{2060}", "\u{ad}\u{fe0f}\u{e0020}\0"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a\u{200b}", "\u{1f469}\u{200d}\u{1f467}", "\u{fffd}", "."] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
