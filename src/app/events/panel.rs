//! The tab Events: every event of each lane's policy, with its call and cause. Only visible rows are laid out.

use super::list::{EventFilter, EventList, Shows};
use super::{detail, text};
use crate::app::command::Command;
use crate::app::runs::replays::{EventId, LaneRun};
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::{widgets, wording};
use crate::engine::{Did, Event};
use egui::{Align, Label, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Minimum widths of the detail and of the table, in points.
const MIN_DETAIL: f32 = 240.0;
const MIN_TABLE: f32 = 420.0;

/// Shows the event filters at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn tools(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let Some(list) = input.events else {
        return;
    };
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let filter = input.view.events;
    for (shows, count) in Shows::ALL.iter().zip(list.counts).rev() {
        let name = format!("{} {}", shows.name(), wording::grouped(count as u64));
        let label = ui.selectable_label(filter.shows == *shows, small(ui, name));
        let label = label
            .on_hover_text(shows.help())
            .accessible_name(format!("Show {}", shows.name()));
        if label.clicked() {
            let shows = *shows;
            commands.push(Command::SetEventFilter(EventFilter { shows, ..filter }));
        }
    }
    ui.add_space(space::S);
    let one = ui.selectable_label(filter.is_one_lane, small(ui, "focused lane"));
    let focused = input.runs.label(input.selection.lane);
    if one
        .on_hover_text(format!("Show only the focused lane: {focused}"))
        .clicked()
    {
        commands.push(Command::SetEventFilter(EventFilter {
            is_one_lane: !filter.is_one_lane,
            ..filter
        }));
    }
}

/// Shows the filtered events in call order and the selected event in full next to them.
pub(in crate::app) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let Some(list) = input.events else {
        crate::app::widgets::text::padded(ui, |ui| ui.label(weak(ui, "Loading events…")));
        return;
    };
    if list.rows.is_empty() {
        crate::app::widgets::text::padded(ui, |ui| {
            ui.label(weak(ui, empty_text(input, list)));
            next_step(ui, input, list, commands);
        });
        return;
    }
    if let Some(id) = shown_event(input, list) {
        let available = ui.available_width();
        let most = (available - MIN_TABLE).max(MIN_DETAIL);
        let panel = egui::Panel::right("event detail")
            .resizable(true)
            .default_size((available * 0.34).round().min(most))
            .size_range(MIN_DETAIL..=most);
        panel
            .frame(egui::Frame::new().fill(palette(ui).panel))
            .show(ui, |ui| {
                detail::show(ui, input, id, commands);
            });
    }
    // The table must not extend over the detail.
    ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
    table(ui, input, list, commands);
}

/// Explains why no event is listed.
fn empty_text(input: &PanelInput<'_>, list: &EventList) -> String {
    if list.counts[0] > 0 {
        return "No event of this kind.".to_owned();
    }
    match input.selection.lane {
        _ if !input.view.events.is_one_lane => {
            "No policy acted: the context never reached a trigger. Lower compression_trigger to see a compaction.".to_owned()
        }
        None => "The file records no compaction.".to_owned(),
        lane => format!("{} did not act.", input.runs.label(lane)),
    }
}

/// Shows actions for an empty list.
fn next_step(ui: &mut Ui, input: &PanelInput<'_>, list: &EventList, commands: &mut Vec<Command>) {
    ui.add_space(space::S);
    let lane = input
        .selection
        .lane
        .and_then(|lane| input.runs.lanes.get(lane));
    let acts = lane.is_some_and(|lane| !lane.policy.stages.is_empty());
    ui.horizontal(|ui| {
        let help =
            "Prepares an export of the last context, compacted once by the focused lane's policy";
        if list.counts[0] == 0
            && acts
            && widgets::secondary_button(ui, "Compact anyway…", "")
                .on_hover_text(help)
                .clicked()
        {
            commands.push(Command::CompactAnyway);
        }
        if input.view.events != EventFilter::default()
            && widgets::secondary_button(ui, "Show all events", "").clicked()
        {
            commands.push(Command::SetEventFilter(EventFilter::default()));
        }
    });
}

/// Returns the event to show in full: the selected event, else the first listed event of the selected call, preferably
/// of the focused lane.
fn shown_event(input: &PanelInput<'_>, list: &EventList) -> Option<EventId> {
    let selection = input.selection;
    // Events after the last call belong to the last call's selection.
    let end = input.document.last_step();
    let is_here = |id: &EventId| {
        let event = input.runs.event(*id);
        event.is_some_and(|(_, event)| event.step.min(end) == selection.step)
    };
    selection.event.filter(is_here).or_else(|| {
        let first = list.row_at(selection.step);
        let here = || list.rows[first..].iter().take_while(|id| is_here(id));
        let of_focused = here().find(|(lane, _)| selection.lane == *lane);
        of_focused.or_else(|| here().next()).copied()
    })
}

fn table(ui: &mut Ui, input: &PanelInput<'_>, list: &EventList, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let chosen = shown_event(input, list);
    let has_room = ui.available_width() > 640.0;
    let mut table = TableBuilder::new(ui)
        .id_salt(("events", has_room))
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(Column::exact(48.0))
        .column(
            Column::initial(if has_room { 112.0 } else { 88.0 })
                .at_least(48.0)
                .clip(true),
        )
        .column(
            Column::initial(if has_room { 136.0 } else { 112.0 })
                .at_least(48.0)
                .clip(true),
        );
    if has_room {
        table = table.column(Column::exact(64.0));
    }
    table = table.column(Column::exact(64.0));
    if has_room {
        table = table.column(Column::exact(72.0));
    }
    table = table.column(Column::remainder().clip(true));
    if input.once.reveals_event {
        let row = list.row_at(input.selection.step);
        let end = list.rows.len().saturating_sub(1);
        table = table
            .scroll_to_row(row.min(end), None)
            .animate_scrolling(false);
    }
    let heads: [(&str, Side, bool); 7] = [
        ("call", Side::Right, true),
        ("lane", Side::Left, true),
        ("event", Side::Left, true),
        ("before", Side::Right, has_room),
        ("after", Side::Right, true),
        ("messages", Side::Right, has_room),
        ("why", Side::Left, true),
    ];
    let table = table.header(space::ROW, |mut row| {
        row.col(|_| {});
        for (title, side, _) in heads.into_iter().filter(|(.., is_shown)| *is_shown) {
            column(&mut row, side, |ui| {
                ui.label(small(ui, title));
            });
        }
    });
    table.body(|body| {
        body.rows(space::ROW, list.rows.len(), |mut row| {
            let id = list.rows[row.index()];
            // The list can still be that of the previous runs.
            let Some((run, event)) = input.runs.event(id) else {
                return;
            };
            row.set_selected(chosen == Some(id));
            row.col(|_| {});
            cells(&mut row, input, (id.0, run), event, has_room);
            if row.response().clicked() {
                commands.push(Command::SelectEvent(id));
            }
        });
    });
}

/// Horizontal alignment of a column's content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Shows a cell. Adds space before left-aligned content to separate it from right-aligned numbers.
fn column(row: &mut TableRow<'_, '_>, side: Side, content: impl FnOnce(&mut Ui)) {
    let layout = match side {
        Side::Left => Layout::left_to_right(Align::Center),
        Side::Right => Layout::right_to_left(Align::Center),
    };
    row.col(|ui| {
        ui.with_layout(layout, |ui| {
            if side == Side::Left {
                ui.add_space(space::S);
            }
            content(ui);
        });
    });
}

fn cells(
    row: &mut TableRow<'_, '_>,
    input: &PanelInput<'_>,
    (lane, run): (Option<usize>, &LaneRun),
    event: &Event,
    has_room: bool,
) {
    let has_effect = matches!(event.did, Did::Removed | Did::Changed);
    column(row, Side::Right, |ui| {
        let n_steps = input.document.session().calls.len();
        ui.label(weak(ui, text::call(event, n_steps)));
    });
    column(row, Side::Left, |ui| {
        widgets::swatch(ui, palette(ui).lane_or_recorded(lane));
        ui.add(Label::new(input.runs.label(lane)).truncate());
    });
    column(row, Side::Left, |ui| action(ui, event));
    if has_room {
        column(row, Side::Right, |ui| {
            let before = wording::tokens(event.before);
            ui.label(if has_effect {
                RichText::new(before)
            } else {
                weak(ui, before)
            });
        });
    }
    column(row, Side::Right, |ui| {
        ui.label(if has_effect {
            RichText::new(wording::tokens(event.after))
        } else {
            weak(ui, "–")
        });
    });
    if has_room {
        column(row, Side::Right, |ui| {
            let n = event.n_messages() as u64;
            ui.label(if n == 0 {
                weak(ui, "–")
            } else {
                RichText::new(wording::grouped(n))
            });
        });
    }
    column(row, Side::Left, |ui| {
        let why = text::why(event, &run.outcome);
        ui.add(Label::new(weak(ui, why)).truncate());
    });
}

/// Shows the event's action, and the stage's name if it adds information.
fn action(ui: &mut Ui, event: &Event) {
    match event.did {
        Did::Removed | Did::Changed => {
            ui.label(event.action);
        }
        Did::Nothing => {
            ui.label(weak(ui, "no-op"));
        }
        Did::Told if event.log.is_empty() => {
            ui.label(RichText::new("gives up").color(palette(ui).bad));
        }
        Did::Told => {
            ui.label(weak(ui, "log"));
        }
    }
    // A stage named after its action or after the lane adds nothing.
    if event.stage != event.action && event.stage != Event::RECORDED {
        ui.add(Label::new(weak(ui, &event.stage)).truncate());
    }
}
