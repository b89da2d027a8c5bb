//! Just enough of Rust's surface to see which paths and macros a file names: comments, strings and test code are
//! blanked out, `use` groups are spread.

/// A source file and what its code names.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path below `src`, or below `src/core` if it belongs to the pure layers.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
    /// The paths in the code, as [`paths_of`] returns them, each once.
    pub(crate) paths: Vec<String>,
    /// Names of the macros that it calls.
    pub(crate) macros: Vec<String>,
}

impl Source {
    /// Reads the text of a file.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let code = code_of(&text);
        let mut paths = paths_of(&code);
        paths.sort_unstable();
        paths.dedup();
        Self { paths, macros: macros_of(&code), path, text }
    }
}

/// The code without comments, without the content of strings, and without `#[cfg(test)]` items.
pub(crate) fn code_of(text: &str) -> String {
    without_tests(&without_comments_and_strings(text))
}

fn without_comments_and_strings(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' => end_of_comment(&chars, at),
            '"' | 'r' => end_of_string(&chars, at),
            '\'' => end_of_char(&chars, at),
            _ => None,
        };
        if let Some(end) = end {
            // Lines stay where they are.
            code.extend(
                chars[at..end.min(chars.len())].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        } else {
            code.push(chars[at]);
            at += 1;
        }
    }
    code
}

fn starts(chars: &[char], at: usize, with: &str) -> bool {
    with.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
}

fn end_of_comment(chars: &[char], at: usize) -> Option<usize> {
    if starts(chars, at, "//") {
        return Some((at..chars.len()).find(|i| chars[*i] == '\n').unwrap_or(chars.len()));
    }
    if !starts(chars, at, "/*") {
        return None;
    }
    let (mut depth, mut i) = (0, at);
    while i < chars.len() {
        if starts(chars, i, "/*") {
            (depth, i) = (depth + 1, i + 2);
        } else if starts(chars, i, "*/") {
            (depth, i) = (depth - 1, i + 2);
            if depth == 0 {
                break;
            }
        } else {
            i += 1;
        }
    }
    Some(i)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_string(chars: &[char], at: usize) -> Option<usize> {
    let inside_word = at > 0 && is_word(chars[at - 1]);
    if chars[at] == '"' {
        let mut i = at + 1;
        while i < chars.len() && chars[i] != '"' {
            i += if chars[i] == '\\' { 2 } else { 1 };
        }
        return Some(i + 1);
    }
    if inside_word || chars[at] != 'r' {
        // `b"…"` leaves its b behind, which does no harm; `br"…"` has no escapes worth a rule.
        return None;
    }
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + 1 + hashes) != Some(&'"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let end = (at + 2 + hashes..chars.len()).find(|i| starts(chars, *i, &close));
    Some(end.map_or(chars.len(), |end| end + close.len()))
}

/// `'x'` and `'\n'`, but not the lifetime `'a`.
fn end_of_char(chars: &[char], at: usize) -> Option<usize> {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => (at + 3..chars.len()).find(|i| chars[*i] == '\'').map(|end| end + 1),
        (Some(_), Some('\'')) => Some(at + 3),
        _ => None,
    }
}

fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        let item = &rest[start..];
        rest = &item[end_of_item(item)..];
    }
    kept + rest
}

/// An item ends with its `;`, or with the brace that closes its first.
fn end_of_item(item: &str) -> usize {
    let mut depth = 0;
    for (at, c) in item.char_indices() {
        match c {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    item.len()
}

/// Every path in the code, groups spread: `std::{fs, io::{self, Read}}` gives `std::fs`, `std::io`, `std::io::Read`.
pub(crate) fn paths_of(code: &str) -> Vec<String> {
    let tokens = tokens_of(code);
    let (mut paths, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if is_name(tokens[at]) && (at == 0 || tokens[at - 1] != "::") {
            path(&tokens, &mut at, "", &mut paths);
        } else {
            at += 1;
        }
    }
    paths
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| is_word(c) || c == '*')
}

/// Reads one path (or one branch of a group) from `at` on.
fn path(tokens: &[&str], at: &mut usize, prefix: &str, paths: &mut Vec<String>) {
    let mut path = prefix.to_owned();
    while *at < tokens.len() {
        match tokens[*at] {
            "{" if path != prefix || !prefix.is_empty() => {
                *at += 1;
                while *at < tokens.len() && tokens[*at] != "}" {
                    let before = *at;
                    self::path(tokens, at, &path, paths);
                    if *at == before || tokens.get(*at).is_some_and(|t| *t == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            name if is_name(name) => {
                if name != "self" || path.is_empty() {
                    path =
                        if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
                }
                *at += 1;
            }
            _ => break,
        }
        if tokens.get(*at).is_some_and(|t| *t == "::") {
            *at += 1;
        } else {
            break;
        }
    }
    // `as other` renames, which changes nothing here.
    if tokens.get(*at).is_some_and(|t| *t == "as") && !prefix.is_empty() {
        *at += 2;
    }
    paths.push(path);
}

fn tokens_of(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(len);
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

/// Names of the macros that the code calls.
pub(crate) fn macros_of(code: &str) -> Vec<String> {
    let tokens = tokens_of(code);
    let calls = tokens
        .windows(3)
        .filter(|t| is_name(t[0]) && t[1] == "!" && matches!(t[2], "(" | "[" | "{"));
    calls.map(|t| t[0].to_owned()).collect()
}
