//! The changed lines of a text.

use std::fmt::Write as _;

/// Unchanged lines shown around a change.
const AROUND: usize = 3;
/// Maximum number of lines that are compared with each other; the lines of larger changes are all listed.
const MAX_LINES: usize = 2_000;

/// Returns the lines that differ, marked with `-` and `+`, with a few unchanged lines around them.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let marked = marked_lines(&before, &after);
    let is_change = |line: &(char, &str)| line.0 != ' ';
    let mut text = String::new();
    let mut is_skipping = false;
    for (idx, (mark, line)) in marked.iter().enumerate() {
        let near = &marked[idx.saturating_sub(AROUND)..marked.len().min(idx + AROUND + 1)];
        if near.iter().any(is_change) {
            let _ = writeln!(text, "{mark} {line}");
        } else if !is_skipping {
            text.push_str("  …\n");
        }
        is_skipping = !near.iter().any(is_change);
    }
    text
}

/// Marks the lines of both texts, in order: ` ` in both, `-` before, `+` after.
fn marked_lines<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(char, &'a str)> {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let same = |line: &&'a str| (' ', *line);
    let mut marked: Vec<(char, &str)> = before[..start].iter().map(same).collect();
    if old.len().max(new.len()) > MAX_LINES {
        marked.extend(old.iter().map(|line| ('-', *line)));
        marked.extend(new.iter().map(|line| ('+', *line)));
    } else {
        marked.extend(by_common_lines(old, new));
    }
    marked.extend(before[before.len() - end..].iter().map(same));
    marked
}

/// Marks lines by the longest common subsequence.
fn by_common_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    // By the start in both: the length of the longest common subsequence of the rests.
    let mut lengths = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = if old[i] == new[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut marked) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            marked.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && lengths[i + 1][j] >= lengths[i][j + 1] {
            marked.push(('-', old[i]));
            i += 1;
        } else {
            marked.push(('+', new[j]));
            j += 1;
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn changed_lines_are_marked_and_distant_lines_left_out() {
        let before = "a\nb\nc\nd\ne\nf\ng\n";
        assert_eq!(difference(before, before), "  …\n");
        let after = "a\nb\nc\nd\ne\nF\nx\ng\n";
        assert_eq!(difference(before, after), "  …\n  c\n  d\n  e\n- f\n+ F\n+ x\n  g\n");
        assert_eq!(difference("", "a\n"), "+ a\n");
        assert_eq!(difference("a\nb\nc\n", "a\nx\nb\ny\nc\n"), "  a\n+ x\n  b\n+ y\n  c\n");
    }
}
