//! Text of the lanes' rows for assistive tools and hover texts.

use super::rows::{Line, Place, Row};
use crate::app::shell::layout::PanelInput;
use crate::app::widgets::text::weak;
use crate::app::{theme, wording};
use egui::{RichText, Ui};

/// Returns the accessible text of a line.
pub(super) fn spoken_line(input: &PanelInput<'_>, line: Line) -> String {
    match line {
        Line::Row(row) => spoken(input, input.rows.rows[row]),
        Line::Fold(fold, is_open) => {
            let fold = &input.rows.folds[fold];
            let fates = input.runs.labels.iter().zip(&input.rows.lanes);
            let fates = fates.filter_map(|(label, lane)| {
                let seen = lane.messages.get(fold.messages.0 as usize)?;
                Some(format!("{label} {}", wording::fate_of_many(seen.fate)))
            });
            format!(
                "{} messages {} to {}: {}",
                if is_open { "Fold" } else { "Unfold" },
                fold.messages.0 + 1,
                fold.messages.1 + 1,
                fates.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Returns the accessible text of a row: its status in every lane.
pub(super) fn spoken(input: &PanelInput<'_>, row: Row) -> String {
    let lanes = input.runs.labels.iter().zip(&input.rows.lanes);
    match row {
        Row::Message(message) => {
            let fates = lanes.map(|(label, lane)| {
                let seen = lane.messages.get(message as usize);
                format!(
                    "{label} {}",
                    seen.map_or("absent", |s| wording::fate(s.fate))
                )
            });
            format!(
                "Message {}: {}",
                message + 1,
                fates.collect::<Vec<_>>().join(", ")
            )
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
pub(super) fn written_hint(ui: &mut Ui, input: &PanelInput<'_>, place: Place) {
    for (label, lane) in input.runs.labels.iter().zip(&input.rows.lanes) {
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
            "The text is written when the lane is exported; the size shown is the policy's maximum."
                .to_owned()
        } else {
            crate::safe_text::one_line(&written.text, 400)
        };
        ui.label(weak(ui, text));
    }
}
