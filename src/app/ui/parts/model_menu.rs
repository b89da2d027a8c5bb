//! The menu of models with their prices and context windows.

use crate::app::state::wording;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::weak;
use crate::presets::models;
use crate::presets::prices::{Price, Prices};
use crate::units::Tokens;
use egui::{Id, ScrollArea, TextEdit, Ui};

/// Width of the menu, in points.
pub(crate) const WIDTH: f32 = 300.0;

/// Lists every model with a known price below a search field, with `chosen` marked. Returns the name of the clicked
/// model.
pub(crate) fn list(ui: &mut Ui, chosen: Option<&str>) -> Option<&'static str> {
    let id = Id::unique("model search");
    let mut text: String = ui.data(|d| d.get_temp(id)).unwrap_or_default();
    let edit = TextEdit::singleline(&mut text)
        .hint_text("Find a model…")
        .desired_width(f32::INFINITY)
        .margin(egui::Margin::symmetric(8, 5));
    ui.add(edit).accessible_name("Find a model");
    ui.data_mut(|d| d.insert_temp(id, text.clone()));
    let query = text.trim().to_lowercase();
    let all = Prices::in_use().rows().iter();
    let mut found: Vec<&Price> = all.filter(|row| row.name.contains(&query)).collect();
    // A model whose price changed has one row per price.
    found.dedup_by_key(|row| &row.name);
    if found.is_empty() {
        ui.label(weak(ui, "No model matches."));
    }
    let mut clicked = None;
    ScrollArea::vertical().max_height(280.0).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for row in found {
            let is_chosen = chosen == Some(&row.name);
            if widgets::choice(ui, &row.name, "", &description(row), is_chosen).clicked() {
                clicked = Some(row.name.as_str());
            }
        }
    });
    clicked
}

/// Returns the context window of a model in tokens, if known.
pub(crate) fn window(name: &str) -> Option<Tokens> {
    models::lookup(name).map(|found| found.window)
}

/// Returns a model's window and prices, such as `200k window · $5 in · $25 out · $0.50 read`.
fn description(row: &Price) -> String {
    let window = window(&row.name)
        .map_or_else(String::new, |window| format!("{} window · ", wording::short(window)));
    format!(
        "{window}{} in · {} out · {} read",
        wording::rate(row.input),
        wording::rate(row.output),
        wording::rate(row.cache_read)
    )
}
