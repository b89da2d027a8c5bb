//! The page of `plimsoll evaluate` with a model.

use super::model_text::{asked, questions};
use crate::analysis::canary::PlantedOutcome;
use crate::analysis::judge::{JudgeOutcome, SupportCounts};
use crate::analysis::next_action::ActionOutcome;
use crate::analysis::probes::{AnswerCounts, ProbeOutcome, Template};
use crate::analysis::statistics::Estimate;
use crate::cli::output::{clean, counted, grouped};
use crate::exec::evaluate::Report;
use crate::report::Block;

/// Heads of the columns of an estimate.
const ESTIMATE: [&str; 3] = ["#n", "#clusters", "conclusion"];

/// Returns the parts of the page.
pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let samples = counted(report.samples, "sample");
    let model = clean(&report.model);
    let mut blocks = vec![Block::Text(format!("Answered by {model}, {samples} of each lane"))];
    if let Some(probes) = &report.probes {
        blocks.extend(probe_blocks(probes));
    }
    if let Some(judge) = &report.judge {
        blocks.extend(judge_blocks(judge));
    }
    if let Some(actions) = &report.next_action {
        blocks.extend(action_blocks(actions));
    }
    if let Some(planted) = &report.planted {
        blocks.extend(planted_blocks(planted));
    }
    blocks.extend(lane_blocks(report));
    blocks.extend(session_blocks(report));
    blocks
}

fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

fn heading(text: &str) -> Block {
    Block::Heading(text.to_owned())
}

fn number(n: usize) -> String {
    grouped(n as u64)
}

/// Returns a row: its first cells, an estimate, and the columns of the estimate.
fn estimate_row(first: &[&str], estimate: &Estimate) -> Vec<String> {
    let first = first.iter().map(|cell| clean(cell).into_owned());
    let conclusion = estimate.conclusion.words().unwrap_or_default();
    let rest = [
        estimate.to_string(),
        number(estimate.n),
        number(estimate.clusters),
        conclusion.to_owned(),
    ];
    first.chain(rest).collect()
}

/// Returns the table of an estimate by lane and other columns.
fn estimates(first: &[&str], name: &str, rows: Vec<Vec<String>>) -> Block {
    Block::table(&[first, &[name], &ESTIMATE].concat(), rows)
}

fn probe_blocks(outcome: &ProbeOutcome) -> Vec<Block> {
    let selection = &outcome.selection;
    let selected = format!(
        "(lane − no context) / (full context − no context), with 95 % intervals. {} of {} selected; left out: {} answered without context, {} missed with the full context, {} unanswered.",
        number(selection.selected),
        counted(selection.probes, "probe"),
        selection.answered_without_context,
        selection.missed_with_full_context,
        selection.unanswered,
    );
    let lanes = || outcome.lanes.iter();
    let retained = lanes().flat_map(|lane| {
        [
            estimate_row(&[&lane.lane, "selected"], &lane.retained),
            estimate_row(&[&lane.lane, "all"], &lane.retained_unselected),
        ]
    });
    let templates = lanes().flat_map(|lane| {
        lane.templates.iter().map(|template| {
            let label = Template::by_name(template.template).map_or(template.template, |t| t.label);
            estimate_row(&[&lane.lane, label], &template.retained)
        })
    });
    let differences = outcome.differences.iter();
    let differences: Vec<_> = differences
        .map(|pair| estimate_row(&[&pair.first, &pair.second], &pair.difference))
        .collect();
    let baselines = [("no context", &outcome.no_context), ("full context", &outcome.full_context)];
    let answers = baselines.into_iter();
    let answers = answers.chain(lanes().map(|lane| (&*lane.lane, &lane.answers)));
    let mut blocks = vec![
        heading("Effect retained"),
        text(selected),
        estimates(&["lane", "probes"], "effect retained", retained.collect()),
        Block::Subheading("By question".to_owned()),
        estimates(&["lane", "question"], "effect retained", templates.collect()),
    ];
    if !differences.is_empty() {
        blocks.push(Block::Subheading("Differences of lanes".to_owned()));
        let table = estimates(&["first", "second"], "first minus second", differences);
        blocks.push(table);
    }
    blocks.push(Block::Subheading("Answers".to_owned()));
    blocks.push(answers_table(answers));
    blocks
}

fn answers_table<'a>(rows: impl Iterator<Item = (&'a str, &'a AnswerCounts)>) -> Block {
    let heads = AnswerCounts::default().by_result();
    let heads = heads.map(|(_, result)| format!("#{result}"));
    let rows = rows.map(|(name, counts)| {
        let counts = counts.by_result().map(|(count, _)| number(count));
        [vec![clean(name).into_owned()], counts.to_vec()].concat()
    });
    Block::Table {
        head: [vec!["context".to_owned()], heads.to_vec()].concat(),
        rows: rows.collect(),
    }
}

fn judge_blocks(outcome: &JudgeOutcome) -> Vec<Block> {
    let about = format!(
        "{} judged; left out: {} whose actions depend on a recorded summary, {} without a later action.",
        counted(outcome.points, "point"),
        outcome.left_out_after_recorded_compaction,
        outcome.without_actions
    );
    let rows = outcome.lanes.iter().flat_map(|lane| {
        [
            estimate_row(&[&lane.lane, "supported"], &lane.supported),
            estimate_row(&[&lane.lane, "minus full context"], &lane.difference_to_full),
        ]
    });
    let counts = |name: &str, counts: &SupportCounts| {
        let counts = [
            counts.supported,
            counts.missing,
            counts.false_quotes,
            counts.contradicted,
            counts.not_judged,
        ];
        let counts = counts.map(number).to_vec();
        [vec![clean(name).into_owned()], counts].concat()
    };
    let lanes = outcome.lanes.iter();
    let lanes = lanes.map(|lane| counts(&lane.lane, &lane.counts));
    let full = counts("full context", &outcome.full_context);
    let head = [
        "context",
        "#supported",
        "#missing",
        "#with a false quote",
        "#contradicted",
        "#not judged",
    ];
    vec![
        heading("Next recorded actions that the context supports"),
        text(about),
        estimates(&["lane", "share"], "actions", rows.collect()),
        Block::table(&head, [full].into_iter().chain(lanes).collect()),
    ]
}

fn action_blocks(outcome: &ActionOutcome) -> Vec<Block> {
    let about = format!(
        "Agreement with the full context minus its agreement with itself. {}.",
        asked(outcome)
    );
    let own = estimate_row(&["full context with itself"], &outcome.full_agreement);
    let lanes = outcome.lanes.iter();
    let lanes = lanes.map(|lane| estimate_row(&[&lane.lane], &lane.excess));
    let rows = [own].into_iter().chain(lanes).collect();
    vec![heading("Next action"), text(about), estimates(&["context"], "agreement", rows)]
}

fn planted_blocks(outcome: &PlantedOutcome) -> Vec<Block> {
    let about = format!(
        "{} in each session; {} left out.",
        counted(outcome.canaries, "fact"),
        counted(outcome.sessions_left_out, "session")
    );
    let rows = outcome.lanes.iter().flat_map(|lane| {
        lane.rounds.iter().map(|round| {
            let after = number(round.round);
            estimate_row(&[&lane.lane, &after], &round.survival)
        })
    });
    let head = ["lane", "#compactions"];
    vec![
        heading("Survival of planted facts"),
        text(about),
        estimates(&head, "survival", rows.collect()),
    ]
}

fn lane_blocks(report: &Report) -> Vec<Block> {
    let rows = report.lanes.iter().map(|lane| {
        let tokens = lane.context_tokens;
        vec![
            clean(&lane.lane).into_owned(),
            tokens.map_or_else(|| "–".to_owned(), |n| grouped(n.round() as u64)),
            number(lane.summary_requests),
            number(lane.summaries_rejected),
        ]
    });
    let head = ["lane", "#tokens of the mean context", "#summary requests", "#rejected"];
    vec![heading("Lanes"), Block::table(&head, rows.collect())]
}

fn session_blocks(report: &Report) -> Vec<Block> {
    let rows = report.sessions.iter().map(|session| {
        let counts = [
            session.compacted_calls,
            session.asked_calls,
            session.facts,
            session.probes,
            session.probes_above_maximum,
            session.facts_without_distractor,
        ];
        let name = clean(&session.name).into_owned();
        [vec![name], counts.map(number).to_vec()].concat()
    });
    let head = [
        "session",
        "#calls after a compaction",
        "#asked",
        "#facts",
        "#probes",
        "#above the maximum",
        "#without a false option",
    ];
    let mut blocks = vec![heading("Sessions and requests")];
    if !report.sessions.is_empty() {
        blocks.push(Block::table(&head, rows.collect()));
    }
    let problems = report.sessions.iter().flat_map(|session| {
        let of_session = |problem| format!("{}: {}", clean(&session.name), clean(problem));
        session.problems.iter().map(move |problem| of_session(problem))
    });
    let problems: Vec<String> = problems.collect();
    blocks.extend((!problems.is_empty()).then_some(Block::List(problems)));
    let requests = &report.requests;
    let counts = format!(
        "{} answered, {} with an error, {} not sent.",
        counted(requests.answered, "request"),
        number(requests.failed),
        number(requests.not_sent),
    );
    let questions = questions(&requests.questions);
    blocks.push(text(match questions {
        Some(questions) => format!("{counts} {questions}."),
        None => counts,
    }));
    blocks
}
