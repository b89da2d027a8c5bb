//! Removes the middle of a long text: by bytes as shipped, by code points as in the document's listing.

/// `APPROX_BYTES_PER_TOKEN`.
const BYTES_PER_TOKEN: i64 = 4;

/// `middle_out_truncate`: keeps half of the bytes from the start and half from the end, and drops characters broken at
/// the edges. Returns `None` if the text is unchanged, which includes up to three bytes beyond the limit. The marker is
/// not counted, so the result may be longer than the input, and long enough to be cut again.
pub fn middle_out(text: &str, max_tokens: i64) -> Option<String> {
    let bytes = whole(text.len());
    if text.is_empty() || bytes.div_euclid(BYTES_PER_TOKEN) <= max_tokens {
        return None;
    }
    let kept = max_tokens.saturating_mul(BYTES_PER_TOKEN);
    let head = kept.div_euclid(2);
    // If nothing is kept, the tail is the whole text: the slice `[-0:]` begins at the start.
    let tail = kept - head;
    let head = &text[..text.floor_char_boundary(slice_index(head, bytes))];
    let tail = &text[text.ceil_char_boundary(slice_index(-tail, bytes))..];
    let removed = (bytes - whole(head.len()) - whole(tail.len())).div_euclid(BYTES_PER_TOKEN);
    Some(format!("{head}\n\n...{removed} tokens truncated...\n\n{tail}"))
}

/// Implements the document's listing: code points, with fifty of each half used for the marker.
pub fn document_middle_out(text: &str, max_tokens: i64) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let max_chars = max_tokens.saturating_mul(4);
    if whole(chars.len()) <= max_chars {
        return None;
    }
    let keep = max_chars.div_euclid(2) - 50;
    let n = whole(chars.len());
    let head: String = chars[..slice_index(keep, n)].iter().collect();
    let tail: String = chars[slice_index(-keep, n)..].iter().collect();
    Some(format!("{head}\n\n[...truncated...]\n\n{tail}"))
}

/// Resolves a bound of a Python slice: a negative one counts from the end, `-0` is the start.
fn slice_index(bound: i64, length: i64) -> usize {
    let from_start = if bound < 0 { length + bound } else { bound };
    from_start.clamp(0, length) as usize
}

fn whole(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_nothing_to_keep_the_whole_text_is_the_tail() {
        assert_eq!(middle_out("abc", 0), None);
        assert_eq!(middle_out("abcdefgh", 0).unwrap(), "\n\n...0 tokens truncated...\n\nabcdefgh");
        assert_eq!(middle_out("", 0), None);
    }

    #[test]
    fn a_negative_limit_slices_from_the_other_end() {
        // head = b[:-2], tail = b[2:]
        assert_eq!(middle_out("abcdef", -1).unwrap(), "abcd\n\n...-1 tokens truncated...\n\ncdef");
    }

    #[test]
    fn characters_broken_at_the_edges_are_dropped() {
        // 4 bytes of each end contain one character of three bytes and a part of another.
        assert_eq!(middle_out("日月火水木", 2).unwrap(), "日\n\n...2 tokens truncated...\n\n木");
    }

    #[test]
    fn the_document_reserves_fifty_characters_of_each_half() {
        let text = format!("{}é{}", "a".repeat(200), "b".repeat(200));
        let cut = document_middle_out(&text, 100).unwrap();
        let halves = ("a".repeat(150), "b".repeat(150));
        assert_eq!(cut, format!("{}\n\n[...truncated...]\n\n{}", halves.0, halves.1));
        assert_eq!(document_middle_out(&text, 101), None);
        // keep 0: the tail is the whole text.
        let cut = document_middle_out(&text, 25).unwrap();
        assert_eq!(cut, format!("\n\n[...truncated...]\n\n{text}"));
        // keep -46 of 9 characters: nothing at either end.
        let cut = document_middle_out("abcdefghi", 2).unwrap();
        assert_eq!(cut, "\n\n[...truncated...]\n\n");
    }
}
