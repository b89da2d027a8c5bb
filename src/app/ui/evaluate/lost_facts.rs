//! The facts that the focused lane lost or may have lost, worst first, each with its states over the calls.

use crate::analysis::facts::{Fact, FactKind, Facts, StateChange};
use crate::app::state::command::Commands;
use crate::app::state::evaluate::facts::{Evaluation, LaneFacts, ListedFact};
use crate::app::state::evaluate::state::{EvaluateView, kind_label};
use crate::app::state::export::command::ExportCommand;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::evaluate::matrix;
use crate::app::ui::evaluate::state_marks::{strip, word};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::table::{Column, Table, number_column};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::safe_text;
use egui::{
    ComboBox, Frame, Label, Margin, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, vec2,
};
use egui_extras::Column as Width;

/// Maximum length of a fact's text, in characters.
const MAX_CHARS: usize = 300;
/// Maximum number of listed changes of a fact.
const MAX_CHANGES: usize = 8;
/// Width of a strip, in points.
const STRIP: f32 = 100.0;
/// Table widths from which the list has its further columns, in points.
const FULL: f32 = 690.0;
const MEDIUM: f32 = 600.0;
const SMALL: f32 = 520.0;

/// Shows the filters and the list.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    facts: &Facts,
    evaluation: &Evaluation,
    commands: &mut Commands,
) {
    let lane = input.selection.lane;
    let Some(kept) = evaluation.of(lane) else {
        return;
    };
    let is_chosen = |row: &&ListedFact| {
        let kind = input.view.evaluate().kind;
        kind.is_none_or(|kind| facts.all()[row.fact].kind == kind)
    };
    let rows: Vec<&ListedFact> = kept.listed.iter().filter(is_chosen).collect();
    filters(ui, input, evaluation, &rows, commands);
    unknown_note(ui, input, kept, commands);
    if rows.is_empty() {
        empty_state(ui, input, kept, commands);
        return;
    }
    let n_calls = input.document.session().calls.len();
    let columns = columns(input, n_calls);
    Table::new("lost facts", columns, rows.len())
        .margins(0.0, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut shown| {
            let row = rows[shown.index()];
            let fact = &facts.all()[row.fact];
            let message = fact.message as usize;
            let is_here = input.selection.call == row.left_at;
            shown.select(is_here && input.selection.message == Some(message));
            shown.cells(|ui, column| match column {
                Col::Strip => calls_strip(ui, kept.survival.history.changes(row.fact), n_calls),
                column => content(ui, fact, row, column),
            });
            if shown.response().clicked() {
                commands.push(SelectCommand::Spot(Spot {
                    lane,
                    call: Some(row.left_at),
                    message: Some(message),
                }));
            }
        });
}

/// A column of the list.
#[derive(Clone, Copy)]
enum Col {
    Kind,
    Fact,
    Detail,
    Message,
    Left,
    Back,
    Used,
    Strip,
}

fn columns(input: &OpenSession<'_>, n_calls: usize) -> Vec<Column<'static, Col>> {
    let number = |key, title, largest, help| {
        let column = Column::new(key, title, number_column(largest));
        column.right().help(help)
    };
    let n_messages = input.document.n_messages();
    vec![
        Column::new(Col::Kind, "kind", Width::exact(74.0).clip(true)),
        Column::new(Col::Fact, "fact", Width::remainder().at_least(90.0).clip(true)).help(
            "Facts used while they were lost first, then those that are gone, then unknown ones",
        ),
        Column::new(Col::Detail, "detail", Width::exact(76.0).clip(true))
            .help("State or outcome of the fact")
            .hidden_below(FULL),
        number(Col::Message, "message", n_messages, "The message that states the fact")
            .hidden_below(MEDIUM),
        number(Col::Left, "gone at", n_calls, "First call without the fact"),
        number(Col::Back, "back at", n_calls, "First later call with it again")
            .hidden_below(MEDIUM),
        number(
            Col::Used,
            "used at",
            n_calls,
            "First call that lacked the fact and whose answer uses it",
        )
        .hidden_below(SMALL),
        Column::new(Col::Strip, "calls", Width::exact(STRIP)).help(
            "The state at each call. Thin: verbatim or partial. Outlined: unknown. Thick: gone",
        ),
    ]
}

fn content(ui: &mut Ui, fact: &Fact, row: &ListedFact, column: Col) {
    match column {
        Col::Strip => {}
        Col::Kind => drop(ui.label(weak(ui, fact.kind.name()))),
        Col::Fact => {
            let text = RichText::new(safe_text::one_line(&fact.text, MAX_CHARS));
            let is_prose =
                matches!(fact.kind, FactKind::Constraint | FactKind::Decision | FactKind::Plan);
            let text = if is_prose { text } else { text.text_style(TextStyle::Monospace) };
            ui.add(Label::new(text).truncate());
        }
        Col::Detail => {
            let text = weak(ui, safe_text::one_line(&fact.detail, MAX_CHARS));
            ui.add(Label::new(text).truncate());
        }
        Col::Message => drop(ui.label(weak(ui, wording::number(fact.message as usize)))),
        Col::Left if row.is_unknown => {
            ui.label(weak(ui, "?")).on_hover_text("Only a predicted summary may contain it");
        }
        Col::Left => drop(ui.label(wording::number(row.left_at))),
        Col::Back => call(ui, row.back_at, false),
        Col::Used => call(ui, row.used_at, !row.is_unknown),
    }
}

/// Shows the number of a call, or nothing.
fn call(ui: &mut Ui, call: Option<usize>, is_bad: bool) {
    if let Some(call) = call {
        let text = RichText::new(wording::number(call));
        let palette = palette(ui);
        ui.label(text.color(if is_bad { palette.bad } else { palette.weak }));
    }
}

fn calls_strip(ui: &mut Ui, changes: &[StateChange], n_calls: usize) {
    let size = vec2(ui.available_width() - space::XS, 14.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    strip(ui, rect, changes, n_calls);
    let text = changes_text(changes);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    response.on_hover_text(text);
}

/// Describes the states of a fact: `verbatim from call 3, gone from call 40`.
fn changes_text(changes: &[StateChange]) -> String {
    let shown = changes.iter().take(MAX_CHANGES);
    let shown: Vec<String> = shown
        .map(|change| {
            let call = wording::number(change.call as usize);
            format!("{} from call {call}", word(change.state))
        })
        .collect();
    let more = match changes.len().saturating_sub(MAX_CHANGES) {
        0 => String::new(),
        n => format!(", and {}", wording::count(n, "more change")),
    };
    format!("{}{more}", shown.join(", "))
}

/// Shows the choice of lane and kind, and the number of listed facts.
fn filters(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    evaluation: &Evaluation,
    rows: &[&ListedFact],
    commands: &mut Commands,
) {
    let frame = Frame::new().inner_margin(Margin::symmetric(space::S as i8, 2));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 20.0;
            ui.spacing_mut().button_padding = vec2(6.0, 1.0);
            ui.spacing_mut().item_spacing.x = space::S;
            lane_menu(ui, input, evaluation, commands);
            kind_menu(ui, input, evaluation, commands);
            let n_unknown = rows.iter().filter(|row| row.is_unknown).count();
            let n_used = rows.iter().filter(|row| row.used_at.is_some() && !row.is_unknown);
            let grouped = |n: usize| wording::grouped(n as u64);
            let mut text = format!("{} lost", grouped(rows.len() - n_unknown));
            let n_used = n_used.count();
            if n_used > 0 {
                text = format!("{text}, {} of them used later", grouped(n_used));
            }
            if n_unknown > 0 {
                text = format!("{text}, {} unknown", grouped(n_unknown));
            }
            ui.add(Label::new(small(ui, text)).truncate());
        });
    });
}

fn lane_menu(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    evaluation: &Evaluation,
    commands: &mut Commands,
) {
    let chosen = input.selection.lane;
    widgets::swatch(ui, palette(ui).lane_or_recorded(chosen));
    let combo = ComboBox::from_id_salt("lane of facts").selected_text(input.runs.label(chosen));
    let menu = combo.width(92.0).truncate().show_ui(ui, |ui| {
        let lanes = (0..evaluation.lanes.len()).map(Some);
        for lane in std::iter::once(None).chain(lanes) {
            let name = input.runs.label(lane);
            if ui.selectable_label(lane == chosen, name).clicked() {
                commands.push(SelectCommand::Lane(lane));
            }
        }
    });
    menu.response.accessible_name("Lane of the listed facts");
}

fn kind_menu(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    evaluation: &Evaluation,
    commands: &mut Commands,
) {
    let chosen = input.view.evaluate().kind;
    let combo = ComboBox::from_id_salt("kind of facts").selected_text(kind_label(chosen));
    let menu = combo.width(108.0).truncate().show_ui(ui, |ui| {
        let kinds = matrix::kinds(evaluation).map(Some);
        for kind in std::iter::once(None).chain(kinds) {
            let is_chosen = kind == chosen;
            if ui.selectable_label(is_chosen, kind_label(kind)).clicked() {
                let view = EvaluateView { kind, ..input.view.evaluate() };
                commands.push(ViewCommand::new(view));
            }
        }
    });
    menu.response.accessible_name("Kind of the listed facts");
}

/// Explains unknown facts and offers to make the summary known.
fn unknown_note(ui: &mut Ui, input: &OpenSession<'_>, kept: &LaneFacts, commands: &mut Commands) {
    let unknown = kept.of(input.view.evaluate().kind).unknown;
    let Some(lane) = input.selection.lane.filter(|_| unknown > 0) else {
        return;
    };
    let frame = Frame::new().inner_margin(Margin::symmetric(space::S as i8, 2));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 20.0;
            ui.spacing_mut().button_padding = vec2(6.0, 1.0);
            if ui
                .button("Export…")
                .on_hover_text("Prepare an export of this lane with real summaries")
                .clicked()
            {
                commands.push(ExportCommand::Start(Some(lane)));
            }
            let facts = wording::count(unknown, "fact");
            let text = format!(
                "{facts} unknown: only the predicted summary may contain them. A model writes its text in an export."
            );
            ui.add(Label::new(small(ui, text)).truncate());
        });
    });
}

/// Explains why the list is empty.
fn empty_state(ui: &mut Ui, input: &OpenSession<'_>, kept: &LaneFacts, commands: &mut Commands) {
    let name = input.runs.label(input.selection.lane);
    let kind = input.view.evaluate().kind;
    let at =
        if input.view.evaluate().at_selected_call { "the selected call" } else { "every call" };
    let label = kind.map_or("facts", FactKind::label);
    let survival = kept.of(kind);
    let is_complete = survival.stated > 0 && kept.survival.has_removed && survival.partial == 0;
    let text = if survival.stated == 0 {
        format!("No {label} stated before this call.")
    } else if !kept.survival.has_removed {
        format!("{name} removed no message that states a fact.")
    } else if is_complete {
        format!("{name} had all {label} at {at}.")
    } else {
        let partial = wording::count(survival.partial, "fact");
        format!("{name} had all {label} at {at}, {partial} only partly.")
    };
    padded(ui, |ui| {
        let color = if is_complete { palette(ui).ok } else { palette(ui).weak };
        ui.add(Label::new(RichText::new(text).color(color)).wrap());
        if kind.is_some() && !kept.listed.is_empty() && ui.link("Show all kinds").clicked() {
            let view = EvaluateView { kind: None, ..input.view.evaluate() };
            commands.push(ViewCommand::new(view));
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::analysis::facts::FactState;
    use crate::analysis::facts::FactState::{Gone, Verbatim};
    use crate::analysis::facts::StateChange;
    use crate::app::ui::evaluate::lost_facts::changes_text;

    fn change(call: u32, state: FactState) -> StateChange {
        StateChange { call, state }
    }

    #[test]
    fn changes_are_described_with_their_calls() {
        assert_eq!(
            changes_text(&[change(2, Verbatim), change(39, Gone)]),
            "verbatim from call 3, gone from call 40"
        );
        let many: Vec<_> = (0..12).map(|call| change(call, Gone)).collect();
        assert!(changes_text(&many).ends_with("gone from call 8, and 4 more changes"));
    }
}
