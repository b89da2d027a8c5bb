//! `plimsoll inspect`: the contents of a session file, its tokens, and warnings about it.

mod text;

use super::Status;
use super::args::{FileArg, Shared};
use super::lanes;
use super::output::{json, note, print};
use crate::analysis::{Trigger, largest_parts, tokens_by_tool, verdict};
use crate::engine::{Case, Peak, recorded};
use crate::exec::Loaded;
use crate::formats::{Availability, RecordedData, availability};
use crate::report::{basis, window_source};
use crate::session::{CallsFrom, Kind, Role, Session, Start, Track, issues};
use crate::tokens::Basis;
use crate::units::Tokens;
use serde_json::{Map, Value, json};

/// Show what a session file contains, how many tokens it has, and what is unusual about it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
}

/// Number of parts in the list of the largest.
const LARGEST: usize = 10;

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        let none = lanes::none(shared)?;
        let loaded = shared.load(&self.file.file)?;
        let reserve = none.output_reserve(&loaded.case);
        if let Some(text) = lanes::check_reserve(&loaded.case, reserve, shared)? {
            note(&text);
        }
        let found = Findings::new(&loaded, reserve, shared.conversation.unwrap_or(0));
        if shared.json {
            json(&found.shape())?;
        } else {
            print(&found.text())?;
        }
        // The program ends here. Freeing a large session would only take time.
        std::mem::forget(loaded);
        Ok(Status::Done)
    }
}

/// The result of the command, for text and JSON.
struct Findings<'a> {
    loaded: &'a Loaded,
    case: &'a Case,
    conversation: usize,
    reserve: Tokens,
    verdict: String,
    peak: Option<Peak>,
    warnings: Vec<String>,
    issues: Vec<String>,
}

impl<'a> Findings<'a> {
    fn new(loaded: &'a Loaded, reserve: Tokens, conversation: usize) -> Self {
        let case = &loaded.case;
        let really = recorded(case, reserve, None);
        let trigger = Trigger::of_lanes(case, reserve, None);
        let warnings = loaded
            .warnings
            .iter()
            .map(ToString::to_string)
            .chain(case.windows.warnings.iter().cloned());
        let issues = issues(&case.session).into_iter();
        Self {
            loaded,
            case,
            conversation,
            reserve,
            verdict: verdict(case, &really, reserve, &trigger).text(),
            peak: really.peak(),
            warnings: warnings.collect(),
            issues: issues
                .map(|i| {
                    format!(
                        "message {}: {} ({})",
                        i.message + 1,
                        i.kind.sentence(),
                        i.call
                    )
                })
                .collect(),
        }
    }

    fn session(&self) -> &Session {
        &self.case.session
    }

    /// Returns the number of messages of each role that occurs, in a fixed order.
    fn roles(&self) -> Vec<(&'static str, usize)> {
        let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
        let count = |role: Role| {
            self.session()
                .messages
                .iter()
                .filter(|m| m.role == role)
                .count()
        };
        roles
            .into_iter()
            .map(|role| (role.name(), count(role)))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Returns the number of messages that only the source's own compaction wrote. They are numbered, but not part of the
    /// history.
    fn recorded_only(&self) -> usize {
        self.session()
            .messages
            .iter()
            .filter(|m| !m.in_history)
            .count()
    }

    /// Returns the number of code points in all text of the full history.
    fn chars(&self) -> usize {
        let history = self.session().messages.iter().filter(|m| m.in_history);
        history
            .flat_map(|m| self.session().parts_of(m))
            .map(|p| p.body.text().chars().count())
            .sum()
    }

    fn calls_with_usage(&self) -> usize {
        self.session()
            .calls
            .iter()
            .filter(|s| s.usage.is_some())
            .count()
    }

    fn by_kind(&self) -> impl Iterator<Item = (&'static str, Tokens)> {
        let sums = self.case.ledger.by_kind(self.session());
        Kind::ALL
            .iter()
            .map(move |kind| (kind.name(), sums[kind.index()]))
    }

    fn shape(&self) -> Value {
        let session = self.session();
        json!({
            "format": session.source.format,
            "title": session.title,
            "conversation": self.conversation + 1,
            "conversations": self.loaded.conversations.iter().map(|c| &c.title).collect::<Vec<_>>(),
            "tracks": self.tracks_shape(),
            "messages": session.messages.len(),
            "messages_recorded_only": self.recorded_only(),
            "turns": session.turns,
            "steps": session.calls.len(),
            "steps_recorded": session.calls_from == CallsFrom::Recorded,
            "models": session.models,
            "roles": object(self.roles().into_iter().map(|(role, n)| (role, json!(n)))),
            "chars": self.chars(),
            "window": self.case.windows.largest(),
            "window_source": window_source(self.case),
            "output_reserve": self.reserve,
            "peak": self.peak.map(|peak| peak.tokens),
            "peak_step": self.peak.and_then(|peak| peak.step).map(|step| step + 1),
            "recorded": self.recorded_shape(),
            "tokens": self.tokens_shape(),
            "largest": self.largest_shape(),
            "verdict": self.verdict,
            "warnings": self.warnings,
            "issues": self.issues,
            "report": self.report_shape(),
        })
    }

    fn recorded_shape(&self) -> Value {
        let compactions = self.session().compactions.iter().map(|c| {
            json!({
                "step": c.call + 1,
                "trigger": if c.trigger.is_empty() { "unknown" } else { c.trigger.as_str() },
                "tokens_before": c.tokens_before,
                "tokens_after": c.tokens_after,
            })
        });
        json!({
            "largest_call": self.session().largest_reported(),
            "calls_with_usage": self.calls_with_usage(),
            "compactions": compactions.collect::<Vec<_>>(),
        })
    }

    fn tokens_shape(&self) -> Value {
        let ledger = &self.case.ledger;
        let fit = ledger.fit.map(|fit| {
            json!({
                "overhead": fit.overhead,
                "factor": fit.factor,
                "error": fit.error,
                "prequential_error": fit.prequential_error,
                "unfitted_error": fit.unfitted_error,
                "calls": fit.calls,
            })
        });
        let error = if let Basis::Calibrated(error) = ledger.basis {
            Some(error)
        } else {
            None
        };
        json!({
            "total": ledger.total(),
            "basis": basis(self.case),
            "error": error,
            "counter": ledger.counter.name,
            "overhead": ledger.overhead,
            "fit": fit,
            "by_kind": object(self.by_kind().map(|(kind, tokens)| (kind, json!(tokens)))),
            "by_tool": object(tokens_by_tool(self.case).into_iter().map(|(tool, tokens)| (tool, json!(tokens)))),
        })
    }

    fn largest_shape(&self) -> Value {
        let parts = largest_parts(self.case, LARGEST).into_iter().map(|p| {
            json!({ "message": p.message + 1, "kind": p.kind.name(), "tool": p.tool, "tokens": p.tokens })
        });
        Value::Array(parts.collect())
    }

    fn report_shape(&self) -> Value {
        let report = &self.loaded.report;
        let records = report.records.iter().map(|(kind, r)| {
            (
                kind.clone(),
                json!({ "count": r.count, "in_context": r.in_context }),
            )
        });
        let carries = self.availability().into_iter();
        json!({
            "recognized_by": report.recognized_by,
            "sub_agent_of": report.parent,
            "records": object(records),
            "carries": object(carries.map(|(what, how)| (what.name(), json!(how.name())))),
        })
    }

    /// Returns the conversations of the file, with their relation to the main one.
    fn availability(&self) -> Vec<(RecordedData, Availability)> {
        let loaded = self.loaded;
        availability(self.session(), &loaded.conversations, &loaded.report)
    }

    fn tracks_shape(&self) -> Value {
        let tracks = self.loaded.conversations.iter().map(|c| {
            let (track, agent) = match &c.track {
                Track::Main => ("main", None),
                Track::SubAgent(agent) => ("sub_agent", agent.kind.as_deref()),
                Track::Branch => ("branch", None),
            };
            let (mut call, mut after, mut of) = (None, None, None);
            match c.start {
                Some(Start::StartedAt(step)) => call = Some(step + 1),
                Some(Start::After(messages)) => after = Some(messages),
                Some(Start::Of(number)) => of = Some(number + 1),
                None => {}
            }
            json!({
                "title": c.title,
                "track": track,
                "agent": agent,
                "call": call,
                "after_message": after,
                "of_conversation": of,
                "messages": c.size.map(|size| size.messages),
                "calls": c.size.map(|size| size.calls),
            })
        });
        Value::Array(tracks.collect())
    }
}

fn object<K: Into<String>>(entries: impl Iterator<Item = (K, Value)>) -> Value {
    Value::Object(
        entries
            .map(|(key, value)| (key.into(), value))
            .collect::<Map<_, _>>(),
    )
}
