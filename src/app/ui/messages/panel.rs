//! The tab Messages: a table of all messages of the session and the selected message in full.

use crate::app::state::command::{Command, Commands};
use crate::app::state::messages::order::{Filter, selected_messages, selected_rows};
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::messages::text::MessageText;
use crate::app::state::model::selection::{SelectCommand, Selection};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::View;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::messages::columns::Col;
use crate::app::ui::messages::{detail, find};
use crate::app::ui::parts::edits_button::EditsButton;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::in_view::{InView, Rows, SelectedRow};
use crate::app::ui::widgets::resizable_panel::{ResizablePanel, Side};
use crate::app::ui::widgets::table::{Row, Table};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::session::Kind;
use egui::{
    Align, Button, Color32, Frame, Id, Layout, Margin, Popup, PopupCloseBehavior, Rangef, TextEdit,
    TextStyle, Ui, vec2,
};
use std::fmt::Write as _;
use std::ops::Range;

/// The tab Messages.
pub(crate) struct MessagesTab;

impl DrawerTab for MessagesTab {
    fn tab(&self) -> Tab {
        Tab::MESSAGES
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }

    fn escape(&self, view: &View, selection: &Selection) -> Option<Command> {
        if !view.messages().filter.is_empty() {
            return Some(MessagesCommand::Filter(Filter::default()).into());
        }
        let has_detail = selection.message.is_some() || selection.written.is_some();
        has_detail.then(|| SelectCommand::NoMessage.into())
    }
}

/// Row height in points.
const ROW: f32 = 22.0;

/// Minimum width of the detail, in points.
const MIN_DETAIL: f32 = 220.0;
/// Width of the filter field, in points. It does not depend on the query, so that typing moves nothing.
const FILTER: [f32; 2] = [80.0, 210.0];
/// Width of the choice of kinds, in points.
const KINDS: f32 = 96.0;
/// Minimum width of the number of messages or matches, in points.
const MIN_NUMBER: f32 = 64.0;
/// Width of the jump field, in points.
const JUMP: f32 = 78.0;
/// Minimum width of the controls, in points, at which the number of messages or matches is shown.
const MIN_COUNTED: f32 = 300.0;
/// Minimum width of the controls, in points, at which the jump field is shown next to the number of matches.
const MIN_BOTH: f32 = 540.0;
/// Minimum width of the table, in points.
const MIN_TABLE: f32 = 400.0;

/// Shows the table and the detail.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let is_open = input.selection.message.is_some() || input.selection.written.is_some();
    let detail = is_open.then(|| {
        let available = ui.available_width();
        let most = (available - MIN_TABLE).max(MIN_DETAIL);
        let panel = ResizablePanel {
            name: "detail",
            side: Side::Right,
            usual: (available * 0.36).round(),
            range: Rangef::new(MIN_DETAIL, most),
            frame: Frame::new().fill(palette(ui).panel),
        };
        panel.place(ui)
    });
    // The table must not extend over the detail.
    let clip = ui.clip_rect();
    ui.set_clip_rect(ui.max_rect().intersect(clip));
    table(ui, input, commands);
    ui.set_clip_rect(clip);
    if let Some((mut content, edge)) = detail {
        detail::show(&mut content, input, commands);
        edge.show(ui);
    }
}

/// Shows the filter, the jump field and the count at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.spacing_mut().interact_size.y = 22.0;
    let available = ui.available_width();
    let width = counts_width(ui, input, available);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(vec2(width, 22.0), layout, |ui| {
        ui.set_min_width(width);
        counts(ui, input, available, commands);
    });
    let min_field = FILTER[0] + 14.0;
    if has_hidden(input) || ui.available_width() > min_field + KINDS {
        kinds(ui, input, commands);
    }
    let edits = EditsButton::fitting(ui, input, min_field);
    // Shrinks where the tabs leave little width.
    let width = (ui.available_width() - 14.0 - edits.width).clamp(FILTER[0], FILTER[1]);
    find::field(ui, input, width, commands);
    edits.show(ui, input, commands);
}

/// Returns the width of the counts, in points: the same with and without a query, so that the field keeps its width.
fn counts_width(ui: &Ui, input: &OpenSession<'_>, available: f32) -> f32 {
    if available <= MIN_COUNTED {
        return JUMP;
    }
    let all = wording::grouped(input.document.n_messages() as u64);
    let font = TextStyle::Small.resolve(ui.style());
    let text = format!("{all} of {all}");
    let galley = ui.painter().layout_no_wrap(text, font, Color32::PLACEHOLDER);
    // A few messages have more matches than there are messages.
    let number = galley.size().x.max(MIN_NUMBER) + space::S;
    if available > MIN_BOTH {
        number + find::BUTTONS + JUMP
    } else {
        number + find::BUTTONS.max(JUMP)
    }
}

/// Shows the number of matches or messages, and the jump field. Where the tabs leave little width, the matches are more
/// important than the jump field.
fn counts(ui: &mut Ui, input: &OpenSession<'_>, available: f32, commands: &mut Commands) {
    let is_finding = !input.view.messages().filter.text.trim().is_empty();
    let is_counted = available > MIN_COUNTED;
    if is_finding && is_counted {
        find::count(ui, input, commands);
    }
    let selected =
        selected_messages(&input.selection, &input.view.messages().added, input.derived.order());
    if selected.len() > 1 {
        totals(ui, input, &selected);
    } else if !is_finding && is_counted {
        let (shown, all) = (input.derived.order().len(), input.document.n_messages());
        let (shown, all) = (wording::grouped(shown as u64), wording::grouped(all as u64));
        ui.label(small(ui, format!("{shown} of {all}")));
    }
    if !is_finding || available > MIN_BOTH {
        jump(ui, input, commands);
    }
}

/// Shows the number of selected messages and their tokens.
fn totals(ui: &mut Ui, input: &OpenSession<'_>, selected: &[usize]) {
    let ledger = &input.runs.case.ledger;
    let tokens = selected.iter().map(|m| ledger.message(*m)).sum();
    let n = wording::grouped(selected.len() as u64);
    let mut text = format!("{n} selected: {} tok", wording::short(tokens));
    if let Some(cumulative) = input.derived.cumulative() {
        let tokens = selected.iter().map(|m| cumulative.tokens(*m)).sum();
        let _ = write!(text, ", {} cumulative", wording::short(tokens));
    }
    let text = small(ui, text).color(palette(ui).text);
    ui.label(text).on_hover_text(
        "Tokens of the selected messages, and tokens × recorded calls that sent them",
    );
}

fn jump(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let mut text = input.view.messages().jump.clone();
    let edit = TextEdit::singleline(&mut text)
        .hint_text("Go to #")
        .desired_width(58.0)
        .margin(Margin::symmetric(6, 3));
    let response =
        ui.add(edit).on_hover_text("Message number, then Enter").accessible_name("Go to message");
    if response.changed() {
        let digits: String = text.chars().filter(char::is_ascii_digit).take(9).collect();
        commands.push(MessagesCommand::EditJump(digits));
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
    if let (true, Ok(number)) = (is_entered, text.parse::<usize>()) {
        commands.push(SelectCommand::MessageNumber(number));
    }
}

fn has_hidden(input: &OpenSession<'_>) -> bool {
    input.view.messages().filter.hidden.contains(&true)
}

fn kinds(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let hidden = input.view.messages().filter.hidden.iter().filter(|h| **h).count();
    let name = if hidden == 0 {
        "All kinds".to_owned()
    } else {
        format!("{} of {} kinds", Kind::ALL.len() - hidden, Kind::ALL.len())
    };
    let button = ui.add(Button::new(name)).on_hover_text("Show or hide kinds of messages");
    Popup::menu(&button).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        let mut filter = input.view.messages().filter.clone();
        for kind in Kind::ALL {
            ui.horizontal(|ui| {
                widgets::swatch(ui, palette(ui).kind(kind));
                let mut is_shown = !filter.hidden[kind.index()];
                ui.checkbox(&mut is_shown, wording::kind(kind));
                filter.hidden[kind.index()] = !is_shown;
            });
        }
        if ui.button("Show all").clicked() {
            filter = Filter { hidden: Filter::default().hidden, ..filter };
        }
        if filter != input.view.messages().filter {
            commands.push(MessagesCommand::Filter(filter));
        }
    });
}

fn table(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    if input.derived.order().is_empty() {
        let text = if input.view.messages().filter.error.is_some() {
            "The query is invalid."
        } else if input.selection.calls.is_some() {
            "No message of the selected calls matches the filter."
        } else if input.view.messages().filter.is_empty() {
            "This session has no messages."
        } else {
            "No message matches the filter."
        };
        padded(ui, |ui| ui.label(weak(ui, text)));
        return;
    }
    ui.spacing_mut().item_spacing = vec2(crate::app::ui::messages::columns::GAP, 0.0);
    let columns = crate::app::ui::messages::columns::fitting(
        ui.available_width(),
        input.document.n_messages(),
        input.view.messages().sort,
    );
    let ctx = ui.ctx().clone();
    let id = Id::unique(("message rows in view", input.document.source_id));
    let shape = Rows {
        len: input.derived.order().len(),
        row: ROW,
        height: ui.available_height() - space::ROW,
    };
    let mut kept = InView::load(&ctx, id);
    if input.once.reveals_message || input.once.reorders_messages {
        kept.request();
    }
    let selected = selected_row(input, &kept);
    let followed = kept.follow(selected.map(SelectedRow::new), shape);
    // Without a selection, a newly sorted table starts at the top.
    let start = (input.once.reorders_messages && selected.is_none()).then_some(0.0);
    let offset = followed.or(start).unwrap_or(kept.offset);
    let new = new_at_call(input);
    let stretch = selected_rows(&input.selection, input.derived.order());
    let shown =
        Table::new(("messages", input.document.source_id), columns, input.derived.order().len())
            .margins(0.0, space::XS)
            .row_height(ROW)
            .striped()
            .offset(offset)
            .own_row_menu()
            .show(ui, |mut row| {
                let at = row.index();
                let message = input.derived.order()[at] as usize;
                let is_within = stretch.as_ref().is_some_and(|rows| rows.contains(&at));
                let is_added = input.view.messages().added.contains(&(message as u32));
                row.select(is_within || is_added || input.selection.message == Some(message));
                let is_new = new.contains(&message);
                row.cells(|ui, column| {
                    crate::app::ui::messages::cell::show(ui, input, message, column, is_new);
                });
                clicks(&row, input, message, commands);
            });
    if let Some(key) = shown.sorted_by.and_then(Col::sort_key) {
        commands.push(MessagesCommand::Sort(input.view.messages().sort.clicked(key)));
    }
    kept.store(&ctx, id, shown.offset, shape);
}

/// Returns the table row of the selected message. Checks its previous row first.
fn selected_row(input: &OpenSession<'_>, kept: &InView) -> Option<usize> {
    let message = input.selection.message? as u32;
    let before = kept.row().filter(|row| input.derived.order().get(*row) == Some(&message));
    before.or_else(|| input.derived.order().iter().position(|m| *m == message))
}

/// Handles clicks on a row: a click selects it, Shift+click selects a range, Ctrl+click adds it or removes it, and a
/// secondary click opens the menu for the selection, or for this row if it is not selected.
fn clicks(
    row: &Row<'_, '_, '_, '_, Col>,
    input: &OpenSession<'_>,
    message: usize,
    commands: &mut Commands,
) {
    let response = row.response();
    if response.clicked() {
        let modifiers = response.ctx.input(|i| i.modifiers);
        commands.push(if modifiers.shift {
            SelectCommand::ExtendTo(message)
        } else if modifiers.command {
            SelectCommand::Toggle(message)
        } else {
            SelectCommand::Message(message)
        });
    }
    row.menu(|ui| {
        let mut messages = selected_messages(
            &input.selection,
            &input.view.messages().added,
            input.derived.order(),
        );
        if !messages.contains(&message) {
            messages = vec![message];
        }
        crate::app::ui::parts::mark_menu::row_menu(ui, input, &messages, commands);
        ui.separator();
        crate::app::ui::parts::note::item(ui, input.config, message, commands);
        if ui.button("Copy text").clicked() {
            let ledger = &input.runs.case.ledger;
            let text = |m: &usize| MessageText::parts(input.document, ledger, *m).whole();
            let texts: Vec<String> = messages.iter().map(text).collect();
            let text = texts.join("\n\n");
            commands.push(ShellCommand::Copy("the text", text));
            ui.close();
        }
    });
}

/// Returns the messages that are new at the selected call.
fn new_at_call(input: &OpenSession<'_>) -> Range<usize> {
    let session = input.document.session();
    let call = input.selection.call;
    if call < session.calls.len() { session.new_messages(call) } else { 0..0 }
}
