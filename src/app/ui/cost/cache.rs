//! The cache audit: expected and recorded cache reads, and every cache miss with its likely cause.

use crate::analysis::cost::{Audit, Break, Cause};
use crate::app::state::command::Commands;
use crate::app::state::cost::compute::Costs;
use crate::app::state::cost::state;
use crate::app::state::cost::state::CostView;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::units::{Tokens, Usd};
use egui::{RichText, Ui};
use egui_extras::Column as Width;

/// Shows the audit.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, commands: &mut Commands) {
    let Some(audit) = &costs.audit else {
        padded(ui, |ui| {
            let text = "The file contains no cache counts, so there is nothing to compare with the cache model.";
            ui.label(weak(ui, text));
        });
        return;
    };
    padded(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        cache_summary(ui, audit);
        if let Some(calls) = input.selection.calls {
            let calls = wording::calls(calls);
            ui.label(small(
                ui,
                format!("Figures of the whole session. Listed: misses of {calls}."),
            ));
        }
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
            RichText::new(wording::short(audit.recorded))
                .text_style(crate::app::ui::theme::strong()),
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
fn causes(ui: &mut Ui, input: &OpenSession<'_>, audit: &Audit, commands: &mut Commands) {
    if audit.breaks.is_empty() {
        return;
    }
    let view = input.view.cost();
    let all = audit.breaks.iter();
    let calls: usize = all.clone().map(|found| found.calls).sum();
    let tokens: Tokens = all.clone().map(|found| found.tokens).sum();
    let usd: Option<Usd> = all.map(|found| found.usd).sum();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().interact_size.y = 22.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = space::XS;
        let mut chip = |cause, text: String| {
            if ui.selectable_label(view.cause == cause, small(ui, text)).clicked() {
                commands.push(ViewCommand::new(CostView { cause, ..view }));
            }
        };
        if audit.breaks.len() > 1 {
            chip(None, chip_text("all misses", calls, tokens, usd));
        }
        for Break { cause, calls, tokens, usd, .. } in &audit.breaks {
            let text = chip_text(cause.text(), *calls, *tokens, *usd);
            chip(Some(*cause), text);
        }
    });
}

/// Formats the misses of a cause: `after a long pause 11 · 1.2M resent · $6.90 more`.
fn chip_text(name: &str, calls: usize, tokens: Tokens, usd: Option<Usd>) -> String {
    let more = usd.map_or_else(String::new, |usd| format!(" · {} more", wording::usd(usd)));
    let calls = wording::grouped(calls as u64);
    format!("{name} {calls} · {} resent{more}", wording::short(tokens))
}

fn table(ui: &mut Ui, input: &OpenSession<'_>, audit: &Audit, commands: &mut Commands) {
    let cause = input.view.cost().cause;
    // A filter for a cause that this session lacks hides nothing.
    let cause = cause.filter(|cause| audit.breaks.iter().any(|b| b.cause == *cause));
    let misses = state::misses(audit, cause, input.selection.calls);
    let column = |key, title, width: f32| Column::new(key, title, Width::exact(width)).right();
    let columns = vec![
        column(Col::Call, "call", 56.0),
        Column::new(Col::Cause, "likely cause", Width::initial(160.0).at_least(80.0).clip(true))
            .help("The nearest event in the file that explains the miss"),
        column(Col::Shared, "shared", 84.0)
            .help("Prompt tokens shared with the previous call, at most"),
        column(Col::Read, "cache read", 84.0).help("Cache reads recorded in the file"),
        column(Col::Missed, "missed", 84.0)
            .help("Tokens sent before and billed again as new input"),
        Column::new(Col::Rest, "", Width::remainder()),
    ];
    Table::new("cost misses", columns, misses.len()).margins(space::S, 0.0).show(ui, |mut row| {
        let call = misses[row.index()];
        row.select(call.index == input.selection.call);
        row.cells(|ui, column| match column {
            Col::Call => drop(ui.label(weak(ui, wording::number(call.index)))),
            Col::Cause => drop(ui.label(call.cause.map_or("", Cause::text))),
            Col::Shared => drop(ui.label(weak(ui, wording::tokens(call.most)))),
            Col::Read => drop(ui.label(weak(ui, wording::tokens(call.recorded)))),
            Col::Missed => drop(ui.label(wording::tokens(call.most - call.recorded))),
            Col::Rest => {}
        });
        if row.response().clicked() {
            commands.push(SelectCommand::Call(call.index));
        }
    });
}

/// A column of the table of cache misses.
#[derive(Clone, Copy)]
enum Col {
    Call,
    Cause,
    Shared,
    Read,
    Missed,
    Rest,
}
