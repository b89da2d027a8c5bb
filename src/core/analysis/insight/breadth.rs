//! Breadth of tool calls: whole files, listings and searches.

use crate::analysis::facts::call_command;
use crate::analysis::tools::AnsweredCall;
use crate::json::Value;

/// Kinds of calls with large results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    /// A whole file was read.
    WholeFile,
    /// A folder was listed recursively.
    Listing,
    /// Many files were searched.
    Search,
}

/// Arguments that limit a read to a part of a file.
const NARROWING: [&str; 10] = [
    "offset",
    "limit",
    "start",
    "end",
    "start_line",
    "end_line",
    "view_range",
    "range",
    "lines",
    "pages",
];

impl AnsweredCall<'_> {
    /// Returns the breadth of the call, if known.
    pub(super) fn breadth(&self) -> Option<Breadth> {
        let tool = self.tool.to_ascii_lowercase();
        let arguments: Value = crate::json::from_str(self.arguments).ok()?;
        if let Some(command) = call_command(&arguments) {
            return of_command(&command);
        }
        let is_narrow = NARROWING.iter().any(|key| arguments.get(*key).is_some());
        match tool.as_str() {
            "read" | "read_file" | "view" | "view_file" | "open_file" | "cat" if !is_narrow => {
                Some(Breadth::WholeFile)
            }
            "glob" | "list_files" | "list_directory" | "tree" | "find" => Some(Breadth::Listing),
            "grep" | "search" | "search_files" | "grep_search" | "ripgrep" => Some(Breadth::Search),
            _ => None,
        }
    }
}

/// Classifies a single simple command. With a pipe or a second command, the origin of the output is unknown.
fn of_command(command: &str) -> Option<Breadth> {
    let line = command.trim();
    // A leading `cd FOLDER && ` is ignored.
    let line = match line.split_once("&&") {
        Some((first, rest)) if first.trim_start().starts_with("cd ") => rest.trim(),
        _ => line,
    };
    if line.contains(['|', ';', '\n', '>', '`']) || line.contains("&&") {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let has_flag = |letter: char| {
        let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        words.iter().filter(short).any(|word| word.contains(letter))
    };
    match *words.first()? {
        "cat" => Some(Breadth::WholeFile),
        "find" if !line.contains("-maxdepth") => Some(Breadth::Listing),
        "tree" => Some(Breadth::Listing),
        "ls" if has_flag('R') => Some(Breadth::Listing),
        "grep" if has_flag('r') || has_flag('R') => Some(Breadth::Search),
        "rg" | "ag" => Some(Breadth::Search),
        "git" if words.get(1) == Some(&"ls-files") => Some(Breadth::Listing),
        "git" if words.get(1) == Some(&"grep") => Some(Breadth::Search),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Breadth, of_command};

    #[test]
    fn only_a_single_simple_command_has_a_known_breadth() {
        assert_eq!(of_command("cat src/main.rs"), Some(Breadth::WholeFile));
        assert_eq!(of_command("cd /srv && ls -laR src"), Some(Breadth::Listing));
        assert_eq!(of_command("grep -rn needle ."), Some(Breadth::Search));
        for other in
            ["cat a | head", "ls -la", "grep -n needle a.rs", "find . -maxdepth 1", "cat a; ls", ""]
        {
            assert_eq!(of_command(other), None, "{other}");
        }
    }
}
