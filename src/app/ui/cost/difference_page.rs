//! The page of two calls: the messages that entered, left and changed between them, and the prefix that a cache can
//! read.

use crate::analysis::{Change, ChangedMessage, ContextDifference, MessageRef};
use crate::app::state::command::Commands;
use crate::app::state::cost::difference::Differences;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::resizable_panel::{ResizablePanel, Side};
use crate::app::ui::widgets::table::{Column, Table, lane_cell, number_column};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::units::Tokens;
use egui::{Frame, Label, Rangef, RichText, Ui};
use egui_extras::Column as Width;

/// Minimum widths of the lanes and of the messages, in points.
const MIN_LANES: f32 = 400.0;
const MIN_MESSAGES: f32 = 320.0;
/// Widths of the table from which it shows the first changed message, and the number of changed messages, in points.
const WITH_FIRST: f32 = 540.0;
const WITH_CHANGED: f32 = 620.0;

/// Shows the lanes and, next to them, the messages of the focused lane.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let call = input.selection.call;
    let Some(compared) = input.selection.compared else {
        padded(ui, |ui| empty_state(ui, call, commands));
        return;
    };
    let calls = [compared.min(call), compared.max(call)];
    let found = input.derived.differences().filter(|found| found.calls == calls);
    let Some(found) = found else {
        padded(ui, |ui| ui.label(weak(ui, "Comparing the contexts…")));
        return;
    };
    let available = ui.available_width();
    let panel = ResizablePanel {
        name: "changed messages",
        side: Side::Right,
        usual: (available * 0.42).round(),
        range: Rangef::new(MIN_MESSAGES, (available - MIN_LANES).max(MIN_MESSAGES)),
        frame: Frame::new().fill(palette(ui).panel),
    };
    let (mut content, edge) = panel.place(ui);
    // The lanes must not extend over the messages.
    let clip = widgets::clip_to_rest(ui);
    lanes(ui, input, found, commands);
    ui.set_clip_rect(clip);
    messages(&mut content, input, found, commands);
    edge.show(ui);
}

fn empty_state(ui: &mut Ui, call: usize, commands: &mut Commands) {
    let text = "Ctrl+click a second call in the timeline to compare its context with that of the selected call.";
    ui.label(weak(ui, text));
    let Some(before) = call.checked_sub(1) else {
        return;
    };
    ui.add_space(space::S);
    if widgets::secondary_button(ui, "Compare with the previous call", "").clicked() {
        commands.push(SelectCommand::Compare(Some(before)));
    }
}

/// A column of the lanes.
#[derive(Clone, Copy)]
enum LaneCol {
    Lane,
    Context,
    Count(Change),
    Prefix,
    FirstChanged,
}

fn lanes(ui: &mut Ui, input: &OpenSession<'_>, found: &Differences, commands: &mut Commands) {
    let figure = |key, title, help| {
        let column = Column::new(key, title, Width::exact(76.0));
        column.right().help(help)
    };
    let count = |change, help| figure(LaneCol::Count(change), name(change), help);
    let [from, to] = found.calls.map(wording::number);
    let columns = vec![
        Column::new(LaneCol::Lane, "lane", Width::initial(92.0).at_least(60.0).clip(true)),
        Column::new(LaneCol::Context, format!("call {from} → {to}"), Width::exact(104.0))
            .right()
            .help("Tokens of both contexts"),
        count(Change::Entered, "Messages that only the later context has"),
        count(Change::Left, "Messages that only the earlier context has"),
        count(Change::Changed, "Messages with other content in the later context")
            .hidden_below(WITH_CHANGED),
        figure(
            LaneCol::Prefix,
            "prefix kept",
            "Tokens at the beginning that both contexts share: the maximum that a cache can read",
        ),
        Column::new(LaneCol::FirstChanged, "first changed", Width::remainder().clip(true))
            .help("The first message of the earlier context that the later one does not repeat")
            .hidden_below(WITH_FIRST),
    ];
    let rows: Vec<Option<usize>> = std::iter::once(None)
        .chain((0..input.runs.lanes.len()).map(Some))
        .filter(|lane| found.of(*lane).is_some())
        .collect();
    ui.spacing_mut().item_spacing.x = 4.0;
    Table::new("difference lanes", columns, rows.len()).margins(space::S, 0.0).show(
        ui,
        |mut row| {
            let lane = rows[row.index()];
            let Some(difference) = found.of(lane) else {
                return;
            };
            row.select(lane == input.selection.lane);
            row.cells(|ui, column| lane_content(ui, input, lane, difference, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Lane(lane));
            }
        },
    );
}

fn lane_content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    found: &ContextDifference,
    column: LaneCol,
) {
    match column {
        LaneCol::Lane => lane_cell(ui, lane, input.runs.label(lane)),
        LaneCol::Context => {
            let [before, after] = found.tokens.map(wording::short);
            ui.label(format!("{before} → {after}"));
        }
        LaneCol::Count(change) => {
            let (n, tokens) = found.count(change);
            let text = format!("{} · {}", wording::grouped(n as u64), wording::short(tokens));
            ui.label(if n == 0 { weak(ui, "–") } else { RichText::new(text) });
        }
        LaneCol::Prefix => {
            let share = found.prefix.share_of(found.tokens[0]);
            let color =
                if found.first_changed.is_none() { palette(ui).ok } else { palette(ui).warn };
            ui.label(RichText::new(wording::short(found.prefix)).color(color)).on_hover_ui(|ui| {
                ui.label(format!("{} of the earlier context", wording::percent(share)));
            });
        }
        LaneCol::FirstChanged => match found.first_changed {
            None => drop(ui.label(weak(ui, "none"))),
            Some(message) => reference(ui, input, message),
        },
    }
}

/// A column of the messages.
#[derive(Clone, Copy)]
enum Col {
    Change,
    Message,
    Before,
    After,
}

fn messages(ui: &mut Ui, input: &OpenSession<'_>, found: &Differences, commands: &mut Commands) {
    let Some(difference) = found.of(input.selection.lane) else {
        return;
    };
    if difference.messages.is_empty() {
        padded(ui, |ui| ui.label(weak(ui, "Both contexts are equal.")));
        return;
    }
    let [from, to] = found.calls.map(wording::number);
    let columns = vec![
        Column::new(Col::Change, "change", Width::exact(64.0)),
        Column::new(
            Col::Message,
            format!("message in {}", input.runs.label(input.selection.lane)),
            Width::remainder().clip(true),
        ),
        Column::new(Col::Before, format!("at {from}"), number_column(100_000)).right(),
        Column::new(Col::After, format!("at {to}"), number_column(100_000)).right(),
    ];
    ui.spacing_mut().item_spacing.y = 0.0;
    let id = ("difference messages", input.selection.lane);
    Table::new(id, columns, difference.messages.len())
        .margins(0.0, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut row| {
            let changed = difference.messages[row.index()];
            let message = match changed.message {
                MessageRef::Recorded(message) => Some(message),
                MessageRef::Written(_) => None,
            };
            row.select(message.is_some() && message == input.selection.message);
            row.cells(|ui, column| content(ui, input, changed, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Spot(Spot { message, ..Spot::default() }));
            }
        });
}

fn content(ui: &mut Ui, input: &OpenSession<'_>, changed: ChangedMessage, column: Col) {
    let tokens = |tokens: Option<Tokens>| tokens.map_or_else(|| "–".to_owned(), wording::tokens);
    match column {
        Col::Change => {
            let change = changed.change();
            let color = match change {
                Change::Entered => palette(ui).ok,
                Change::Left => palette(ui).bad,
                Change::Changed => palette(ui).warn,
            };
            ui.label(small(ui, name(change)).color(color));
        }
        Col::Message => reference(ui, input, changed.message),
        Col::Before => drop(ui.label(weak(ui, tokens(changed.before)))),
        Col::After => drop(ui.label(tokens(changed.after))),
    }
}

fn name(change: Change) -> &'static str {
    match change {
        Change::Entered => "entered",
        Change::Left => "left",
        Change::Changed => "changed",
    }
}

/// Shows a message's number, kind or tool, and beginning.
fn reference(ui: &mut Ui, input: &OpenSession<'_>, message: MessageRef) {
    match message {
        MessageRef::Recorded(message) => {
            let Some(facts) = input.document.facts.get(message) else {
                return;
            };
            widgets::swatch(ui, palette(ui).kind(facts.kind));
            ui.label(weak(ui, wording::number(message)));
            ui.label(facts.tool.as_deref().unwrap_or(wording::kind(facts.kind)));
            widgets::one_line(ui, weak(ui, &*facts.preview));
        }
        MessageRef::Written(kind) => {
            let text = format!("{} written by the policy", wording::written(kind));
            ui.add(Label::new(text).truncate());
        }
    }
}
