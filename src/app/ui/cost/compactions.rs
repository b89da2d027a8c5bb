//! Break-even of each compaction, as recorded and in every lane: the number of later calls after which it pays off.

use crate::analysis::cost::BreakEven;
use crate::app::state::command::Commands;
use crate::app::state::cost::compute::Costs;
use crate::app::state::cost::state;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::cost::sum_cell::sum;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table, lane_cell, number_column};
use crate::app::ui::widgets::text::{padded, weak};
use egui::{Label, RichText, Ui};
use egui_extras::Column as Width;

/// A column of the table.
#[derive(Clone, Copy)]
enum Col {
    Call,
    Lane,
    Removed,
    Rewritten,
    CostsOnce,
    SavesPerCall,
    PaysAfter,
    CallsLeft,
    HasPaid,
}

fn columns(n_calls: usize) -> Vec<Column<'static, Col>> {
    let figure = |key, title, help| {
        let column = Column::new(key, title, Width::exact(76.0));
        column.right().help(help)
    };
    vec![
        Column::new(Col::Call, "call", number_column(n_calls)).right(),
        Column::new(Col::Lane, "lane", Width::initial(116.0).at_least(60.0).clip(true)),
        figure(Col::Removed, "removed", "Tokens that later calls no longer send"),
        figure(
            Col::Rewritten,
            "rewritten",
            "Cached tokens that this call writes to the cache again",
        ),
        figure(Col::CostsOnce, "costs once", "Cost of rewriting the cache and of the summary")
            .hidden_below(620.0),
        figure(Col::SavesPerCall, "saves per call", "Savings at each later call")
            .hidden_below(620.0),
        figure(Col::PaysAfter, "pays after", "Number of calls after which it has paid off"),
        figure(Col::CallsLeft, "calls left", "Calls from here to the end of the session")
            .hidden_below(560.0),
        Column::new(Col::HasPaid, "paid off?", Width::remainder().clip(true)),
    ]
}

/// Shows the table.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, commands: &mut Commands) {
    let mut rows = state::compactions(costs);
    if rows.is_empty() {
        padded(ui, |ui| {
            let text = "No lane removed content that had been sent before, so there is no compaction to pay off.";
            ui.label(weak(ui, text));
        });
        return;
    }
    rows.retain(|compaction| {
        let even = compaction.break_even(costs);
        even.is_some_and(|even| input.selection.lists(even.call))
    });
    let n_calls = input.runs.case.session.calls.len();
    Table::new("cost compactions", columns(n_calls), rows.len()).margins(space::S, 0.0).show(
        ui,
        |mut row| {
            let compaction = rows[row.index()];
            let Some(even) = compaction.break_even(costs) else {
                return;
            };
            let lane = compaction.lane;
            let is_here = lane == input.selection.lane && even.call == input.selection.call;
            row.select(is_here);
            row.cells(|ui, column| content(ui, input, lane, even, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Spot(Spot {
                    lane,
                    call: Some(even.call),
                    message: None,
                }));
            }
        },
    );
}

fn content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    even: &BreakEven,
    column: Col,
) {
    match column {
        Col::Call => drop(ui.label(weak(ui, wording::number(even.call)))),
        Col::Lane => lane_cell(ui, lane, input.runs.label(lane)),
        Col::Removed => drop(ui.label(wording::tokens(even.removed))),
        Col::Rewritten => drop(ui.label(wording::tokens(even.rewritten))),
        Col::CostsOnce => drop(sum(ui, even.once, Tone::Plain)),
        Col::SavesPerCall => drop(sum(ui, even.per_call, Tone::Plain)),
        Col::PaysAfter => drop(ui.label(needed(even))),
        Col::CallsLeft => drop(ui.label(weak(ui, wording::grouped(even.left as u64)))),
        Col::HasPaid => {
            let (sentence, tone) = paid(even);
            let text = RichText::new(sentence).color(palette(ui).tone(tone));
            ui.add(Label::new(text).truncate()).on_hover_ui(|ui| {
                ui.label(remarks(even));
            });
        }
    }
}

/// Returns the number of calls after which a compaction pays off.
fn needed(even: &BreakEven) -> String {
    match even.needed {
        Some(0) => "immediately".to_owned(),
        Some(calls) if even.has_paid() == Some(true) => wording::grouped(calls),
        Some(_) => format!("{:.1}", even.calls.unwrap_or_default()),
        None => "–".to_owned(),
    }
}

/// Returns whether a compaction has paid off, and the tone of the answer.
fn paid(even: &BreakEven) -> (&'static str, Tone) {
    match even.has_paid() {
        Some(true) => ("yes", Tone::Ok),
        Some(false) => ("no", Tone::Warn),
        None => ("unknown", Tone::Weak),
    }
}

/// Returns remarks on a compaction's figures.
fn remarks(even: &BreakEven) -> String {
    let mut text = format!("By {}.", even.stages.join(", "));
    if even.is_cold {
        text.push_str(" The cache was empty, so rewriting it costs nothing extra.");
    }
    if !even.knows_summary {
        text.push_str(" The summary's cost is not recorded and not included.");
    }
    if even.once.is_none() {
        text.push_str(" No price is known.");
    }
    text
}
