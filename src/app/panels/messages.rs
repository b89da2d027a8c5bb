//! The tab Messages: every message of the session in a table, and the selected one in full beside it.

use super::marks::{self, AllMarks};
use super::{PanelInput, detail, small, staying, weak};
use crate::app::command::Command;
use crate::app::message_table::{Column as Key, Filter, Sort, chosen, chosen_rows};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::session::Kind;
use egui::{
    Align, Button, Id, Label, Layout, Margin, Popup, PopupCloseBehavior, Response, RichText, Sense,
    StrokeKind, TextEdit, TextStyle, Ui, vec2,
};
use egui_extras::{Column, TableBuilder};
use std::ops::Range;

/// Height of a row.
const ROW: f32 = 22.0;

/// Narrowest detail.
const MIN_DETAIL: f32 = 220.0;
/// Narrowest field for the filter.
const LEAST_FILTER: f32 = 48.0;
/// What the detail leaves of the width to the table.
const MIN_TABLE: f32 = 400.0;

/// Shows the table and the detail.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    if input.selection.message.is_some() || input.selection.written.is_some() {
        let available = ui.available_width();
        let most = (available - MIN_TABLE).max(MIN_DETAIL);
        let panel = egui::Panel::right("detail")
            .resizable(true)
            .default_size((available * 0.36).round().min(most))
            .size_range(MIN_DETAIL..=most);
        panel
            .frame(egui::Frame::new().fill(palette(ui).panel))
            .show(ui, |ui| detail::show(ui, input, commands));
    }
    // Never over the detail, however narrow.
    ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
    table(ui, input, commands);
}

/// Filter, jump and count, at the right of the drawer's tabs; from right to left.
pub(super) fn tools(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().interact_size.y = 22.0;
    let (shown, all) = (input.order.len(), input.document.facts.len());
    ui.label(small(
        ui,
        format!(
            "{} of {}",
            wording::grouped(shown as u64),
            wording::grouped(all as u64)
        ),
    ));
    jump(ui, input, commands);
    kinds(ui, input, commands);
    let marks = AllMarks::fitting(ui, input, LEAST_FILTER + 14.0);
    let mut filter = input.view.filter.clone();
    let edit = TextEdit::singleline(&mut filter.text)
        .id(Id::unique("message filter"))
        .hint_text("Filter…  /")
        // Narrow where the tabs leave little room.
        .desired_width((ui.available_width() - 14.0 - marks.width).clamp(LEAST_FILTER, 150.0));
    let response = ui
        .add(edit.margin(Margin::symmetric(6, 3)))
        .on_hover_text("Messages whose text or tool holds this")
        .accessible_name("Filter messages");
    if input.once.focuses_filter {
        response.request_focus();
    }
    if response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Escape)) {
        filter.text.clear();
    }
    if filter != input.view.filter {
        commands.push(Command::SetFilter(filter));
    }
    marks.show(ui, input, commands);
}

fn jump(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let mut text = input.view.jump.clone();
    let edit = TextEdit::singleline(&mut text)
        .hint_text("Go to #")
        .desired_width(58.0)
        .margin(Margin::symmetric(6, 3));
    let response = ui
        .add(edit)
        .on_hover_text("Number of a message, then Enter")
        .accessible_name("Go to message");
    if response.changed() {
        let digits: String = text.chars().filter(char::is_ascii_digit).take(9).collect();
        commands.push(Command::EditJump(digits));
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
    if let (true, Ok(number)) = (is_entered, text.parse::<usize>()) {
        commands.push(Command::GoToMessage(number));
    }
}

fn kinds(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let hidden = input.view.filter.hidden.iter().filter(|h| **h).count();
    let name = if hidden == 0 {
        "All kinds".to_owned()
    } else {
        format!("{} of {} kinds", Kind::ALL.len() - hidden, Kind::ALL.len())
    };
    let button = ui
        .add(Button::new(name))
        .on_hover_text("Show or hide kinds of messages");
    Popup::menu(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            let mut filter = input.view.filter.clone();
            for kind in Kind::ALL {
                ui.horizontal(|ui| {
                    widgets::swatch(ui, palette(ui).kind(kind));
                    let mut is_shown = !filter.hidden[kind.index()];
                    ui.checkbox(&mut is_shown, wording::kind(kind));
                    filter.hidden[kind.index()] = !is_shown;
                });
            }
            if ui.button("Show all").clicked() {
                filter = Filter {
                    hidden: Filter::default().hidden,
                    ..filter
                };
            }
            if filter != input.view.filter {
                commands.push(Command::SetFilter(filter));
            }
        });
}

fn table(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    if input.order.is_empty() {
        let text = if input.view.filter.is_empty() {
            "This session has no messages."
        } else {
            "No message matches the filter."
        };
        super::padded(ui, |ui| ui.label(weak(ui, text)));
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let columns = columns(ui.available_width());
    let id = Id::unique(("message rows seen", input.document.id));
    let seen: Range<usize> = ui.data(|d| d.get_temp(id)).unwrap_or(0..0);
    let mut now: Option<Range<usize>> = None;
    let ctx = ui.ctx().clone();
    let mut table = TableBuilder::new(ui)
        .id_salt(("messages", input.document.id, columns.len()))
        .striped(true)
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .cell_layout(Layout::left_to_right(Align::Center))
        .min_scrolled_height(0.0);
    for column in &columns {
        table = table.column(column.width());
    }
    table = table.column(Column::exact(space::XS));
    if input.once.reveals_message
        && let Some(row) = input
            .selection
            .message
            .and_then(|m| input.order.iter().position(|o| *o as usize == m))
    {
        // What is seen whole stays where it is; the rows at the edges may not be.
        let inner = seen.start + 1..seen.end.saturating_sub(2);
        if !inner.contains(&row) {
            table = table
                .scroll_to_row(row, Some(Align::Center))
                .animate_scrolling(false);
        }
    }
    let table = table.header(space::ROW, |mut row| {
        for column in &columns {
            row.col(|ui| header(ui, input, *column, commands));
        }
        row.col(|_| {});
    });
    let new = new_at_step(input);
    let stretch = chosen_rows(&input.selection, input.order);
    table.body(|body| {
        body.rows(ROW, input.order.len(), |mut row| {
            let at = row.index();
            now = Some(now.as_ref().map_or(at, |r| r.start)..at + 1);
            let message = input.order[row.index()] as usize;
            let is_within = stretch.as_ref().is_some_and(|rows| rows.contains(&at));
            row.set_selected(is_within || input.selection.message == Some(message));
            for column in &columns {
                row.col(|ui| cell(ui, input, message, *column, new.contains(&message)));
            }
            row.col(|_| {});
            clicks(&row.response(), input, message, commands);
        });
    });
    let now = now.unwrap_or(0..0);
    if now != seen {
        ctx.data_mut(|d| d.insert_temp(id, now));
    }
}

/// What the mouse asks of a row: a click selects it, with Shift all from the one before, and the other button opens the
/// menu for what is selected, or for a row beside that.
fn clicks(row: &Response, input: &PanelInput<'_>, message: usize, commands: &mut Vec<Command>) {
    if row.clicked() {
        let is_more = row.ctx.input(|i| i.modifiers.shift);
        commands.push(if is_more {
            Command::ExtendSelection(message)
        } else {
            Command::SelectMessage(message)
        });
    }
    row.context_menu(|ui| {
        let selected = chosen(&input.selection, input.order);
        if selected.contains(&message) {
            marks::row_menu(ui, input, &selected, commands);
        } else {
            marks::row_menu(ui, input, &[message], commands);
        }
    });
}

/// The messages that entered at the selected call.
fn new_at_step(input: &PanelInput<'_>) -> Range<usize> {
    let session = input.document.session();
    let step = input.selection.step;
    if step < session.steps.len() {
        session.new_messages(step)
    } else {
        0..0
    }
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Col {
    Number,
    Mark,
    Call,
    Role,
    Kind,
    Tool,
    Content,
    Tokens,
    Share,
    Carried,
    Retained,
    Bar,
    LastUsed,
    NeededBy,
    Cumulative,
}

/// The columns that fit: the less telling ones are left out first.
fn columns(width: f32) -> Vec<Col> {
    let all: [(Col, f32); 15] = [
        (Col::Number, 0.0),
        (Col::Mark, 0.0),
        (Col::Call, 0.0),
        (Col::Role, 1240.0),
        (Col::Kind, 0.0),
        (Col::Tool, 520.0),
        (Col::Content, 0.0),
        (Col::Tokens, 0.0),
        (Col::Share, 1180.0),
        (Col::Carried, 660.0),
        (Col::Retained, 480.0),
        (Col::Bar, 800.0),
        (Col::LastUsed, 600.0),
        (Col::NeededBy, 960.0),
        (Col::Cumulative, 1320.0),
    ];
    let fits = all.into_iter().filter(|(_, from)| width >= *from);
    fits.map(|(column, _)| column).collect()
}

impl Col {
    fn width(self) -> Column {
        match self {
            Self::Number | Self::Call => Column::exact(48.0),
            Self::Mark => Column::exact(20.0),
            Self::Role => Column::initial(80.0).at_least(40.0).clip(true),
            Self::Kind => Column::initial(92.0).at_least(40.0).clip(true),
            Self::Tool => Column::initial(96.0).at_least(40.0).clip(true),
            Self::Content => Column::remainder().clip(true),
            Self::Bar => Column::exact(88.0),
            Self::Share | Self::Carried => Column::exact(56.0),
            Self::Tokens | Self::Retained => Column::exact(64.0),
            Self::LastUsed => Column::exact(76.0),
            Self::NeededBy => Column::initial(128.0).at_least(40.0).clip(true),
            Self::Cumulative => Column::exact(84.0),
        }
    }

    /// Its title, what it sorts by if anything, and what it means where that needs saying.
    fn head(self) -> (&'static str, Option<Key>, &'static str) {
        match self {
            Self::Number => ("#", Some(Key::Number), ""),
            Self::Call => ("call", Some(Key::Call), ""),
            Self::Role => ("role", Some(Key::Role), ""),
            Self::Kind => ("kind", Some(Key::Kind), ""),
            Self::Tool => ("tool", Some(Key::Tool), ""),
            Self::Content => (
                "content",
                None,
                "What a call is about, or how the message begins",
            ),
            Self::Tokens => ("tokens", Some(Key::Tokens), ""),
            Self::Carried => (
                "carried",
                Some(Key::Carried),
                "Calls that carried it, in what was recorded",
            ),
            Self::Retained => (
                "retained",
                Some(Key::Retained),
                "What it cost by staying: its tokens times the calls that carried it",
            ),
            Self::Bar | Self::Mark => ("", None, ""),
            Self::LastUsed => (
                "last used",
                Some(Key::LastUsed),
                "The last call that named something it holds, as far as names tell",
            ),
            Self::NeededBy => (
                "needed by",
                None,
                "The message that named something in it last",
            ),
            Self::Share => ("share", None, "Of the full history, each message once"),
            Self::Cumulative => (
                "cumulative",
                None,
                "Tokens of the history up to and including this message",
            ),
        }
    }

    fn is_right(self) -> bool {
        matches!(
            self,
            Self::Number
                | Self::Call
                | Self::Tokens
                | Self::Share
                | Self::Carried
                | Self::Retained
                | Self::Cumulative
        )
    }

    fn layout(self) -> Layout {
        if self.is_right() {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        }
    }
}

fn header(ui: &mut Ui, input: &PanelInput<'_>, column: Col, commands: &mut Vec<Command>) {
    let sort = input.view.sort;
    let (title, key, help) = column.head();
    ui.with_layout(column.layout(), |ui| {
        indent(ui, column);
        match key {
            Some(key) if head(ui, (title, help), sort, key) => {
                commands.push(Command::SetSort(sort.clicked(key)));
            }
            Some(_) => {}
            None if help.is_empty() => {}
            None => {
                plain_head(ui, title).on_hover_text(help);
            }
        }
    });
}

/// Sets what begins at the left apart from figures that end there.
fn indent(ui: &mut Ui, column: Col) {
    if matches!(
        column,
        Col::Role | Col::Kind | Col::Bar | Col::LastUsed | Col::Mark
    ) {
        ui.add_space(space::S);
    }
}

/// The head of a column that cannot be sorted by.
fn plain_head(ui: &mut Ui, title: &str) -> egui::Response {
    ui.spacing_mut().button_padding = vec2(0.0, 0.0);
    ui.add(
        Button::new(small(ui, title))
            .frame(false)
            .sense(Sense::hover()),
    )
}

fn head(ui: &mut Ui, (title, help): (&str, &str), sort: Sort, key: Key) -> bool {
    let is_by = sort.column == key;
    let arrow = match (
        is_by && (key != Key::Number || sort.is_descending),
        sort.is_descending,
    ) {
        (true, true) => " ⏷",
        (true, false) => " ⏶",
        _ => "",
    };
    let color = if is_by {
        palette(ui).text
    } else {
        palette(ui).weak
    };
    let text = RichText::new(format!("{title}{arrow}"))
        .text_style(TextStyle::Small)
        .color(color);
    ui.spacing_mut().button_padding = vec2(0.0, 0.0);
    let name = format!("Sort by {}", if title == "#" { "number" } else { title });
    let hint = if help.is_empty() { &name } else { help };
    let response = ui
        .add(Button::new(text).frame(false))
        .on_hover_text(hint)
        .accessible_name(name);
    if response.has_focus() {
        let ring = response.rect.expand2(vec2(3.0, 2.0));
        ui.painter()
            .with_clip_rect(ui.clip_rect().expand(4.0))
            .rect_stroke(ring, 3.0, theme::focus_ring(ui), StrokeKind::Inside);
    }
    response.clicked()
}

fn cell(ui: &mut Ui, input: &PanelInput<'_>, message: usize, column: Col, is_new: bool) {
    ui.with_layout(column.layout(), |ui| {
        indent(ui, column);
        content(ui, input, message, column, is_new);
    });
}

fn content(ui: &mut Ui, input: &PanelInput<'_>, message: usize, column: Col, is_new: bool) {
    let (facts, ledger) = (&input.document.facts[message], &input.runs.case.ledger);
    let m = &input.document.session().messages[message];
    let tokens = ledger.message(message);
    let share = tokens.share_of(ledger.total());
    match column {
        Col::Number => {
            ui.label(weak(ui, wording::number(message)));
            if is_new {
                mark_new(ui);
            }
        }
        Col::Mark => marks::icon(ui, input, message),
        Col::Call => {
            let call = facts.step.map_or_else(|| "–".to_owned(), wording::number);
            ui.label(if is_new {
                RichText::new(call).color(palette(ui).accent)
            } else {
                weak(ui, call)
            });
        }
        Col::Role if m.is_injected => {
            ui.label(weak(ui, "injected")).on_hover_ui(|ui| {
                let role = m.role.name();
                ui.label(format!("Stands as {role}, but the program put it there"));
            });
        }
        Col::Role => {
            ui.label(weak(ui, m.role.name()));
        }
        Col::Kind => {
            ui.spacing_mut().item_spacing.x = 6.0;
            widgets::swatch(ui, palette(ui).kind(facts.kind));
            ui.label(wording::kind(facts.kind));
        }
        Col::Tool => {
            ui.add(Label::new(facts.tool.as_deref().unwrap_or_default()).truncate());
        }
        Col::Content => {
            let color = if m.in_history {
                palette(ui).text
            } else {
                palette(ui).weak
            };
            let text = RichText::new(&*facts.preview).color(color);
            let text = marks::inked(input, message, text, palette(ui).weak);
            ui.add(Label::new(text).truncate());
        }
        Col::Tokens => {
            let text = RichText::new(wording::tokens(tokens));
            ui.label(if share.0 >= 0.03 {
                text.text_style(theme::strong())
            } else {
                text
            });
        }
        Col::Carried => staying::calls(ui, input, message),
        Col::Retained => staying::retained(ui, input, message),
        Col::Bar => {
            let retained = input
                .carried
                .map(|c| c.retained(message).share_of(c.heaviest));
            bar(ui, retained.map_or(0.0, |share| share.0 as f32), facts.kind);
        }
        Col::LastUsed => staying::last_used(ui, input, message),
        Col::NeededBy => staying::needed_by(ui, input, message),
        Col::Share => {
            // A column full of nearly nothing says nothing.
            if share.0 >= 0.001 {
                ui.label(weak(ui, wording::percent(share)));
            }
        }
        Col::Cumulative => {
            let history = &ledger.truth.history_prefix;
            let cumulative = history.get(message + 1).copied().unwrap_or_default();
            ui.label(weak(ui, wording::grouped(cumulative)));
        }
    }
}

/// How much a message cost by staying beside the one that cost most.
fn bar(ui: &mut Ui, share: f32, kind: Kind) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 6.0), Sense::hover());
    let width = (share.clamp(0.0, 1.0) * rect.width()).max(1.5);
    let bar = rect.with_max_x(rect.left() + width);
    ui.painter().rect_filled(bar, 1.0, palette(ui).kind(kind));
}

/// A stroke at the left edge of a message that is new at the selected call.
fn mark_new(ui: &Ui) {
    let cell = ui.max_rect();
    let mark = cell.with_max_x(cell.left() + 2.0).shrink2(vec2(0.0, 3.0));
    ui.painter().rect_filled(mark, 1.0, palette(ui).accent);
}
