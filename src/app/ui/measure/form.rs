//! The form of a measurement: lanes, questions, summaries, budget and model.

use crate::app::state::command::Commands;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::measure::draft::{MAX_PROBES, MAX_SAMPLES, MeasureDraft, MeasurePath};
use crate::app::state::measure::job::Measurement;
use crate::app::state::model::runs::replays::Runs;
use crate::app::ui::parts::form_row::{field, row};
use crate::app::ui::parts::model_fields;
use crate::app::ui::parts::model_fields::ModelFieldAction;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::small;
use crate::exec::evaluate::{RECORDED, has_measurable_compaction};
use egui::{DragValue, RichText, Ui};

/// Shows the form.
pub(crate) fn show(ui: &mut Ui, runs: &Runs, measurement: &Measurement, commands: &mut Commands) {
    let mut draft = measurement.draft.clone();
    ui.spacing_mut().item_spacing.y = space::XS;
    row(ui, "lanes", |ui, _| lanes(ui, runs, &mut draft));
    number(
        ui,
        "probes",
        &mut draft.probes,
        MAX_PROBES,
        "after each compaction, at most; each is asked in both orders of its options",
    );
    number(
        ui,
        "summaries",
        &mut draft.samples,
        MAX_SAMPLES,
        "new ones of each lane; they differ more than policies do",
    );
    row(ui, "from a log", |ui, label| {
        let field = PathField { id: "log to repeat", label, hint: "ask a model" };
        if field.show(ui, &mut draft.replay) {
            commands.push(MeasureCommand::Browse(MeasurePath::Replay));
        }
    });
    if draft.is_replay() {
        let text = "Repeats a logged run of these lanes without a model. Nothing is sent.";
        ui.label(small(ui, text));
    } else {
        field(ui, "budget", &mut draft.budget, "USD; no limit");
        if let Err(why) = draft.limit() {
            row(ui, "", |ui, _| {
                ui.label(RichText::new(why).color(palette(ui).bad));
            });
        }
        let (key, keeps_state) = (&measurement.key, measurement.keeps_state);
        let action = model_fields::show(ui, key, keeps_state, &mut draft.model);
        commands.extend(action.map(|action| match action {
            ModelFieldAction::SetKey(key) => MeasureCommand::SetKey(key),
            ModelFieldAction::Browse(path) => MeasureCommand::Browse(MeasurePath::Model(path)),
        }));
    }
    if draft != measurement.draft {
        commands.push(MeasureCommand::Edit(Box::new(draft)));
    }
}

fn lanes(ui: &mut Ui, runs: &Runs, draft: &mut MeasureDraft) {
    ui.horizontal_wrapped(|ui| {
        let has_recorded = has_measurable_compaction(&runs.case.session);
        let recorded = has_recorded.then(|| (RECORDED, palette(ui).recorded));
        let lanes = runs.lanes.iter().enumerate();
        let lanes = lanes.filter(|(_, lane)| !lane.policy.stages.is_empty());
        let palette = palette(ui);
        let lanes = lanes.map(|(idx, _)| (runs.label(Some(idx)), palette.lane(idx)));
        for (name, color) in recorded.into_iter().chain(lanes) {
            let is_chosen = !draft.skipped.contains(name);
            if widgets::toggle(ui, name, is_chosen, color).clicked() && !draft.skipped.remove(name)
            {
                draft.skipped.insert(name.to_owned());
            }
        }
    });
}

/// Shows a field for a number from 1 to `max`, and its explanation.
fn number(ui: &mut Ui, label: &str, value: &mut usize, max: usize, explanation: &str) {
    row(ui, label, |ui, id| {
        ui.horizontal(|ui| {
            ui.add(DragValue::new(value).range(1..=max)).labelled_by(id);
            ui.label(small(ui, explanation));
        });
    });
}
