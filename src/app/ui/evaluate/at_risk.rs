//! References at risk in the focused lane: blind edits first, then names, each with the call that used it.

use crate::app::state::command::Commands;
use crate::app::state::evaluate::losses::Losses;
use crate::app::state::evaluate::state::{LostReference, lost_reference, n_lost_references};
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{padded, weak};
use crate::safe_text;
use egui::{Id, Label, RichText, TextStyle, Ui};
use egui_extras::Column as Width;

/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Shows the list.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, losses: &Losses, commands: &mut Commands) {
    let lane = input.selection.lane;
    let Some(loss) = losses.of(lane) else {
        return;
    };
    let all = 0..n_lost_references(loss);
    if all.is_empty() {
        empty_state(ui, input, losses, lane);
        return;
    }
    let is_listed = |nth: &usize| {
        lost_reference(loss, *nth).is_some_and(|found| input.selection.lists(found.call()))
    };
    let rows: Vec<usize> = all.filter(is_listed).collect();
    let first = reveal(ui, input, losses, lane);
    let first = first.and_then(|first| rows.iter().position(|nth| *nth == first));
    Table::new("loss list", columns(ui.available_width()), rows.len())
        .margins(0.0, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .reveal(first)
        .show(ui, |mut row| {
            let Some(found) = lost_reference(loss, rows[row.index()]) else {
                return;
            };
            let is_here = found.call() == input.selection.call;
            row.select(is_here && Some(message_to_select(found)) == input.selection.message);
            row.cells(|ui, column| content(ui, input, losses, found, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Spot(Spot {
                    lane,
                    call: Some(found.call()),
                    message: Some(message_to_select(found)),
                }));
            }
        });
}

/// A column of the list.
#[derive(Clone, Copy)]
enum Col {
    Call,
    AtRisk,
    UsedBy,
    LastIn,
    Tokens,
}

/// Table width from which the list has its full columns, in points.
const FULL: f32 = 520.0;

fn columns(available: f32) -> Vec<Column<'static, Col>> {
    let [used_by, last_in] = if available > FULL { [130.0, 190.0] } else { [96.0, 110.0] };
    let width = |points: f32| Width::initial(points).at_least(40.0).clip(true);
    vec![
        Column::new(Col::Call, "call", Width::exact(52.0))
            .right()
            .help("The call whose answer used the reference"),
        Column::new(Col::AtRisk, "at risk", Width::remainder().at_least(80.0).clip(true))
            .help("The name or the edited text"),
        Column::new(Col::UsedBy, "used by", width(used_by))
            .help("The message that used the reference"),
        Column::new(Col::LastIn, "last in", width(last_in))
            .help("The last earlier message that contained it; the lane had removed that message"),
        Column::new(Col::Tokens, "tokens", Width::exact(60.0))
            .right()
            .help("Tokens of that message")
            .hidden_below(FULL),
    ]
}

/// Returns the message that a click selects: the removed message, or the blind edit.
fn message_to_select(found: LostReference) -> usize {
    match found {
        LostReference::Edit(edit) => edit.message,
        LostReference::Name(fault) => fault.source,
    }
}

/// Returns the row to scroll to after another call was selected elsewhere: the first row of that call.
fn reveal(ui: &Ui, input: &OpenSession<'_>, losses: &Losses, lane: Option<usize>) -> Option<usize> {
    let id = Id::unique("loss list seen");
    let now = (lane, input.selection.call);
    let seen: Option<(Option<usize>, usize)> = ui.data(|d| d.get_temp(id));
    ui.data_mut(|d| d.insert_temp(id, now));
    if seen == Some(now) || seen.is_none() {
        return None;
    }
    let loss = losses.of(lane)?;
    let is_here = |nth: &usize| lost_reference(loss, *nth).is_some_and(|m| m.call() == now.1);
    let mut here = (0..n_lost_references(loss)).filter(is_here);
    let first = here.next();
    // A clicked row stays under the pointer.
    let is_clicked = |nth: usize| {
        let found = lost_reference(loss, nth);
        found.map(message_to_select) == input.selection.message
    };
    first.filter(|nth| !is_clicked(*nth) && !here.any(is_clicked))
}

fn content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    losses: &Losses,
    found: LostReference,
    column: Col,
) {
    match (column, found) {
        (Col::Call, _) => drop(ui.label(weak(ui, wording::number(found.call())))),
        (Col::AtRisk, LostReference::Edit(edit)) => {
            let text = format!("blind edit: {} of {} lines present", edit.seen, edit.lines);
            let text = RichText::new(text).color(palette(ui).bad);
            ui.add(Label::new(text).truncate());
        }
        (Col::AtRisk, LostReference::Name(fault)) => {
            let word =
                safe_text::one_line(losses.session.index.names.word(fault.name), MAX_NAME_CHARS);
            let text = RichText::new(word).text_style(TextStyle::Monospace);
            ui.add(Label::new(text).truncate());
        }
        (Col::UsedBy, _) => message(ui, input, found.message(), false),
        (Col::LastIn, LostReference::Name(fault)) => message(ui, input, fault.source, true),
        (Col::Tokens, LostReference::Name(fault)) => {
            ui.label(weak(ui, wording::short(fault.refetch)));
        }
        (Col::LastIn | Col::Tokens, LostReference::Edit(_)) => drop(ui.label(weak(ui, "–"))),
    }
}

/// Shows a message's number, kind and tool.
fn message(ui: &mut Ui, input: &OpenSession<'_>, message: usize, has_preview: bool) {
    let Some(facts) = input.document.facts.get(message) else {
        return;
    };
    widgets::swatch(ui, palette(ui).kind(facts.kind));
    ui.label(weak(ui, wording::number(message)));
    let what = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
    if has_preview {
        ui.label(what);
        widgets::one_line(ui, weak(ui, &*facts.preview));
    } else {
        ui.add(Label::new(what).truncate());
    }
}

/// Explains why the list is empty.
fn empty_state(ui: &mut Ui, input: &OpenSession<'_>, losses: &Losses, lane: Option<usize>) {
    let name = input.runs.label(lane);
    let text = if input.document.session().calls.is_empty() {
        "This file has no model calls, so no reference can be at risk.".to_owned()
    } else if losses.session.index.names.is_empty() {
        "The agent never mentioned an earlier name again, so no reference can be at risk."
            .to_owned()
    } else if lane.is_none() {
        "The recorded calls contained every name that the agent used: the noise floor is 0."
            .to_owned()
    } else {
        format!("{name} kept every name that the recorded agent used.")
    };
    padded(ui, |ui| {
        ui.add(Label::new(RichText::new(text).color(palette(ui).ok)).wrap());
    });
}
