//! The timeline panel: supplies the plot's data and converts its interactions to commands.

use crate::analysis::rereads::RemovedFile;
use crate::app::state::command::Commands;
use crate::app::state::compare::state::CompareView;
use crate::app::state::model::knobs;
use crate::app::state::model::knobs::KnobKey;
use crate::app::state::model::runs::replays::LaneRun;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::timeline::state::{Area, Axis, TimelineView};
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::timeline::plot::{
    CompactionFlag, ComparedCurve, LaneLine, ReferenceCurve, TimelineInput, TimelineResponse,
    timeline,
};
use crate::app::ui::timeline::range;
use crate::app::ui::widgets::text::small;
use crate::engine::{Event, KnobRole};
use crate::safe_text;
use crate::units::Tokens;
use egui::{Align, Id, Layout, Popup, Rect, Ui, UiBuilder, vec2};

/// Width of the switches at the end of the legend's row, without and with those of a comparison, in points.
const SWITCHES: [f32; 2] = [200.0, 306.0];

/// Maximum length of a path, in characters, and of its shown end.
const MAX_PATH_CHARS: usize = 300;
const SHOWN_CHARS: usize = 22;

/// Shows the timeline.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let (document, runs, selection) = (input.document, input.runs, input.selection);
    let focused = runs.focused(&selection);
    let threshold_lane = runs.threshold_lane(&selection);
    let budget = runs.budget(&threshold_lane.policy, &threshold_lane.knobs, selection.call);
    let trigger = threshold_lane.trigger(selection.call, budget);
    let area = if input.view.timeline().area == Area::Recorded { &runs.recorded } else { focused };
    let lines: Vec<_> =
        runs.lanes.iter().enumerate().map(|(idx, lane)| line(ui, input, idx, lane)).collect();
    let hover = |call: usize| hover_text(input, focused, call);
    let unrecorded = |call: usize| unrecorded_at(input, call);
    let compared = compared_curve(ui, input);
    let response = timeline(
        ui,
        &TimelineInput {
            revision: revision(input),
            area: &area.outcome.samples,
            unrecorded: &unrecorded,
            lanes: &lines,
            recorded_usage: &document.marks.usage,
            windows: runs.case.windows.per_call(),
            output_reserve: budget.output_reserve,
            trigger: trigger.map(|mark| budget.pressure(mark.counted)),
            axis: input.view.timeline().axis,
            turn_starts: &document.marks.turn_starts,
            recorded_compactions: &recorded_compactions(
                &runs.recorded.outcome.events,
                input.document.last_call(),
            ),
            restarts: &input.config.restarts,
            errors: &input.config.errors,
            reference_curve: reference_curve(ui, input),
            compared_session: compared.as_ref(),
            heat: input.derived.cumulative().map_or(&[], |cumulative| &cumulative.heat),
            selected: Some(selection.call),
            range: selection.calls,
            zooms_to_range: input.once.zooms_to_calls,
            compared: selection.compared,
            isolated: input.view.timeline().isolated,
            corner: SWITCHES[usize::from(compared.is_some())],
            hover_text: &hover,
            takes_keys: !input.is_covered
                && !Popup::is_any_open(ui.ctx())
                && ui.memory(|m| m.focused().is_none()),
        },
    );
    if let Some(corner) = response.corner {
        switches(ui, input, corner, compared.is_some(), commands);
    }
    if let Some((calls, place)) = response.shown_range {
        range::show(ui, input, calls, place, commands);
    }
    select(&response, input, commands);
    set_thresholds(&response, input, threshold_lane, commands);
    if let Some(call) = response.copied {
        let mut title = format!("Call {}", wording::number(call));
        if let Some(sample) = area.outcome.samples.get(call) {
            title = format!("{title}: {} tokens", wording::tokens(sample.tokens));
        }
        let lines = [&[title], &*hover(call)].concat();
        commands.push(ShellCommand::Copy("the call", lines.join("\n")));
    }
}

/// Returns a key that changes whenever the plotted data changes, also between sessions.
fn revision(input: &OpenSession<'_>) -> u64 {
    let is_focused = input.view.timeline().area == Area::FocusedLane;
    let (document, lane) = (input.document.id, input.selection.lane);
    Id::unique((document, input.derived.revision(), is_focused, lane)).value()
}

/// Returns the tokens of a call that the file does not record: at this call as recorded, or a lane's initial value.
fn unrecorded_at(input: &OpenSession<'_>, call: usize) -> Tokens {
    let ledger = &input.runs.case.ledger;
    match input.view.timeline().area {
        Area::Recorded => ledger.overhead_at(call),
        Area::FocusedLane => ledger.overhead,
    }
}

/// Returns the recorded compactions. A compaction after the last call is placed at the last call.
fn recorded_compactions(events: &[Event], last: usize) -> Vec<CompactionFlag> {
    let compaction = |event: &Event| {
        let (before, after) = (wording::short(event.before), wording::short(event.after));
        let fell = if event.after > Tokens::ZERO && event.after < event.before {
            format!("{before} → {after}")
        } else {
            format!("from {before}")
        };
        CompactionFlag { call: event.call.min(last), label: format!("recorded compaction {fell}") }
    };
    events.iter().map(compaction).collect()
}

/// Returns the curve of the setting under the pointer.
fn reference_curve<'a>(ui: &Ui, input: &OpenSession<'a>) -> Option<ReferenceCurve<'a>> {
    let tried = input.tried_setting().filter(|_| input.shows_tried_setting());
    tried.map(|samples| ReferenceCurve { name: "this setting", color: palette(ui).text, samples })
}

/// Returns the curve of the second session, once it is compared.
fn compared_curve<'a>(ui: &Ui, input: &OpenSession<'a>) -> Option<ComparedCurve<'a>> {
    let comparison = input.comparison?;
    let [_, second] = &comparison.found()?.sessions;
    Some(ComparedCurve {
        name: comparison.name(),
        color: palette(ui).compared(),
        contexts: &second.contexts,
        window: second.window,
        usable_window: second.usable_window,
        turn_starts: &comparison.document()?.marks.turn_starts,
        is_by_share: input.view.compare().is_by_share,
    })
}

fn line<'a>(ui: &Ui, input: &OpenSession<'_>, idx: usize, lane: &'a LaneRun) -> LaneLine<'a> {
    LaneLine {
        name: &lane.policy.label,
        color: palette(ui).lane(idx),
        samples: &lane.outcome.samples,
        dim: input.derived.is_stale(),
        focused: input.selection.lane == Some(idx),
        compactions: &lane.compactions,
        no_ops: &lane.no_ops,
        halts: &lane.halts,
        first_removal: first_removal(input, Some(idx)).map(|removed| removed.call),
        counts_otherwise: lane.counts_otherwise,
    }
}

/// Returns the first removal of a file's content from a lane.
fn first_removal<'a>(input: &OpenSession<'a>, lane: Option<usize>) -> Option<&'a RemovedFile> {
    input.derived.losses()?.of(lane)?.rereads.removals.first()
}

/// Converts clicks, drags and keys of the plot to commands.
fn select(response: &TimelineResponse, input: &OpenSession<'_>, commands: &mut Commands) {
    if response.clears_range {
        commands.push(SelectCommand::Calls(None));
    }
    if let Some(call) = response.clicked_call {
        commands.push(SelectCommand::Call(call));
    }
    if let Some(calls) = response.range {
        commands.push(SelectCommand::Calls(Some(calls)));
    }
    if let Some(call) = response.compared {
        commands.push(SelectCommand::Compare(Some(call)));
    }
    if let Some(kind) = response.kind {
        let isolated = Some(kind).filter(|_| input.view.timeline().isolated != Some(kind));
        let view = TimelineView { isolated, ..input.view.timeline() };
        commands.push(ViewCommand::new(view));
    }
    if let Some(flag) = response.flag {
        commands.push(SelectCommand::RecordedCompaction(flag));
    }
}

/// Converts changes of thresholds and marks to commands.
fn set_thresholds(
    response: &TimelineResponse,
    input: &OpenSession<'_>,
    threshold_lane: &LaneRun,
    commands: &mut Commands,
) {
    if let Some(call) = response.restart {
        commands.push(SettingsCommand::ToggleRestart(call));
    }
    let budget =
        input.runs.budget(&threshold_lane.policy, &threshold_lane.knobs, input.selection.call);
    let knob = |role| threshold_lane.policy.knob_for(role);
    if let (Some(share), Some(knob)) = (response.trigger, knob(KnobRole::CompressionTrigger)) {
        let tokens = Tokens((share.0.max(0.0) * budget.usable().as_f64()).round() as u64);
        if let Some(value) = threshold_lane.trigger_value(tokens, input.selection.call, budget) {
            commands.push(SettingsCommand::Set(KnobKey::of(&threshold_lane.policy, knob), value));
        }
    }
    if let (Some(reserve), Some(knob)) = (response.output_reserve, knob(KnobRole::OutputReserve)) {
        commands.push(SettingsCommand::Set(
            KnobKey::of(&threshold_lane.policy, knob),
            knobs::snapped(knob, reserve.as_f64()),
        ));
    }
    if let Some(window) = response.window {
        commands.push(SettingsCommand::SetWindow(Some(window.max(Tokens(1_000)))));
    }
}

/// Shows the switches for the axis unit, the stacked area and the compared curve at the end of the legend's row.
fn switches(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    corner: Rect,
    has_compared: bool,
    commands: &mut Commands,
) {
    let layout = Layout::right_to_left(Align::Center);
    let ui = &mut ui.new_child(UiBuilder::new().max_rect(corner).layout(layout));
    ui.spacing_mut().interact_size.y = 18.0;
    ui.spacing_mut().button_padding = vec2(4.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let view = input.view.timeline();
    for (axis, name) in [(Axis::Turns, "turns"), (Axis::Calls, "calls")] {
        let help = format!("Show {name} on the axis");
        if switch(ui, view.axis == axis, name, &help) {
            commands.push(ViewCommand::new(TimelineView { axis, ..view }));
        }
    }
    ui.add_space(space::S);
    let areas = [
        (Area::FocusedLane, "this lane", "the focused lane's context"),
        (Area::Recorded, "recorded", "the recorded context"),
    ];
    for (area, name, context) in areas {
        let help = format!("Show the composition of {context}");
        if switch(ui, view.area == area, name, &help) {
            commands.push(ViewCommand::new(TimelineView { area, ..view }));
        }
    }
    if !has_compared {
        return;
    }
    ui.add_space(space::S);
    let view = input.view.compare();
    let by_share = "Stretch the curve of B to the length of this session";
    let by_call = "Align equal calls or turns of both sessions";
    for (is_by_share, name, help) in [(true, "by share", by_share), (false, "by call", by_call)] {
        if switch(ui, view.is_by_share == is_by_share, name, help) {
            commands.push(ViewCommand::new(CompareView { is_by_share, ..view }));
        }
    }
}

/// Shows a switch. Returns whether it was clicked.
fn switch(ui: &mut Ui, is_on: bool, name: &str, help: &str) -> bool {
    let label = ui.selectable_label(is_on, small(ui, name));
    label.on_hover_text(help).clicked()
}

/// Returns the text of a call's hover card: the causes of its growth, the focused policy's own count if it differs from
/// the actual one, and the first call without a file's content.
fn hover_text(input: &OpenSession<'_>, focused: &LaneRun, call: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((message, tokens)) =
        input.document.largest_new_message(&input.runs.case.ledger, call)
    {
        let facts = &input.document.facts[message];
        let name = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
        let tokens = wording::tokens(tokens);
        lines.push(format!("+{tokens} {name}  {}", facts.preview));
    }
    let unrecorded = unrecorded_at(input, call);
    let before = call.checked_sub(1).map(|before| unrecorded_at(input, before));
    if let Some(before) = before.filter(|before| *before != unrecorded) {
        let (before, now) = (wording::short(before), wording::short(unrecorded));
        lines.push(format!("{}: {before} → {now} from this call on", wording::NOT_RECORDED));
    }
    if input.selection.lane.is_none() {
        return lines;
    }
    if let Some((believed, actual)) = focused.believed_fill(call) {
        lines.push(wording::believed_fill(believed, actual));
    }
    if let Some(sample) = focused.outcome.samples.get(call)
        && wording::short(sample.metered) != wording::short(sample.tokens)
    {
        lines.push(format!("its own count: {}", wording::short(sample.metered)));
    }
    let first = first_removal(input, input.selection.lane).zip(input.derived.losses());
    if let Some((removed, losses)) = first.filter(|(removed, _)| removed.call == call) {
        let file = losses.session.index.files.name(removed.file);
        let file = safe_text::one_line(file, MAX_PATH_CHARS);
        let file = wording::path_end(&file, SHOWN_CHARS);
        lines.push(format!("first call without {file}"));
    }
    if let Some(halt) = focused.outcome.halts.iter().find(|halt| halt.call == call) {
        lines.push(format!("gives up: {}", safe_text::one_line(&halt.why, 200)));
    }
    lines
}
