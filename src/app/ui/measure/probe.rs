//! A probe of a measurement: its question, its options, and every answer.

use crate::analysis::probes::{
    AnswerPair, AnsweredProbe, Choice, Order, SCORING, SELECTING, Template, result_words,
};
use crate::app::state::command::Commands;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::measure::partial::ScoredProbes;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::wording;
use crate::app::ui::parts::form_row::row;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::safe_text::visible;
use egui::{Grid, Label, RichText, Ui, vec2};

/// Shows a probe and a link back to the list.
pub(crate) fn show(ui: &mut Ui, scored: &ScoredProbes, idx: usize, commands: &mut Commands) {
    let Some(probe) = scored.probes.get(idx) else {
        return;
    };
    ui.horizontal(|ui| {
        if ui.link("‹ All probes").clicked() {
            commands.push(MeasureCommand::ShowProbe(None));
        }
        let name = probe.probe.template;
        let kind = Template::by_name(name).map_or(name, |template| template.label);
        let nth = format!("{kind}, {} of {}", idx + 1, scored.probes.len());
        ui.label(small(ui, nth));
    });
    ui.add_space(space::XS);
    texts(ui, probe, commands);
    ui.add_space(space::S);
    answers(ui, scored, probe);
    if let Some(left_out) = probe.answers.left_out() {
        let text = format!("Not scored: {}.", left_out.words());
        ui.add(Label::new(small(ui, text)).wrap());
    }
}

fn texts(ui: &mut Ui, probe: &AnsweredProbe, commands: &mut Commands) {
    let asked = &probe.probe;
    for (name, text) in [
        ("question", &asked.question),
        ("truth", &asked.truth),
        ("false option", &asked.distractor),
    ] {
        row(ui, name, |ui, _| {
            ui.add(Label::new(visible(text)).wrap());
        });
    }
    row(ui, "stated in", |ui, _| {
        let (message, call) = (asked.message as usize, asked.call);
        let text = format!("message {}", wording::number(message));
        let link = ui.link(text);
        if link.on_hover_text("Close and show the message").clicked() {
            commands.push(SelectCommand::Spot(Spot {
                lane: None,
                call: Some(call),
                message: Some(message),
            }));
            commands.push(MeasureCommand::Close);
        }
        let text = format!("asked with the context of call {}", wording::number(call));
        ui.label(small(ui, text));
    });
}

/// Shows the answers by context, in both orders of the options.
fn answers(ui: &mut Ui, scored: &ScoredProbes, probe: &AnsweredProbe) {
    let answers = &probe.answers;
    let grid = Grid::new("answers").num_columns(3).striped(true);
    grid.spacing(vec2(space::L, space::XS)).show(ui, |ui| {
        for head in ["context", "truth is A", "truth is B"] {
            ui.label(small(ui, head));
        }
        ui.end_row();
        let sets = [(SELECTING, "to select"), (SCORING, "to score")];
        for (name, pairs) in [("no context", &answers.none), ("full context", &answers.full)] {
            for (set, purpose) in sets {
                answer_row(ui, &format!("{name}, {purpose}"), pairs[set], false);
            }
        }
        for (lane, samples) in scored.outcome.lanes.iter().zip(&answers.lanes) {
            for (sample, pair) in samples.iter().enumerate() {
                let name = visible(&lane.lane);
                let name = match samples.len() {
                    1 => name.to_string(),
                    _ => format!("{name}, summary {}", sample + 1),
                };
                answer_row(ui, &name, *pair, true);
            }
        }
    });
}

fn answer_row(ui: &mut Ui, name: &str, pair: AnswerPair, is_lane: bool) {
    let name = if is_lane { RichText::new(name) } else { weak(ui, name) };
    ui.label(name);
    for order in Order::BOTH {
        let choice = pair[order as usize];
        let result = result_words(choice, order.truth());
        let text = match choice {
            Some(Choice::A) => format!("A, {result}"),
            Some(Choice::B) => format!("B, {result}"),
            _ => result.to_owned(),
        };
        let palette = palette(ui);
        let color = match result {
            "right" => palette.ok,
            "wrong" => palette.bad,
            _ => palette.weak,
        };
        ui.label(RichText::new(text).color(color));
    }
    ui.end_row();
}
