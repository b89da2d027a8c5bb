//! The result of a measurement: baselines, and each lane's effect retained beside its size and cost.

use super::job::Measured;
use crate::analysis::probes::AnswerCounts;
use crate::analysis::statistics::Estimate;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::wording;
use crate::exec::evaluate::Stopped;
use crate::safe_text::visible;
use crate::units::Tokens;
use egui::{Grid, Label, RichText, Ui, vec2};

/// Shows the result.
pub(super) fn show(ui: &mut Ui, measured: &Measured) {
    let report = &measured.evaluation.report;
    ui.spacing_mut().item_spacing.y = space::XS;
    let title = format!(
        "Answered by {}, {} of each lane",
        visible(&report.model),
        wording::count(report.samples, "sample")
    );
    ui.label(RichText::new(title).text_style(theme::strong()));
    if let Some(stopped) = &measured.evaluation.stopped {
        ui.label(RichText::new(stop_text(stopped)).color(palette(ui).warn));
    }
    table(ui, measured);
    let help = "(lane − no context) / (full context − no context), with its 95 % interval. 0: as without any context. 1: as with the full context";
    ui.add(Label::new(small(ui, format!("Effect retained: {help}."))).wrap());
    if let Some(probes) = &report.probes {
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
    let requests = &report.requests;
    let text = format!(
        "{} answered, {} with an error, {} not sent.",
        wording::count(requests.answered, "request"),
        requests.failed,
        requests.not_sent
    );
    ui.label(small(ui, text));
    let problems = report.sessions.iter().flat_map(|session| &session.problems);
    for problem in problems.chain(&measured.log_error) {
        let text = RichText::new(visible(problem)).color(palette(ui).warn);
        ui.add(Label::new(text).wrap());
    }
    if let Some(log) = &measured.log {
        let path = log.display().to_string();
        ui.add(Label::new(small(ui, format!("Logged in {path}"))).truncate())
            .on_hover_text(path);
    }
}

fn table(ui: &mut Ui, measured: &Measured) {
    let report = &measured.evaluation.report;
    let Some(probes) = &report.probes else {
        return;
    };
    let grid = Grid::new("measured").num_columns(4).striped(true);
    grid.spacing(vec2(space::L, space::XS)).show(ui, |ui| {
        for head in ["", "effect retained", "context", "cost of the lane"] {
            ui.label(small(ui, head));
        }
        ui.end_row();
        for (name, counts) in [
            ("no context", &probes.no_context),
            ("full context", &probes.full_context),
        ] {
            ui.label(weak(ui, name));
            ui.label(weak(ui, right(counts)));
            ui.end_row();
        }
        for score in &probes.lanes {
            ui.label(visible(&score.lane));
            retained(ui, &score.retained);
            let lane = report.lanes.iter().find(|lane| lane.lane == score.lane);
            let tokens = lane.and_then(|lane| lane.context_tokens);
            let tokens = tokens.map(|tokens| wording::short(Tokens(tokens.round() as u64)));
            ui.label(tokens.unwrap_or_else(dash));
            let cost = measured.costs.iter().find(|(name, _)| *name == score.lane);
            let cost = cost.and_then(|(_, cost)| *cost);
            ui.label(cost.map_or_else(dash, |cost| format!("≈{}", wording::usd(cost))));
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
    ui.label(text)
        .on_hover_text(format!("{pairs} after {clusters}"));
}

/// Returns the right answers of a baseline: `24 of 40 right`.
fn right(counts: &AnswerCounts) -> String {
    let answered = [
        counts.right,
        counts.wrong,
        counts.neither,
        counts.both,
        counts.refused,
        counts.empty,
    ];
    let answered: usize = answered.iter().sum();
    format!(
        "{} of {} right",
        wording::grouped(counts.right as u64),
        wording::grouped(answered as u64)
    )
}

fn dash() -> String {
    "–".to_owned()
}

fn stop_text(stopped: &Stopped) -> String {
    match stopped {
        Stopped::Budget => "Stopped at the budget: a part of the questions was asked.".to_owned(),
        Stopped::Cancelled => "Stopped: a part of the questions was asked.".to_owned(),
        Stopped::Failed(reason) => format!("Stopped: {}", visible(reason)),
    }
}
