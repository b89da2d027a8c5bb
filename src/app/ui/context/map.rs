//! The map of a context: a rectangle for each group, divided among its pieces.

use crate::analysis::attribution::ContextItem;
use crate::app::state::command::Commands;
use crate::app::state::context::result::ContextPieces;
use crate::app::state::context::treemap::{Area, layout};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::safe_text;
use crate::units::Tokens;
use egui::{
    Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2,
};
use std::collections::BTreeMap;

/// Height of a group's title.
const TITLE: f32 = 18.0;
/// Smallest side of a rectangle with a title or a name.
// Chosen: a few letters fit.
const NAMED: f32 = 44.0;
/// Maximum number of rectangles in a group; the smallest are one.
// Chosen: smaller ones cannot be told apart or clicked.
const MAX_ITEMS: usize = 60;

/// Pieces of one group, the largest first.
struct Group<'a> {
    name: &'a str,
    tokens: Tokens,
    items: Vec<&'a ContextItem>,
}

/// Draws the map of a context.
pub(super) fn show(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    pieces: &ContextPieces,
    commands: &mut Commands,
) {
    if pieces.items.is_empty() {
        padded(ui, |ui| ui.label(weak(ui, "The context is empty.")));
        return;
    }
    padded(ui, |ui| {
        let call = wording::number(pieces.call);
        let text = format!(
            "Context of call {call}, lane {}: {} tokens. Click a piece to read it.",
            pieces.lane,
            wording::tokens(pieces.total)
        );
        ui.label(small(ui, text));
    });
    let area = ui.available_rect_before_wrap().shrink2(vec2(space::L, space::XS));
    if area.height() < NAMED {
        return;
    }
    let groups = groups(&pieces.items);
    let sizes: Vec<f32> = groups.iter().map(|group| group.tokens.as_f64() as f32).collect();
    for (group, place) in groups.iter().zip(layout(&sizes, of_rect(area))) {
        group_map(ui, session, pieces, group, rect(place).shrink(1.0), commands);
    }
    ui.advance_cursor_after_rect(area);
}

fn of_rect(rect: Rect) -> Area {
    Area { x: rect.left(), y: rect.top(), width: rect.width(), height: rect.height() }
}

fn rect(area: Area) -> Rect {
    Rect::from_min_size(pos2(area.x, area.y), vec2(area.width, area.height))
}

/// Returns the groups, the largest first.
fn groups(items: &[ContextItem]) -> Vec<Group<'_>> {
    let mut found: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for item in items {
        let group = found.entry(&item.group).or_insert_with(|| Group {
            name: &item.group,
            tokens: Tokens::ZERO,
            items: Vec::new(),
        });
        group.tokens += item.tokens;
        group.items.push(item);
    }
    let mut groups: Vec<Group<'_>> = found.into_values().collect();
    groups.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(b.name)));
    for group in &mut groups {
        group.items.sort_by(|a, b| b.tokens.cmp(&a.tokens).then(a.message.cmp(&b.message)));
    }
    groups
}

/// Draws a group with its title and pieces.
fn group_map(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    pieces: &ContextPieces,
    group: &Group<'_>,
    area: Rect,
    commands: &mut Commands,
) {
    let colors = palette(ui);
    ui.painter().rect_filled(area, 2.0, colors.raised);
    let has_title = area.width() > NAMED && area.height() > NAMED;
    let inside = if has_title {
        let share = wording::percent(group.tokens.share_of(pieces.total));
        let title = format!("{}  {share}", safe_text::one_line(group.name, 60));
        let head = Rect::from_min_size(area.min, vec2(area.width(), TITLE));
        let color = colors.text;
        let font = TextStyle::Small.resolve(ui.style());
        let painter = ui.painter().with_clip_rect(head);
        painter.text(head.left_center() + vec2(6.0, 0.0), Align2::LEFT_CENTER, title, font, color);
        Rect::from_min_max(pos2(area.left(), area.top() + TITLE), area.max)
    } else {
        area
    };
    let (shown, rest) = group.items.split_at(group.items.len().min(MAX_ITEMS));
    let mut sizes: Vec<f32> = shown.iter().map(|item| item.tokens.as_f64() as f32).collect();
    let rest_tokens: Tokens = rest.iter().map(|item| item.tokens).sum();
    sizes.push(rest_tokens.as_f64() as f32);
    // The rest is placed last, whatever its size.
    let places = layout(&sizes, of_rect(inside.shrink(1.0)));
    for (item, place) in shown.iter().zip(&places) {
        piece(ui, session, pieces, item, rect(*place), commands);
    }
    if let Some(place) = places.last().filter(|_| !rest.is_empty()) {
        let area = rect(*place).shrink(0.5);
        ui.painter().rect_filled(area, 1.0, colors.hairline);
        let text = format!(
            "{} smaller pieces, {} tokens",
            wording::grouped(rest.len() as u64),
            wording::tokens(rest_tokens)
        );
        ui.interact(area, ui.scope_id().with(("rest", group.name)), Sense::hover())
            .on_hover_text(text);
    }
}

/// Draws a piece. A click selects its message.
fn piece(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    pieces: &ContextPieces,
    item: &ContextItem,
    place: Rect,
    commands: &mut Commands,
) {
    let area = place.shrink(0.5);
    if area.width() < 1.0 || area.height() < 1.0 {
        return;
    }
    let colors = palette(ui);
    let is_selected = item.message.is_some()
        && item.message == session.selection.message
        && item.source.is_none();
    let name = safe_text::one_line(&item.name, 80);
    let id = ui.scope_id().with(("piece", &item.group, &item.name, item.message));
    let sense = if item.message.is_some() { Sense::click() } else { Sense::hover() };
    let response = ui.interact(area, id, sense);
    ui.painter().rect_filled(area, 1.0, colors.kind_area(item.kind));
    if response.hovered() || is_selected {
        let stroke = Stroke::new(1.5, if is_selected { colors.accent } else { colors.text });
        ui.painter().rect_stroke(area, 1.0, stroke, StrokeKind::Inside);
    }
    if area.width() > NAMED && area.height() > 14.0 {
        let font = TextStyle::Small.resolve(ui.style());
        let painter = ui.painter().with_clip_rect(area.shrink(3.0));
        let at = area.left_top() + vec2(4.0, 3.0);
        painter.text(at, Align2::LEFT_TOP, &name, font.clone(), Color32::WHITE);
        if area.height() > 30.0 {
            let tokens = wording::tokens(item.tokens);
            let below = at + vec2(0.0, 14.0);
            painter.text(below, Align2::LEFT_TOP, tokens, font, Color32::from_white_alpha(190));
        }
    }
    let tokens = wording::tokens(item.tokens);
    let share = wording::percent(item.tokens.share_of(pieces.total));
    let label = format!("{}: {name}, {tokens} tokens, {share}", item.group);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    let response = response.on_hover_text(&label);
    if let Some(message) = item.message.filter(|_| response.clicked()) {
        commands.push(SelectCommand::Message(message));
        commands.push(ShellCommand::ShowTab(Tab::MESSAGES));
    }
}
