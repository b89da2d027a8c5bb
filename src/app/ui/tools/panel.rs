//! The tab Tools: a table that sorts, whose rows filter the tab Messages.

use crate::analysis::tools::{ResultSum, ToolColumn, ToolRow, ToolTable};
use crate::app::state::command::{Command, Commands};
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::derived::Update;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::{View, ViewCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::tools::result;
use crate::app::state::tools::view::{ToolsView, filter_of};
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::space;
use crate::app::ui::widgets::table::{Column, SortOrder, Table};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::safe_text;
use egui::{Label, RichText, Ui};
use egui_extras::Column as Width;

/// The tab Tools.
pub(crate) struct ToolsTab;

/// Its name.
const TAB: Tab = Tab::new("tools", "Tools");

impl DrawerTab for ToolsTab {
    fn tab(&self) -> Tab {
        TAB
    }

    fn update(&self, update: &mut Update<'_>) {
        if update.view.tab == TAB {
            result::update(update);
        }
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        let Some(tools) = session.derived.tools() else {
            padded(ui, |ui| ui.label(weak(ui, "Counting the results of each tool…")));
            return;
        };
        if tools.tools.is_empty() {
            padded(ui, |ui| ui.label(weak(ui, "The session has no tool calls.")));
            return;
        }
        table(ui, session, tools, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        let Some(tools) = session.derived.tools().filter(|tools| !tools.servers.is_empty()) else {
            return;
        };
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        let view = session.view.tools();
        let pages =
            [("tools", tools.tools.len(), false), ("MCP servers", tools.servers.len(), true)];
        for (name, n, by_server) in pages.into_iter().rev() {
            let text = small(ui, format!("{name} {}", wording::grouped(n as u64)));
            let label = ui.selectable_label(view.by_server == by_server, text);
            if label.accessible_name(format!("Show {name}")).clicked() {
                commands.push(ViewCommand::new(ToolsView { by_server, ..view }));
            }
        }
    }

    fn commands(&self, session: &OpenSession<'_>) -> Vec<(String, Command)> {
        let view = session.view.tools();
        let sort = |sort: ToolColumn| {
            let command = ViewCommand::new(ToolsView { sort, ..view });
            (format!("Sort tools by {}", title(sort)), command.into())
        };
        ToolColumn::ALL.into_iter().map(sort).collect()
    }

    fn kept_view(&self, view: &View) -> Option<String> {
        view.tools().kept()
    }

    fn restore_view(&self, kept: &str, view: &mut View) {
        *view.get_mut() = ToolsView::from_kept(kept);
    }
}

/// Returns the title of a column.
fn title(column: ToolColumn) -> &'static str {
    match column {
        ToolColumn::Name => "tool",
        ToolColumn::Calls => "calls",
        ToolColumn::Failed => "failed",
        ToolColumn::Results => "results",
        ToolColumn::Sent => "sent",
        ToolColumn::Largest => "largest result",
        ToolColumn::NeverNamed => "never named later",
        ToolColumn::Repeated => "repeated",
    }
}

/// Returns the hover text of a column's head.
fn help(column: ToolColumn) -> &'static str {
    match column {
        ToolColumn::Name => "Click a row to list its calls and results in Messages",
        ToolColumn::Calls => "Number of calls",
        ToolColumn::Failed => "Calls whose result is an error",
        ToolColumn::Results => "Tokens of all results",
        ToolColumn::Sent => {
            "Share of all tokens sent by the calls of the recorded run: calls and results, each counted once per call that sent it"
        }
        ToolColumn::Largest => "Tokens of the largest result; click to select its message",
        ToolColumn::NeverNamed => {
            "Results with names (paths, symbols, hashes, numbers) of which the model writes none afterwards. It may still have used them"
        }
        ToolColumn::Repeated => "Results with the same tool, arguments and text as an earlier one",
    }
}

/// Table width from which all columns are shown, in points.
const FULL: f32 = 760.0;

fn columns(view: ToolsView) -> Vec<Column<'static, ToolColumn>> {
    let column = |key: ToolColumn| {
        let width = match key {
            ToolColumn::Name => Width::remainder().at_least(120.0).clip(true),
            ToolColumn::Calls | ToolColumn::Failed | ToolColumn::Sent => Width::exact(64.0),
            ToolColumn::Results => Width::exact(84.0),
            ToolColumn::Largest => Width::exact(104.0),
            ToolColumn::NeverNamed | ToolColumn::Repeated => Width::exact(128.0),
        };
        let name =
            if key == ToolColumn::Name && view.by_server { "MCP server" } else { title(key) };
        let is_descending = key != ToolColumn::Name;
        let sorted = (view.sort == key).then(|| SortOrder::new(is_descending));
        let column = Column::new(key, name, width).help(help(key)).sortable(sorted);
        match key {
            ToolColumn::Name => column,
            ToolColumn::NeverNamed | ToolColumn::Repeated => column.right().hidden_below(FULL),
            _ => column.right(),
        }
    };
    ToolColumn::ALL.into_iter().map(column).collect()
}

fn table(ui: &mut Ui, session: &OpenSession<'_>, tools: &ToolTable, commands: &mut Commands) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let view = session.view.tools();
    let rows = if view.by_server { &tools.servers } else { &tools.tools };
    let mut order: Vec<&ToolRow> = rows.iter().collect();
    order.sort_by(|a, b| view.sort.compare(a, b));
    let shown = Table::new(("tools", view.by_server), columns(view), order.len())
        .margins(space::S, space::S)
        .show(ui, |mut row| {
            let tool = order[row.index()];
            row.cells(|ui, column| cell(ui, tools, tool, column, commands));
            if row.response().clicked() {
                commands.push(MessagesCommand::Filter(filter_of(&tool.name, view.by_server)));
                commands.push(ShellCommand::ShowTab(Tab::MESSAGES));
            }
        });
    if let Some(sort) = shown.sorted_by {
        commands.push(ViewCommand::new(ToolsView { sort, ..view }));
    }
}

fn cell(
    ui: &mut Ui,
    tools: &ToolTable,
    tool: &ToolRow,
    column: ToolColumn,
    commands: &mut Commands,
) {
    let count = |ui: &mut Ui, n: usize| {
        let text = wording::grouped(n as u64);
        ui.label(if n == 0 { weak(ui, text) } else { RichText::new(text) });
    };
    match column {
        ToolColumn::Name => {
            let name = safe_text::one_line(&tool.name, 80);
            let name = if name.is_empty() { "(no name)" } else { &name };
            ui.add(Label::new(name).truncate());
        }
        ToolColumn::Calls => count(ui, tool.tool_use.calls),
        ToolColumn::Failed => count(ui, tool.tool_use.errors),
        ToolColumn::Results => {
            ui.label(wording::tokens(tool.results.tokens));
        }
        ToolColumn::Sent => {
            ui.label(wording::percent(tools.share_of_sent(tool)));
        }
        ToolColumn::Largest => match tool.largest {
            Some(largest) => {
                let text = wording::tokens(largest.tokens);
                let place = wording::number(largest.message);
                let link = ui.link(text).on_hover_text(format!("Select message {place}"));
                if link.clicked() {
                    commands.push(SelectCommand::Message(largest.message));
                }
            }
            None => {
                ui.label(weak(ui, "–"));
            }
        },
        ToolColumn::NeverNamed => sum(ui, tool.never_named),
        ToolColumn::Repeated => sum(ui, tool.repeated),
    }
}

/// Shows the tokens of some results, and their number weak before them.
fn sum(ui: &mut Ui, sum: ResultSum) {
    if sum.results == 0 {
        ui.label(weak(ui, "–"));
        return;
    }
    // The cell is laid out from right to left.
    ui.label(wording::tokens(sum.tokens));
    ui.label(weak(ui, format!("{} ·", wording::grouped(sum.results as u64))));
}
