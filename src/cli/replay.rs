//! `plimsoll replay`: replays policies over a recorded session, call by call.

use super::Status;
use super::args::{FileArg, Shared};
use super::curve::CurveArgs;
use super::lanes::{self, Lane, LaneArgs};
use super::output::{clean, counted, grouped, json, note, percent, plain, print, tokens};
use super::played::play;
use super::streamed::Streamed;
use crate::analysis::Finding;
use crate::engine::{Budget, Case, Did, Event, Hook, KnobValues, Sample};
use crate::exec::Loaded;
use crate::formats::records_compactions;
use crate::report::{Played, basis, basis_sentence, series, window_source};
use crate::units::Tokens;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Replay policies over every model call of a session and compare them with the recorded run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always shown."
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// Print one line per lane and call
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    curve: CurveArgs,
}

/// Number of events that are listed of one lane.
const SHOWN_EVENTS: usize = 12;

impl Args {
    pub(super) fn run(self, shared: &Shared) -> anyhow::Result<Status> {
        let curve = self.curve.checked()?;
        // Options are checked before a large file is read.
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let loaded = shared.load(&self.file.file)?;
        let reserve = lanes.first().unwrap_or(&none).output_reserve(&loaded.case);
        if let Some(text) = lanes::check_reserve(&loaded.case, reserve, shared)? {
            note(&text);
        }
        let restores = |lane: &Lane| lane.policy.stages.iter().any(|s| s.at == Hook::Resume);
        if !loaded.case.restarts.is_empty() && !lanes.iter().any(restores) {
            note("--restart has no effect: no policy here acts after a restart");
        }
        let played = play(&loaded.case, none, lanes, reserve);
        if self.csv {
            print(&series(&played))?;
        } else if shared.json {
            json(&shape(&loaded, reserve, &played))?;
        } else {
            print(&table(&loaded, reserve, &played))?;
        }
        match curve {
            Some(curve) => curve.write(&loaded, reserve, &played),
            None => Ok(Status::Done),
        }
    }
}

fn shape<'a>(loaded: &'a Loaded, reserve: Tokens, played: &'a [Played]) -> Streamed<'a> {
    let lanes = played.iter().map(|lane| lane_shape(&loaded.case, lane));
    let head = json!({
        "format": loaded.case.session.source.format,
        "title": loaded.case.session.title,
        "window": loaded.case.windows.largest(),
        "window_source": window_source(&loaded.case),
        "output_reserve": reserve,
        "basis": basis(&loaded.case),
        "counter": loaded.case.ledger.counter.name,
        "steps": loaded.case.session.calls.len(),
    });
    Streamed::from(head).with("lanes", Streamed::list(lanes))
}

/// Returns the number of compactions; `None` for the recorded run if the format does not record them.
fn compactions(case: &Case, lane: &Played) -> Option<usize> {
    let is_told = lane.policy.is_some() || records_compactions(&case.session);
    is_told.then_some(lane.outcome.compactions)
}

fn lane_shape<'a>(case: &Case, lane: &'a Played) -> Streamed<'a> {
    let outcome = &lane.outcome;
    let (peak, largest) = (outcome.peak(), outcome.largest_call());
    let head = json!({
        "policy": lane.policy.as_ref().map_or("recorded", |policy| &policy.name),
        "lane": lane.lane,
        "knobs": knobs_shape(&lane.knobs),
        "output_reserve": lane.output_reserve,
        "peak": peak.map(|peak| peak.tokens),
        "peak_step": peak.and_then(|peak| peak.step).map(|step| step + 1),
        "largest_call": largest.map(|(_, tokens)| tokens),
        "largest_call_step": largest.map(|(step, _)| step + 1),
        "compactions": compactions(case, lane),
        "overflows": outcome.overflows,
        "tokens_sent": outcome.tokens_sent(),
        "tokens_rejected": outcome.tokens_rejected,
        "summaries": {
            "requests": outcome.summaries.requests,
            "sent": outcome.summaries.sent,
            "received": outcome.summaries.received,
        },
        "warnings": outcome.warnings,
        "findings": lane.findings.iter().map(finding_shape).collect::<Vec<_>>(),
        "halts": outcome.halts.iter().map(|h| json!({"step": h.step + 1, "why": h.why})).collect::<Vec<_>>(),
    });
    Streamed::from(head)
        .with(
            "events",
            Streamed::list(outcome.events.iter().map(event_shape)),
        )
        .with(
            "samples",
            Streamed::list(outcome.samples.iter().map(sample_shape)),
        )
}

fn finding_shape(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "step": finding.step + 1,
        "times": finding.times,
        "text": finding.text,
    })
}

/// Returns the settings as JSON, by name.
pub(super) fn knobs_shape(knobs: &KnobValues) -> Value {
    Value::Object(
        knobs
            .iter()
            .map(|(name, value)| (name.to_owned(), plain(value)))
            .collect::<Map<_, _>>(),
    )
}

fn event_shape(event: &Event) -> Value {
    let terms = event
        .cause
        .terms
        .iter()
        .map(|(name, value)| (name.clone(), plain(*value)));
    json!({
        "step": event.step + 1,
        "stage": event.stage,
        "action": event.action,
        "cause": { "when": event.cause.when, "terms": Value::Object(terms.collect::<Map<_, _>>()) },
        "before": event.before,
        "after": event.after,
        "did": event.did.name(),
        "orphans": event.orphans,
        "forgotten_summaries": event.forgotten,
        "error": event.error.as_deref(),
        "files": event.files.iter().map(|file| json!({"name": file.name, "bytes": file.n_bytes()})).collect::<Vec<_>>(),
        "request": event.request.map(|(sent, received)| json!({"sent": sent, "received": received})),
        "log": event.log,
        "messages": event.messages.iter().cloned().flatten().map(|idx| idx + 1).collect::<Vec<_>>(),
    })
}

fn sample_shape(sample: &Sample) -> Streamed<'_> {
    Streamed::record([
        ("step", json!(sample.step + 1)),
        ("turn", json!(sample.turn)),
        ("window", json!(sample.window)),
        ("metered", json!(sample.metered)),
        ("tokens", json!(sample.tokens)),
        ("pressure", json!(sample.pressure)),
        ("believed", json!(sample.believed)),
        ("overflows", json!(sample.overflows)),
        ("refused", json!(sample.refused)),
    ])
}

fn table(loaded: &Loaded, reserve: Tokens, played: &[Played]) -> String {
    let case = &loaded.case;
    let budget = Budget {
        window: case.windows.largest(),
        output_reserve: reserve,
    };
    let mut text = format!(
        "{} · {} · {} · window {} ({}), reserve {}, usable {} · {}\n\n",
        clean(&case.session.title),
        case.session.source.format,
        counted(case.session.calls.len(), "call"),
        tokens(budget.window),
        window_source(case),
        tokens(reserve),
        tokens(budget.usable()),
        basis_sentence(case),
    );
    let row = |text: &mut String, cells: [&str; 7]| {
        let [lane, peak, step, share, compactions, overflows, sent] = cells;
        let _ = writeln!(
            text,
            "{lane:<14} {peak:>11} {step:>8} {share:>10} {compactions:>12} {overflows:>10} {sent:>15}"
        );
    };
    row(
        &mut text,
        [
            "lane",
            "peak",
            "at call",
            "of usable",
            "compactions",
            "overflows",
            "tokens sent",
        ],
    );
    for lane in played {
        let outcome = &lane.outcome;
        let [tokens_at, step, share] = outcome.peak().map_or_else(
            || ["–".to_owned(), "–".to_owned(), "–".to_owned()],
            |peak| {
                let step = peak.step.map(|step| grouped(step as u64 + 1));
                [
                    tokens(peak.tokens),
                    step.unwrap_or_else(|| "end".to_owned()),
                    percent(outcome.peak_share()),
                ]
            },
        );
        let (compactions, overflows) = (
            compactions(case, lane).map_or_else(|| "–".to_owned(), |n| n.to_string()),
            outcome.overflows.to_string(),
        );
        let sent = tokens(outcome.tokens_sent());
        row(
            &mut text,
            [
                &clean(&lane.lane),
                &tokens_at,
                &step,
                &share,
                &compactions,
                &overflows,
                &sent,
            ],
        );
    }
    let has_news = |l: &&Played| {
        !(l.outcome.events.is_empty() && l.outcome.warnings.is_empty() && l.findings.is_empty())
    };
    for lane in played.iter().filter(has_news) {
        events(&mut text, lane);
    }
    text
}

fn events(text: &mut String, lane: &Played) {
    let knobs: Vec<String> = lane
        .knobs
        .iter()
        .map(|(name, value)| format!("{}={}", clean(name), plain(value)))
        .collect();
    let _ = writeln!(text, "\n{}  {}", clean(&lane.lane), knobs.join(" "));
    let changing = lane.outcome.events.iter().filter(|e| e.did != Did::Told);
    let all: Vec<&Event> = changing.collect();
    // Repeats at consecutive calls share one line.
    let is_routine = |e: &Event| e.did == Did::Nothing || e.action == "repair";
    let goes_on = |a: &&Event, b: &&Event| {
        let is_same = a.stage == b.stage && a.did == b.did && is_routine(a);
        is_same && b.step == a.step + 1
    };
    let rows: Vec<&[&Event]> = all.chunk_by(goes_on).collect();
    for row in rows.iter().take(SHOWN_EVENTS) {
        let event = row[0];
        let (step, stage, action) = (event.step + 1, clean(&event.stage), event.action);
        let (before, after) = (tokens(event.before), tokens(event.after));
        let messages = counted(event.n_messages(), "message");
        let _ = writeln!(
            text,
            "  call {step:>6}  {stage} ({action})  {before} → {after}, {messages}{}{}",
            if event.did == Did::Nothing {
                ": nothing changed"
            } else {
                ""
            },
            match row.len() {
                1 => String::new(),
                2 => " (and at the next call)".to_owned(),
                n => format!(" (and at the next {} calls)", n - 1),
            }
        );
    }
    if rows.len() > SHOWN_EVENTS {
        let _ = writeln!(
            text,
            "  and {} more (--json lists all)",
            rows.len() - SHOWN_EVENTS
        );
    }
    for finding in &lane.findings {
        let (step, said) = (finding.step + 1, clean(&finding.text));
        let _ = writeln!(text, "  found {step:>5}  {said}");
    }
    for warning in &lane.outcome.warnings {
        let _ = writeln!(text, "  warning: {}", clean(warning));
    }
}
