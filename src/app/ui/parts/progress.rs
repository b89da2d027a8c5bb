//! The progress of opening a session, with a cancel button.

use crate::app::state::command::Commands;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::loading::{Loading, Stage};
use crate::app::state::wording;
use crate::app::ui::theme::{fonts, palette};
use crate::app::ui::widgets;
use crate::progress::Phase;
use crate::units::Share;
use egui::{
    Align, Align2, Area, Frame, Id, Layout, Margin, Order, Role, Sense, Ui, WidgetInfo, lerp, vec2,
};

/// Seconds without progress after which an animation shows that work continues, for example on one long text.
const STILL: f64 = 0.8;
/// Seconds after which the elapsed time is shown.
const LONG: u64 = 3;

/// Shows the progress.
pub(crate) fn progress(ui: &mut Ui, loading: &Loading, commands: &mut Commands) {
    fonts::prepare(ui);
    let stage = loading.stage();
    let doing = match stage.phase {
        Phase::Reading => "Reading",
        Phase::Counting => "Counting tokens in",
    };
    let share = stage.share.map_or_else(String::new, |s| format!(" {}", wording::percent(s)));
    let time = match loading.seconds() {
        ..LONG => String::new(),
        seconds => format!(" · {}", wording::count(seconds as usize, "second")),
    };
    ui.label(format!("{doing} {}…{share}{time}", loading.name));
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Cancel", "Esc").clicked() {
                commands.push(OpenCommand::Cancel);
            }
            bar(ui, stage);
        });
    });
}

/// Shows the progress over an open session.
pub(crate) fn progress_over(ui: &Ui, loading: &Loading, commands: &mut Commands) {
    let top = ui.max_rect().center_top();
    let area = Area::new(Id::unique("loading"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(top);
    area.show(ui.ctx(), |ui| {
        let frame = Frame::popup(ui.style()).inner_margin(Margin::same(12));
        frame.show(ui, |ui| {
            ui.set_width(420.0);
            progress(ui, loading, commands);
        });
    });
}

/// Shows the progress bar, with an animation if progress is unknown or has paused.
fn bar(ui: &mut Ui, stage: Stage) {
    const HEIGHT: f32 = 8.0;
    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress"));
    let palette = palette(ui);
    let rounding = HEIGHT / 2.0;
    // The track must be visible on every background.
    ui.painter().rect_filled(rect, rounding, palette.hairline);
    let share = stage.share.unwrap_or_default().0.clamp(0.0, 1.0) as f32;
    let done = rect.with_max_x(rect.left() + rect.width() * share);
    if is_still(ui, stage) {
        let width = rect.width() * 0.2;
        let at = (ui.input(|i| i.time) * 0.5).fract() as f32;
        let left = lerp(done.right() - width..=rect.right(), at);
        let moving = rect.with_min_x(left).with_max_x(left + width);
        let moving = moving.intersect(rect.with_min_x(done.right()));
        let color = palette.accent.gamma_multiply(0.5);
        if moving.is_positive() {
            ui.painter().rect_filled(moving, rounding, color);
        }
        ui.ctx().request_repaint();
    }
    ui.painter().rect_filled(done, rounding, palette.accent);
}

/// Returns whether the total is unknown or the progress has paused.
fn is_still(ui: &Ui, stage: Stage) -> bool {
    let id = Id::unique("progress seen");
    let now = ui.input(|i| i.time);
    let seen: Option<(Option<Share>, f64)> = ui.data(|data| data.get_temp(id));
    let since = seen.filter(|(share, _)| *share == stage.share).map_or(now, |(_, since)| since);
    ui.data_mut(|data| data.insert_temp(id, (stage.share, since)));
    stage.share.is_none() || now - since > STILL
}
