//! The result of `plimsoll gate` as JUnit XML: one suite per session, one case per lane and measure.

use super::retained::LaneCheck;
use super::{GateVerdict, JudgedSession, counts};
use crate::analysis::tune::Check;
use crate::exec::OwnFileKind;
use crate::safe_text::is_interpreted;
use std::fmt::Write as _;

/// First line of the files.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Start of the second line.
const BEGINS: &str = "<testsuites name=\"plimsoll gate\"";

/// Message of a run without any check.
pub(super) const NOTHING_JUDGED: &str =
    "failed: nothing judged: these sessions have nothing that the limits apply to";

/// Message of a run with a baseline and without any check.
pub(super) const NOTHING_COMPARED: &str = "failed: nothing compared, because the baseline contains none of these lanes; write it with --write-baseline or give limits such as --max-peak 0.9";

/// Description of the file and the function that recognizes it.
pub(super) const FILE_KIND: OwnFileKind =
    OwnFileKind { name: "JUnit result of plimsoll gate", is_own };

fn is_own(text: &str) -> bool {
    text.strip_prefix(DECLARATION).is_some_and(|rest| rest.starts_with(BEGINS))
}

impl GateVerdict {
    /// Returns the content of the file.
    pub(super) fn junit(&self) -> String {
        let mut suites: Vec<Suite> = self.sessions.iter().map(suite).collect();
        suites.extend(self.damaged().map(|(id, reason)| damaged(&id.file, reason)));
        if self.compared_nothing() {
            suites.push(nothing_compared(self.nothing_compared_text()));
        }
        if !self.retained.is_empty() {
            suites.push(over_all(&self.retained));
        }
        let tests: usize = suites.iter().map(|suite| suite.tests).sum();
        let failures: usize = suites.iter().map(|suite| suite.failures).sum();
        let skipped: usize = suites.iter().map(|suite| suite.skipped).sum();
        let mut text = format!(
            "{DECLARATION}{BEGINS} tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">\n"
        );
        for suite in suites {
            text.push_str(&suite.xml());
        }
        text.push_str("</testsuites>\n");
        text
    }
}

/// The test cases of a session.
struct Suite {
    name: String,
    /// The cases as XML.
    cases: String,
    tests: usize,
    failures: usize,
    /// Checks that could not be judged.
    skipped: usize,
}

impl Suite {
    fn new(name: String) -> Self {
        Self { name, cases: String::new(), tests: 0, failures: 0, skipped: 0 }
    }

    /// Adds the case of a check.
    fn check(&mut self, class: &str, name: &str, check: &Check) {
        if counts(check) {
            return self.case(class, name, (!check.ok).then_some(&*check.text));
        }
        self.tests += 1;
        self.skipped += 1;
        let (class, name, why) = (escaped(class), escaped(name), escaped(&check.text));
        let _ = writeln!(
            self.cases,
            "    <testcase classname=\"{class}\" name=\"{name}\"><skipped message=\"{why}\"/></testcase>"
        );
    }

    /// Adds a case, with the reason if it failed.
    fn case(&mut self, class: &str, name: &str, failure: Option<&str>) {
        self.tests += 1;
        let (class, name) = (escaped(class), escaped(name));
        let _ = write!(self.cases, "    <testcase classname=\"{class}\" name=\"{name}\"");
        match failure {
            None => self.cases.push_str("/>\n"),
            Some(why) => {
                self.failures += 1;
                let why = escaped(why);
                let _ =
                    writeln!(self.cases, "><failure message=\"{why}\">{why}</failure></testcase>");
            }
        }
    }

    fn xml(&self) -> String {
        let Self { name, cases, tests, failures, skipped } = self;
        let name = escaped(name);
        format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n"
        )
    }
}

/// Returns the suite of a run without any check, which fails.
fn nothing_compared(why: &str) -> Suite {
    let mut suite = Suite::new("plimsoll gate".to_owned());
    suite.case("plimsoll gate", "compared", Some(why));
    suite
}

/// Returns the suite of a file that cannot be read, which fails.
fn damaged(file: &str, reason: &str) -> Suite {
    let mut suite = Suite::new(file.to_owned());
    suite.case(file, "readable", Some(reason));
    suite
}

/// Returns the suite of the checks over all sessions.
fn over_all(retained: &[LaneCheck]) -> Suite {
    let mut suite = Suite::new("all sessions".to_owned());
    for LaneCheck { lane, check } in retained {
        let class = format!("all sessions.{lane}");
        suite.check(&class, check.measure.label(), check);
    }
    suite
}

fn suite(judged: &JudgedSession) -> Suite {
    let name = judged.id.to_string();
    let mut suite = Suite::new(suite_name(&name, judged));
    if judged.content_changed {
        let why = "its content differs from the baseline's";
        suite.case(&name, "content", Some(why));
    }
    for lane in &judged.lanes {
        let class = format!("{name}.{}", lane.name);
        for (nth, check) in lane.checks.iter().enumerate() {
            // A measure may be compared with the baseline and with a limit; each case needs its own name.
            let before = lane.checks[..nth].iter();
            let measure = match before.filter(|other| other.measure == check.measure).count() {
                0 => check.measure.label().to_owned(),
                n => format!("{} ({})", check.measure.label(), n + 1),
            };
            suite.check(&class, &measure, check);
        }
    }
    suite
}

/// Returns the suite's name, with the title if the file holds many sessions.
fn suite_name(name: &str, judged: &JudgedSession) -> String {
    match judged.id.conversation {
        Some(_) => format!("{name} {}", judged.title),
        None => name.to_owned(),
    }
}

/// Escapes text for element content and attributes. Omits characters that XML does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            // Bidirectional controls are shown as their codes.
            c if is_interpreted(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_cannot_break_out_of_an_attribute() {
        assert_eq!(escaped("a\"><b c='d'&\u{1b}e"), "a&quot;&gt;&lt;b c=&apos;d&apos;&amp;e");
        assert_eq!(escaped("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
    }
}
