//! The tab Findings: what the runs show to be wrong with each lane's policy, and the calls where it bit; below that what
//! is odd about the run itself, such as marks by hand that could not be made.

use super::{PanelInput, padded, small, weak};
use crate::analysis::FindingKind;
use crate::app::command::Command;
use crate::app::runs::LaneRun;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::engine::Halt;
use crate::safe_text;
use egui::{Align, Label, Layout, RichText, ScrollArea, Sense, Ui, vec2};
use std::sync::Arc;

/// Runs of halts listed for each lane; the events hold all.
const MOST_HALTS: usize = 50;
/// Room for the calls before the sentences.
const CALLS: f32 = 92.0;

/// The number of findings and warnings, behind the tab's name.
pub(super) fn remark(input: &PanelInput<'_>) -> String {
    let lanes = input.runs.lanes.iter();
    let n_of = |lane: &Arc<LaneRun>| lane.findings.len() + lane.outcome.warnings.len();
    match lanes.map(n_of).sum::<usize>() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// How a kind of finding is to be judged.
pub(super) fn tone(kind: FindingKind) -> Tone {
    match kind {
        FindingKind::GivesUp
        | FindingKind::Wiped
        | FindingKind::NeverAgain
        | FindingKind::UnhandledOverflow
        | FindingKind::UnrelatedError
        | FindingKind::OrphanedPairs => Tone::Bad,
        FindingKind::InstructionLost
        | FindingKind::SummaryForgotten
        | FindingKind::InVain
        | FindingKind::BrokenJson
        | FindingKind::Grew
        | FindingKind::Thrashing
        | FindingKind::NoOp
        | FindingKind::Miscounts
        | FindingKind::AboveWindow
        | FindingKind::Ignored => Tone::Warn,
    }
}

/// Shows every lane's findings, worst first.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ScrollArea::vertical()
        .id_salt("findings")
        .auto_shrink(false)
        .show(ui, |ui| {
            padded(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::XS;
                for (idx, lane) in input.runs.lanes.iter().enumerate() {
                    if idx > 0 {
                        ui.add_space(space::S);
                    }
                    show_lane(ui, input, idx, lane, commands);
                }
            });
        });
}

fn show_lane(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    idx: usize,
    lane: &LaneRun,
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        widgets::swatch(ui, palette(ui).lane(idx));
        ui.label(RichText::new(&input.runs.labels[idx]).text_style(theme::strong()));
        if lane.findings.is_empty() && lane.outcome.warnings.is_empty() {
            ui.label(weak(ui, "Nothing found in this run."));
        }
    });
    for finding in &lane.findings {
        let said = wording::with_grouped(&safe_text::visible(&finding.text)).replace('`', "");
        let call = (Some(finding.step), often(finding.times));
        if row(ui, input, &call, tone(finding.kind), &said) {
            go_to(idx, finding.step, commands);
        }
        if finding.kind == FindingKind::GivesUp {
            halts(ui, input, idx, lane, commands);
        }
    }
    for warning in &lane.outcome.warnings {
        warned(ui, input, (idx, warning), commands);
    }
}

/// What is odd about a run, at its call where it names one.
fn warned(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (idx, warning): (usize, &str),
    commands: &mut Vec<Command>,
) {
    let (step, said) = call_of(warning).unzip();
    let said = safe_text::visible(said.unwrap_or(warning));
    let said = wording::with_grouped(&said);
    let n_steps = input.document.session().steps.len();
    let step: Option<usize> = step.filter(|step| *step < n_steps);
    if row(ui, input, &(step, String::new()), Tone::Warn, &said) {
        go_to(idx, step.unwrap_or(input.selection.step), commands);
    }
}

/// `call 12: why` as the index of the call and the rest.
fn call_of(warning: &str) -> Option<(usize, &str)> {
    let (number, rest) = warning.strip_prefix("call ")?.split_once(": ")?;
    let number: usize = number.parse().ok()?;
    Some((number.checked_sub(1)?, rest))
}

/// Where the system would have given up after the first time, each error once a run of calls.
fn halts(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    idx: usize,
    lane: &LaneRun,
    commands: &mut Vec<Command>,
) {
    let is_next = |a: &Halt, b: &Halt| a.why == b.why && b.step <= a.step + 1;
    let mut runs = lane.outcome.halts.chunk_by(is_next).skip(1);
    for run in runs.by_ref().take(MOST_HALTS) {
        let Some(first) = run.first() else { continue };
        let why = safe_text::one_line(&first.why, 300);
        let call = (Some(first.step), often(run.len()));
        if row(ui, input, &call, Tone::Weak, &why) {
            go_to(idx, first.step, commands);
        }
    }
    let more = runs.count();
    if more > 0 {
        let said = format!("and {} more", wording::count(more, "time"));
        ui.label(small(ui, said));
    }
}

/// `144×` for what came more than once.
fn often(n: usize) -> String {
    match n {
        0 | 1 => String::new(),
        n => format!("{}×", wording::grouped(n as u64)),
    }
}

fn go_to(lane: usize, step: usize, commands: &mut Vec<Command>) {
    commands.push(Command::SelectStep(step));
    commands.push(Command::FocusLane(Some(lane)));
}

/// One finding: a dot, its call if it has one, how often, and what it is. Whether it was clicked.
fn row(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (step, often): &(Option<usize>, String),
    tone: Tone,
    text: &str,
) -> bool {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.spacing_mut().interact_size.y = 18.0;
        let (dot, _) = ui.allocate_exact_size(vec2(9.0, 18.0), Sense::hover());
        ui.painter()
            .circle_filled(dot.center(), 3.5, tone.color(palette(ui)));
        let call = vec2(CALLS, 18.0);
        let clicked =
            ui.allocate_ui_with_layout(call, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(CALLS);
                ui.spacing_mut().item_spacing.x = 6.0;
                let Some(step) = *step else {
                    ui.label(weak(ui, "the run"));
                    return false;
                };
                let place = format!("call {}", wording::number(step));
                let is_here = step == input.selection.step;
                let link = ui.link(if is_here {
                    RichText::new(place).text_style(theme::strong())
                } else {
                    RichText::new(place)
                });
                ui.label(small(ui, often));
                link.on_hover_text("Look at this call everywhere").clicked()
            });
        ui.add(Label::new(text).wrap());
        clicked.inner
    })
    .inner
}
