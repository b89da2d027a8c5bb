//! The choices of the page: the key of the rows, the days, and the figure of the bars.

use crate::analysis::usage::UsageKey;
use crate::app::state::command::Commands;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::sessions::usage::page::UsagePage;
use crate::app::state::sessions::usage::view::{BarFigure, DayRange, UsageView};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use egui::{Align, ComboBox, Layout, Margin, TextEdit, Ui};
use jiff::tz::TimeZone;

/// Width of a field for a day, in points.
const DAY: f32 = 84.0;

/// Shows the choices.
pub(super) fn show(ui: &mut Ui, page: &UsagePage, commands: &mut Commands) {
    let view = &page.view;
    ui.horizontal(|ui| {
        let mut ask =
            |view: UsageView| commands.push(SessionsCommand::Usage(UsageCommand::View(view)));
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.scope(|ui| {
            ui.spacing_mut().button_padding.x = space::S;
            for by in UsageKey::ALL {
                let name = format!("Usage by {}", by.name());
                let label = ui.selectable_label(view.by == by, by.name());
                if label.on_hover_text(by.help()).accessible_name(name).clicked() {
                    ask(UsageView { by, sort: None, ..view.clone() });
                }
            }
        });
        ui.add_space(space::M);
        days(ui, view, &mut ask);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            ui.spacing_mut().button_padding.x = space::S;
            bar_figures(ui, page, &mut ask);
        });
    });
}

/// Shows the menu of days, and the fields of chosen ones.
fn days(ui: &mut Ui, view: &UsageView, ask: &mut impl FnMut(UsageView)) {
    let menu = ComboBox::from_id_salt("usage days").width(116.0).selected_text(view.days.name());
    let menu = menu.show_ui(ui, |ui| {
        for days in DayRange::ALL {
            if ui.selectable_label(view.days == days, days.name()).clicked() {
                ask(UsageView { days, ..view.clone() });
            }
        }
    });
    let zone = TimeZone::system();
    let zone = zone.iana_name().map_or_else(String::new, |name| format!(" ({name})"));
    let help = format!("Days whose calls count, in the time zone of your system{zone}");
    menu.response.accessible_name("Days").on_hover_text(help);
    if view.days != DayRange::Chosen {
        return;
    }
    ui.add_space(space::XS);
    if let Some(since) = day(ui, "First day", &view.since) {
        ask(UsageView { since, ..view.clone() });
    }
    ui.label(weak(ui, "–"));
    if let Some(until) = day(ui, "Last day", &view.until) {
        ask(UsageView { until, ..view.clone() });
    }
}

/// Shows the field of a day. Returns the text if it was changed.
fn day(ui: &mut Ui, name: &str, day: &str) -> Option<String> {
    let mut text = day.to_owned();
    let edit = TextEdit::singleline(&mut text)
        .id_salt(name)
        .hint_text("2026-11-01")
        .desired_width(DAY)
        .margin(Margin::symmetric(8, 5));
    let edit = ui.add(edit).accessible_name(name);
    let edit = edit.on_hover_text(format!(
        "{name}, such as 2026-11-01, today or yesterday; empty for no limit"
    ));
    edit.changed().then_some(text)
}

/// Shows the figures that the bars can show, from right to left.
fn bar_figures(ui: &mut Ui, page: &UsagePage, ask: &mut impl FnMut(UsageView)) {
    let has_cost = page.sums().is_some_and(|sums| sums.table.total.cost().is_some());
    for bars in BarFigure::ALL.into_iter().rev() {
        let is_possible = has_cost || bars != BarFigure::Cost;
        let label = ui.add_enabled_ui(is_possible, |ui| {
            ui.selectable_label(page.bar_figure() == bars, bars.name())
        });
        let help = match bars {
            BarFigure::Cost => "Show the cost as bars",
            BarFigure::Input => "Show the tokens of the prompts as bars",
        };
        let label = label.inner.on_disabled_hover_text("No price is known for these models");
        let name = format!("Bars: {}", bars.name());
        if label.on_hover_text(help).accessible_name(name).clicked() {
            ask(UsageView { bars, ..page.view.clone() });
        }
    }
    ui.label(small(ui, "bars").color(palette(ui).weak));
}
