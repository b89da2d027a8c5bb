//! Temporary notices at the lower right, over the settings panel and above its buttons. They never cover a chart and let
//! clicks through, except a notice with a button.

use crate::app::state::command::Command;
use crate::app::state::model::config::Config;
use crate::app::state::model::tone::Tone;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::below_notices::foot;
use crate::units::Share;
use egui::containers::panel::PanelState;
use egui::{Align2, Area, Button, Frame, Id, Label, Margin, Order, RichText, Ui, vec2};
use std::time::Duration;

/// Display time of a notice in seconds. Notices with a file path, an instruction or a button use the longer one.
const SHORT: f64 = 4.0;
const LONG: f64 = 12.0;
/// Default width of the notices, in points, if the width of the settings panel is unknown.
const WIDTH: f32 = 276.0;
/// Space around the notices, in points.
const MARGIN: f32 = space::S;

/// Width of the button in a notice, in points.
const BUTTON: f32 = 52.0;

/// Start of the notice of the scale.
const ZOOM: &str = "Zoom ";

/// The active notices.
#[derive(Debug, Default)]
pub struct Toasts {
    all: Vec<Toast>,
}

#[derive(Debug)]
struct Toast {
    text: String,
    tone: Tone,
    /// Display time, in seconds.
    stays: f64,
    /// Time at which the notice disappears. `None` before it is first shown.
    until: Option<f64>,
    /// The configuration after the change that the notice reports and its button undoes.
    changed: Option<Config>,
}

impl Toasts {
    /// Adds a notice.
    pub fn info(&mut self, text: impl Into<String>) {
        self.add(text.into(), Tone::Accent, SHORT);
    }

    /// Adds a notice about a change with a button that undoes it. It disappears with the next change, so that the button
    /// always undoes the change in its text.
    pub(crate) fn changed(&mut self, text: String, now: &Config) {
        self.add(text, Tone::Accent, LONG);
        if let Some(toast) = self.all.last_mut() {
            toast.changed = Some(now.clone());
        }
    }

    /// Adds a notice that needs attention.
    pub fn warning(&mut self, text: impl Into<String>) {
        self.add(text.into(), Tone::Warn, LONG);
    }

    /// Adds an error notice.
    pub fn failed(&mut self, why: String) {
        self.add(why, Tone::Bad, LONG);
    }

    /// Adds a success notice.
    pub fn done(&mut self, text: String) {
        self.add(text, Tone::Ok, SHORT);
    }

    /// Adds a notice with the path of a written file.
    pub fn written(&mut self, text: String) {
        self.add(text, Tone::Ok, LONG);
    }

    /// Adds a notice of the scale of the window, instead of the one before.
    pub(crate) fn zoomed(&mut self, scale: f32) {
        self.all.retain(|toast| !toast.text.starts_with(ZOOM));
        let percent = wording::percent(Share(f64::from(scale)));
        self.info(format!("{ZOOM}{percent}"));
    }

    fn add(&mut self, text: String, tone: Tone, stays: f64) {
        // A repeated notice stays longer.
        self.all.retain(|toast| toast.text != text);
        self.all.push(Toast { text, tone, stays, until: None, changed: None });
    }

    /// Shows the active notices, newest at the bottom. `ui` is the window's, `config` that of the shown session. Returns the
    /// command of a clicked button.
    pub(crate) fn show(&mut self, ui: &Ui, config: &Config) -> Option<Command> {
        let is_current = |toast: &Toast| toast.changed.as_ref().is_none_or(|now| now == config);
        self.all.retain(is_current);
        if self.all.is_empty() {
            return None;
        }
        let has_button = self.all.iter().any(|toast| toast.changed.is_some());
        let settings =
            PanelState::load(ui.ctx(), ui.scope_id().with(crate::app::shell::layout::SETTINGS));
        let width = settings.map_or(WIDTH, |panel| panel.outer_rect.width() - 2.0 * MARGIN);
        let area = Area::new(Id::unique("toasts"))
            .order(Order::Foreground)
            .anchor(Align2::RIGHT_BOTTOM, vec2(-MARGIN, -MARGIN - foot(ui)))
            .interactable(has_button);
        let shown = area.show(ui.ctx(), |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing.y = MARGIN;
            let clicked = self.all.iter().filter(|toast| toast.show(ui));
            clicked.count() > 0
        });
        let now = ui.input(|i| i.time);
        let pointer = ui.input(|i| i.pointer.hover_pos());
        let is_read = pointer.is_some_and(|at| shown.response.rect.contains(at));
        for toast in &mut self.all {
            let until = toast.until.unwrap_or(now + toast.stays);
            // No notice disappears while the pointer is on it.
            toast.until = Some(if is_read { until.max(now + 1.0) } else { until });
        }
        self.all.retain(|toast| toast.until > Some(now));
        let next = self.all.iter().filter_map(|toast| toast.until);
        let next = next.fold(f64::INFINITY, f64::min) - now;
        if next.is_finite() {
            let next = Duration::from_secs_f64(next.max(0.0));
            ui.ctx().request_repaint_after(next);
        }
        shown.inner.then_some(ShellCommand::Undo.into())
    }
}

impl Toast {
    /// Shows the notice. Returns whether its button was clicked.
    fn show(&self, ui: &mut Ui) -> bool {
        let tones = palette(ui);
        let sign = match self.tone {
            Tone::Ok => "✔",
            Tone::Bad | Tone::Warn => "⚠",
            _ => "ℹ",
        };
        let sign = RichText::new(sign).color(tones.tone(self.tone));
        let frame = Frame::popup(ui.style()).inner_margin(Margin::symmetric(12, 8));
        let shown = frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            if self.changed.is_none() {
                ui.horizontal_top(|ui| {
                    ui.label(sign);
                    ui.add(Label::new(&self.text).wrap());
                });
                return false;
            }
            // Text and button are centered on each other.
            let row = ui.horizontal(|ui| {
                ui.label(sign);
                let width = ui.available_width() - BUTTON - ui.spacing().item_spacing.x;
                ui.scope(|ui| {
                    ui.set_width(width);
                    ui.add(Label::new(&self.text).wrap());
                });
                let undo = Button::new("Undo").min_size(vec2(BUTTON, 0.0));
                let undo = ui.add(undo).accessible_name("Undo this change");
                undo.on_hover_text("Undo this change (Ctrl+Z)").clicked()
            });
            row.inner
        });
        shown.inner
    }
}
