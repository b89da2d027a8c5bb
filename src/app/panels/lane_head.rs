//! The head of a lane: its policy, which can be switched, and its figures.

use super::{PanelInput, small};
use crate::app::command::Command;
use crate::app::state::MAX_LANES;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::engine::Outcome;
use crate::units::Tokens;
use egui::{
    Align, Button, Layout, Popup, Rect, RichText, Role, Sense, Ui, UiBuilder, WidgetInfo, vec2,
};

/// Shows the head of a lane in `rect`.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    lane: usize,
    rect: Rect,
    commands: &mut Vec<Command>,
) {
    // Behind the controls: a click anywhere on the head focuses the lane.
    let head = ui.interact(rect, ui.scope_id().with(("lane head", lane)), Sense::CLICK);
    head.widget_info(|| WidgetInfo::labeled(Role::Button, true, spoken_head(input, lane)));
    if head.clicked() {
        commands.push(Command::FocusLane(Some(lane)));
    }
    let inner = rect.shrink2(vec2(12.0, 6.0));
    let mut ui = ui.new_child(
        UiBuilder::new()
            .id_salt(("head", lane))
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
    );
    if input.is_stale {
        ui.multiply_opacity(0.5);
    }
    title(&mut ui, input, lane, commands);
    ui.add_space(2.0);
    figures(&mut ui, input, lane);
}

fn title(ui: &mut Ui, input: &PanelInput<'_>, lane: usize, commands: &mut Vec<Command>) {
    let policy = &input.runs.lanes[lane].policy;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().button_padding = vec2(2.0, 1.0);
        ui.spacing_mut().interact_size.y = 20.0;
        let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter()
            .circle_filled(dot.center(), 4.0, palette(ui).lane(lane));
        let text = RichText::new(format!("{} ⏷", policy.label)).text_style(theme::strong());
        let button = ui.add(Button::new(text).frame_when_inactive(false).truncate());
        let button = button
            .on_hover_text(&policy.help)
            .accessible_name(format!("Policy of lane {}", lane + 1));
        menu(&button, input, lane, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(small(ui, place(input)));
        });
    });
}

fn menu(button: &egui::Response, input: &PanelInput<'_>, lane: usize, commands: &mut Vec<Command>) {
    Popup::menu(button).show(|ui| {
        ui.set_min_width(220.0);
        widgets::section(ui, "Policy of this lane");
        for policy in input.policies.iter() {
            let is_chosen = policy.name == input.config.lanes.get(lane).map_or("", |l| &l.policy);
            if ui
                .radio(is_chosen, &policy.label)
                .on_hover_text(&policy.help)
                .clicked()
            {
                commands.push(Command::SetLanePolicy(lane, policy.name.clone()));
                commands.push(Command::FocusLane(Some(lane)));
            }
        }
        ui.add_space(space::S);
        let n = input.config.lanes.len();
        if ui
            .add_enabled(n < MAX_LANES, Button::new("Add a lane"))
            .clicked()
        {
            commands.push(Command::AddLane(input.runs.lanes[lane].policy.name.clone()));
            commands.push(Command::FocusLane(Some(n)));
        }
        if ui
            .add_enabled(n > 1, Button::new("Remove this lane"))
            .clicked()
        {
            commands.push(Command::RemoveLane(lane));
        }
        if ui.button("Export this lane…").clicked() {
            commands.push(Command::StartExport(Some(lane)));
        }
    });
}

fn figures(ui: &mut Ui, input: &PanelInput<'_>, lane: usize) {
    let outcome = &input.runs.lanes[lane].outcome;
    let about = wording::about(input.runs.case.ledger.basis);
    let peak = outcome.peak().map_or(Tokens::ZERO, |(_, tokens)| tokens);
    let now = input.rows.lanes.get(lane).map_or(Tokens::ZERO, |l| l.total);
    let is_narrow = ui.available_width() < 290.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = if is_narrow { 12.0 } else { 20.0 };
        let mut figure = |label: &str, value: String, tone: Tone, hint: String| {
            widgets::figure(ui, label, &value, tone).on_hover_text(hint);
        };
        figure(
            "peak",
            format!("{about}{}", wording::short(peak)),
            Tone::Plain,
            peak_hint(outcome),
        );
        let hint = "Firings that removed something".to_owned();
        figure(
            if is_narrow { "compact." } else { "compactions" },
            wording::grouped(outcome.compactions as u64),
            Tone::Plain,
            hint,
        );
        let tone = if outcome.overflows > 0 {
            Tone::Bad
        } else {
            Tone::Plain
        };
        figure(
            if is_narrow { "overfl." } else { "overflows" },
            wording::grouped(outcome.overflows as u64),
            tone,
            overflow_hint(outcome),
        );
        figure(
            "sent",
            format!("{about}{}", wording::short(outcome.tokens_sent())),
            Tone::Plain,
            sent_hint(outcome),
        );
        figure(
            "now",
            format!("{about}{}", wording::short(now)),
            Tone::Plain,
            format!("The context {}", place(input)),
        );
    });
}

fn place(input: &PanelInput<'_>) -> String {
    wording::place(input.rows.step, input.document.session().steps.len())
}

fn peak_hint(outcome: &Outcome) -> String {
    let Some((step, tokens)) = outcome.peak() else {
        return "No calls".to_owned();
    };
    let pressure = outcome
        .samples
        .get(step)
        .map(|s| wording::of_usable(s.pressure))
        .unwrap_or_default();
    format!(
        "{} tokens at call {}: {pressure}",
        wording::tokens(tokens),
        wording::number(step)
    )
}

fn overflow_hint(outcome: &Outcome) -> String {
    format!(
        "Calls whose first try did not fit. They carried {} tokens.",
        wording::tokens(outcome.tokens_rejected)
    )
}

fn sent_hint(outcome: &Outcome) -> String {
    let summaries = outcome.summaries;
    let apart = if summaries.requests == 0 {
        String::new()
    } else {
        format!(
            ". {} apart: {} sent, {} back",
            wording::count(summaries.requests, "summary request"),
            wording::tokens(summaries.sent),
            wording::tokens(summaries.received)
        )
    };
    format!(
        "{} tokens sent by all calls{apart}",
        wording::tokens(outcome.tokens_sent())
    )
}

/// What a lane's head says to those who cannot see it.
fn spoken_head(input: &PanelInput<'_>, lane: usize) -> String {
    let run = &input.runs.lanes[lane];
    let (label, outcome) = (&run.policy.label, &run.outcome);
    let peak = outcome.peak().map_or(Tokens::ZERO, |(_, tokens)| tokens);
    let (compactions, overflows) = (
        wording::count(outcome.compactions, "compaction"),
        wording::count(outcome.overflows, "overflow"),
    );
    format!(
        "Focus lane {}: {label}, peak {}, {compactions}, {overflows}",
        lane + 1,
        wording::short(peak)
    )
}
