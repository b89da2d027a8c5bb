//! The result of a measurement: baselines, and each lane's effect retained next to its size and cost.

use crate::analysis::probes::{AnswerCounts, ProbeOutcome};
use crate::analysis::statistics::Estimate;
use crate::app::state::command::Commands;
use crate::app::state::measure::partial::ScoredProbes;
use crate::app::state::measure::run::Measured;
use crate::app::state::wording;
use crate::app::ui::measure::probe_list;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::exec::evaluate::{QuestionCounts, Stopped};
use crate::safe_text::visible;
use crate::units::Tokens;
use egui::{Grid, Label, RichText, Ui, vec2};

/// Shows the result.
pub(crate) fn show(ui: &mut Ui, measured: &Measured, commands: &mut Commands) {
    let report = &measured.evaluation.report;
    ui.spacing_mut().item_spacing.y = space::XS;
    let title = format!(
        "Answered by {}, {} of each lane",
        visible(&report.model),
        wording::count(report.samples, "sample")
    );
    ui.label(RichText::new(title).text_style(theme::strong()));
    if let Some(stopped) = &measured.evaluation.stopped {
        let text = stop_text(stopped, &report.requests.questions);
        ui.add(Label::new(RichText::new(text).color(palette(ui).warn)).wrap());
    }
    if let Some(scored) = &measured.scored {
        lanes(ui, &scored.outcome, Some(measured));
        selection(ui, &scored.outcome);
        ui.add_space(space::XS);
        probe_list::show(ui, scored, commands);
    }
    ui.add(Label::new(small(ui, unanswered(&report.requests.questions))).wrap());
    let problems = report.sessions.iter().flat_map(|session| &session.problems);
    for problem in problems.chain(&measured.log_error) {
        let text = RichText::new(visible(problem)).color(palette(ui).warn);
        ui.add(Label::new(text).wrap());
    }
    if let Some(log) = &measured.log {
        let path = log.display().to_string();
        ui.add(Label::new(small(ui, format!("Logged in {path}"))).truncate()).on_hover_text(path);
    }
}

/// Shows the result of the answers so far.
pub(crate) fn partial(ui: &mut Ui, scored: &ScoredProbes, commands: &mut Commands) {
    ui.spacing_mut().item_spacing.y = space::XS;
    lanes(ui, &scored.outcome, None);
    selection(ui, &scored.outcome);
    ui.add_space(space::XS);
    probe_list::show(ui, scored, commands);
}

/// Shows the numbers of scored probes and of those left out.
fn selection(ui: &mut Ui, probes: &ProbeOutcome) {
    let selection = &probes.selection;
    let text = format!(
        "{} of {} scored. Left out: {} answered without context, {} missed with the full context, {} unanswered.",
        selection.selected,
        wording::count(selection.probes, "probe"),
        selection.answered_without_context,
        selection.missed_with_full_context,
        selection.unanswered
    );
    ui.add(Label::new(small(ui, text)).wrap());
}

/// Shows baselines and lanes, with sizes and costs if the run has ended.
fn lanes(ui: &mut Ui, probes: &ProbeOutcome, measured: Option<&Measured>) {
    const HELP: &str = "(lane − no context) / (full context − no context), with its 95 % interval. 0: as without any context. 1: as with the full context";
    let grid = Grid::new("measured").num_columns(4).striped(true);
    grid.spacing(vec2(space::L, space::XS)).show(ui, |ui| {
        ui.label("");
        ui.label(small(ui, "effect retained")).on_hover_text(HELP);
        if measured.is_some() {
            ui.label(small(ui, "context"))
                .on_hover_text("Mean tokens of the contexts that were asked about");
            ui.label(small(ui, "cost of the lane"));
        }
        ui.end_row();
        for (name, counts) in
            [("no context", &probes.no_context), ("full context", &probes.full_context)]
        {
            ui.label(weak(ui, name));
            ui.label(weak(ui, right(counts)));
            ui.end_row();
        }
        for score in &probes.lanes {
            ui.label(visible(&score.lane));
            retained(ui, &score.retained);
            let Some(measured) = measured else {
                ui.end_row();
                continue;
            };
            let report = &measured.evaluation.report;
            let lane = report.lanes.iter().find(|lane| lane.lane == score.lane);
            let tokens = lane.and_then(|lane| lane.context_tokens);
            let tokens = tokens.map(|tokens| wording::short(Tokens(tokens.round() as u64)));
            ui.label(tokens.unwrap_or_else(dash));
            let cost = measured.costs.get(&score.lane);
            ui.label(cost.map_or_else(dash, |cost| format!("≈{}", wording::usd(*cost))));
            ui.end_row();
        }
    });
}

/// Shows an estimate with its interval, and the word if nothing can be concluded.
fn retained(ui: &mut Ui, estimate: &Estimate) {
    let text = match estimate.conclusion.words() {
        Some(words) => format!("{estimate}, {words}"),
        None => estimate.to_string(),
    };
    let pairs = wording::count(estimate.n, "pair");
    let clusters = wording::count(estimate.clusters, "compaction");
    ui.label(text).on_hover_text(format!("{pairs} after {clusters}"));
}

/// Returns the right answers of a baseline: `24 of 40 right`.
fn right(counts: &AnswerCounts) -> String {
    format!(
        "{} of {} right",
        wording::grouped(counts.right as u64),
        wording::grouped(counts.answered() as u64)
    )
}

fn dash() -> String {
    "–".to_owned()
}

/// Returns why the run ended early, and the number of questions with an answer.
fn stop_text(stopped: &Stopped, questions: &QuestionCounts) -> String {
    let answered = answered(questions);
    match stopped {
        Stopped::Budget => format!("Stopped at the budget: {answered}."),
        Stopped::Cancelled => format!("Stopped: {answered}."),
        Stopped::Failed(reason) => format!("Stopped: {answered}. {}", visible(reason)),
    }
}

/// Returns the number of answered questions: `41 of 120 questions answered`.
fn answered(questions: &QuestionCounts) -> String {
    let answered = wording::grouped(questions.answered as u64);
    let planned = wording::count(questions.planned(), "question");
    format!("{answered} of {planned} answered")
}

/// Returns the number of answered questions, and the others by reason.
fn unanswered(questions: &QuestionCounts) -> String {
    let reasons = questions.unanswered().into_iter();
    let reasons = reasons.filter(|(count, _)| *count > 0);
    let reasons = reasons.map(|(n, reason)| format!(", {} {reason}", wording::grouped(n as u64)));
    format!("{}{}.", answered(questions), reasons.collect::<String>())
}
