//! The tab Messages: every message of the session in a table, and the selected one in full beside it.

use super::{PanelInput, detail, small, weak};
use crate::app::command::Command;
use crate::app::message_table::{Column as Key, Filter, Sort};
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::session::Kind;
use egui::{
    Align, Button, Id, Label, Layout, Margin, Popup, PopupCloseBehavior, RichText, Sense, TextEdit,
    TextStyle, Ui, vec2,
};
use egui_extras::{Column, TableBuilder, TableRow};

/// Height of a row.
const ROW: f32 = 22.0;

/// Shows the table and the detail.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    if input.selection.message.is_some() {
        let width = (ui.available_width() * 0.36).round();
        let panel = egui::Panel::right("detail")
            .resizable(true)
            .default_size(width)
            .size_range(220.0..=ui.available_width() * 0.6);
        panel
            .frame(egui::Frame::new().fill(palette(ui).panel))
            .show(ui, |ui| detail::show(ui, input, commands));
    }
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
    let mut filter = input.view.filter.clone();
    let edit = TextEdit::singleline(&mut filter.text)
        .id(Id::unique("message filter"))
        .hint_text("Filter…  /")
        .desired_width(150.0);
    let response = ui
        .add(edit.margin(Margin::symmetric(6, 3)))
        .on_hover_text("Messages whose text or tool holds this")
        .accessible_name("Filter messages");
    if input.once.focuses_filter {
        response.request_focus();
    }
    if filter != input.view.filter {
        commands.push(Command::SetFilter(filter));
    }
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
        commands.push(Command::SelectMessage(
            number.clamp(1, input.document.facts.len().max(1)) - 1,
        ));
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
                    text: filter.text,
                    ..Filter::default()
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
    let is_wide = ui.available_width() > 780.0;
    let mut table = TableBuilder::new(ui)
        .id_salt("messages")
        .striped(true)
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .cell_layout(Layout::left_to_right(Align::Center))
        .min_scrolled_height(0.0)
        .column(Column::exact(48.0))
        .column(Column::exact(44.0))
        .column(Column::initial(68.0).at_least(40.0).clip(true))
        .column(Column::initial(84.0).at_least(40.0).clip(true))
        .column(Column::initial(96.0).at_least(40.0).clip(true))
        .column(Column::remainder().clip(true))
        .column(Column::exact(64.0));
    if is_wide {
        table = table
            .column(Column::exact(56.0))
            .column(Column::exact(84.0));
    }
    table = table.column(Column::exact(space::S));
    if input.once.reveals_message
        && let Some(row) = input
            .selection
            .message
            .and_then(|m| input.order.iter().position(|o| *o as usize == m))
    {
        table = table.scroll_to_row(row, None).animate_scrolling(false);
    }
    let table = table.header(space::ROW, |mut row| {
        header(&mut row, input, is_wide, commands);
    });
    table.body(|body| {
        body.rows(ROW, input.order.len(), |mut row| {
            let message = input.order[row.index()] as usize;
            row.set_selected(input.selection.message == Some(message));
            cells(&mut row, input, message, is_wide);
            if row.response().clicked() {
                commands.push(Command::SelectMessage(message));
            }
        });
    });
}

fn header(
    row: &mut TableRow<'_, '_>,
    input: &PanelInput<'_>,
    is_wide: bool,
    commands: &mut Vec<Command>,
) {
    let sort = input.view.sort;
    let mut sorted = |row: &mut TableRow<'_, '_>, title: &str, key: Key, layout: Layout| {
        row.col(|ui| {
            ui.with_layout(layout, |ui| {
                if head(ui, title, sort, key) {
                    commands.push(Command::SetSort(sort.clicked(key)));
                }
            });
        });
    };
    let (left, right) = (
        Layout::left_to_right(Align::Center),
        Layout::right_to_left(Align::Center),
    );
    sorted(row, "#", Key::Number, right);
    sorted(row, "call", Key::Call, right);
    sorted(row, "role", Key::Role, left);
    sorted(row, "kind", Key::Kind, left);
    sorted(row, "tool", Key::Tool, left);
    row.col(|ui| {
        plain_head(ui, "content");
    });
    sorted(row, "tokens", Key::Tokens, right);
    if is_wide {
        for (title, hint) in [
            ("share", "Of the full history, each message once"),
            (
                "cumulative",
                "Tokens of the history up to and including this message",
            ),
        ] {
            row.col(|ui| {
                ui.with_layout(right, |ui| plain_head(ui, title).on_hover_text(hint));
            });
        }
    }
    row.col(|_| {});
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

fn head(ui: &mut Ui, title: &str, sort: Sort, key: Key) -> bool {
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
    ui.add(Button::new(text).frame(false))
        .on_hover_text(&name)
        .accessible_name(name)
        .clicked()
}

fn cells(row: &mut TableRow<'_, '_>, input: &PanelInput<'_>, message: usize, is_wide: bool) {
    let (facts, ledger) = (&input.document.facts[message], &input.runs.case.ledger);
    let m = &input.document.session().messages[message];
    let tokens = ledger.message(message);
    let is_heavy = tokens.share_of(ledger.total()).0 >= 0.03;
    right(row, |ui| ui.label(weak(ui, wording::number(message))));
    right(row, |ui| {
        ui.label(weak(
            ui,
            facts.step.map_or_else(|| "–".to_owned(), wording::number),
        ))
    });
    row.col(|ui| {
        let injected = if m.is_injected { " *" } else { "" };
        ui.label(weak(ui, format!("{}{injected}", m.role.name())));
    });
    row.col(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::swatch(ui, palette(ui).kind(facts.kind));
        ui.label(wording::kind(facts.kind));
    });
    row.col(|ui| {
        ui.add(Label::new(facts.tool.as_deref().unwrap_or_default()).truncate());
    });
    row.col(|ui| {
        let color = if m.in_history {
            palette(ui).text
        } else {
            palette(ui).weak
        };
        ui.add(Label::new(RichText::new(&*facts.preview).color(color)).truncate());
    });
    right(row, |ui| {
        let text = RichText::new(wording::tokens(tokens));
        ui.label(if is_heavy {
            text.text_style(theme::strong())
        } else {
            text
        })
    });
    if is_wide {
        right(row, |ui| {
            ui.label(weak(ui, wording::percent(tokens.share_of(ledger.total()))))
        });
        let cumulative = ledger
            .truth
            .history_prefix
            .get(message + 1)
            .copied()
            .unwrap_or_default();
        right(row, |ui| ui.label(weak(ui, wording::grouped(cumulative))));
    }
    row.col(|_| {});
}

fn right(row: &mut TableRow<'_, '_>, content: impl FnOnce(&mut Ui) -> egui::Response) {
    row.col(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), content);
    });
}
