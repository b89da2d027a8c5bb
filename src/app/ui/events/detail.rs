//! The detail of an event: the terms of its trigger, its result, its summary requests and the system's log.

use crate::app::state::command::Commands;
use crate::app::state::events::text;
use crate::app::state::model::runs::replays::LaneRun;
use crate::app::state::model::selection::{EventId, SelectCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::engine::{Effect, Event};
use crate::safe_text;
use egui::{Color32, Frame, Grid, Label, Margin, RichText, ScrollArea, TextStyle, Ui};

/// Maximum number of displayed log lines. Copying includes all lines.
const MAX_LINES: usize = 200;
/// Maximum length of a displayed line, in characters.
const MAX_LINE_CHARS: usize = 2_000;

/// Shows an event.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, id: EventId, commands: &mut Commands) {
    let Some((run, event)) = input.runs.event(id) else {
        return;
    };
    let margin = Margin { left: 12, right: 14, top: 8, bottom: 8 };
    ScrollArea::vertical().id_salt(("event", id.lane, id.index)).auto_shrink(false).show(
        ui,
        |ui| {
            Frame::new().inner_margin(margin).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::XS;
                ui.spacing_mut().interact_size.y = 20.0;
                head(ui, input, id.lane, run, event, commands);
                trigger(ui, event);
                result(ui, event, commands);
                log(ui, event, text::halt(event, &run.outcome));
            });
        },
    );
}

fn head(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    run: &LaneRun,
    event: &Event,
    commands: &mut Commands,
) {
    let label = input.runs.label(lane);
    let call = text::call(event, input.document.session().calls.len());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::swatch(ui, palette(ui).lane_or_recorded(lane));
        ui.label(RichText::new(&event.stage).text_style(theme::strong()));
        ui.label(weak(ui, format!("{label} · call {call}")));
        if ui.small_button("Copy").on_hover_text("Copy the whole event as text").clicked() {
            let text = text::whole(event, &run.outcome, label, &call);
            commands.push(ShellCommand::Copy("the event", text));
        }
    });
    let result = RichText::new(text::result(event));
    ui.label(match event.effect {
        Effect::Nothing => result.color(palette(ui).warn),
        Effect::Logged => result.color(palette(ui).weak),
        Effect::Removed | Effect::Changed => result,
    });
}

/// Shows the trigger expression and the value of each of its terms.
fn trigger(ui: &mut Ui, event: &Event) {
    ui.add_space(space::XS);
    widgets::section(ui, "Why");
    if event.stage == Event::RECORDED {
        ui.label(text::filled_in(event));
    } else if event.cause.when.trim() == "true" {
        ui.label(small(ui, "always, whenever its stage runs"));
    } else {
        let when = event.cause.when.replace(">=", "≥").replace("<=", "≤");
        ui.add(Label::new(RichText::new(when).text_style(TextStyle::Monospace)).wrap());
    }
    Grid::new("terms").num_columns(2).spacing([16.0, 2.0]).min_row_height(18.0).show(ui, |ui| {
        for (name, value) in &event.cause.terms {
            ui.label(weak(ui, name));
            ui.label(RichText::new(wording::quantity(*value)).text_style(theme::strong()));
            ui.end_row();
        }
    });
}

/// Shows the result of the event as figures.
fn result(ui: &mut Ui, event: &Event, commands: &mut Commands) {
    ui.add_space(space::XS);
    widgets::section(ui, "Result");
    Grid::new("result").num_columns(2).spacing([16.0, 2.0]).min_row_height(18.0).show(ui, |ui| {
        let (before, after) = (wording::tokens(event.before), wording::tokens(event.after));
        let tokens = if event.before == event.after {
            format!("{before}, unchanged")
        } else {
            format!("{before} → {after}")
        };
        line(ui, "tokens", tokens, event.after > event.before);
        if let (Some(first), Some(last)) = (event.messages.first(), event.messages.last()) {
            ui.label(weak(ui, "messages"));
            let range = format!(
                "{}, from {} to {}",
                wording::grouped(event.n_messages() as u64),
                wording::number(first.start),
                wording::grouped(last.end as u64)
            );
            if ui.link(range).on_hover_text("Show the first of these messages").clicked() {
                commands.push(SelectCommand::Message(first.start));
            }
            ui.end_row();
        }
        let left = wording::count(event.left, "message");
        line(ui, "left", left, event.left == 0);
        if event.orphans > 0 {
            let orphans = format!("{} without their pair", event.orphans);
            line(ui, "orphans", orphans, true);
        }
        if let Some(request) = event.request {
            let sent = wording::tokens(request.sent);
            let received = wording::tokens(request.answer);
            let text = format!("{sent} sent, {received} received");
            line(ui, "summaries", text, false);
        }
    });
}

fn line(ui: &mut Ui, name: &str, value: String, is_bad: bool) {
    ui.label(weak(ui, name));
    let value = RichText::new(value);
    ui.label(if is_bad { value.color(palette(ui).bad) } else { value });
    ui.end_row();
}

/// Shows the system's own log messages.
fn log(ui: &mut Ui, event: &Event, halt: Option<&str>) {
    if event.log.is_empty() && halt.is_none() {
        return;
    }
    ui.add_space(space::XS);
    widgets::section(ui, "Original messages");
    let show_line = |ui: &mut Ui, line: &str, color: Color32| {
        let line = safe_text::visible(safe_text::head(line, MAX_LINE_CHARS));
        let text = RichText::new(line.into_owned()).text_style(TextStyle::Monospace).color(color);
        ui.add(Label::new(text).wrap().selectable(true));
    };
    for line in event.log.iter().take(MAX_LINES) {
        show_line(ui, line, palette(ui).text);
    }
    if let Some(why) = halt {
        show_line(ui, why, palette(ui).bad);
    }
    if event.log.len() > MAX_LINES {
        let more = wording::grouped((event.log.len() - MAX_LINES) as u64);
        ui.label(small(ui, format!("and {more} more lines (Copy includes all)")));
    }
}
