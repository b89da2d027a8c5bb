//! The timeline: feeds the plot and turns what is done to it into commands.

use super::{PanelInput, small};
use crate::app::command::Command;
use crate::app::knobs::{self, KnobKey};
use crate::app::plots::timeline::{Axis, LaneLine, TimelineInput, TimelineResponse, timeline};
use crate::app::runs::LaneRun;
use crate::app::state::Area;
use crate::app::theme::{palette, space};
use crate::app::wording;
use crate::engine::{KnobRole, Sample};
use crate::units::Tokens;
use egui::{Align, Layout, Rect, Ui, UiBuilder, vec2};

/// Below this width the switches stand above the legend rather than beside it.
const ROOM_BESIDE_LEGEND: f32 = 880.0;

/// Shows the timeline.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let (document, runs, selection) = (input.document, input.runs, input.selection);
    let focused = runs.focused(&selection);
    let ruler = runs.ruler(&selection);
    let budget = runs.budget(&ruler.policy, &ruler.knobs, selection.step);
    let trigger = knobs::trigger_tokens(&ruler.policy, &ruler.knobs, budget);
    let area = if input.view.area == Area::Recorded {
        &runs.recorded
    } else {
        focused
    };
    let lines: Vec<_> = runs
        .lanes
        .iter()
        .enumerate()
        .map(|(idx, lane)| line(ui, input, idx, lane))
        .collect();
    let hover = |step: usize| hover_text(input, &area.outcome.samples, step);
    if ui.available_width() < ROOM_BESIDE_LEGEND {
        ui.add_space(16.0);
    }
    let rect = ui.max_rect();
    let response = timeline(
        ui,
        &TimelineInput {
            revision: input.revision.wrapping_mul(2)
                + u64::from(input.view.area == Area::FocusedLane)
                + selection.lane.map_or(0, |l| l as u64 + 1) * (1 << 40),
            area: &area.outcome.samples,
            lanes: &lines,
            recorded_usage: &document.marks.usage,
            windows: &runs.case.windows.per_step,
            output_reserve: budget.output_reserve,
            trigger: trigger.map(|tokens| budget.pressure(tokens)),
            axis: input.view.axis,
            turn_starts: &document.marks.turn_starts,
            recorded_compactions: &document.marks.compactions,
            selected: Some(selection.step),
            note: "",
            hover_text: &hover,
            takes_keys: !input.is_covered && ui.memory(|m| m.focused().is_none()),
        },
    );
    switches(ui, input, rect, commands);
    ask(&response, input, ruler, commands);
}

fn line<'a>(ui: &Ui, input: &PanelInput<'_>, idx: usize, lane: &'a LaneRun) -> LaneLine<'a> {
    LaneLine {
        name: &lane.policy.label,
        color: palette(ui).lane(idx),
        samples: &lane.outcome.samples,
        dim: input.is_stale,
        focused: input.selection.lane == Some(idx),
        horizon: None,
        events: &lane.marks,
    }
}

/// What was done to the plot, as wishes.
fn ask(
    response: &TimelineResponse,
    input: &PanelInput<'_>,
    ruler: &LaneRun,
    commands: &mut Vec<Command>,
) {
    if let Some(step) = response.clicked_step {
        commands.push(Command::SelectStep(step));
    }
    let budget = input
        .runs
        .budget(&ruler.policy, &ruler.knobs, input.selection.step);
    let knob = |role| ruler.policy.knob_for(role);
    if let (Some(share), Some(knob)) = (response.trigger, knob(KnobRole::CompressionTrigger)) {
        let tokens = Tokens((share.0.max(0.0) * budget.usable().as_f64()).round() as u64);
        let value = knobs::trigger_value(knob, tokens, budget);
        commands.push(Command::SetKnob(KnobKey::of(&ruler.policy, knob), value));
    }
    if let (Some(reserve), Some(knob)) = (response.output_reserve, knob(KnobRole::OutputReserve)) {
        commands.push(Command::SetKnob(
            KnobKey::of(&ruler.policy, knob),
            knobs::snapped(knob, reserve.as_f64()),
        ));
    }
    if let Some(window) = response.window {
        commands.push(Command::SetWindow(Some(window.max(Tokens(1_000)))));
    }
}

/// What the axis counts and what the area shows, in the plot's upper right corner.
fn switches(ui: &mut Ui, input: &PanelInput<'_>, rect: Rect, commands: &mut Vec<Command>) {
    let corner = Rect::from_min_max(
        rect.right_top() + vec2(-340.0, -4.0),
        rect.right_top() + vec2(-space::S, 16.0),
    );
    let mut ui = ui.new_child(
        UiBuilder::new()
            .max_rect(corner)
            .layout(Layout::right_to_left(Align::Center)),
    );
    {
        let ui = &mut ui;
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding = vec2(4.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        let view = input.view;
        for (axis, name) in [(Axis::Turns, "turns"), (Axis::Calls, "calls")] {
            if ui
                .selectable_label(view.axis == axis, small(ui, name))
                .on_hover_text(format!("Count {name} on the axis"))
                .clicked()
            {
                commands.push(Command::SetAxis(axis));
            }
        }
        ui.add_space(space::S);
        let areas = [
            (
                Area::FocusedLane,
                "this lane",
                "Stack what the focused lane's context is made of",
            ),
            (
                Area::Recorded,
                "recorded",
                "Stack what the recorded context was made of",
            ),
        ];
        for (area, name, help) in areas {
            if ui
                .selectable_label(view.area == area, small(ui, name))
                .on_hover_text(help)
                .clicked()
            {
                commands.push(Command::SetArea(area));
            }
        }
    }
}

/// What a call's hover card says below its tokens: what made it grow, and what each policy made of it.
fn hover_text(input: &PanelInput<'_>, area: &[Sample], step: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(sample) = area.get(step) {
        lines.push(wording::of_usable(sample.pressure));
    }
    if let Some((message, tokens)) = input.document.biggest_growth(&input.runs.case.ledger, step) {
        let facts = &input.document.facts[message];
        let tool = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
        let preview: String = facts.preview.chars().take(40).collect();
        lines.push(format!("+{} {tool}: {preview}", wording::tokens(tokens)));
    }
    for lane in &input.runs.lanes {
        if let Some(sample) = lane.outcome.samples.get(step) {
            lines.push(believed(lane, sample));
        }
    }
    lines
}

/// `Prune 107k`, and what the policy believes where its meter says otherwise.
fn believed(lane: &LaneRun, sample: &Sample) -> String {
    let overflows = if sample.overflows {
        ", did not fit at first"
    } else {
        ""
    };
    let name = &lane.policy.label;
    let tokens = wording::short(sample.tokens);
    if sample.metered == sample.tokens {
        return format!("{name} {tokens}{overflows}");
    }
    format!(
        "{name} {tokens}{overflows}; it believes {}",
        wording::short(sample.metered)
    )
}
