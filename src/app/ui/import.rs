//! The tab Import: the detected format, the recorded data and the import warnings.

use crate::app::state::command::Commands;
use crate::app::state::model::document::Origin;
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::formats::{Availability, RecordedData, availability};
use crate::report::{has_tracks, track};
use crate::safe_text;
use crate::session::{CallsFrom, Track};
use crate::units::{Bytes, Tokens};
use egui::{Align, Color32, Grid, Label, Layout, RichText, ScrollArea, Ui};

/// The tab Import.
pub(crate) struct ImportTab;

impl DrawerTab for ImportTab {
    fn tab(&self) -> Tab {
        Tab::IMPORT
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn remark(&self, session: &OpenSession<'_>) -> String {
        remark(session)
    }
}

/// Maximum number of listed warnings and of listed issues.
const MAX_LISTED: usize = 200;
/// Space between columns, in points.
const GAP: f32 = 28.0;

/// A function that shows a section of the tab.
type Section = fn(&mut Ui, &OpenSession<'_>);

/// A column of the tab.
struct Column {
    /// Width in points.
    width: f32,
    /// The sections, from top to bottom.
    sections: &'static [Section],
}

/// Returns the number of warnings, shown after the tab's name.
fn remark(open: &OpenSession<'_>) -> String {
    match open.document.loaded.warnings.len() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// Shows the import report.
fn show(ui: &mut Ui, open: &OpenSession<'_>, _commands: &mut Commands) {
    // Scrolls horizontally too, so that a narrow window hides nothing.
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        padded(ui, |ui| {
            ui.spacing_mut().interact_size.y = 18.0;
            let columns = columns(ui.available_width());
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = GAP;
                for column in columns {
                    ui.vertical(|ui| {
                        ui.spacing_mut().item_spacing.x = 8.0;
                        ui.set_width(column.width);
                        for (n, section) in column.sections.iter().enumerate() {
                            if n > 0 {
                                ui.add_space(space::L);
                            }
                            section(ui, open);
                        }
                    });
                }
            });
        });
    });
}

/// Returns the columns that fit this width: four, or two with two sections each.
fn columns(available: f32) -> Vec<Column> {
    let column = |width, sections: &'static [Section]| Column { width, sections };
    let mut columns = vec![
        column(262.0, &[detection]),
        column(250.0, &[recorded_data]),
        column(300.0, &[records]),
    ];
    let taken: f32 = columns.iter().map(|column| column.width + GAP).sum();
    let rest = available - taken;
    if rest >= 200.0 {
        columns.push(column(rest, &[warnings]));
        return columns;
    }
    let half = ((available - GAP) / 2.0).max(300.0);
    vec![column(half, &[detection, recorded_data]), column(half, &[warnings, records])]
}

/// Shows a heading with space below it.
fn heading(ui: &mut Ui, title: &str) {
    widgets::section(ui, title);
    ui.add_space(space::XS);
}

fn detection(ui: &mut Ui, open: &OpenSession<'_>) {
    let session = open.document.session();
    let report = &open.document.loaded.report;
    let n_with_usage = session.calls.iter().filter(|call| call.usage.is_some()).count();
    let calls = match session.calls_from {
        CallsFrom::Recorded => "recorded in the file",
        CallsFrom::AssistantMessages => "one for each assistant message",
    };
    heading(ui, "Detection");
    Grid::new("detection").num_columns(2).spacing([16.0, 4.0]).max_col_width(168.0).show(
        ui,
        |ui| {
            let mut row = |name: &str, value: String| {
                // Aligned with the first line of a multi-line value.
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.label(weak(ui, name));
                });
                ui.vertical(|ui| ui.add(Label::new(value).wrap()));
                ui.end_row();
            };
            row("format", open.document.format_label().to_owned());
            row("detected by", report.recognized_by.replace('`', ""));
            if let Some(source) = &open.document.managed_from {
                row("managed from", safe_text::one_line(source, 80));
            }
            if let Some(parent) = &open.document.loaded.report.parent {
                row("sub-agent of", safe_text::one_line(parent, 80));
            }
            let all = &open.document.loaded.conversations;
            if let Some(open) = all.get(open.document.conversation).filter(|_| has_tracks(all)) {
                row("this is the", track(open));
            }
            row("size", wording::bytes(Bytes(session.source.bytes.len() as u64)));
            row("messages", wording::grouped(session.n_history() as u64));
            row("turns", wording::grouped(u64::from(session.turns)));
            row("calls", format!("{}, {calls}", wording::grouped(session.calls.len() as u64)));
            let is_supported = |data| is_supported(open, data);
            row(
                "with usage",
                if is_supported(RecordedData::Usage) {
                    wording::grouped(n_with_usage as u64)
                } else {
                    "unknown".to_owned()
                },
            );
            let ledger = &open.runs.case.ledger;
            row("counts", wording::accuracy_help(ledger));
            if let Some(text) = not_recorded(open) {
                row(wording::NOT_RECORDED, text);
            }
            row(
                "compactions",
                if is_supported(RecordedData::Compactions) {
                    wording::grouped(session.compactions.len() as u64)
                } else {
                    "unknown".to_owned()
                },
            );
        },
    );
}

/// Describes the sent content that the file does not record, and the calls from which its size differs.
fn not_recorded(open: &OpenSession<'_>) -> Option<String> {
    const MAX_SIZES: usize = 4;
    let ledger = &open.runs.case.ledger;
    let session = open.document.session();
    let calls = session.compactions.iter().map(|compaction| compaction.call);
    let mut last = ledger.overhead_at(0);
    let mut text = vec![format!("{} tokens", wording::tokens(last))];
    for call in calls.filter(|call| *call < session.calls.len()) {
        let now = ledger.overhead_at(call);
        if now != last {
            let (now, call) = (wording::tokens(now), wording::number(call));
            text.push(format!("{now} from call {call}"));
        }
        last = now;
    }
    if text.len() > MAX_SIZES {
        text.truncate(MAX_SIZES);
        text.push("…".to_owned());
    }
    let is_any = last > Tokens::ZERO || text.len() > 1;
    is_any.then(|| text.join("; "))
}

fn available_data(open: &OpenSession<'_>) -> Vec<(RecordedData, Availability)> {
    let loaded = &open.document.loaded;
    availability(open.document.session(), &loaded.conversations, &loaded.report)
}

/// Returns whether the format can record this data.
fn is_supported(open: &OpenSession<'_>, data: RecordedData) -> bool {
    !available_data(open).contains(&(data, Availability::Unsupported))
}

fn recorded_data(ui: &mut Ui, open: &OpenSession<'_>) {
    heading(ui, "Recorded data");
    Grid::new("recorded data").num_columns(2).spacing([16.0, 4.0]).show(ui, |ui| {
        for (data, availability) in available_data(open) {
            ui.label(weak(ui, data.name()));
            let words = availability.words();
            match availability {
                Availability::Present => ui.label(words),
                Availability::Absent | Availability::Unsupported => ui.label(weak(ui, words)),
            };
            ui.end_row();
        }
    });
    let loaded = &open.document.loaded;
    let n_sub_agents = loaded.report.sub_agents.len();
    let has_any = available_data(open).contains(&(RecordedData::SubAgents, Availability::Present));
    if n_sub_agents > 0 && !has_any {
        ui.add_space(space::XS);
        let text = format!(
            "The session mentions {}, but neither this file nor the files next to it record their calls.",
            wording::count(n_sub_agents, "sub-agent")
        );
        ui.add(Label::new(weak(ui, text)).wrap());
    }
}

fn records(ui: &mut Ui, open: &OpenSession<'_>) {
    let records = &open.document.loaded.report.records;
    if records.is_empty() {
        return;
    }
    heading(ui, "Records");
    Grid::new("records").num_columns(3).spacing([16.0, 4.0]).max_col_width(180.0).show(ui, |ui| {
        // Records count as context of the main conversation unless the conversation has its own file.
        let document = open.document;
        let loaded = document.loaded.path.as_ref();
        let has_own_file = matches!(&document.origin, Origin::Path(path) if loaded != Some(path));
        let is_main = document.session().track == Track::Main;
        let in_context = if is_main || has_own_file { "in context" } else { "in main" };
        for head in ["kind", "in file", in_context] {
            ui.label(small(ui, head));
        }
        ui.end_row();
        for (kind, count) in records {
            ui.vertical(|ui| ui.add(Label::new(kind).wrap()));
            ui.label(wording::grouped(count.count as u64));
            ui.label(if count.in_context == 0 {
                weak(ui, "–")
            } else {
                RichText::new(wording::grouped(count.in_context as u64))
            });
            ui.end_row();
        }
    });
}

fn warnings(ui: &mut Ui, open: &OpenSession<'_>) {
    let (warnings, issues) = (&open.document.loaded.warnings, &open.document.issues);
    heading(ui, "Warnings");
    if warnings.is_empty() && issues.is_empty() {
        ui.label(RichText::new("No warnings: every record was read.").color(palette(ui).ok));
    }
    for warning in warnings.iter().take(MAX_LISTED) {
        let text = warning.to_string().replace('`', "");
        listed(ui, &text, palette(ui).warn);
    }
    for issue in issues.iter().take(MAX_LISTED) {
        let number = wording::number(issue.message);
        let text = format!("message {number}: {}", issue.kind.sentence());
        listed(ui, &text, palette(ui).text);
    }
    let more = (warnings.len() + issues.len())
        .saturating_sub(warnings.len().min(MAX_LISTED) + issues.len().min(MAX_LISTED));
    if more > 0 {
        ui.add_space(space::XS);
        ui.label(weak(
            ui,
            format!("and {} more (see plimsoll inspect)", wording::grouped(more as u64)),
        ));
    }
}

/// Shows a text with a bullet, so that each begins visibly and its further lines are indented.
fn listed(ui: &mut Ui, text: &str, color: Color32) {
    ui.horizontal_top(|ui| {
        ui.label(RichText::new("•").color(color));
        let text = RichText::new(wording::capitalized(text)).color(color);
        ui.add(Label::new(text).wrap());
    });
    ui.add_space(space::XS);
}
