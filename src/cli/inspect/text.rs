//! What `plimsoll inspect` says to people.

use super::{Findings, LARGEST};
use crate::analysis::{largest_parts, tokens_by_tool};
use crate::cli::output::{clean, counted, grouped, percent, tokens};
use crate::report::{basis_sentence, window_source};
use crate::session::StepsFrom;
use crate::units::Tokens;
use std::fmt::Write as _;

impl Findings<'_> {
    /// All of it, laid out.
    pub(super) fn text(&self) -> String {
        let session = self.session();
        let mut text = format!("{}\n{}\n\n", clean(&session.title), clean(&self.verdict));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<12} {}", clean(value));
        };
        line(
            "format",
            &format!(
                "{} ({})",
                session.source.format, self.loaded.report.recognized_by
            ),
        );
        if self.loaded.conversations.len() > 1 {
            let all = self.loaded.conversations.len();
            line(
                "conversation",
                &format!(
                    "{} of {all} (--conversation N chooses)",
                    self.conversation + 1
                ),
            );
        }
        let roles: Vec<String> = self
            .roles()
            .iter()
            .map(|(role, n)| format!("{} {role}", grouped(*n as u64)))
            .collect();
        let compacted = match self.recorded_only() {
            0 => String::new(),
            n => format!(
                "; {} of them written by the source's own compaction",
                grouped(n as u64)
            ),
        };
        line(
            "messages",
            &format!(
                "{} ({}){compacted}",
                grouped(session.messages.len() as u64),
                roles.join(", ")
            ),
        );
        let how = if session.steps_from == StepsFrom::Recorded {
            ""
        } else {
            ", one an assistant message"
        };
        line(
            "turns, calls",
            &format!(
                "{}, {}{how}",
                grouped(session.turns.into()),
                grouped(session.steps.len() as u64)
            ),
        );
        line(
            "models",
            &if session.models.is_empty() {
                "not recorded".to_owned()
            } else {
                session.models.join(", ")
            },
        );
        line(
            "window",
            &format!(
                "{} ({})",
                tokens(self.case.windows.largest()),
                window_source(self.case)
            ),
        );
        line("recorded", &self.recorded_text());
        line(
            "tokens",
            &format!(
                "{} in the full history, {}",
                tokens(self.case.ledger.total()),
                basis_sentence(self.case)
            ),
        );
        self.weights(&mut text);
        self.oddities(&mut text);
        text
    }

    fn recorded_text(&self) -> String {
        let peak = self.session().peak_recorded();
        let usage = match peak {
            Some(peak) => format!(
                "peak {} over {} with usage",
                tokens(peak),
                counted(self.calls_with_usage(), "call")
            ),
            None => "no usage".to_owned(),
        };
        format!(
            "{usage}, {}",
            counted(self.session().compactions.len(), "compaction")
        )
    }

    fn weights(&self, text: &mut String) {
        let total = self.case.ledger.total();
        let mut row = |name: &str, weight: Tokens| {
            let share = percent(weight.share_of(total));
            let _ = writeln!(
                text,
                "  {:<24} {:>12} {share:>8}",
                clean(name),
                tokens(weight)
            );
        };
        row("by kind", total);
        self.by_kind()
            .filter(|(_, t)| t.0 > 0)
            .for_each(|(kind, tokens)| row(kind, tokens));
        let tools = tokens_by_tool(self.case);
        if !tools.is_empty() {
            row("by tool", tools.iter().map(|(_, t)| *t).sum());
            tools
                .iter()
                .take(LARGEST)
                .for_each(|(tool, tokens)| row(tool, *tokens));
        }
        let _ = writeln!(text, "  largest");
        for part in largest_parts(self.case, LARGEST) {
            let tool = part.tool.unwrap_or_default();
            let (message, kind) = (part.message + 1, part.kind.name());
            let _ = writeln!(
                text,
                "  message {message:<6} {kind:<12} {:>8} {}",
                tokens(part.tokens),
                clean(&tool)
            );
        }
    }

    fn oddities(&self, text: &mut String) {
        for (name, lines) in [("warning", &self.warnings), ("issue", &self.issues)] {
            for line in lines {
                let _ = writeln!(text, "{name}: {}", clean(line));
            }
        }
    }
}
