//! The summary sentence above the plot, with links to the calls and panels that it mentions.

use crate::analysis::{Link, Severity, Verdict};
use crate::app::state::command::Commands;
use crate::app::state::cost::state::{CostPage, CostView};
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::messages::order::{Filter, Sort};
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::opening::Opening;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::ui::theme::{palette, space};
use egui::text::{CCursor, LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align, Color32, CursorIcon, Galley, Id, Rect, Response, RichText, Role, Sense, Stroke,
    TextStyle, Ui, Vec2, WidgetInfo, pos2, vec2,
};

/// Width of the dot before the sentence and of the indentation of further lines, in points.
const INDENT: f32 = 18.0;
/// Maximum number of lines. The hover text contains the whole sentence.
const LINES: usize = 3;
/// Window height in points below which the sentence has one line less.
const LOW: f32 = 640.0;

/// Shows the summary, or the error of an attempt to open another file.
pub(crate) fn show(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    opening: &Opening<'_>,
    commands: &mut Commands,
) {
    if let Some(problem) = opening.problem {
        show_problem(ui, problem, commands);
    } else if let Some(link) = sentence(ui, &verdict(session)) {
        follow(link, session, commands);
    }
    if let Some(loading) = opening.loading {
        crate::app::ui::parts::progress::progress_over(ui, loading, commands);
    }
}

/// Returns the summary with the results that are available so far.
fn verdict(session: &OpenSession<'_>) -> Verdict {
    let mut verdict = session.runs.verdict.clone();
    if let Some(insights) = session.derived.insights() {
        verdict.clauses.extend_from_slice(&insights.statements);
    }
    if let Some(preset) = session.derived.working_preset() {
        verdict.clauses.extend(preset.clauses("No lane", "compare"));
    }
    verdict
}

/// Follows a link to a call, a message or a panel.
fn follow(link: Link, session: &OpenSession<'_>, commands: &mut Commands) {
    match link {
        Link::Call(call) => commands.push(SelectCommand::Call(call)),
        Link::Message(message) => commands.push(SelectCommand::Message(message)),
        Link::Resent(message) => {
            commands.push(MessagesCommand::Filter(Filter::default()));
            commands.push(MessagesCommand::Sort(Sort::BY_CUMULATIVE));
            commands.push(SelectCommand::Message(message));
        }
        Link::Cache(call) => {
            commands.extend(call.map(SelectCommand::Call));
            commands.push(ViewCommand::new(CostView {
                page: CostPage::Cache,
                cause: None,
                ..session.view.cost()
            }));
            commands.push(ShellCommand::ShowTab(Tab::COST));
        }
        Link::Count => commands.push(ShellCommand::ShowTab(Tab::IMPORT)),
        Link::Compare(preset) => commands.push(LanesCommand::Compare(preset.to_owned())),
    }
}

/// Returns the hover text of a link.
fn hint(link: Link) -> &'static str {
    match link {
        Link::Call(_) => "Show this call",
        Link::Message(_) => "Show this message",
        Link::Resent(_) => "Show the messages by cumulative tokens",
        Link::Cache(_) => "Show the cache audit",
        Link::Compare(_) => "Add a lane with this preset",
        Link::Count => "Show how the session was detected and counted",
    }
}

fn show_problem(ui: &mut Ui, problem: &str, commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, 2.0);
        ui.spacing_mut().interact_size.y = 20.0;
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        dot(ui, rect.left_center(), palette(ui).bad);
        ui.label(RichText::new(problem).color(palette(ui).bad));
        if ui.small_button("Dismiss").clicked() {
            commands.push(OpenCommand::DismissError);
        }
    });
}

/// Shows the sentence as one wrapped text with its links laid over it. Returns the clicked link.
fn sentence(ui: &mut Ui, verdict: &Verdict) -> Option<Link> {
    let width = (ui.available_width() - INDENT).max(80.0);
    let galley = layout(ui, verdict, width);
    let size = vec2(ui.available_width(), galley.size().y.max(22.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, verdict.text()));
    let origin = pos2(rect.left() + INDENT, (rect.center().y - galley.size().y / 2.0).round());
    let line = galley.rows.first().map_or(galley.size().y, |row| row.row.height());
    dot(ui, pos2(rect.left(), origin.y + line / 2.0), tone(ui, verdict.severity));
    let mut clicked = None;
    let mut at = 0;
    for (nth, clause) in verdict.clauses.iter().enumerate() {
        let end = at + clause.text.chars().count();
        if let Some(link) = clause.link {
            let rects = rects(&galley, at..end);
            let places: Vec<_> = rects.into_iter().map(|r| r.translate(origin.to_vec2())).collect();
            // The same words can occur twice.
            let id = response.id.with(nth);
            if show_link(ui, id, &clause.text, &places, hint(link)) {
                clicked = Some(link);
            }
        }
        at = end;
    }
    if galley.elided {
        response.on_hover_text(verdict.text());
    }
    ui.painter().galley(origin, galley, palette(ui).text);
    clicked
}

fn layout(ui: &Ui, verdict: &Verdict, width: f32) -> std::sync::Arc<Galley> {
    let is_low = ui.ctx().content_rect().height() < LOW;
    let mut job = LayoutJob {
        wrap: TextWrapping {
            max_width: width,
            max_rows: if is_low { LINES - 1 } else { LINES },
            ..TextWrapping::default()
        },
        ..LayoutJob::default()
    };
    for clause in &verdict.clauses {
        let format = TextFormat {
            font_id: TextStyle::Body.resolve(ui.style()),
            color: palette(ui).text,
            valign: Align::Center,
            ..TextFormat::default()
        };
        // A line does not end between a number and its sign.
        job.append(&clause.text.replace(" %", "\u{a0}%"), 0.0, format);
    }
    ui.painter().layout_job(job)
}

/// Returns the rectangles of a range of characters, one for each line.
fn rects(galley: &Galley, chars: std::ops::Range<usize>) -> Vec<Rect> {
    let mut rects: Vec<Rect> = Vec::new();
    for at in chars {
        // Between two rows, a character begins on the second and ends on the first.
        let begin = CCursor { prefer_next_row: true, ..CCursor::new(at) };
        let from = galley.pos_from_cursor(begin);
        let to = galley.pos_from_cursor(CCursor::new(at + 1));
        let glyph = Rect::from_min_max(from.min, pos2(to.right(), from.bottom()));
        match rects.last_mut() {
            Some(line) if line.top() == glyph.top() => *line = line.union(glyph),
            _ => rects.push(glyph),
        }
    }
    rects.retain(|r| r.width() > 0.5);
    rects
}

/// Draws a link over its words, at one place for each line. Returns whether it was clicked.
fn show_link(ui: &Ui, id: Id, text: &str, places: &[Rect], hint: &str) -> bool {
    let parts: Vec<Response> = places
        .iter()
        .enumerate()
        .map(|(i, place)| {
            // A link across two lines is one stop for keyboard focus.
            let sense = if i == 0 { Sense::click() } else { Sense::CLICK };
            ui.interact(place.expand2(Vec2::new(1.0, 2.0)), id.with(i), sense)
        })
        .collect();
    let Some(first) = parts.first() else {
        return false;
    };
    first.widget_info(|| WidgetInfo::labeled(Role::Link, true, text));
    let is_hot = parts.iter().any(Response::hovered) || first.has_focus();
    let color = if is_hot { palette(ui).accent } else { palette(ui).weak };
    for place in places {
        let y = ui.painter().round_to_pixel_center(place.bottom() - 0.5);
        ui.painter().hline(place.x_range(), y, Stroke::new(1.0, color));
    }
    let mut is_clicked = false;
    for part in parts {
        let part = part.on_hover_cursor(CursorIcon::PointingHand);
        is_clicked |= part.on_hover_text(hint).clicked();
    }
    is_clicked
}

fn tone(ui: &Ui, severity: Severity) -> Color32 {
    match severity {
        Severity::Ok => palette(ui).ok,
        Severity::Warning => palette(ui).warn,
        Severity::Bad => palette(ui).bad,
    }
}

fn dot(ui: &Ui, left: egui::Pos2, color: Color32) {
    ui.painter().circle_filled(left + vec2(4.0, 0.0), 4.0, color);
}
