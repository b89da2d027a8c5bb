//! A knob with named values: its name and its current choice on one line.

use crate::app::ui::theme::space;
use crate::app::ui::widgets::knob_slider::reset;
use crate::app::ui::widgets::knob_spec::{KnobResponse, KnobSpec};
use egui::{Align, ComboBox, Layout, PopupCloseBehavior, Ui};

/// Maximum length of a short choice, in bytes.
const SHORT: usize = 4;

/// Shows a knob as a menu of `choices`. The value is an index into them.
pub fn knob_choice(ui: &mut Ui, spec: &KnobSpec<'_>, choices: &[String]) -> KnobResponse {
    let chosen = spec.value.max(0.0).round() as usize;
    let name = choices.get(chosen).map_or("?", String::as_str);
    let is_short = choices.iter().all(|choice| choice.len() <= SHORT);
    let width = if is_short { 56.0 } else { 96.0 };
    let mut changed = None;
    let out = knob_menu(ui, spec, name, width, |ui| {
        for (index, choice) in choices.iter().enumerate() {
            if ui.selectable_label(index == chosen, choice).clicked() {
                changed = Some(index as f64);
                ui.close();
            }
        }
    });
    let changed = changed.filter(|value| !spec.is_same(*value, spec.value));
    KnobResponse { changed: changed.or(out.changed), ..out }
}

/// Shows a knob as a menu, which must close itself after a choice. `chosen` is the name of the current choice, and
/// `width` the width of the closed menu in points.
pub fn knob_menu(
    ui: &mut Ui,
    spec: &KnobSpec<'_>,
    chosen: &str,
    width: f32,
    menu: impl FnOnce(&mut Ui),
) -> KnobResponse {
    let mut out = KnobResponse::default();
    ui.push_id(spec.label, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let has_focus = ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 22.0;
            ui.spacing_mut().item_spacing.x = space::XS;
            crate::app::ui::widgets::knob_slider::label(ui, spec);
            crate::app::ui::widgets::knob_slider::scope(ui, spec);
            if !spec.is_same(spec.value, spec.default) {
                reset(ui, spec, &mut out);
            }
            let focused = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let combo = ComboBox::from_id_salt("choice")
                    .width(width)
                    .height((ui.ctx().content_rect().height() * 0.7).round())
                    .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
                    .selected_text(chosen)
                    .truncate();
                let shown = combo.show_ui(ui, menu);
                let control = shown.response.accessible_name(spec.label);
                let has_focus = control.has_focus();
                crate::app::ui::widgets::knob_slider::hint_on(control, spec);
                has_focus
            });
            focused.inner
        });
        crate::app::ui::widgets::knob_slider::help_texts(ui, spec, has_focus.inner);
    });
    out
}
