//! Words of commands that users paste into a shell: PowerShell on Windows, a POSIX shell elsewhere.

use super::files::is_same_file;
use std::env;
use std::path::Path;

/// Quotes a word if needed.
pub fn quoted(word: &str) -> String {
    if cfg!(windows) { quoted_for_powershell(word) } else { quoted_for_posix(word) }
}

/// Quotes a path if needed. A leading dash would be parsed as an option, even if quoted.
pub fn quoted_path(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// Returns a command that runs `second` if `first` succeeds.
pub(crate) fn and_then(first: &str, second: &str) -> String {
    if cfg!(windows) {
        and_then_in_powershell(first, second)
    } else {
        format!("{first} && {second}")
    }
}

fn quoted_for_posix(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A comma separates the elements of a list, and `@` begins one.
fn quoted_for_powershell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || r"-_./\=:+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "''"))
}

/// Windows PowerShell 5 has no `&&`.
fn and_then_in_powershell(first: &str, second: &str) -> String {
    format!("{first}; if ($?) {{ {second} }}")
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
        assert_eq!(quoted_for_posix("compression_trigger=0.7"), "compression_trigger=0.7");
        assert_eq!(quoted_for_posix("my file's.jsonl"), r"'my file'\''s.jsonl'");
        assert_eq!(quoted_for_posix(""), "''");
        assert_eq!(quoted_for_posix("$(rm)"), "'$(rm)'");
    }

    #[test]
    fn powershell_has_its_own_quotes() {
        assert_eq!(quoted_for_powershell(r"C:\logs\a.jsonl"), r"C:\logs\a.jsonl");
        assert_eq!(quoted_for_powershell("my file's.jsonl"), "'my file''s.jsonl'");
        for word in ["a,b", "@a", "$(rm)", "a;b", "a`b", "{a}"] {
            assert_eq!(quoted_for_powershell(word), format!("'{word}'"));
        }
        let both = and_then_in_powershell(r"cd C:\work", "claude --resume 1");
        assert_eq!(both, r"cd C:\work; if ($?) { claude --resume 1 }");
    }

    #[test]
    fn a_path_is_never_an_option() {
        assert_eq!(quoted_path("-a b.json"), "'./-a b.json'");
        assert_eq!(quoted_path("a.json"), "a.json");
    }
}
