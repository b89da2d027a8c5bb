//! The output of `plimsoll evaluate` with a model as text.

use crate::analysis::canary::PlantedOutcome;
use crate::analysis::judge::{JudgeOutcome, SupportCounts};
use crate::analysis::next_action::ActionOutcome;
use crate::analysis::probes::{AnswerCounts, ProbeOutcome, Template};
use crate::analysis::statistics::Estimate;
use crate::cli::output::{clean, counted, grouped};
use crate::exec::evaluate::{LaneReport, QuestionCounts, Report, SessionReport};
use std::fmt::Write as _;

/// Returns the text of a report.
pub(super) fn evaluation_text(report: &Report) -> String {
    let mut text = String::new();
    let samples = counted(report.samples, "sample");
    let _ = writeln!(text, "Answered by {}, {samples} of each lane", clean(&report.model));
    for session in &report.sessions {
        session_text(&mut text, session);
    }
    if let Some(probes) = &report.probes {
        probes_text(&mut text, probes);
    }
    if let Some(judge) = &report.judge {
        judge_text(&mut text, judge);
    }
    if let Some(actions) = &report.next_action {
        actions_text(&mut text, actions);
    }
    if let Some(planted) = &report.planted {
        planted_text(&mut text, planted);
    }
    text.push_str("\nLanes\n");
    report.lanes.iter().for_each(|lane| lane_text(&mut text, lane));
    let requests = &report.requests;
    let _ = writeln!(
        text,
        "{} answered, {} with an error, {} not sent",
        counted(requests.answered, "request"),
        requests.failed,
        requests.not_sent,
    );
    if let Some(questions) = questions(&requests.questions) {
        let _ = writeln!(text, "{questions}");
    }
    text
}

/// Returns the number of answered questions, and the others by reason; `None` if there are none.
pub(super) fn questions(questions: &QuestionCounts) -> Option<String> {
    let mut text = format!(
        "{} of {} answered",
        grouped(questions.answered as u64),
        counted(questions.planned(), "question")
    );
    let reasons = questions.unanswered().into_iter();
    for (count, reason) in reasons.filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {} {reason}", grouped(count as u64));
    }
    (questions.planned() > 0).then_some(text)
}

fn session_text(text: &mut String, session: &SessionReport) {
    let _ = writeln!(
        text,
        "{}: asked at {} of {} after a compaction; {} of {}; left out: {} without a false option, {} above the maximum of a call",
        clean(&session.name),
        session.asked_calls,
        counted(session.compacted_calls, "call"),
        counted(session.probes, "probe"),
        counted(session.facts, "fact"),
        session.facts_without_distractor,
        session.probes_above_maximum,
    );
    for problem in &session.problems {
        let _ = writeln!(text, "  {}", clean(problem));
    }
}

/// Returns an estimate with its size, and the word if nothing can be concluded.
fn estimate(estimate: &Estimate) -> String {
    let mut text =
        format!("{estimate}, n = {}, {}", estimate.n, counted(estimate.clusters, "cluster"));
    if let Some(words) = estimate.conclusion.words() {
        let _ = write!(text, ", {words}");
    }
    text
}

fn answers(counts: &AnswerCounts) -> String {
    let counts = counts.by_result();
    counts.map(|(count, result)| format!("{count} {result}")).join(", ")
}

fn probes_text(text: &mut String, outcome: &ProbeOutcome) {
    let selection = &outcome.selection;
    let _ = writeln!(
        text,
        "\nEffect retained: (lane − no context) / (full context − no context)\n{} of {} selected; left out: {} answered without context, {} missed with the full context, {} unanswered",
        selection.selected,
        counted(selection.probes, "probe"),
        selection.answered_without_context,
        selection.missed_with_full_context,
        selection.unanswered,
    );
    let _ = writeln!(text, "no context: {}", answers(&outcome.no_context));
    let _ = writeln!(text, "full context: {}", answers(&outcome.full_context));
    for lane in &outcome.lanes {
        let _ = writeln!(text, "{}: {}", clean(&lane.lane), estimate(&lane.retained));
        let _ = writeln!(text, "  all probes: {}", estimate(&lane.retained_unselected));
        let by_sample = lane.retained_by_sample.iter();
        let by_sample: Vec<_> = by_sample
            .map(|value| value.map_or_else(|| "not judged".to_owned(), |v| format!("{v:.2}")))
            .collect();
        let _ = writeln!(text, "  by sample: {}", by_sample.join(", "));
        for template in &lane.templates {
            let label = Template::by_name(template.template).map_or(template.template, |t| t.label);
            let _ = writeln!(text, "  {label}: {}", estimate(&template.retained));
        }
        let _ = writeln!(text, "  answers: {}", answers(&lane.answers));
    }
    for pair in &outcome.differences {
        let (first, second) = (clean(&pair.first), clean(&pair.second));
        let _ = writeln!(text, "{first} minus {second}: {}", estimate(&pair.difference));
    }
}

fn support(counts: &SupportCounts) -> String {
    format!(
        "{} supported, {} missing ({} with a false quote), {} contradicted, {} not judged",
        counts.supported,
        counts.missing,
        counts.false_quotes,
        counts.contradicted,
        counts.not_judged
    )
}

fn judge_text(text: &mut String, outcome: &JudgeOutcome) {
    let _ = writeln!(
        text,
        "\nNext recorded actions that the context supports\n{} judged; left out: {} whose actions depend on a recorded summary, {} without a later action",
        counted(outcome.points, "point"),
        outcome.left_out_after_recorded_compaction,
        outcome.without_actions
    );
    let _ = writeln!(text, "full context: {}", support(&outcome.full_context));
    for lane in &outcome.lanes {
        let _ = writeln!(text, "{}: {}", clean(&lane.lane), estimate(&lane.supported));
        let _ = writeln!(text, "  minus full context: {}", estimate(&lane.difference_to_full));
        let _ = writeln!(text, "  {}", support(&lane.counts));
    }
}

/// Returns how the model was asked for its next action.
pub(super) fn asked(outcome: &ActionOutcome) -> String {
    let sessions = [
        (outcome.sessions_with_definitions, "asked with the tool definitions of the file"),
        (outcome.sessions_asked_in_text, "without definitions asked to name a tool in a text"),
        (outcome.sessions_without_tools, "left out because no tool is known"),
    ];
    let sessions = sessions.into_iter().filter(|(count, _)| *count > 0);
    let sessions: Vec<String> =
        sessions.map(|(count, how)| format!("{} {how}", counted(count, "session"))).collect();
    format!(
        "{}; {}; {} without a tool",
        counted(outcome.points, "point"),
        sessions.join(", "),
        counted(outcome.unusable_answers, "answer")
    )
}

fn actions_text(text: &mut String, outcome: &ActionOutcome) {
    let _ = writeln!(
        text,
        "\nNext action: agreement with the full context minus its agreement with itself\n{}",
        asked(outcome)
    );
    let _ = writeln!(text, "full context with itself: {}", estimate(&outcome.full_agreement));
    for lane in &outcome.lanes {
        let _ = writeln!(text, "{}: {}", clean(&lane.lane), estimate(&lane.excess));
    }
}

fn planted_text(text: &mut String, outcome: &PlantedOutcome) {
    let _ = writeln!(
        text,
        "\nSurvival of planted facts: {} in each session; {} left out",
        counted(outcome.canaries, "fact"),
        counted(outcome.sessions_left_out, "session")
    );
    for lane in &outcome.lanes {
        if lane.rounds.is_empty() {
            let _ = writeln!(text, "{}: no compaction was followed", clean(&lane.lane));
        }
        for round in &lane.rounds {
            let after = counted(round.round, "compaction");
            let _ = writeln!(
                text,
                "{} after {after}: {}",
                clean(&lane.lane),
                estimate(&round.survival)
            );
        }
    }
}

fn lane_text(text: &mut String, lane: &LaneReport) {
    let size = lane.context_tokens.map_or_else(
        || "no context was asked about".to_owned(),
        |tokens| format!("{} tokens in the mean context", grouped(tokens.round() as u64)),
    );
    let _ = writeln!(
        text,
        "{}: {size}; {}, {} rejected",
        clean(&lane.lane),
        counted(lane.summary_requests, "summary request"),
        lane.summaries_rejected
    );
}
