//! The cache audit: expected and recorded cache reads, and every cache miss with its likely cause.

use super::compute::Costs;
use super::state::{self, CostView};
use crate::analysis::cost::{Audit, Break, Cause};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Side, cell, head};
use crate::app::widgets::text::{small, weak};
use crate::app::wording;
use crate::units::{Tokens, Usd};
use egui::{Align, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

/// Shows the audit.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    costs: &Costs,
    commands: &mut Vec<Command>,
) {
    let Some(audit) = &costs.audit else {
        crate::app::widgets::text::padded(ui, |ui| {
            let said = "The file contains no cache counts, so there is nothing to compare with the cache model.";
            ui.label(weak(ui, said));
        });
        return;
    };
    crate::app::widgets::text::padded(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        cache_summary(ui, audit);
        causes(ui, input, audit, commands);
    });
    if !audit.breaks.is_empty() {
        table(ui, input, audit, commands);
    }
}

fn cache_summary(ui: &mut Ui, audit: &Audit) {
    let share = audit.recorded.share_of(audit.predicted);
    let calls = wording::count(audit.calls.len(), "call");
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.label(format!("{calls}: cache read "));
        ui.label(
            RichText::new(wording::short(audit.recorded)).text_style(crate::app::theme::strong()),
        );
        ui.label(format!(
            " tokens; the cache model expects {} ({} of that).",
            wording::short(audit.predicted),
            wording::percent(share)
        ));
    });
    if audit.breaks.is_empty() {
        let fine = "No cache misses.";
        ui.label(RichText::new(fine).color(palette(ui).ok));
    }
}

/// Shows the causes as filters, with their calls, tokens and extra cost.
fn causes(ui: &mut Ui, input: &PanelInput<'_>, audit: &Audit, commands: &mut Vec<Command>) {
    if audit.breaks.is_empty() {
        return;
    }
    let view = input.view.cost;
    let all = audit.breaks.iter();
    let calls: usize = all.clone().map(|found| found.calls).sum();
    let tokens: Tokens = all.clone().map(|found| found.tokens).sum();
    let usd: Option<Usd> = all.map(|found| found.usd).sum();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().interact_size.y = 22.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = space::XS;
        let mut chip = |cause, name: &str, (calls, tokens, usd)| {
            let said = chip_text(name, calls, tokens, usd);
            if ui
                .selectable_label(view.cause == cause, small(ui, said))
                .clicked()
            {
                commands.push(Command::SetCostView(CostView { cause, ..view }));
            }
        };
        if audit.breaks.len() > 1 {
            chip(None, "all misses", (calls, tokens, usd));
        }
        for Break {
            cause,
            calls,
            tokens,
            usd,
            ..
        } in &audit.breaks
        {
            chip(Some(*cause), cause.text(), (*calls, *tokens, *usd));
        }
    });
}

/// Returns, for example, `after a long pause 11 · 1.2M resent · $6.90 more`.
fn chip_text(name: &str, calls: usize, tokens: Tokens, usd: Option<Usd>) -> String {
    let more = usd.map_or_else(String::new, |usd| format!(" · {} more", wording::usd(usd)));
    let calls = wording::grouped(calls as u64);
    format!("{name} {calls} · {} resent{more}", wording::short(tokens))
}

fn table(ui: &mut Ui, input: &PanelInput<'_>, audit: &Audit, commands: &mut Vec<Command>) {
    let cause = input.view.cost.cause;
    // A filter for a cause that this session lacks hides nothing.
    let cause = cause.filter(|cause| audit.breaks.iter().any(|b| b.cause == *cause));
    let misses = state::misses(audit, cause);
    let table = TableBuilder::new(ui)
        .id_salt("cost misses")
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(Column::exact(56.0))
        .column(Column::initial(160.0).at_least(80.0).clip(true))
        .column(Column::exact(84.0))
        .column(Column::exact(84.0))
        .column(Column::exact(84.0))
        .column(Column::remainder());
    let table = table.header(space::ROW, |mut row| {
        row.col(|_| {});
        cell(&mut row, Side::Right, |ui| head(ui, "call", ""));
        cell(&mut row, Side::Left, |ui| {
            head(
                ui,
                "likely cause",
                "The nearest event in the file that explains the miss",
            );
        });
        cell(&mut row, Side::Right, |ui| {
            head(
                ui,
                "shared",
                "Prompt tokens shared with the previous call, at most",
            );
        });
        cell(&mut row, Side::Right, |ui| {
            head(ui, "cache read", "Cache reads recorded in the file");
        });
        cell(&mut row, Side::Right, |ui| {
            head(
                ui,
                "missed",
                "Tokens sent before and billed again as new input",
            );
        });
        row.col(|_| {});
    });
    table.body(|body| {
        body.rows(space::ROW, misses.len(), |mut row| {
            let call = misses[row.index()];
            row.set_selected(call.step == input.selection.step);
            row.col(|_| {});
            cell(&mut row, Side::Right, |ui| {
                ui.label(weak(ui, wording::number(call.step)));
            });
            cell(&mut row, Side::Left, |ui| {
                ui.label(call.cause.map_or("", Cause::text));
            });
            for tokens in [call.most, call.recorded] {
                cell(&mut row, Side::Right, |ui| {
                    ui.label(weak(ui, wording::tokens(tokens)));
                });
            }
            cell(&mut row, Side::Right, |ui| {
                ui.label(wording::tokens(call.most - call.recorded));
            });
            row.col(|_| {});
            if row.response().clicked() {
                commands.push(Command::SelectStep(call.step));
            }
        });
    });
}
