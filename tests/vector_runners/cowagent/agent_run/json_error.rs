//! Errors of Python's `json.loads` on invalid JSON; the model receives them as the result of its call.

/// Returns Python's error for a text; `None` if it is valid JSON.
pub(crate) fn json_error(text: &str) -> Option<String> {
    let mut scanner = Scanner { text: text.chars().collect(), at: 0, depth: 0 };
    let Flaw(what, at) = scanner.document().err()?;
    let before = scanner.text.get(..at).unwrap_or(&scanner.text);
    let line = 1 + before.iter().filter(|c| **c == '\n').count();
    let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
    Some(format!("{what}: line {line} column {column} (char {at})"))
}

/// Maximum nesting depth; beyond it Python fails too, with another error.
const MAX_DEPTH: usize = 500;

/// The error, and the index of its character.
struct Flaw(&'static str, usize);

struct Scanner {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Scanner {
    fn document(&mut self) -> Result<(), Flaw> {
        self.skip_space();
        self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(Flaw("Extra data", self.at));
        }
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        match self.peek() {
            Some('"') => self.string(),
            Some('{') => self.items('}', |scanner| {
                if scanner.peek() != Some('"') {
                    let what = "Expecting property name enclosed in double quotes";
                    return Err(Flaw(what, scanner.at));
                }
                scanner.string()?;
                scanner.skip_space();
                if !scanner.eat(':') {
                    return Err(Flaw("Expecting ':' delimiter", scanner.at));
                }
                scanner.skip_space();
                scanner.value()
            }),
            Some('[') => self.items(']', Self::value),
            Some(c) if c == '-' || c.is_ascii_digit() => self.number(),
            _ => {
                let words = ["null", "true", "false", "NaN", "Infinity"];
                let found = words.into_iter().find(|word| self.eat_word(word));
                found.map(|_| ()).ok_or(Flaw("Expecting value", start))
            }
        }
    }

    fn items(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Flaw("Expecting value", self.at));
        }
        self.at += 1;
        self.skip_space();
        if self.eat(close) {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            item(self)?;
            self.skip_space();
            if self.eat(close) {
                self.depth -= 1;
                return Ok(());
            }
            if !self.eat(',') {
                return Err(Flaw("Expecting ',' delimiter", self.at));
            }
            self.skip_space();
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = rest.iter().copied().take(word.len()).eq(word.chars());
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// A leading zero ends the number; the rest is extra data.
    fn number(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        if self.eat('-') && self.eat_word("Infinity") {
            return Ok(());
        }
        if !self.eat('0') && self.digits() == 0 {
            return Err(Flaw("Expecting value", start));
        }
        for marks in [&['.'][..], &['e', 'E']] {
            let before = self.at;
            if self.peek().is_some_and(|c| marks.contains(&c)) {
                self.at += 1;
                if marks.len() > 1 && matches!(self.peek(), Some('+' | '-')) {
                    self.at += 1;
                }
                if self.digits() == 0 {
                    self.at = before;
                }
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        let unterminated = Flaw("Unterminated string starting at", start);
        self.at += 1;
        loop {
            let here = self.at;
            self.at += 1;
            match self.text.get(here) {
                None => return Err(unterminated),
                Some('"') => return Ok(()),
                Some(c) if *c < ' ' => return Err(Flaw("Invalid control character at", here)),
                Some('\\') => match self.peek() {
                    None => return Err(unterminated),
                    Some('u') => {
                        let digits = self.text.get(here + 2..here + 6).unwrap_or_default();
                        if digits.len() < 4 || !digits.iter().all(char::is_ascii_hexdigit) {
                            return Err(Flaw("Invalid \\uXXXX escape", here + 1));
                        }
                        self.at = here + 6;
                    }
                    Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => self.at += 1,
                    Some(_) => return Err(Flaw("Invalid \\escape", here)),
                },
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from Python 3.12.
    #[test]
    fn errors_match_those_of_python() {
        for (text, error) in [
            ("", "Expecting value: line 1 column 1 (char 0)"),
            ("{bad", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
            ("{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6 (char 5)"),
            ("{\"a\":\n1 2}", "Expecting ',' delimiter: line 2 column 3 (char 8)"),
            ("{\"a\": \"b", "Unterminated string starting at: line 1 column 7 (char 6)"),
            ("{\"a\": ", "Expecting value: line 1 column 7 (char 6)"),
            ("[1, ]", "Expecting value: line 1 column 5 (char 4)"),
            ("{} x", "Extra data: line 1 column 4 (char 3)"),
            ("\"\\x\"", "Invalid \\escape: line 1 column 2 (char 1)"),
            ("\"\\u12\"", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
            ("\"a\nb\"", "Invalid control character at: line 1 column 3 (char 2)"),
            ("01", "Extra data: line 1 column 2 (char 1)"),
            ("-", "Expecting value: line 1 column 1 (char 0)"),
        ] {
            assert_eq!(json_error(text).as_deref(), Some(error), "{text}");
        }
        assert_eq!(json_error(" {\"a\": [1.5e-3, null, \"\\u00e9\"]} "), None);
    }
}
