//! References at risk of every lane, with the noise floor in the first row.

use crate::app::state::command::Commands;
use crate::app::state::evaluate::losses::{LaneLoss, Losses};
use crate::app::state::evaluate::state::{at_risk_text, blind_tone};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::table::{Column, Table, lane_cell, notes_below};
use crate::app::ui::widgets::text::{small, weak};
use crate::report::VALIDITY;
use egui::{RichText, Ui};
use egui_extras::Column as Width;

/// A column of the table.
#[derive(Clone, Copy)]
enum Col {
    Lane,
    AtRisk,
    BlindEdits,
    FromCall,
    Tokens,
}

fn columns(note: &str) -> Vec<Column<'_, Col>> {
    let figure = |key, title, width, help| {
        let column = Column::new(key, title, Width::exact(width));
        column.right().help(help)
    };
    vec![
        Column::new(Col::Lane, "lane", Width::remainder().at_least(72.0).clip(true)).help(note),
        figure(
            Col::AtRisk,
            "at risk",
            56.0,
            "References by the recorded agent to content that the lane had removed. If there are two numbers, predicted summaries may contain the difference",
        ),
        figure(
            Col::BlindEdits,
            "blind edits",
            66.0,
            "Edits whose original text had been removed, so the agent could not have written them",
        ),
        figure(
            Col::FromCall,
            "from call",
            56.0,
            "First call with a reference at risk or a blind edit. Until then the lane had every name that the agent used",
        )
        .hidden_below(300.0),
        figure(
            Col::Tokens,
            "tokens",
            52.0,
            "Tokens of the removed messages with these references",
        )
        .hidden_below(380.0),
    ]
}

/// Shows the table and its note.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, losses: &Losses, commands: &mut Commands) {
    let note = note(losses);
    notes_below(ui, "loss notes", std::slice::from_ref(&note));
    ui.spacing_mut().item_spacing.y = 0.0;
    let rows: Vec<(Option<usize>, &LaneLoss)> = losses.all().collect();
    Table::new("loss lanes", columns(&note), rows.len()).show(ui, |mut row| {
        let (lane, loss) = rows[row.index()];
        row.select(lane == input.selection.lane);
        row.cells(|ui, column| match column {
            Col::Lane => name(ui, input, lane),
            figure => content(ui, losses, lane, loss, figure),
        });
        if row.response().clicked() {
            commands.push(SelectCommand::Lane(lane));
        }
    });
}

fn name(ui: &mut Ui, input: &OpenSession<'_>, lane: Option<usize>) {
    lane_cell(ui, lane, input.runs.label(lane));
    if lane.is_none() && ui.available_width() > 60.0 {
        ui.label(small(ui, "noise floor")).on_hover_text(
            "References at risk in the recorded calls: names that the agent derived, guessed or read elsewhere",
        );
    }
}

fn content(ui: &mut Ui, losses: &Losses, lane: Option<usize>, loss: &LaneLoss, figure: Col) {
    let at_risk = &loss.found.at_risk;
    match figure {
        Col::Lane => {}
        Col::AtRisk => {
            let tone = lane.map_or(Tone::Weak, |_| Tone::Plain);
            let text = RichText::new(at_risk_text(loss)).text_style(theme::strong());
            let of = wording::count(at_risk.uses, "reference");
            ui.label(text.color(palette(ui).tone(tone)))
                .on_hover_text(format!("of {of} to earlier content"));
        }
        Col::BlindEdits => {
            let tone = lane.map_or(Tone::Weak, |_| blind_tone(loss, &losses.recorded));
            let text = RichText::new(wording::grouped(at_risk.blind_edits.len() as u64));
            let of = wording::count(at_risk.edits, "edit");
            ui.label(text.color(palette(ui).tone(tone)))
                .on_hover_text(format!("of {of} with known original text"));
        }
        Col::FromCall => {
            let text = at_risk.horizon.map_or_else(|| "–".to_owned(), wording::number);
            ui.label(weak(ui, text));
        }
        Col::Tokens => {
            ui.label(weak(ui, wording::short(at_risk.refetch)));
        }
    }
}

/// Returns the note on how the figures are determined.
fn note(losses: &Losses) -> String {
    let names = wording::count(losses.session.index.names.len(), "name");
    format!(
        "References to {names} that the agent used again: paths, symbols, hashes, numbers. {VALIDITY}"
    )
}
