//! Text of the lanes' rows for assistive tools and hover texts.

use crate::app::state::lanes::lines::Line;
use crate::app::state::model::lane_context::{LaneContext, Row, WrittenPosition};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::widgets::text::weak;
use egui::{RichText, Ui};

/// Returns the contexts from left to right with the names of their lanes.
fn labelled<'a>(input: &OpenSession<'a>) -> impl Iterator<Item = (&'a str, &'a LaneContext)> {
    let (rows, runs) = (input.rows, input.runs);
    rows.columns().map(|(lane, context)| (runs.label(lane), context))
}

/// Returns the accessible text of a line.
pub(crate) fn spoken_line(input: &OpenSession<'_>, line: Line) -> String {
    match line {
        Line::Row(row) => spoken(input, input.rows.rows[row]),
        Line::Fold(line) => {
            let messages = &input.rows.folds[line.fold].messages;
            let statuses = labelled(input).filter_map(|(label, lane)| {
                let seen = lane.messages.get(*messages.start() as usize)?;
                Some(format!("{label} {}", wording::status_of_many(seen.status)))
            });
            format!(
                "{} messages {} to {}: {}",
                if line.is_open { "Fold" } else { "Unfold" },
                messages.start() + 1,
                messages.end() + 1,
                statuses.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Returns the accessible text of a row: its status in every lane.
pub(crate) fn spoken(input: &OpenSession<'_>, row: Row) -> String {
    let lanes = labelled(input);
    match row {
        Row::Message(message) => {
            let statuses = lanes.map(|(label, lane)| {
                let seen = lane.messages.get(message as usize);
                format!("{label} {}", seen.map_or("absent", |s| wording::status(s.status)))
            });
            format!("Message {}: {}", message + 1, statuses.collect::<Vec<_>>().join(", "))
        }
        Row::Written(place) => {
            let written = lanes.filter_map(|(label, lane)| {
                let written = lane.written.get(&place)?;
                Some(format!(
                    "{label} wrote a {} of {}",
                    wording::written(written.kind),
                    wording::count(written.n_covered, "message")
                ))
            });
            written.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Shows the hover text for the content that each lane wrote at a place.
pub(crate) fn written_hint(ui: &mut Ui, input: &OpenSession<'_>, place: WrittenPosition) {
    for (label, lane) in labelled(input) {
        let Some(written) = lane.written.get(&place) else {
            continue;
        };
        let covered = wording::count(written.n_covered, "message");
        ui.label(
            RichText::new(format!(
                "{label}: {} for {covered}, {} tok",
                wording::written(written.kind),
                wording::tokens(written.tokens)
            ))
            .text_style(theme::strong()),
        );
        let text = if written.is_predicted {
            "The text is written when the lane is exported; the size shown is assumed.".to_owned()
        } else {
            crate::safe_text::one_line(&written.text, 400)
        };
        ui.label(weak(ui, text));
    }
}
