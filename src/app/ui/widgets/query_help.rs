//! The tooltip of a field for a query.

use crate::analysis::query::QueryError;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::small;
use crate::report::QUERY_HELP;
use egui::{Label, Response, Tooltip, Ui};

/// Width of the tooltip with an error, in points.
const WIDTH: f32 = 360.0;

/// Shows the error in the query of a field, else the query language while the pointer is over the field.
pub fn explain_query(ui: &Ui, field: Response, error: Option<&QueryError>, purpose: &str) {
    let Some(error) = error else {
        field.on_hover_text(format!("{purpose}: {QUERY_HELP}"));
        return;
    };
    let text = small(ui, error.to_string()).color(palette(ui).bad);
    Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), field.id, &field)
        .width(WIDTH)
        .show(|ui| ui.add(Label::new(text).wrap()));
}
