//! The result of `plimsoll compare` as text.

use super::Compared;
use super::figure_text::texts;
use crate::analysis::MessageName;
use crate::analysis::comparison::{Figure, OnlyFact, charges, composition, figures, notes};
use crate::analysis::facts::FactKind;
use crate::analysis::message_kind;
use crate::cli::output::{clean, counted, grouped, tokens};
use crate::safe_text::{head, one_line};
use std::fmt::Write as _;

/// Maximum number of messages, tools, files and facts that are listed without `--all`.
const MAX_ROWS: usize = 12;
/// Characters of a message or fact in a list.
const TEXT: usize = 72;
/// Ways to set an unknown price.
const PRICE_ADVICE: &str = "--price-as MODEL or --prices FILE sets one.";
/// Names of the sessions.
const NAMES: [&str; 2] = ["A", "B"];

impl Compared<'_> {
    /// Returns the text; `all` lists everything.
    pub(super) fn text(&self, all: bool) -> String {
        let most = if all { usize::MAX } else { MAX_ROWS };
        let mut text = String::new();
        for side in 0..2 {
            self.title(&mut text, side);
        }
        let sessions = &self.found.sessions;
        table(&mut text, "", &figures(sessions));
        table(&mut text, "composition", &composition(sessions));
        table(&mut text, "cost", &charges(sessions));
        let notes = notes(sessions, PRICE_ADVICE);
        for (nth, note) in notes.iter().enumerate() {
            let break_before = if nth == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{break_before}{}", clean(note));
        }
        self.tools_text(&mut text, most);
        self.messages(&mut text, most);
        self.facts(&mut text, most);
        text
    }

    fn title(&self, text: &mut String, side: usize) {
        let session = &self.sessions[side].case.session;
        let conversation = match self.conversations[side] {
            0 => String::new(),
            idx => format!(" #{}", idx + 1),
        };
        let models = if session.models.is_empty() {
            "model not recorded".to_owned()
        } else {
            session.models.join(", ")
        };
        let _ = writeln!(
            text,
            "{}  {}{conversation} · {} · {} · {}",
            NAMES[side],
            clean(&self.paths[side].to_string_lossy()),
            session.source.format,
            clean(&models),
            clean(&one_line(&session.title, TEXT)),
        );
    }

    fn tools_text(&self, text: &mut String, most: usize) {
        if self.found.tools.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n{:<24} {:>9} {:>9} {:>12} {:>12} {:>9} {:>9}",
            "tools", "calls A", "calls B", "tokens A", "tokens B", "failed A", "failed B"
        );
        for mix in self.found.tools.iter().take(most) {
            let [a, b] = mix.uses;
            let _ = writeln!(
                text,
                "  {:<22} {:>9} {:>9} {:>12} {:>12} {:>9} {:>9}",
                clean(&one_line(&mix.tool, 40)),
                grouped(a.calls as u64),
                grouped(b.calls as u64),
                tokens(a.tokens),
                tokens(b.tokens),
                grouped(a.errors as u64),
                grouped(b.errors as u64),
            );
        }
        more(text, self.found.tools.len(), most);
    }

    fn messages(&self, text: &mut String, most: usize) {
        let matches = &self.found.messages;
        let _ = writeln!(
            text,
            "\nmessages: {} the same ({} from the start on), {} changed, {} only in A, {} only in B",
            grouped(matches.same.len() as u64),
            grouped(matches.same_start as u64),
            grouped(matches.changed.len() as u64),
            grouped(matches.only[0].len() as u64),
            grouped(matches.only[1].len() as u64),
        );
        for (name, n) in NAMES.into_iter().zip(matches.copied).filter(|(_, n)| *n > 0) {
            let messages = counted(n, "message");
            let _ = writeln!(
                text,
                "  {messages} of {name} not compared: copies that a recorded compaction wrote"
            );
        }
        if !matches.changed.is_empty() {
            let _ = writeln!(text, "changed");
        }
        for [a, b] in matches.changed.iter().take(most) {
            let [before, after] = [(0, *a), (1, *b)].map(|(side, message)| {
                let ledger = &self.sessions[side].case.ledger;
                tokens(ledger.message(message as usize))
            });
            let _ = writeln!(
                text,
                "  message {:>6} → {:<6} {before:>9} → {after:<9} {}",
                a + 1,
                b + 1,
                self.subject(0, *a)
            );
        }
        more(text, matches.changed.len(), most);
        for (side, only) in matches.only.iter().enumerate().filter(|(_, only)| !only.is_empty()) {
            let _ = writeln!(text, "only in {}", NAMES[side]);
            for message in only.iter().take(most) {
                let case = &self.sessions[side].case;
                let kind = message_kind(case, &case.session.messages[*message as usize]);
                let _ = writeln!(
                    text,
                    "  message {:>6}  {:<12} {:>9}  {}",
                    message + 1,
                    kind.name(),
                    tokens(case.ledger.message(*message as usize)),
                    self.subject(side, *message)
                );
            }
            more(text, only.len(), most);
        }
    }

    /// Returns the tool and subject of a call or result, or the start of another message.
    fn subject(&self, side: usize, message: u32) -> String {
        let case = &self.sessions[side].case;
        let name = MessageName::of(case, message as usize);
        let text = match &name {
            MessageName::Call { .. } => name.to_string(),
            MessageName::Message { .. } => {
                let message = &case.session.messages[message as usize];
                let mut texts = case.session.parts_of(message).iter().map(|part| part.body.text());
                let said = texts.find(|text| !text.trim().is_empty());
                said.map_or_else(|| name.to_string(), |text| head(text, 8 * TEXT).to_owned())
            }
        };
        clean(&one_line(&text, TEXT)).into_owned()
    }

    fn facts(&self, text: &mut String, most: usize) {
        let facts = &self.found.facts;
        let names_file = |fact: &&OnlyFact| fact.kind == FactKind::File;
        let [files, others] = [true, false].map(|is_of_file| {
            facts.only.each_ref().map(|only| {
                let found = only.iter().filter(|fact| names_file(fact) == is_of_file);
                found.collect::<Vec<_>>()
            })
        });
        let _ = writeln!(
            text,
            "\nfacts not replaced by a later one: {} in both",
            grouped(facts.shared as u64)
        );
        for (what, of_both) in [("file", files), ("other fact", others)] {
            for (side, only) in of_both.iter().enumerate().filter(|(_, only)| !only.is_empty()) {
                let _ = writeln!(text, "{} only in {}", counted(only.len(), what), NAMES[side]);
                for fact in only.iter().take(most) {
                    let _ = writeln!(
                        text,
                        "  message {:>6}  {:<12} {}",
                        fact.message + 1,
                        fact.kind.name(),
                        clean(&one_line(&fact.text, TEXT))
                    );
                }
                more(text, only.len(), most);
            }
        }
    }
}

/// Appends a table of figures.
fn table(text: &mut String, title: &str, rows: &[Figure]) {
    if rows.is_empty() {
        return;
    }
    let head = ["A", "B", "B - A", "change"];
    row(text, &format!("\n{title:<22}"), head);
    for figure in rows {
        let texts = texts(figure);
        let shown = texts.each_ref().map(String::as_str);
        row(text, &format!("  {:<20}", figure.name), shown);
    }
}

fn row(text: &mut String, name: &str, [a, b, difference, change]: [&str; 4]) {
    let _ = writeln!(text, "{name} {a:>14} {b:>14} {difference:>14} {change:>10}");
}

/// Appends the number of rows that are not listed.
fn more(text: &mut String, n: usize, most: usize) {
    if n > most {
        let _ = writeln!(text, "  and {} more (--all lists them)", grouped((n - most) as u64));
    }
}
