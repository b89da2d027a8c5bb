//! Texts that the HTML page and Markdown share, not escaped yet.

use super::{
    Belief, CurveKind, EventReport, Figures, LaneReport, RemovalReport, Report, SettingValue,
    status_text,
};
use crate::analysis::rereads::WINDOW_CALLS;
use crate::engine::{Effect, Event};
use crate::figure::{counted, grouped, number, percent, quantity, tokens};
use crate::units::Tokens;
use std::fmt::{self, Write as _};

impl Report {
    /// Returns facts of the session as names and values.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let about = &self.about;
        let models: Vec<_> = about.models.iter().map(ToString::to_string).collect();
        let calls = if about.calls_recorded {
            String::new()
        } else {
            ", one per assistant message".to_owned()
        };
        let about_size = about.accuracy_mark;
        vec![
            ("Format", about.format.to_owned()),
            (
                "Messages",
                format!("{} in {}", grouped(about.messages as u64), counted(about.turns, "turn")),
            ),
            ("Calls", format!("{}{calls}", grouped(about.calls as u64))),
            (
                "Models",
                if models.is_empty() { "not recorded".to_owned() } else { models.join(", ") },
            ),
            ("Context window", format!("{} ({})", tokens(about.window), about.window_source)),
            ("Output reserve", tokens(about.output_reserve)),
            ("Full history", format!("{about_size}{} tokens", tokens(about.total))),
            ("Counts", about.accuracy.clone()),
        ]
    }

    /// Describes the source of the figures in a few sentences.
    pub(super) fn figures_note(&self) -> String {
        let about = &self.about;
        let reported = match about.calls_reported {
            0 => "The file reports no usage.".to_owned(),
            n if n == about.calls => {
                "The provider reported usage for every recorded call.".to_owned()
            }
            n => format!(
                "The provider reported usage for {} of {}; the others are counted.",
                grouped(n as u64),
                counted(about.calls, "call")
            ),
        };
        // The summaries of the first lane, `recorded`, were written by a model.
        let mut replays = self.lanes.iter().skip(1);
        let predicted = if replays.any(|lane| lane.figures.summaries.requests > 0) {
            " Summaries have a predicted size: no model wrote them."
        } else {
            ""
        };
        format!(
            "{reported} Other lanes are replays: counts are {}; the recorded agent's actions stay the same.{predicted}",
            about.accuracy
        )
    }

    /// Explains the expected re-reads.
    pub(super) fn rereads_note() -> String {
        format!(
            "Files that the agent is expected to read again within {WINDOW_CALLS} calls because a lane removed, cut or cleared their content, at list prices. In one session, the number varies more than its interval."
        )
    }

    /// Returns notes about the report itself.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "Made by Plimsoll {} offline. Messages, turns and calls are counted from 1.",
            env!("CARGO_PKG_VERSION")
        )];
        if self.is_redacted {
            notes.push(
                "Redacted: this report contains no texts, arguments, paths or titles, and no names of files, people, servers or \
                 private models. It contains roles, kinds, sizes, and names of well-known tools, models and bundled policies."
                    .to_owned(),
            );
        }
        if self.omitted_notes > 0 {
            let omitted = counted(self.omitted_notes, "note");
            notes.push(format!("Omitted: {omitted} on messages."));
        }
        notes
    }
}

impl Figures {
    /// Describes tokens besides the samples: summary requests and rejected calls.
    pub(super) fn aside(&self) -> Option<String> {
        let summaries = self.summaries;
        let mut all = Vec::new();
        if summaries.requests > 0 {
            all.push(format!(
                "{}: {} tokens sent, {} received",
                counted(summaries.requests, "summary request"),
                tokens(summaries.sent),
                tokens(summaries.received)
            ));
        }
        if self.rejected > Tokens::ZERO {
            all.push(format!("{} tokens in rejected calls", tokens(self.rejected)));
        }
        (!all.is_empty()).then(|| format!("{}.", all.join("; ")))
    }
}

impl CurveKind {
    /// Returns whether a policy was replayed.
    pub(super) fn is_policy(self) -> bool {
        matches!(self, Self::Policy(_))
    }
}

impl LaneReport {
    /// Returns the policy's label if it differs from the lane's name.
    pub(super) fn about(&self) -> String {
        let (name, policy) = (self.name.to_string(), self.policy.to_string());
        if name.eq_ignore_ascii_case(&policy) { String::new() } else { policy }
    }
}

impl Belief {
    /// Compares the system's own count and belief with the actual count, in a sentence.
    pub(super) fn sentence(&self) -> String {
        let believed = match self.believed {
            Some(share) if share.0.is_finite() => {
                format!(" and believes to be at {} of its own limit", percent(share))
            }
            _ => String::new(),
        };
        format!(
            "At call {}, where they differ most, the system counts {} tokens{believed}; the actual count is {}, {} of usable.",
            number(self.call),
            tokens(self.counted),
            tokens(self.actual),
            percent(self.pressure)
        )
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => f.write_str(&quantity(*value)),
            Self::Choice(choice) => choice.fmt(f),
        }
    }
}

impl EventReport {
    /// Describes the result in a few words.
    pub(super) fn outcome(&self) -> String {
        let messages = counted(self.messages, "message");
        let mut text = match self.effect {
            Effect::Removed => format!("{} of {messages}", self.action),
            Effect::Changed => format!("{}, nothing removed", self.action),
            Effect::Nothing => format!("{}: nothing changed", self.action),
            Effect::Logged => "logged".to_owned(),
        };
        if let Some(request) = self.request {
            let (sent, received) = (tokens(request.sent), tokens(request.answer));
            let _ = write!(text, "; summary request: {sent} tokens sent, {received} received");
        }
        if self.orphans > 0 {
            let _ = write!(text, "; {} unpaired", grouped(self.orphans as u64));
        }
        if self.times > 1 {
            let _ = write!(text, "; and before the next {}", counted(self.times - 1, "call"));
        }
        text
    }
}

impl RemovalReport {
    /// Describes the removal: messages, call and stage.
    pub(super) fn sentence(&self) -> String {
        let messages = counted(self.messages, "message");
        let by = match (&self.call, &self.stage) {
            (_, Some(stage)) if stage.to_string() == Event::MANUAL => Event::MANUAL.to_owned(),
            (Some(call), Some(stage)) => format!("before call {} by {stage}", number(*call)),
            _ => "by the recorded compaction".to_owned(),
        };
        format!("{messages} {} {by}: {} tokens", status_text(self.status), tokens(self.gone))
    }
}
