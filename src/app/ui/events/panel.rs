//! The tab Events: every event of each lane's policy, with its call and cause. Only visible rows are laid out.

use crate::app::state::command::Commands;
use crate::app::state::events::list::{EventFilter, EventGroup, EventList};
use crate::app::state::events::text;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::model::runs::replays::LaneRun;
use crate::app::state::model::selection::{EventId, SelectCommand};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::events::detail;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::resizable_panel::{ResizablePanel, Side};
use crate::app::ui::widgets::table::{Column, Table, lane_cell};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::engine::{Effect, Event};
use egui::{Frame, Label, Rangef, RichText, Ui};
use egui_extras::Column as Width;

/// The tab Events.
pub(crate) struct EventsTab;

impl DrawerTab for EventsTab {
    fn tab(&self) -> Tab {
        Tab::EVENTS
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }
}

/// Minimum width of the detail, in points.
const MIN_DETAIL: f32 = 240.0;
/// Minimum width of the table, in points.
const MIN_TABLE: f32 = 420.0;

/// Shows the event filters at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(list) = input.derived.events() else {
        return;
    };
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let filter = input.view.events();
    for (group, count) in EventGroup::ALL.iter().zip(list.counts).rev() {
        let name = format!("{} {}", group.name(), wording::grouped(count as u64));
        let label = ui.selectable_label(filter.group == *group, small(ui, name));
        let label =
            label.on_hover_text(group.help()).accessible_name(format!("Show {}", group.name()));
        if label.clicked() {
            let group = *group;
            commands.push(ViewCommand::new(EventFilter { group, ..filter }));
        }
    }
    ui.add_space(space::S);
    let one = ui.selectable_label(filter.is_one_lane, small(ui, "focused lane"));
    let focused = input.runs.label(input.selection.lane);
    if one.on_hover_text(format!("Show only the focused lane: {focused}")).clicked() {
        commands.push(ViewCommand::new(EventFilter { is_one_lane: !filter.is_one_lane, ..filter }));
    }
}

/// Shows the filtered events in call order and the selected event in full next to them.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(list) = input.derived.events() else {
        padded(ui, |ui| ui.label(weak(ui, "Loading events…")));
        return;
    };
    if list.rows.is_empty() {
        padded(ui, |ui| {
            ui.label(weak(ui, empty_text(input, list)));
            empty_actions(ui, input, list, commands);
        });
        return;
    }
    let Some(id) = shown_event(input, list) else {
        table(ui, input, list, commands);
        return;
    };
    let available = ui.available_width();
    let panel = ResizablePanel {
        name: "event detail",
        side: Side::Right,
        usual: (available * 0.34).round(),
        range: Rangef::new(MIN_DETAIL, (available - MIN_TABLE).max(MIN_DETAIL)),
        frame: Frame::new().fill(palette(ui).panel),
    };
    let (mut content, edge) = panel.place(ui);
    detail::show(&mut content, input, id, commands);
    edge.beside(ui, |ui| table(ui, input, list, commands));
}

/// Explains why no event is listed.
fn empty_text(input: &OpenSession<'_>, list: &EventList) -> String {
    if list.total() > 0 {
        return "No event of this kind.".to_owned();
    }
    if input.selection.calls.is_some() {
        return "No event at the selected calls.".to_owned();
    }
    match input.selection.lane {
        _ if !input.view.events().is_one_lane => {
            "No policy acted: the context never reached a trigger. Lower compression_trigger to see a compaction.".to_owned()
        }
        None => "The file records no compaction.".to_owned(),
        lane => format!("{} did not act.", input.runs.label(lane)),
    }
}

/// Shows buttons below the explanation of an empty list: compact anyway, or reset the filter.
fn empty_actions(ui: &mut Ui, input: &OpenSession<'_>, list: &EventList, commands: &mut Commands) {
    ui.add_space(space::S);
    let lane = input.selection.lane.and_then(|lane| input.runs.lanes.get(lane));
    let has_stages = lane.is_some_and(|lane| !lane.policy.stages.is_empty());
    ui.horizontal(|ui| {
        let help =
            "Prepares an export of the last context, compacted once by the focused lane's policy";
        if list.total() == 0
            && has_stages
            && widgets::secondary_button(ui, "Compact anyway…", "").on_hover_text(help).clicked()
        {
            commands.push(ExportCommand::CompactAnyway);
        }
        if input.view.events() != EventFilter::default()
            && widgets::secondary_button(ui, "Show all events", "").clicked()
        {
            commands.push(ViewCommand::new(EventFilter::default()));
        }
    });
}

/// Returns the event to show in full: the selected event, else the first listed event of the selected call, preferably
/// of the focused lane.
fn shown_event(input: &OpenSession<'_>, list: &EventList) -> Option<EventId> {
    let selection = input.selection;
    // Events after the last call belong to the last call's selection.
    let end = input.document.last_call();
    let is_here = |id: &EventId| {
        let event = input.runs.event(*id);
        event.is_some_and(|(_, event)| event.call.min(end) == selection.call)
    };
    selection.event.filter(is_here).or_else(|| {
        let first = list.row_at(selection.call);
        let here = || list.rows[first..].iter().take_while(|id| is_here(id));
        let of_focused = here().find(|id| selection.lane == id.lane);
        of_focused.or_else(|| here().next()).copied()
    })
}

fn table(ui: &mut Ui, input: &OpenSession<'_>, list: &EventList, commands: &mut Commands) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let chosen = shown_event(input, list);
    let revealed = input.once.reveals_event.then(|| {
        let row = list.row_at(input.selection.call);
        row.min(list.rows.len().saturating_sub(1))
    });
    Table::new("events", columns(ui.available_width()), list.rows.len())
        .margins(space::S, 0.0)
        .reveal(revealed)
        .show(ui, |mut row| {
            let id = list.rows[row.index()];
            // The list can still be that of the previous runs.
            let Some((run, event)) = input.runs.event(id) else {
                return;
            };
            row.select(chosen == Some(id));
            row.cells(|ui, column| content(ui, input, id.lane, run, event, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Event(id));
            }
        });
}

/// A column of the list.
#[derive(Clone, Copy)]
enum Col {
    Call,
    Lane,
    Event,
    Before,
    After,
    Messages,
    Why,
}

/// Table width from which all columns are shown, in points.
const FULL: f32 = 640.0;

fn columns(available: f32) -> Vec<Column<'static, Col>> {
    let [lane, event] = if available > FULL { [112.0, 136.0] } else { [88.0, 112.0] };
    let width = |points: f32| Width::initial(points).at_least(48.0).clip(true);
    let number = |key, title, width| Column::new(key, title, Width::exact(width)).right();
    vec![
        number(Col::Call, "call", 48.0),
        Column::new(Col::Lane, "lane", width(lane)),
        Column::new(Col::Event, "event", width(event)),
        number(Col::Before, "before", 64.0).hidden_below(FULL),
        number(Col::After, "after", 64.0),
        number(Col::Messages, "messages", 72.0).hidden_below(FULL),
        Column::new(Col::Why, "why", Width::remainder().clip(true)),
    ]
}

fn content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    run: &LaneRun,
    event: &Event,
    column: Col,
) {
    let has_effect = matches!(event.effect, Effect::Removed | Effect::Changed);
    match column {
        Col::Call => {
            let n_calls = input.document.session().calls.len();
            ui.label(weak(ui, text::call(event, n_calls)));
        }
        Col::Lane => lane_cell(ui, lane, input.runs.label(lane)),
        Col::Event => action(ui, event),
        Col::Before => {
            let before = wording::tokens(event.before);
            ui.label(if has_effect { RichText::new(before) } else { weak(ui, before) });
        }
        Col::After => {
            ui.label(if has_effect {
                RichText::new(wording::tokens(event.after))
            } else {
                weak(ui, "–")
            });
        }
        Col::Messages => {
            let n = event.n_messages() as u64;
            ui.label(if n == 0 { weak(ui, "–") } else { RichText::new(wording::grouped(n)) });
        }
        Col::Why => {
            let why = text::why(event, &run.outcome);
            ui.add(Label::new(weak(ui, why)).truncate());
        }
    }
}

/// Shows the event's action, and the stage's name if it adds information.
fn action(ui: &mut Ui, event: &Event) {
    match event.effect {
        Effect::Removed | Effect::Changed => {
            ui.label(event.action.name());
        }
        Effect::Nothing => {
            ui.label(weak(ui, "no-op"));
        }
        Effect::Logged if event.log.is_empty() => {
            ui.label(RichText::new("gives up").color(palette(ui).bad));
        }
        Effect::Logged => {
            ui.label(weak(ui, "log"));
        }
    }
    // A stage named after its action or after the lane adds nothing.
    if event.stage != event.action.name() && event.stage != Event::RECORDED {
        ui.add(Label::new(weak(ui, &event.stage)).truncate());
    }
}
