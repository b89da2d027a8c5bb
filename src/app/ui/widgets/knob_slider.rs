//! A slider for a knob: its name and value on one line, a thin rail below, then its help text.

use crate::app::state::model::tone::Tone;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::knob_spec::{KnobResponse, KnobSpec, parse};
use crate::app::ui::widgets::slider;
use egui::{
    Align, Color32, CursorIcon, DragValue, Event, Id, Key, Layout, Pos2, Rangef, Rect, Response,
    RichText, Role, Sense, Shape, Stroke, TextStyle, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use std::cell::Cell;

const RAIL: f32 = 4.0;
pub(crate) const KNOB_RADIUS: f32 = 6.0;
/// Time for which the field reports that a typed value was out of range, in seconds.
const HINT_SECONDS: f64 = 4.0;

/// Shows a knob across the available width.
pub fn knob_slider(ui: &mut Ui, spec: &KnobSpec<'_>) -> KnobResponse {
    let mut out = KnobResponse::default();
    ui.push_id(spec.label, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let hint = ui.make_persistent_id("clamped");
        let is_edited = head(ui, spec, hint, &mut out);
        let is_moved = rail(ui, spec, &mut out);
        help_texts(ui, spec, is_edited || is_moved);
    });
    out.changed =
        out.changed.map(|value| spec.snap(value)).filter(|value| !spec.is_same(*value, spec.value));
    out
}

/// Shows the text below a knob: its consequence, and its help while a control of the knob has the focus.
pub(crate) fn help_texts(ui: &mut Ui, spec: &KnobSpec<'_>, has_focus: bool) {
    let palette = palette(ui);
    let small = |text: &str, color| RichText::new(text).text_style(TextStyle::Small).color(color);
    if has_focus && !spec.help.is_empty() {
        ui.add_space(2.0);
        let help = ui.label(small(spec.help, palette.weak));
        hint_on(help, spec);
    }
    if !spec.note.is_empty() {
        ui.add_space(2.0);
        let color = if spec.is_noted { palette.warn } else { palette.weak };
        let note = ui.label(small(spec.note, color).italics());
        hint_on(note, spec);
    }
    if let Some(consequence) = &spec.consequence {
        ui.add_space(2.0);
        let color = if spec.tone == Tone::Plain { palette.weak } else { palette.tone(spec.tone) };
        let consequence = ui.label(small(consequence, color));
        hint_on(consequence, spec);
    }
}

/// Shows the name of a knob, with its full description as hover text.
pub(crate) fn label(ui: &mut Ui, spec: &KnobSpec<'_>) {
    let name = ui.label(RichText::new(spec.label).color(palette(ui).text));
    hint_on(name, spec);
}

pub(crate) fn hint_on(response: Response, spec: &KnobSpec<'_>) {
    if !spec.hint.is_empty() {
        response.on_hover_text(spec.hint);
    }
}

/// Shows the lanes that a setting changes, if it has such a remark.
pub(crate) fn scope(ui: &mut Ui, spec: &KnobSpec<'_>) {
    if !spec.scope.is_empty() {
        let scope = RichText::new(spec.scope).text_style(TextStyle::Small);
        let scope = ui.label(scope.color(palette(ui).weak));
        scope.on_hover_text(
            "A change applies to every lane that has this setting and no settings of its own",
        );
    }
}

/// Shows name, value and unit. Returns whether the value has the focus.
fn head(ui: &mut Ui, spec: &KnobSpec<'_>, hint: Id, out: &mut KnobResponse) -> bool {
    let remark = clamped(ui, spec, hint);
    let remark = remark.as_deref().unwrap_or(spec.unit);
    let fits = head_width(ui, spec, remark) <= ui.available_width();
    let is_edited = ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().item_spacing.x = space::XS;
        label(ui, spec);
        if fits {
            scope(ui, spec);
        }
        if !spec.is_same(spec.value, spec.default) {
            reset(ui, spec, out);
        }
        let value = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if fits {
                unit(ui, remark);
            }
            value_field(ui, spec, hint, out)
        });
        value.inner
    });
    if !fits {
        // Long remarks are shown below the name and the value so that nothing overlaps.
        let row = vec2(ui.available_width(), 13.0);
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(row, layout, |ui| {
            scope(ui, spec);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| unit(ui, remark));
        });
    }
    is_edited.inner
}

/// Shows the unit of the value or a hint about a rejected value.
fn unit(ui: &mut Ui, text: &str) {
    if !text.is_empty() {
        let text = RichText::new(text).text_style(TextStyle::Small);
        ui.label(text.color(palette(ui).weak));
    }
}

/// Returns the width of name, reset button, value and remark side by side, in points. Always includes the button so
/// that nothing moves when it appears.
fn head_width(ui: &Ui, spec: &KnobSpec<'_>, remark: &str) -> f32 {
    let wide = |text: &str, style: TextStyle| {
        let font = style.resolve(ui.style());
        let galley = ui.painter();
        let galley = galley.layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
        galley.size().x
    };
    let value = wide(&spec.text(spec.value), theme::strong()) + 4.0;
    let name = wide(spec.label, TextStyle::Body);
    let remark = wide(remark, TextStyle::Small) + wide(spec.scope, TextStyle::Small);
    name + 16.0 + value + remark + 4.0 * space::XS + space::S
}

/// Shows the button that resets a knob to its default.
pub(crate) fn reset(ui: &mut Ui, spec: &KnobSpec<'_>, out: &mut KnobResponse) {
    let (rect, button) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::click());
    let color = if button.hovered() { palette(ui).accent } else { palette(ui).weak };
    turn_back(ui, rect.center(), color);
    let name = format!("Reset {}", spec.label);
    button.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
    let hint = format!("Reset to {}", spec.text(spec.default));
    if button.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(hint).clicked() {
        out.changed = Some(spec.default);
        out.is_reset = true;
    }
}

/// Draws a counterclockwise arrow.
fn turn_back(ui: &Ui, center: Pos2, color: Color32) {
    const RADIUS: f32 = 4.0;
    let at = |degrees: f32| center + RADIUS * Vec2::angled(degrees.to_radians());
    let arc = (0..=14).map(|i| at(-130.0 + 20.0 * i as f32)).collect();
    ui.painter().line(arc, Stroke::new(1.25, color));
    let tip = at(-130.0) + vec2(-2.0, 1.5);
    let head = vec![tip, tip + vec2(0.5, -5.0), tip + vec2(4.5, -0.5)];
    ui.painter().add(Shape::convex_polygon(head, color, Stroke::NONE));
}

/// Shows the value. Returns whether it has the focus.
fn value_field(ui: &mut Ui, spec: &KnobSpec<'_>, hint: Id, out: &mut KnobResponse) -> bool {
    let mut value = spec.value;
    let typed = Cell::new(None);
    let response = ui
        .scope(|ui| {
            ui.style_mut().drag_value_text_style = theme::strong();
            ui.spacing_mut().button_padding = vec2(2.0, 0.0);
            ui.spacing_mut().interact_size.x = 0.0;
            let widgets = &mut ui.visuals_mut().widgets;
            for state in [&mut widgets.inactive, &mut widgets.hovered] {
                state.bg_stroke = Stroke::NONE;
            }
            widgets.inactive.weak_bg_fill = Color32::TRANSPARENT;
            let id = ui.next_auto_id();
            let is_edited = ui.memory(|memory| memory.has_focus(id));
            let field = DragValue::new(&mut value)
                .range(spec.range.clone())
                .clamp_existing_to_range(false)
                .speed((spec.step * 0.25).max((spec.range.end() - spec.range.start()) / 1000.0))
                .update_while_editing(false)
                .clip_text(true)
                .min_size(vec2(if is_edited { width(ui, spec) } else { 0.0 }, 20.0))
                .custom_formatter(|value, _| spec.text(value))
                .custom_parser(|text| {
                    typed.set(parse(text));
                    typed.get()
                });
            ui.add(field)
        })
        .inner;
    let response = response.accessible_name(format!("{} value", spec.label));
    let has_focus = response.has_focus();
    keep_keys(ui, &response);
    if is_cancelled(ui, &response) {
        return has_focus;
    }
    if let Some(typed) = typed.get().filter(|typed| !spec.range.contains(typed)) {
        let until = ui.input(|input| input.time) + HINT_SECONDS;
        ui.data_mut(|data| data.insert_temp(hint, (until, typed)));
    }
    if response.changed() {
        out.changed = Some(value);
    }
    has_focus
}

/// Returns the field's width: while it is edited, that of the longest value of the range, so that typing moves nothing.
fn width(ui: &Ui, spec: &KnobSpec<'_>) -> f32 {
    let font = theme::strong().resolve(ui.style());
    let wide = |value: f64| {
        ui.painter().layout_no_wrap(spec.text(value), font.clone(), Color32::PLACEHOLDER).size().x
    };
    let widest = [*spec.range.end(), *spec.range.start(), spec.value].map(wide);
    widest.into_iter().fold(28.0, f32::max) + 8.0
}

/// Consumes the keys typed into a field, also in the frame in which it loses the focus.
fn keep_keys(ui: &Ui, field: &Response) {
    if !field.has_focus() && !field.lost_focus() {
        return;
    }
    let is_typing = |event: &Event| match event {
        Event::Key { modifiers, key, .. } => !modifiers.command && *key != Key::Tab,
        _ => false,
    };
    ui.input_mut(|input| {
        // The cancel check below and the field itself (in the next frame) still need Esc.
        let is_escape = input.key_pressed(Key::Escape);
        if !is_escape {
            input.events.retain(|event| !is_typing(event));
        }
    });
}

/// Returns whether Esc cancelled the edit. Without this check the field would accept the typed value one frame later.
fn is_cancelled(ui: &Ui, field: &Response) -> bool {
    let id = field.id.with("cancelled");
    let now = ui.ctx().cumulative_frame_nr();
    let is_left = field.has_focus() || field.lost_focus();
    if is_left && ui.input(|input| input.key_pressed(Key::Escape)) {
        ui.data_mut(|data| data.insert_temp(id, now));
        return true;
    }
    let at: Option<u64> = ui.data(|data| data.get_temp(id));
    at.is_some_and(|at| now <= at + 1)
}

/// Returns a hint, for a few seconds, that the typed value was outside the knob's range.
fn clamped(ui: &Ui, spec: &KnobSpec<'_>, hint: Id) -> Option<String> {
    let (until, typed): (f64, f64) = ui.data(|data| data.get_temp(hint))?;
    let left = until - ui.input(|input| input.time);
    if left <= 0.0 {
        return None;
    }
    ui.ctx().request_repaint_after_secs(left as f32);
    let (low, high) = (*spec.range.start(), *spec.range.end());
    Some(if typed > high {
        format!("at most {}", spec.text(high))
    } else {
        format!("at least {}", spec.text(low))
    })
}

/// Returns the horizontal range of the knob's center on its rail.
fn travel(rail: Rangef) -> Rangef {
    rail.shrink(KNOB_RADIUS)
}

/// Shows the rail. Returns whether it has the focus.
fn rail(ui: &mut Ui, spec: &KnobSpec<'_>, out: &mut KnobResponse) -> bool {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), 16.0), Sense::click_and_drag());
    let track = Rect::from_center_size(rect.center(), vec2(rect.width(), RAIL));
    let travel = travel(track.x_range());
    if let Some(pointer) = response.interact_pointer_pos() {
        out.changed = Some(spec.at((pointer.x - travel.min) / travel.span().max(1.0)));
    }
    if response.clicked() || response.drag_started() {
        // Arrow keys then move the clicked slider.
        response.request_focus();
    }
    if let Some(requested) =
        slider::requested_value(ui, &response, spec.label, spec.value, &spec.range, spec.step)
    {
        out.changed = Some(requested);
    }
    let shown = out.changed.map_or(spec.value, |value| spec.snap(value));
    let x = travel.min + spec.share(shown) * travel.span();
    paint_rail(ui, track, x, &response);
    let has_focus = response.has_focus();
    let response = response.on_hover_cursor(CursorIcon::ResizeHorizontal);
    if !response.dragged() {
        hint_on(response, spec);
    }
    has_focus
}

fn paint_rail(ui: &Ui, track: Rect, x: f32, response: &Response) {
    let palette = palette(ui);
    let painter = ui.painter();
    painter.rect_filled(track, RAIL / 2.0, palette.hairline);
    painter.rect_filled(track.with_max_x(x), RAIL / 2.0, palette.accent);
    let is_held = response.dragged() || response.hovered();
    let radius = if is_held { KNOB_RADIUS + 1.0 } else { KNOB_RADIUS };
    let center = pos2(x, track.center().y);
    painter.circle_filled(center, radius + 1.0, palette.panel);
    painter.circle(center, radius, palette.outline, Stroke::NONE);
    painter.circle_filled(center, radius - 1.5, palette.text);
}
