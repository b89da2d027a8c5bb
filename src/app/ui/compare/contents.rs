//! The pages with the contents that only one session has: messages and facts.

use crate::analysis::comparison::{MessageMatches, OnlyFact};
use crate::app::state::command::Commands;
use crate::app::state::compare::state::{CompareView, Listed, ShownMessage, Side};
use crate::app::state::model::document::{Document, MessageFacts};
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::compare::both::{Both, color};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::table::{Column, Table, number_column};
use crate::app::ui::widgets::text::{small, weak};
use crate::safe_text;
use crate::units::Tokens;
use egui::{Frame, Label, Margin, RichText, Ui};
use egui_extras::Column as Width;

/// Maximum characters of a fact.
const FACT: usize = 300;

/// The listed messages, without copies of their numbers.
struct Rows<'a> {
    both: Both<'a>,
    shown: Vec<Listed>,
}

impl Rows<'_> {
    fn count_of(&self, listed: Listed) -> usize {
        let messages = &self.both.found.messages;
        match listed {
            Listed::Changed => messages.changed.len(),
            Listed::Only(side) => messages.only[side.index()].len(),
        }
    }

    fn count(&self) -> usize {
        self.shown.iter().map(|listed| self.count_of(*listed)).sum()
    }

    /// Returns the message of a row.
    fn at(&self, mut row: usize) -> Option<ShownMessage> {
        let messages = &self.both.found.messages;
        for listed in &self.shown {
            let n = self.count_of(*listed);
            if row < n {
                return Some(match listed {
                    Listed::Changed => {
                        ShownMessage::Changed(messages.changed[row].map(|idx| idx as usize))
                    }
                    Listed::Only(side) => {
                        ShownMessage::Of(*side, messages.only[side.index()][row] as usize)
                    }
                });
            }
            row -= n;
        }
        None
    }
}

/// Shows the filters and the list of messages.
pub(crate) fn messages(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    both: Both<'_>,
    commands: &mut Commands,
) {
    let shown = input.view.compare().listed.map_or(Listed::ALL.to_vec(), |listed| vec![listed]);
    let rows = Rows { both, shown };
    filters(ui, input, &rows, commands);
    let n_messages = both.documents.map(Document::n_messages);
    let largest = n_messages.into_iter().max().unwrap_or_default();
    let number =
        |side, title| Column::new(Col::Number(side), title, number_column(largest)).right();
    let tokens = |side, title| {
        let column = Column::new(Col::Tokens(side), title, number_column(100_000));
        column.right().hidden_below(360.0)
    };
    let columns = vec![
        Column::new(Col::Where, "where", Width::exact(64.0)),
        number(Side::A, "no. A").help("Message of A"),
        number(Side::B, "no. B").help("Message of B"),
        Column::new(Col::Message, "message", Width::remainder().clip(true)),
        tokens(Side::A, "tokens A"),
        tokens(Side::B, "tokens B"),
    ];
    ui.spacing_mut().item_spacing.y = 0.0;
    Table::new(
        ("compared messages", input.view.compare().listed.map(Listed::name)),
        columns,
        rows.count(),
    )
    .margins(space::S, space::S)
    .row_height(space::ROW - 2.0)
    .striped()
    .show(ui, |mut row| {
        let Some(message) = rows.at(row.index()) else {
            return;
        };
        row.select(input.view.compare().shown == Some(message));
        row.cells(|ui, column| cell(ui, both, message, column));
        if row.response().clicked() {
            choose(input.view.compare(), message, commands);
        }
    });
}

/// Shows the text of a message, and selects it in the open session if that contains it.
fn choose(view: CompareView, message: ShownMessage, commands: &mut Commands) {
    commands.push(ViewCommand::new(CompareView { shown: Some(message), ..view }));
    if let ShownMessage::Of(Side::A, of_a) | ShownMessage::Changed([of_a, _]) = message {
        commands.push(SelectCommand::Spot(Spot { message: Some(of_a), ..Spot::default() }));
    }
}

/// Shows the number of messages in each group as a filter, and how much is the same.
fn filters(ui: &mut Ui, input: &OpenSession<'_>, rows: &Rows<'_>, commands: &mut Commands) {
    let margin = Margin::symmetric(space::L as i8, 2);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().interact_size.y = 20.0;
            ui.spacing_mut().button_padding.y = 1.0;
            for listed in Listed::ALL {
                let is_only = input.view.compare().listed == Some(listed);
                let n = rows.count_of(listed);
                let text = format!("{} {}", wording::grouped(n as u64), listed.name());
                let label = ui.selectable_label(is_only, small(ui, text));
                let help = if is_only { "List all messages" } else { "List only these messages" };
                let name = format!("List: {}", listed.name());
                if label.on_hover_text(help).accessible_name(name).clicked() {
                    commands.push(ViewCommand::new(CompareView {
                        listed: Some(listed).filter(|_| !is_only),
                        ..input.view.compare()
                    }));
                }
            }
            let messages = &rows.both.found.messages;
            let same = wording::count(messages.same.len(), "message");
            let start = match messages.same_start {
                0 => String::new(),
                n => format!(", the first {} in the same order", wording::grouped(n as u64)),
            };
            let text = format!("{same} in both{start}{}", not_compared(messages));
            ui.label(small(ui, text));
        });
    });
}

/// Returns the number of messages that are not compared: `; not compared: 42 copies by compactions in A`.
fn not_compared(messages: &MessageMatches) -> String {
    let copied = Side::ALL.into_iter().zip(messages.copied);
    let copied = copied.filter(|(_, n)| *n > 0).map(|(side, n)| {
        let noun = if n == 1 { "copy" } else { "copies" };
        let n = wording::grouped(n as u64);
        format!("{n} {noun} by compactions in {}", side.name())
    });
    let copied: Vec<String> = copied.collect();
    if copied.is_empty() {
        return String::new();
    }
    format!("; not compared: {}", copied.join(", "))
}

/// A column of the messages.
#[derive(Clone, Copy)]
enum Col {
    Where,
    Number(Side),
    Message,
    Tokens(Side),
}

fn cell(ui: &mut Ui, both: Both<'_>, message: ShownMessage, column: Col) {
    let index = |side: Side| match message {
        ShownMessage::Of(of, idx) => (of == side).then_some(idx),
        ShownMessage::Changed(pair) => Some(pair[side.index()]),
    };
    match column {
        Col::Where => match message {
            ShownMessage::Of(side, _) => where_cell(ui, side),
            ShownMessage::Changed(_) => {
                let text = RichText::new("changed").color(palette(ui).warn);
                ui.label(text);
            }
        },
        Col::Number(side) => {
            if let Some(idx) = index(side) {
                ui.label(weak(ui, wording::number(idx)));
            }
        }
        Col::Message => {
            let (side, idx) = match message {
                ShownMessage::Of(side, idx) => (side, idx),
                ShownMessage::Changed([_, of_b]) => (Side::B, of_b),
            };
            if let Some(facts) = both.documents[side.index()].facts.get(idx) {
                subject(ui, facts);
            }
        }
        Col::Tokens(side) => {
            let counts = &both.ledgers[side.index()].truth.per_message;
            if let Some(tokens) = index(side).and_then(|idx| counts.get(idx)) {
                ui.label(wording::tokens(Tokens::from(*tokens)));
            }
        }
    }
}

fn where_cell(ui: &mut Ui, side: Side) {
    let text = RichText::new(format!("only {}", side.name()));
    ui.label(text.color(color(ui, side)));
}

/// Shows the kind or tool of a message, and its beginning.
fn subject(ui: &mut Ui, facts: &MessageFacts) {
    widgets::swatch(ui, palette(ui).kind(facts.kind));
    ui.label(facts.tool.as_deref().unwrap_or(wording::kind(facts.kind)));
    widgets::one_line(ui, weak(ui, &*facts.preview));
}

/// A column of the facts.
#[derive(Clone, Copy)]
enum FactCol {
    Where,
    Kind,
    Fact,
    Message,
}

/// Shows the facts that only one session states.
pub(crate) fn facts(ui: &mut Ui, input: &OpenSession<'_>, both: Both<'_>, commands: &mut Commands) {
    let facts = &both.found.facts;
    let [of_a, of_b] = facts.only.each_ref().map(Vec::len);
    let margin = Margin::symmetric(space::L as i8, 2);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        let [both, a, b] = [facts.shared, of_a, of_b].map(|n| wording::grouped(n as u64));
        let text = format!("{both} facts in both, {a} only in A, {b} only in B");
        let help = "Facts are found by rules: files, commands, errors, values and other names. Facts that a later one replaced are left out. Two facts are equal if their kind and text are equal.";
        ui.label(small(ui, text)).on_hover_text(help);
    });
    let row_at = |row: usize| -> (Side, &OnlyFact) {
        match row.checked_sub(of_a) {
            None => (Side::A, &facts.only[0][row]),
            Some(row) => (Side::B, &facts.only[1][row]),
        }
    };
    let largest = both.documents.map(Document::n_messages).into_iter().max();
    let columns = vec![
        Column::new(FactCol::Where, "where", Width::exact(64.0)),
        Column::new(FactCol::Kind, "kind", Width::exact(74.0).clip(true)),
        Column::new(FactCol::Fact, "fact", Width::remainder().clip(true)),
        Column::new(FactCol::Message, "message", number_column(largest.unwrap_or_default()))
            .right()
            .help("First message that states the fact"),
    ];
    ui.spacing_mut().item_spacing.y = 0.0;
    Table::new("compared facts", columns, of_a + of_b)
        .margins(space::S, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut row| {
            let (side, fact) = row_at(row.index());
            let message = ShownMessage::Of(side, fact.message as usize);
            row.select(input.view.compare().shown == Some(message));
            row.cells(|ui, column| match column {
                FactCol::Where => where_cell(ui, side),
                FactCol::Kind => drop(ui.label(fact.kind.name())),
                FactCol::Fact => {
                    let text = safe_text::one_line(&fact.text, FACT);
                    ui.add(Label::new(text).truncate());
                }
                FactCol::Message => {
                    ui.label(weak(ui, wording::number(fact.message as usize)));
                }
            });
            if row.response().clicked() {
                choose(input.view.compare(), message, commands);
            }
        });
}
