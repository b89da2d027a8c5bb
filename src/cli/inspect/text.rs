//! The result of `plimsoll inspect` as text.

use super::{InspectFindings, MAX_LARGEST};
use crate::analysis::largest_parts;
use crate::analysis::tools::tokens_by_tool;
use crate::cli::output::{clean, counted, grouped, percent, tokens};
use crate::cli::usage::sums;
use crate::engine::Peak;
use crate::figure::plural;
use crate::formats::{Availability, RecordedData};
use crate::report::{accuracy_sentence, has_tracks, track, window_source};
use crate::safe_text::one_line;
use crate::session::CallsFrom;
use crate::units::Tokens;
use std::fmt::Write as _;

/// Maximum number of conversations in the list.
const MAX_CONVERSATIONS: usize = 60;
/// Characters of a title in that list.
const TITLE: usize = 60;

impl InspectFindings<'_> {
    /// Returns the text.
    pub(super) fn text(&self) -> String {
        let session = self.session();
        let mut text = format!("{}\n{}\n\n", clean(&session.title), clean(&self.verdict));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<12} {}", clean(value));
        };
        line(
            "format",
            &format!("{} ({})", session.source.format, self.loaded.report.recognized_by),
        );
        if self.loaded.conversations.len() > 1 {
            line("conversation", &self.conversation_text());
        }
        if let Some(parent) = &self.loaded.report.parent {
            line("sub-agent", &format!("started by the session {parent}"));
        }
        let roles: Vec<String> =
            self.roles().iter().map(|(role, n)| format!("{} {role}", grouped(*n as u64))).collect();
        let compacted = match self.n_compaction_messages() {
            0 => String::new(),
            n => format!(
                "; {} more written by the recorded compaction{}, numbered 1 to {}",
                grouped(n as u64),
                plural(session.compactions.len(), "compaction"),
                grouped(session.messages.len() as u64)
            ),
        };
        line(
            "messages",
            &format!(
                "{} ({}){compacted}",
                grouped(self.history().count() as u64),
                roles.join(", ")
            ),
        );
        let how = if session.calls_from == CallsFrom::Recorded {
            ""
        } else {
            " (not recorded: one per assistant message)"
        };
        line(
            "turns, calls",
            &format!(
                "{}, {}{how}",
                grouped(session.turns.into()),
                grouped(session.calls.len() as u64)
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
                "{} ({}), reserve {}, usable {}",
                tokens(self.case.windows.largest()),
                window_source(self.case),
                tokens(self.reserve),
                tokens(self.usable())
            ),
        );
        if let Some(peak) = self.peak {
            line("context", &self.context_text(peak));
        }
        line("trigger", &self.trigger_text());
        line("recorded", &self.recorded_text());
        line(
            "tokens",
            &format!(
                "{} in the history, {}",
                tokens(self.case.ledger.total()),
                accuracy_sentence(self.case)
            ),
        );
        line("data", &self.data_text());
        self.token_tables(&mut text);
        self.sources_text(&mut text);
        self.records(&mut text);
        self.tracks(&mut text);
        self.problems(&mut text);
        text
    }

    /// Formats the largest context and the one at the end.
    fn context_text(&self, peak: Peak) -> String {
        let place = match peak.call {
            Some(call) => format!("at call {}", grouped(call as u64 + 1)),
            None => "at the end".to_owned(),
        };
        let share = percent(self.peak_share);
        format!(
            "largest {} {place} ({share} of usable), {} at the end",
            tokens(peak.tokens),
            tokens(self.end)
        )
    }

    /// Formats the trigger that the verdict refers to.
    fn trigger_text(&self) -> String {
        match &self.trigger.lane {
            Some(lane) => format!(
                "{} of {}, the default policy (replay --policy NAME compares others)",
                tokens(lane.tokens),
                lane.name
            ),
            None if self.usable() == Tokens::ZERO => {
                "none: the reserve leaves no usable tokens; set a smaller --output-reserve or a larger --window".to_owned()
            }
            None => "none: the default policy has no trigger for this window".to_owned(),
        }
    }

    /// Returns the usable window.
    fn usable(&self) -> Tokens {
        self.case.windows.largest() - self.reserve
    }

    /// Formats the number and the kind of the conversation.
    fn conversation_text(&self) -> String {
        let all = &self.loaded.conversations;
        let relation = match all.get(self.conversation).filter(|_| has_tracks(all)) {
            Some(conversation) => format!("{}; ", track(conversation)),
            None => String::new(),
        };
        let number = self.conversation + 1;
        format!("{number} of {} ({relation}--conversation N selects another)", all.len())
    }

    /// Formats which data the file records besides the messages, lacks, or cannot record in its format.
    fn data_text(&self) -> String {
        let all = self.availability();
        let of = |how: Availability| {
            let names = all.iter().filter(|(_, its)| *its == how);
            let names: Vec<_> = names.map(|(data, _)| data.name()).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let clauses = [
            of(Availability::Present),
            of(Availability::Absent).map(|names| format!("none in this file: {names}")),
            of(Availability::Unsupported)
                .map(|names| format!("not recorded by this format: {names}")),
        ];
        clauses.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Appends a table of the file's records and how many of them are in the context.
    fn records(&self, text: &mut String) {
        let records = &self.loaded.report.records;
        if records.is_empty() {
            return;
        }
        let _ = writeln!(text, "  {:<38} {:>8} {:>11}", "records", "in file", "in context");
        for (kind, count) in records {
            let _ = writeln!(
                text,
                "  {:<38} {:>8} {:>11}",
                clean(kind),
                grouped(count.count as u64),
                grouped(count.in_context as u64)
            );
        }
    }

    /// Appends the list of the file's conversations.
    fn tracks(&self, text: &mut String) {
        let all = &self.loaded.conversations;
        if all.len() < 2 {
            return;
        }
        let _ = writeln!(text, "  conversations");
        let has_tracks = has_tracks(all);
        for (number, conversation) in all.iter().enumerate().take(MAX_CONVERSATIONS) {
            let relation =
                if has_tracks { format!(" ({})", track(conversation)) } else { String::new() };
            let size = conversation
                .size
                .map_or_else(String::new, |size| format!(", {}", counted(size.calls, "call")));
            let title = one_line(&conversation.title, TITLE);
            let row = self.tree.as_ref().and_then(|tree| tree.rows[number].as_ref());
            let size = row.map_or(size, |row| format!(": {}", sums(row)));
            let _ =
                writeln!(text, "  {:>4}  {}{}{size}", number + 1, clean(&title), clean(&relation));
        }
        if all.len() > MAX_CONVERSATIONS {
            let more = grouped((all.len() - MAX_CONVERSATIONS) as u64);
            let _ = writeln!(text, "  and {more} more (--json lists all)");
        }
        if let Some(tree) = &self.tree {
            let _ = writeln!(text, "   all  {}", sums(&tree.total));
            let _ = writeln!(text, "        {}", tree.overflow_sentence());
        }
    }

    fn recorded_text(&self) -> String {
        let usage = match self.session().largest_reported() {
            Some(largest) => format!(
                "largest call {} over {} with usage",
                tokens(largest),
                counted(self.calls_with_usage(), "call")
            ),
            None => "no usage".to_owned(),
        };
        let is_recorded = |(data, how): &(RecordedData, Availability)| {
            *data == RecordedData::Compactions && *how != Availability::Unsupported
        };
        if !self.availability().iter().any(is_recorded) {
            return format!("{usage}; compactions are not recorded by this format");
        }
        format!("{usage}, {}", counted(self.session().compactions.len(), "compaction"))
    }

    /// Appends the tokens by kind and by tool, and the largest parts.
    fn token_tables(&self, text: &mut String) {
        let total = self.case.ledger.total();
        let mut row = |name: &str, sum: Tokens| {
            let share = percent(sum.share_of(total));
            let _ = writeln!(text, "  {:<24} {:>12} {share:>8}", clean(name), tokens(sum));
        };
        row("by kind", total);
        let not_recorded = ("not recorded", self.case.ledger.overhead);
        let kinds = std::iter::once(not_recorded).chain(self.by_kind());
        kinds.filter(|(_, tokens)| tokens.0 > 0).for_each(|(kind, tokens)| row(kind, tokens));
        let tools = tokens_by_tool(self.case);
        if !tools.is_empty() {
            row("by tool", tools.iter().map(|(_, t)| *t).sum());
            tools.iter().take(MAX_LARGEST).for_each(|(tool, tokens)| row(tool, *tokens));
            if let Some(others @ [_, ..]) = tools.get(MAX_LARGEST..) {
                let name = counted(others.len(), "other tool");
                row(&name, others.iter().map(|(_, t)| *t).sum());
            }
        }
        let _ = writeln!(text, "  largest");
        for part in largest_parts(self.case, MAX_LARGEST) {
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

    /// Appends warnings and issues.
    fn problems(&self, text: &mut String) {
        for (name, lines) in [("warning", &self.warnings), ("issue", &self.issues)] {
            for line in lines {
                let _ = writeln!(text, "{name}: {}", clean(line));
            }
        }
    }
}
