//! `plimsoll inspect`: what a session file holds, what it weighs, and what is odd about it.

use super::args::{Shared, Word, Words, one_file, unknown_option};
use super::lanes;
use super::output::{clean, counted, grouped, json, percent, print, tokens};
use super::{Status, Verb};
use crate::analysis::{largest_parts, tokens_by_tool, verdict};
use crate::engine::{Case, WindowSource, recorded};
use crate::exec::Loaded;
use crate::session::{Kind, Role, Session, StepsFrom, issues};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;

pub(super) const VERB: Verb = Verb {
    name: "inspect",
    summary: "Show what a session file holds, what it weighs, and what is odd about it.",
    help: "\
plimsoll inspect FILE [--json]

JSON: format, title, conversation, conversations[], messages, turns, steps, models[], roles{role: count}, chars,
window, window_source, output_reserve, recorded{peak_input_tokens, calls_with_usage, compactions[{step, trigger,
tokens_before, tokens_after}]}, tokens{total, basis, error, counter, overhead, fit, by_kind{}, by_tool{}},
largest[{message, kind, tool, tokens}], verdict, warnings[], issues[], report{recognized_by, records{}}.
Steps, turns and messages are numbered from 1; tokens.total weighs the full history once.
",
    run,
};

/// Parts listed as the largest.
const LARGEST: usize = 10;

/// The generic strategies' trigger, which the verdict speaks of.
const TRIGGER: Share = Share(0.75);

fn run(words: &mut Words) -> anyhow::Result<Status> {
    let mut shared = Shared::new();
    let mut files: Vec<OsString> = Vec::new();
    while let Some(word) = words.next()? {
        match word {
            Word::Operand(file) => files.push(file),
            Word::Option(option) if shared.take(&option, words)? => {}
            Word::Option(option) => return Err(unknown_option(VERB.name, &option)),
        }
    }
    let file = one_file(VERB.name, files)?;
    let reserve = lanes::none(&shared)?.output_reserve();
    let loaded = shared.load(&file)?;
    let found = Findings::new(&loaded, reserve, shared.conversation);
    if shared.json {
        json(&found.shape())?;
    } else {
        print(&found.text())?;
    }
    Ok(Status::Done)
}

/// What there is to say, once for both forms.
struct Findings<'a> {
    loaded: &'a Loaded,
    case: &'a Case,
    conversation: usize,
    reserve: Tokens,
    verdict: String,
    warnings: Vec<String>,
    issues: Vec<String>,
}

impl<'a> Findings<'a> {
    fn new(loaded: &'a Loaded, reserve: Tokens, conversation: usize) -> Self {
        let case = &loaded.case;
        let really = recorded(case, reserve, None);
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
            verdict: verdict(case, &really, reserve, TRIGGER).text(),
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

    /// By role in a fixed order, roles that do not occur left out.
    fn roles(&self) -> Vec<(&'static str, usize)> {
        let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
        let count = |role: Role| {
            self.session()
                .messages
                .iter()
                .filter(|m| m.in_history && m.role == role)
                .count()
        };
        roles
            .into_iter()
            .map(|role| (role.name(), count(role)))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    fn messages(&self) -> usize {
        self.session()
            .messages
            .iter()
            .filter(|m| m.in_history)
            .count()
    }

    /// Code points of all text of the full history.
    fn chars(&self) -> usize {
        let history = self.session().messages.iter().filter(|m| m.in_history);
        history
            .flat_map(|m| self.session().parts_of(m))
            .map(|p| p.body.text().chars().count())
            .sum()
    }

    fn calls_with_usage(&self) -> usize {
        self.session()
            .steps
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
            "conversations": self.loaded.conversations,
            "messages": self.messages(),
            "turns": session.turns,
            "steps": session.steps.len(),
            "steps_recorded": session.steps_from == StepsFrom::Recorded,
            "models": session.models,
            "roles": object(self.roles().into_iter().map(|(role, n)| (role, json!(n)))),
            "chars": self.chars(),
            "window": self.case.windows.largest(),
            "window_source": window_source(self.case),
            "output_reserve": self.reserve,
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
                "step": c.step + 1,
                "trigger": c.trigger,
                "tokens_before": c.tokens_before,
                "tokens_after": c.tokens_after,
            })
        });
        json!({
            "peak_input_tokens": self.session().peak_recorded(),
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
        json!({ "recognized_by": report.recognized_by, "records": object(records) })
    }

    fn text(&self) -> String {
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
        line(
            "messages",
            &format!("{} ({})", grouped(self.messages() as u64), roles.join(", ")),
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

fn object<K: Into<String>>(entries: impl Iterator<Item = (K, Value)>) -> Value {
    Value::Object(
        entries
            .map(|(key, value)| (key.into(), value))
            .collect::<Map<_, _>>(),
    )
}

/// How the counts are known, as a word.
pub(super) fn basis(case: &Case) -> &'static str {
    match case.ledger.basis {
        Basis::Reported => "reported",
        Basis::Exact => "exact",
        Basis::Calibrated(_) => "calibrated",
        Basis::Estimated => "estimated",
    }
}

/// How the counts are known, for people.
pub(super) fn basis_sentence(case: &Case) -> String {
    let counter = case.ledger.counter.name;
    match case.ledger.basis {
        Basis::Reported => "reported by the provider".to_owned(),
        Basis::Exact => format!("exact ({counter})"),
        Basis::Calibrated(error) => format!(
            "calibrated ±{} ({counter} fitted to recorded usage)",
            percent(error)
        ),
        Basis::Estimated => format!("≈ estimated ({counter}, the file records no usage)"),
    }
}

/// Where the window comes from.
pub(super) fn window_source(case: &Case) -> &'static str {
    match case.windows.source {
        WindowSource::ByHand => "by hand",
        WindowSource::Recorded => "recorded",
        WindowSource::ModelTable => "of the model",
        WindowSource::Assumed => "assumed",
    }
}
