//! Passing notices at the lower right, over the settings: never over a chart, and what is below them can be clicked.

use crate::app::theme::{palette, space};
use crate::app::widgets::Tone;
use egui::containers::panel::PanelState;
use egui::{Align2, Area, Frame, Id, Label, Margin, Order, RichText, Ui, vec2};
use std::time::Duration;

/// How long a notice stays, and one that names a file or says what to do.
const SHORT: f64 = 4.0;
const LONG: f64 = 12.0;
/// Width of the notices where nothing tells how wide the settings are.
const WIDTH: f32 = 276.0;
/// Room between a notice and the edge, and between two.
const MARGIN: f32 = space::S;

/// The notices that are shown.
#[derive(Debug, Default)]
pub struct Toasts {
    all: Vec<Toast>,
}

#[derive(Debug)]
struct Toast {
    text: String,
    tone: Tone,
    /// Seconds that it stays.
    stays: f64,
    /// When it goes; none before it was shown.
    until: Option<f64>,
}

impl Toasts {
    /// Tells something.
    pub fn info(&mut self, text: impl Into<String>) {
        self.add(text.into(), Tone::Accent, SHORT);
    }

    /// Tells something that needs attention.
    pub fn warning(&mut self, text: impl Into<String>) {
        self.add(text.into(), Tone::Warn, LONG);
    }

    /// Tells that something failed.
    pub fn failed(&mut self, why: String) {
        self.add(why, Tone::Bad, LONG);
    }

    /// Tells that something was done.
    pub fn done(&mut self, text: String) {
        self.add(text, Tone::Ok, SHORT);
    }

    /// Tells where a file was written.
    pub fn written(&mut self, text: String) {
        self.add(text, Tone::Ok, LONG);
    }

    fn add(&mut self, text: String, tone: Tone, stays: f64) {
        // Said again it stays longer.
        self.all.retain(|toast| toast.text != text);
        self.all.push(Toast {
            text,
            tone,
            stays,
            until: None,
        });
    }

    /// Shows those that are there, the newest lowest. `ui` is the window's.
    pub fn show(&mut self, ui: &Ui) {
        if self.all.is_empty() {
            return;
        }
        let settings = PanelState::load(ui.ctx(), ui.scope_id().with(super::SETTINGS));
        let width = settings.map_or(WIDTH, |panel| panel.outer_rect.width() - 2.0 * MARGIN);
        let area = Area::new(Id::unique("toasts"))
            .order(Order::Foreground)
            .anchor(Align2::RIGHT_BOTTOM, vec2(-MARGIN, -MARGIN))
            .interactable(false);
        let shown = area.show(ui.ctx(), |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing.y = MARGIN;
            for toast in &self.all {
                toast.show(ui);
            }
        });
        let now = ui.input(|i| i.time);
        let pointer = ui.input(|i| i.pointer.hover_pos());
        let is_read = pointer.is_some_and(|at| shown.response.rect.contains(at));
        for toast in &mut self.all {
            let until = toast.until.unwrap_or(now + toast.stays);
            // None goes while the pointer is on it.
            toast.until = Some(if is_read { until.max(now + 1.0) } else { until });
        }
        self.all.retain(|toast| toast.until > Some(now));
        let next = self.all.iter().filter_map(|toast| toast.until);
        let next = next.fold(f64::INFINITY, f64::min) - now;
        if next.is_finite() {
            let next = Duration::from_secs_f64(next.max(0.0));
            ui.ctx().request_repaint_after(next);
        }
    }
}

impl Toast {
    fn show(&self, ui: &mut Ui) {
        let tones = palette(ui);
        let sign = match self.tone {
            Tone::Ok => "✔",
            Tone::Bad | Tone::Warn => "⚠",
            _ => "ℹ",
        };
        let frame = Frame::popup(ui.style()).inner_margin(Margin::symmetric(12, 8));
        frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                ui.label(RichText::new(sign).color(self.tone.color(tones)));
                ui.add(Label::new(&self.text).wrap());
            });
        });
    }
}
