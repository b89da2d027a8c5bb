//! The files that a shell command prints.

/// Programs that print the files that they are given.
const PRINTERS: [&str; 11] =
    ["bat", "cat", "gc", "get-content", "head", "less", "more", "nl", "sed", "tail", "type"];

/// Returns the files that the first programs of a command line's pipelines print. Commands that write or count only are
/// no reads; words in quotes are taken whole, variables and patterns are no files.
pub(super) fn files_read(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    for pipeline in pipelines(command) {
        let first: Vec<&CommandWord> = pipeline.iter().collect();
        let Some((program, words)) = first.split_first() else {
            continue;
        };
        let program = program.text.rsplit('/').next().unwrap_or_default();
        let program = program.to_lowercase();
        let writes = words.iter().any(|word| is_write(&program, &word.text));
        if writes || !PRINTERS.contains(&program.as_str()) {
            continue;
        }
        // The first word of sed is its script.
        let mut scripts = usize::from(program == "sed");
        let mut takes_value = false;
        for word in words {
            if std::mem::take(&mut takes_value) || word.text.starts_with('<') {
                continue;
            }
            if let Some(flag) = word.text.strip_prefix('-') {
                // `-n 20`, `-c 20`: the number is no file. `sed -n` takes none.
                takes_value = matches!(flag, "n" | "c") && matches!(&*program, "head" | "tail");
                if program == "sed" && flag == "e" {
                    (takes_value, scripts) = (true, 0);
                }
            } else if scripts > 0 {
                scripts -= 1;
            } else if is_file(word) && !files.contains(&word.text) {
                files.push(word.text.clone());
            }
        }
    }
    files
}

/// Returns whether a word makes the program write instead of printing.
fn is_write(program: &str, word: &str) -> bool {
    word.starts_with('>') || (program == "sed" && word.starts_with("-i"))
}

/// Returns whether a word can be the name of a file: neither a number, a variable nor a pattern.
fn is_file(word: &CommandWord) -> bool {
    let text = &word.text;
    let has_letter = text.chars().any(char::is_alphabetic);
    has_letter && !text.contains(['*', '?', '$', '`', '\n', '{', '(', '|', '>'])
}

/// A word of a command line without its quotes.
#[derive(Debug, Default, PartialEq)]
struct CommandWord {
    text: String,
}

/// Returns the words of the first program of each pipeline. A here-document ends the line.
fn pipelines(command: &str) -> Vec<Vec<CommandWord>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<CommandWord> = None;
    let mut in_pipe = false;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                for inner in chars.by_ref().take_while(|inner| *inner != c) {
                    word.text.push(inner);
                }
            }
            '\\' => {
                let word = word.get_or_insert_default();
                word.text.extend(chars.next());
            }
            '<' if chars.peek() == Some(&'<') => break,
            ';' | '\n' | '|' | '&' => {
                push(&mut all, &mut word, in_pipe);
                let is_doubled = chars.next_if_eq(&c).is_some();
                in_pipe = c == '|' && !is_doubled;
                if !in_pipe {
                    all.push(Vec::new());
                }
            }
            c if c.is_whitespace() => push(&mut all, &mut word, in_pipe),
            c => word.get_or_insert_default().text.push(c),
        }
    }
    push(&mut all, &mut word, in_pipe);
    all
}

/// Ends a word. Programs behind the first of a pipeline print no file of their own.
fn push(all: &mut [Vec<CommandWord>], word: &mut Option<CommandWord>, in_pipe: bool) {
    let word = word.take();
    if let (Some(word), Some(last), false) = (word, all.last_mut(), in_pipe) {
        last.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::files_read;

    #[test]
    fn printed_files_are_read() {
        for (command, files) in [
            ("cat src/main.rs", &["src/main.rs"][..]),
            ("cd web && sed -n '1,40p' app/page.tsx | head -5", &["app/page.tsx"]),
            ("nl -ba a.py; tail -n 20 b.log", &["a.py", "b.log"]),
            ("head -c 100 'my file.txt'", &["my file.txt"]),
            ("/bin/cat a.txt b.txt 2>/dev/null", &["a.txt", "b.txt"]),
            ("sed -i 's/a/b/' a.txt", &[]),
            ("cat > new.txt <<'EOF'\ncat old.txt\nEOF", &[]),
            ("grep -n x a.rs | cat", &[]),
            ("cat *.rs $FILE", &[]),
            ("echo cat a.txt", &[]),
        ] {
            assert_eq!(files_read(command), files, "{command}");
        }
    }
}
