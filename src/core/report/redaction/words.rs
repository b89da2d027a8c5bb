//! The words that a redacted report may contain, and the splitting of texts into words and numbers.
//!
//! A redacted text keeps only words of this list, numbers that cannot be an account or a telephone number, and
//! punctuation. A list of allowed words cannot miss a kind of secret, as a list of forbidden ones could.

/// Words of our own sentences and of the lines that real systems log: sorted, ignoring case.
const WORDS: &str = "\
a about above act active acts added adjacency adjacent after again aggressive aggressively all allowed almost alone \
already although an and answer anthropic any anything appended apply are as asked assistant assumed async at attempt \
attempting auto automatic available be because been before began below between block blocks broken budget buffer but \
by bytes call call_in_turn calls can cannot changed changing characters chars chars_left chunk cjk cleared code \
collapsed comes compact compact_context compacted compacted_tokens compacting compaction compacts complete completed \
completion_tokens compress compressing compression conf consecutive contained content context context_pressure \
context_window contextLength continues conversation cooldowns could count counters counting counts crossed cut cuts \
daily definitions depend depends described detected did different dispatched do document does done drop dropped \
dropping due each effect either emergency emergency_compact empty end ends enlarge enough error estimate \
estimate_after even every everything exact exceeded exceeds executed executing existing fail failed failing fails \
failure fallback falling far few few_turns fifth file file's files fire_count first fit fits flush flushes \
following for force forced found freed from full gives go goes gone had half hand handler handles has have held \
here historical history history_messages history_tokens hook hook_compact hook_eval hook_exec hook_log hooks_fired \
how however if ignored ignores image images in include info injected input inserted inside instruction instructions \
into is it its itself json keep keep_turns keeping keeps kept knows large larger largest last last_compact_turn \
late later least leaves left left_out length less level like limit line lines list listed little log long longer loop \
lost lower made makes manual manually many max max_chars max_llm_retries max_output max_steps max_tokens max_turns \
maximum media memory memoryflush merged message message's message_threshold message_tokens messages \
messages_dropped messages_left_out messages_loaded messages_passed messages_removed messages_restored \
messages_summarized micro middle min minimum missing model model_calls model_output model_window more most msgs \
much must near nearly need needed needs never new next no none not nothing now num_compactions number of off old \
older oldest omitted on once one only optimizing or other otherwise out output output_reserve outputs_cut over \
overflow overflowing overhead overrides oversized own pair pairs part partner passes pays peak peaked person's \
picture pictures pin pinned pins points policy prepended preserved pressure pressure_after previous proactive \
problem prompt prompt_tokens protected provider prune pruned pruning raised ran ratio reached reaches read reads \
really reason reasoning rebuild recent record recorded recoverable recovering recovery reduced refused refusing \
rejected rejects remaining removal removed removes removing repair repairs repeats replaced replay reply report \
request requests reserve reset rest restore_turns restored rests result result_chars results retried retry retrying \
role room row run runs safety said same saved saves saving saying says seconds see sending sent separates session \
set setting shipped short shortened showing shown_percent skipped skipping small smaller so some something source's \
spill spilled stage stages stands start started stay still stop stopped storage stored stored_messages strategy \
succeeded success such summaries summarization summarization_requests summarize summarized summarizer summarizing \
summary support survives synthetic system system's table take taken takes target tell text than that the their them \
then there they thinking thinking_chars this three threshold thresholds time times to together token \
token_threshold tokens tokens_after tokens_before tokens_reduced too tool tool_result tool_results tool_tokens \
tool_use tools touched trailing treats tried_before trigger trim trimmed truncate truncated truncating truncation \
turn turns turns_left turns_removed two undercounts unknown unless unmatched until up usable usage use used user \
user's vain valid validation value varies vary wait warning was weighs weight were what when \
where which while whole window with within without works would writes written";

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPiece<'a> {
    /// Letters, digits and joining characters.
    Word(&'a str),
    /// Punctuation, or a space.
    Mark(char),
}

/// Returns the entry of the list that equals this word.
pub(super) fn known(word: &str) -> Option<&'static str> {
    WORDS.split_ascii_whitespace().find(|known| known.eq_ignore_ascii_case(word))
}

/// Splits a text into words and marks. Other characters only separate words.
pub(super) fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !joins(c)).unwrap_or(rest.len()).max(c.len_utf8());
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        if !joins(c) {
            pieces.extend(mark(c).map(TextPiece::Mark));
            continue;
        }
        let word = piece.trim_end_matches(TRIMMED);
        if !word.is_empty() {
            pieces.push(TextPiece::Word(word));
        }
        pieces.extend(piece[word.len()..].chars().map(TextPiece::Mark));
    }
    pieces
}

/// Marks that end a sentence or start a list and do not belong to the preceding word.
const TRIMMED: [char; 6] = ['.', ':', ',', '!', '?', '\''];

/// Returns true if a character is part of a word. Characters that join a path, an address, a key or a number are, so
/// that the whole is kept or removed.
fn joins(c: char) -> bool {
    c.is_alphanumeric() || "_-./:@\\#&$^',!?".contains(c)
}

/// Returns the text of a mark.
fn mark(c: char) -> Option<char> {
    match c {
        c if c.is_whitespace() => Some(' '),
        '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '=' | '<' | '>' | '~' | '%' | '*' | '+'
        | '`' | '\u{201c}' | '\u{201d}' | '\u{2192}' | '\u{2013}' | '\u{2014}' | '\u{2248}'
        | '\u{b1}' | '\u{b7}' | '\u{2026}' | '\u{2265}' | '\u{2264}' => Some(c),
        _ => None,
    }
}

/// A number of a text with its notation, stored as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownNumber {
    /// Its digits without the decimal point.
    digits: u64,
    /// Number of digits after the decimal point.
    decimals: u8,
    /// `k`, `M` or `G`; none if 0.
    unit: u8,
    is_negative: bool,
}

/// Maximum number of digits of a count. Account, card and telephone numbers have more.
const MAX_DIGITS: usize = 9;

impl ShownNumber {
    /// A whole number.
    pub(super) fn whole(n: u64) -> Self {
        Self { digits: n, decimals: 0, unit: 0, is_negative: false }
    }

    /// Parses a word as a number that may be shown: `12`, `44,979`, `10.3k`, `-0.75`.
    pub(super) fn of(word: &str) -> Option<Self> {
        let (word, is_negative) = match word.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (word, false),
        };
        let (word, unit) = match word.as_bytes().last() {
            Some(unit @ (b'k' | b'M' | b'G')) => (&word[..word.len() - 1], *unit),
            _ => (word, 0),
        };
        let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
        let whole = ungrouped(whole)?;
        let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
        let has_point = word.contains('.');
        let is_padded = whole.len() > 1 && whole.starts_with('0');
        let is_shown = is_number(&whole)
            && is_number(fraction)
            && !whole.is_empty()
            && has_point != fraction.is_empty()
            && !is_padded
            && whole.len() + fraction.len() <= MAX_DIGITS;
        is_shown.then_some(())?;
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            decimals: fraction.len() as u8,
            unit,
            is_negative,
        })
    }
}

/// Removes the commas between thousands, if they are placed correctly.
fn ungrouped(digits: &str) -> Option<String> {
    let mut groups = digits.split(',');
    let first = groups.next()?;
    let is_right =
        groups.all(|group| group.len() == 3) && (first.len() <= 3 || !digits.contains(','));
    is_right.then(|| digits.replace(',', ""))
}

impl std::fmt::Display for ShownNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scale = 10_u64.pow(u32::from(self.decimals));
        let sign = if self.is_negative { "-" } else { "" };
        write!(f, "{sign}{}", crate::figure::grouped(self.digits / scale))?;
        if self.decimals > 0 {
            let width = usize::from(self.decimals);
            write!(f, ".{:0width$}", self.digits % scale)?;
        }
        match self.unit {
            0 => Ok(()),
            unit => write!(f, "{}", char::from(unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_and_unique() {
        let words = WORDS.split_ascii_whitespace().map(str::to_ascii_lowercase);
        let words: Vec<String> = words.collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
    }

    #[test]
    fn counts_are_numbers_and_addresses_keys_and_account_numbers_are_not() {
        let shown = ["12", "44,979", "10.3k", "-0.75", "0", "2.16M", "93"];
        for text in shown {
            let number = ShownNumber::of(text).unwrap();
            assert_eq!(number.to_string(), text);
        }
        let hidden = [
            "10.0.0.12",
            "4111111111111111",
            "007",
            "555-0100",
            "1,23",
            "1e9",
            "0x1f",
            "12px",
            "",
            ".5",
            "5.",
            "2026-11-22",
        ];
        for text in hidden {
            assert_eq!(ShownNumber::of(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_and_a_path_are_one_word() {
        let words: Vec<_> = pieces("see https://x.example/a?b=1, or me@x.example (C:\\a.rs).")
            .into_iter()
            .filter_map(|p| match p {
                TextPiece::Word(word) => Some(word),
                TextPiece::Mark(_) => None,
            })
            .collect();
        let expected = ["see", "https://x.example/a?b", "1", "or", "me@x.example", "C:\\a.rs"];
        assert_eq!(words, expected);
    }
}
