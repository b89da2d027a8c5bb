//! Words of commands that users paste into a POSIX shell.

use super::files::is_same_file;
use std::env;
use std::path::Path;

/// Quotes a word if needed.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes a path if needed. A leading dash would be parsed as an option, even if quoted.
pub fn quoted_path(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// Returns the word that starts this program, unquoted: its name if the shell finds it, else its path.
pub fn own_program() -> String {
    let Ok(this) = env::current_exe() else {
        return env!("CARGO_PKG_NAME").to_owned();
    };
    let name = Path::new(this.file_name().unwrap_or_default());
    let folders = env::var_os("PATH").unwrap_or_default();
    let found =
        env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    let is_this = found.is_some_and(|found| is_same_file(&found, &this));
    let word = if is_this { name } else { &this };
    word.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_with_special_characters_are_quoted() {
        assert_eq!(quoted("compression_trigger=0.7"), "compression_trigger=0.7");
        assert_eq!(quoted("my file's.jsonl"), r"'my file'\''s.jsonl'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
    }

    #[test]
    fn a_path_is_never_an_option() {
        assert_eq!(quoted_path("-a b.json"), "'./-a b.json'");
        assert_eq!(quoted_path("a.json"), "a.json");
    }
}
