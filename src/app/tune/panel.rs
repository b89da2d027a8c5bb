//! The tab Tune: a sweep over many settings, with the cost and the references at risk of each, and a recommendation.

use super::state::TuneView;
use super::sweep::Tuning;
use crate::analysis::tune::Point;
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::palette;
use crate::app::widgets::text::{small, weak};
use crate::app::{widgets, wording};
use crate::units::Tokens;
use egui::{Frame, Panel, ScrollArea, Ui};

/// Width of the controls at the right, in points.
const CONTROLS: f32 = 250.0;
/// Initial and minimum width of the recommendation with the list, and minimum width of the plot, in points.
const BEST: f32 = 380.0;
const MIN_BEST: f32 = 200.0;
const MIN_PLOT: f32 = 300.0;

/// Shows the button that starts or stops a sweep, at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn tools(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().interact_size.y = 22.0;
    let running = input.tuning.filter(|tuning| tuning.is_running());
    if let Some(tuning) = running {
        if ui.button("Stop").clicked() {
            commands.push(Command::CancelSweep);
        }
        let (done, all) = (tuning.n_done, tuning.points.len());
        let share = done as f32 / all.max(1) as f32;
        ui.add(
            egui::ProgressBar::new(share)
                .fill(palette(ui).accent)
                .desired_width(120.0)
                .desired_height(8.0),
        );
        let said = format!(
            "{} of {}",
            wording::grouped(done as u64),
            wording::grouped(all as u64)
        );
        ui.label(small(ui, said));
    } else {
        let button = widgets::secondary_button(ui, "Sweep", "Ctrl R");
        if button
            .on_hover_text("Try many settings of the selected lanes")
            .clicked()
        {
            commands.push(Command::StartSweep);
        }
        if let Some(said) = input.tuning.map(|tuning| state(tuning, input)) {
            ui.label(small(ui, said));
        }
    }
}

/// Describes how a sweep ended.
fn state(tuning: &Tuning, input: &PanelInput<'_>) -> String {
    if !tuning.holds_for(input.config) {
        return "outdated: sweep again".to_owned();
    }
    let done = wording::count(tuning.n_done, "setting");
    let time = tuning.took.map_or_else(String::new, |took| {
        format!(" in {:.1} s", took.as_secs_f64())
    });
    let how = if tuning.is_cancelled { ", stopped" } else { "" };
    format!("{done}{time}{how}")
}

/// Shows the plot, with the recommendation and the list of best settings next to it.
pub(in crate::app) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let most = (ui.available_width() - MIN_PLOT).max(160.0);
    Panel::right("tune controls")
        .resizable(true)
        .default_size(CONTROLS.min(most))
        .size_range(160.0..=most)
        .frame(Frame::new().fill(palette(ui).panel))
        .show(ui, |ui| super::controls::show(ui, input, commands));
    ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
    let Some(tuning) = input.tuning else {
        crate::app::widgets::text::padded(ui, |ui| {
            ui.label(weak(
                ui,
                "Sweep tries many settings of each lane on this session and compares their cost, references at risk and peak fill.",
            ));
            hindsight(ui, input);
        });
        return;
    };
    let mut hovered = None;
    let most = (ui.available_width() - MIN_PLOT).max(MIN_BEST);
    Panel::right("tune best")
        .resizable(true)
        .default_size(BEST.min(most))
        .size_range(MIN_BEST..=most)
        .frame(Frame::new().fill(palette(ui).panel))
        .show(ui, |ui| {
            ScrollArea::vertical()
                .id_salt("tune best")
                .auto_shrink(false)
                .show(ui, |ui| {
                    super::recommended::show(ui, input, tuning, commands);
                    hovered = super::best::show(ui, tuning, commands);
                    super::recommended::more(ui, tuning);
                });
        });
    ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
    let hovered = super::plot::show(ui, input, tuning, commands).or(hovered);
    if hovered != input.view.tune.hovered {
        let view = input.view.tune.clone();
        commands.push(Command::SetTuneView(Box::new(TuneView { hovered, ..view })));
    }
}

/// Shows the savings of the hindsight optimum.
pub(super) fn hindsight(ui: &mut Ui, input: &PanelInput<'_>) {
    let (Some(reach), Some(losses)) = (input.reach, input.losses) else {
        return;
    };
    let cost = losses
        .hindsight
        .map_or_else(String::new, |usd| format!(" for {}", wording::usd(usd)));
    let (sent, none) = (reach.hindsight.tokens_sent(), reach.none.tokens_sent());
    if none == Tokens::ZERO {
        return;
    }
    let said = format!(
        "Hindsight optimum: if each tool result were cleared right after its last use, {} tokens would be sent{cost} instead of {} without compaction.",
        wording::short(sent),
        wording::short(none)
    );
    ui.label(weak(ui, said));
}

/// Returns the settings of a point that differ from its policy's defaults, formatted as text.
pub(super) fn settings(tuning: &Tuning, point: &Point) -> Vec<(String, String)> {
    let subject = &tuning.subjects[point.subject];
    let varying = |knob: &str| subject.axes.iter().any(|axis| axis.knob == knob);
    let knobs = subject
        .policy
        .knobs
        .iter()
        .filter(|knob| varying(&knob.name));
    knobs
        .filter_map(|knob| {
            let value = point.knobs.get(&knob.name)?;
            let said = match knob.choices.get(value.max(0.0) as usize) {
                Some(choice) => choice.clone(),
                None => wording::knob_value(knob, value),
            };
            Some((knob.name.clone(), said))
        })
        .collect()
}
