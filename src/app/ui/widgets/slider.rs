//! Keyboard and screen reader support of sliders.

use egui::accesskit::{Action, ActionData};
use egui::{EventFilter, Key, Response, Role, Ui, WidgetInfo};
use std::ops::RangeInclusive;

/// Declares `response` as a slider named `name`. Returns the value requested by keyboard (one step per arrow key, ten
/// with Shift) or by an assistive tool.
pub(crate) fn requested_value(
    ui: &Ui,
    response: &Response,
    name: &str,
    value: f64,
    range: &RangeInclusive<f64>,
    step: f64,
) -> Option<f64> {
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), value, name));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_role(Role::Slider);
        node.set_min_numeric_value(*range.start());
        node.set_max_numeric_value(*range.end());
        node.set_numeric_value_step(step);
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });
    let steps = keyboard_steps(ui, response) + reader_steps(ui, response);
    let set = ui.input(|input| {
        let requests = input.accesskit_action_requests(response.id, Action::SetValue);
        requests
            .filter_map(|request| match request.data {
                Some(ActionData::NumericValue(value)) => Some(value),
                _ => None,
            })
            .last()
    });
    let requested = set.or_else(|| (steps != 0.0).then_some(value + steps * step))?;
    Some(requested.clamp(*range.start(), *range.end()))
}

fn keyboard_steps(ui: &Ui, response: &Response) -> f64 {
    if !response.has_focus() {
        return 0.0;
    }
    let filter =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    ui.input(|input| {
        let presses =
            |keys: [Key; 2]| keys.map(|key| input.num_presses(key) as f64).iter().sum::<f64>();
        let steps =
            presses([Key::ArrowRight, Key::ArrowUp]) - presses([Key::ArrowLeft, Key::ArrowDown]);
        if input.modifiers.shift { steps * 10.0 } else { steps }
    })
}

fn reader_steps(ui: &Ui, response: &Response) -> f64 {
    ui.input(|input| {
        input.num_accesskit_action_requests(response.id, Action::Increment) as f64
            - input.num_accesskit_action_requests(response.id, Action::Decrement) as f64
    })
}
