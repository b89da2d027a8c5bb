//! The tab Insights: insights into the session and every lane, most severe first. One can be open.

use crate::app::state::command::{Command, Commands};
use crate::app::state::insights::list;
use crate::app::state::insights::list::{InsightFilter, InsightsView, Row};
use crate::app::state::model::selection::{SelectCommand, Selection, Spot};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::{View, ViewCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::insights::row;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::{Margin, RichText, ScrollArea, TextEdit, Ui};

/// The tab Insights.
pub(crate) struct InsightsTab;

impl DrawerTab for InsightsTab {
    fn tab(&self) -> Tab {
        Tab::INSIGHTS
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }

    fn remark(&self, session: &OpenSession<'_>) -> String {
        remark(session)
    }

    fn escape(&self, view: &View, _selection: &Selection) -> Option<Command> {
        let view = view.insights();
        if view.filter == InsightFilter::default() {
            return None;
        }
        let cleared = InsightsView { filter: InsightFilter::default(), ..view.clone() };
        Some(ViewCommand::new(cleared).into())
    }
}

/// Returns the number of listed insights, shown after the tab's name.
fn remark(input: &OpenSession<'_>) -> String {
    let rows = list::all(input.derived.insights(), input.derived.costs(), input.derived.losses());
    match rows.len() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// Shows the filter and the severity levels at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.spacing_mut().interact_size.y = 22.0;
    let rows = list::all(input.derived.insights(), input.derived.costs(), input.derived.losses());
    let mut filter = input.view.insights().filter.clone();
    let edit = TextEdit::singleline(&mut filter.text)
        .hint_text("Filter…")
        .desired_width(110.0)
        .margin(Margin::symmetric(6, 3));
    let response = ui
        .add(edit)
        .on_hover_text("Show insights that contain this text")
        .accessible_name("Filter insights");
    if response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Escape)) {
        filter.text.clear();
    }
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let counts = list::counts(&rows);
    let levels = counts.iter().map(|(level, n)| (Some(*level), *n));
    let levels: Vec<_> = std::iter::once((None, rows.len())).chain(levels).collect();
    for (level, n) in levels.into_iter().rev() {
        let name = level.map_or("all", wording::level);
        let text = small(ui, format!("{name} {}", wording::grouped(n as u64)));
        let label = ui.selectable_label(filter.level == level, text);
        if label.accessible_name(format!("Show insights: {name}")).clicked() {
            filter.level = level;
        }
    }
    if filter != input.view.insights().filter {
        commands.push(ViewCommand::new(InsightsView { filter, ..input.view.insights().clone() }));
    }
}

/// Shows all listed insights.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let all = list::all(input.derived.insights(), input.derived.costs(), input.derived.losses());
    let filter = &input.view.insights().filter;
    let is_listed = |row: &&Row<'_>| filter.has(row.insight, input.runs.label(row.lane));
    let rows: Vec<Row<'_>> = all.iter().filter(is_listed).copied().collect();
    if rows.is_empty() {
        empty_state(ui, input, commands);
        return;
    }
    let is_open = |row: &Row<'_>| Some(row.key()) == input.view.insights().open;
    let open = rows.iter().position(is_open).unwrap_or(0);
    ScrollArea::vertical().id_salt(("insights", input.document.source_id)).auto_shrink(false).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add_space(space::XS);
            for (idx, row) in rows.iter().enumerate() {
                let shown = row::show(ui, input, row, idx == open, commands);
                if idx == open && input.once.reveals_insight {
                    ui.scroll_to_rect(shown.rect, None);
                }
                if shown.clicked() {
                    look_at(input, row, commands);
                }
            }
            if input.derived.insights().is_none() {
                ui.add_space(space::S);
                padded(ui, |ui| {
                    ui.label(small(ui, "Analyzing the session…"));
                });
            }
            ui.add_space(space::S);
        },
    );
}

/// Opens an insight and selects its location in every panel.
fn look_at(input: &OpenSession<'_>, row: &Row<'_>, commands: &mut Commands) {
    let view = InsightsView { open: Some(row.key()), ..input.view.insights().clone() };
    commands.push(ViewCommand::new(view));
    commands.push(SelectCommand::Spot(Spot {
        lane: row.lane,
        call: row.insight.call,
        message: row.insight.message,
    }));
}

/// Explains why no insight is listed.
fn empty_state(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    padded(ui, |ui| {
        if !input.view.insights().filter.is_empty() {
            ui.horizontal(|ui| {
                ui.label(weak(ui, "No insight matches."));
                if ui.link("Show all").clicked() {
                    let filter = InsightFilter::default();
                    let view = InsightsView { filter, ..input.view.insights().clone() };
                    commands.push(ViewCommand::new(view));
                }
            });
        } else if input.derived.insights().is_none() || input.derived.costs().is_none() {
            ui.label(weak(ui, "Analyzing the session…"));
        } else if input.document.session().calls.is_empty() {
            ui.label(weak(ui, "This file has no model calls, so there is nothing to analyze."));
        } else {
            let text =
                "No problems found: no threshold exceeded, few unused tokens, no failing policy.";
            ui.label(RichText::new(text).color(palette(ui).ok));
        }
    });
}
