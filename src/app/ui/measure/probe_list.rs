//! The probes of a measurement, each with its right answers by context.

use crate::analysis::probes::{AnswerPair, AnsweredProbe, count_answers};
use crate::app::state::command::Commands;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::measure::partial::ScoredProbes;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::weak;
use crate::safe_text::one_line;
use egui::{Label, RichText, Ui};
use egui_extras::Column as Width;

/// Height of the list, in points.
const HEIGHT: f32 = 210.0;
/// Width of a column of answers, in points.
const ANSWERS: f32 = 64.0;
/// Maximum length of a question, in characters.
const MAX_CHARS: usize = 300;

/// A column of the list.
#[derive(Clone, Copy, Debug)]
enum Col {
    Call,
    Question,
    NoContext,
    FullContext,
    Lane(usize),
}

/// Shows the list. A click opens a probe.
pub(crate) fn show(ui: &mut Ui, scored: &ScoredProbes, commands: &mut Commands) {
    let lanes = &scored.outcome.lanes;
    let answers = |key, title: &str, help: &str| {
        Column::new(key, title.to_owned(), Width::exact(ANSWERS).clip(true))
            .right()
            .help(help.to_owned())
    };
    let call = Column::new(Col::Call, "call", Width::exact(44.0)).right();
    let question = Width::remainder().at_least(120.0).clip(true);
    let mut columns = vec![
        call.help("The question is asked with the context of this call"),
        Column::new(Col::Question, "question", question).help("Click a question for its answers"),
        answers(Col::NoContext, "none", "Right answers without any context"),
        answers(Col::FullContext, "full", "Right answers with the full context"),
    ];
    columns.extend(lanes.iter().enumerate().map(|(idx, lane)| {
        let help = format!("Right answers with the context of {}", lane.lane);
        answers(Col::Lane(idx), &lane.lane, &help)
    }));
    ui.allocate_ui(egui::vec2(ui.available_width(), HEIGHT), |ui| {
        Table::new("probes", columns, scored.probes.len())
            .margins(0.0, space::S)
            .row_height(space::ROW - 2.0)
            .striped()
            .show(ui, |mut row| {
                let idx = row.index();
                let probe = &scored.probes[idx];
                row.cells(|ui, column| cell(ui, probe, column));
                if row.response().clicked() {
                    commands.push(MeasureCommand::ShowProbe(Some(idx)));
                }
            });
    });
}

fn cell(ui: &mut Ui, probe: &AnsweredProbe, column: Col) {
    let answers = &probe.answers;
    match column {
        Col::Call => drop(ui.label(weak(ui, wording::number(probe.probe.call)))),
        Col::Question => {
            let text = one_line(&probe.probe.question, MAX_CHARS);
            let text = match answers.left_out() {
                None => RichText::new(text),
                Some(_) => weak(ui, text),
            };
            let label = ui.add(Label::new(text).truncate());
            if let Some(left_out) = answers.left_out() {
                label.on_hover_text(format!("Not scored: {}", left_out.words()));
            }
        }
        Col::NoContext => right(ui, &answers.none, false),
        Col::FullContext => right(ui, &answers.full, false),
        Col::Lane(lane) => {
            let pairs = answers.lanes.get(lane).map_or(&[][..], |pairs| pairs);
            right(ui, pairs, answers.left_out().is_none());
        }
    }
}

/// Shows the right answers: `3 of 4`, in color if the probe is scored.
fn right(ui: &mut Ui, pairs: &[AnswerPair], is_scored: bool) {
    let counts = count_answers(pairs.iter());
    let answered = counts.answered();
    if answered == 0 {
        ui.label(weak(ui, "–"));
        return;
    }
    let text = format!("{} of {answered}", counts.right);
    let palette = palette(ui);
    let color = match (is_scored, counts.right == answered) {
        (false, _) => palette.weak,
        (true, true) => palette.ok,
        (true, false) => palette.bad,
    };
    ui.label(RichText::new(text).color(color));
}
