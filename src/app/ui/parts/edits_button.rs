//! The button above the message table that counts manual edits, and its menu: edits of the selected and the filtered
//! messages, a command that removes all edits, and warnings about edits that were not possible.

use crate::app::state::command::Commands;
use crate::app::state::messages::order::{Filter, selected_messages};
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::marks::{Mark, MarkCommand, summary};
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::parts::mark_menu::menu;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{small, weak};
use crate::engine::{EditWarning, Warning};
use crate::safe_text;
use egui::{Align, Button, Label, Layout, Popup, PopupCloseBehavior, RichText, TextStyle, Ui};

/// Width of the menu, in points.
const WIDTH: f32 = 300.0;
/// Maximum number of warnings in the menu. The tab Insights lists all.
const MAX_WARNINGS: usize = 6;
/// Width of the badge, in points.
const BADGE: f32 = 40.0;
/// Width of the button's margins, in points.
const PADDING: f32 = 24.0 + space::S;

/// The button in the form that fits next to the other tools.
pub(crate) struct EditsButton {
    /// Button text; empty if the button does not fit.
    name: String,
    /// Width in points, or 0 if the button does not fit.
    pub(crate) width: f32,
    /// Number of edits of each kind; empty without edits.
    marks: String,
    warnings: Vec<LanesWarning>,
}

/// A warning about a manual edit.
struct LanesWarning {
    /// Names of the lanes that have the warning.
    lanes: String,
    text: String,
    /// The edit was needed. Dropping a message that was already removed, for example, is not.
    is_relevant: bool,
}

impl EditsButton {
    /// Returns the longest form that leaves `others` points to the other tools.
    pub(crate) fn fitting(ui: &Ui, input: &OpenSession<'_>, others: f32) -> Self {
        let manual_edits = &input.config.manual_edits;
        let (marks, warnings) = (summary(manual_edits), warnings(input));
        let n_marks: usize = Mark::ALL.iter().map(|m| m.list(manual_edits).len()).sum();
        let number = wording::grouped(n_marks as u64);
        let forms = if marks.is_empty() {
            vec!["Manual edits".to_owned()]
        } else {
            vec![marks.clone(), wording::count(n_marks, "edit"), number]
        };
        let font = TextStyle::Button.resolve(ui.style());
        let badge = if n_relevant(&warnings) > 0 { BADGE } else { 0.0 };
        let width = |name: &String| {
            let color = palette(ui).text;
            let galley = ui.painter().layout_no_wrap(name.clone(), font.clone(), color);
            galley.size().x + PADDING + badge
        };
        let room = ui.available_width() - others;
        let fits = forms.into_iter().map(|name| (width(&name), name));
        let (width, name) = fits.into_iter().find(|(width, _)| *width <= room).unwrap_or_default();
        Self { name, width, marks, warnings }
    }

    /// Shows the button, and its menu while open.
    pub(crate) fn show(&self, ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
        if self.name.is_empty() {
            return;
        }
        let marks = if self.marks.is_empty() { "none" } else { &self.marks };
        let mut opened = ui
            .add(Button::new(&self.name))
            .on_hover_text(format!("Manual edits: {marks}. Pin, clear or drop messages here."))
            .accessible_name(format!("Manual edits: {marks}"));
        let n_relevant = n_relevant(&self.warnings);
        if n_relevant > 0 {
            let badge = widgets::badge(ui, n_relevant, Tone::Warn);
            opened = opened.union(badge.on_hover_ui(|ui| list(ui, &self.warnings)));
        }
        Popup::menu(&opened)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .width(WIDTH)
            .show(|ui| self.menu(ui, input, commands));
    }

    fn menu(&self, ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
        ui.set_max_width(WIDTH);
        let selected = selected_messages(
            &input.selection,
            &input.view.messages().added,
            input.derived.order(),
        );
        menu(ui, input, &selected, commands);
        let has_shown = filtered_edits(ui, input, !selected.is_empty(), commands);
        if !self.marks.is_empty() {
            if has_shown || !selected.is_empty() {
                ui.separator();
            }
            marked(ui, input, &self.warnings, commands);
        } else if !has_shown && selected.is_empty() {
            let text = "Select or filter messages in the table to pin, clear or drop them.";
            ui.add(Label::new(weak(ui, text)).wrap().halign(Align::Min));
        }
    }
}

/// Shows the edit buttons for all filtered messages. Returns whether any message matches.
fn filtered_edits(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    is_second: bool,
    commands: &mut Commands,
) -> bool {
    if input.view.messages().filter.is_empty() || input.derived.order().is_empty() {
        return false;
    }
    if is_second {
        ui.separator();
    }
    let n = wording::count(input.derived.order().len(), "message");
    ui.label(small(ui, format!("Filtered messages: {n}")));
    for mark in Mark::ALL {
        let button = ui.button(format!("{} all of them", mark.set_label()));
        if button.on_hover_text(mark.help()).clicked() {
            let messages = input.derived.order().iter().map(|m| *m as usize).collect();
            commands.push(MarkCommand::Set(messages, Some(mark)));
            ui.close();
        }
    }
    true
}

/// Shows the commands for existing edits and the warnings.
fn marked(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    warnings: &[LanesWarning],
    commands: &mut Commands,
) {
    let mut is_marked = input.view.messages().filter.is_marked;
    if ui.checkbox(&mut is_marked, "Show only edited messages").changed() {
        let filter = Filter { is_marked, ..input.view.messages().filter.clone() };
        commands.push(MessagesCommand::Filter(filter));
    }
    if ui.button("Remove all manual edits").clicked() {
        commands.push(MarkCommand::RemoveAll);
        ui.close();
    }
    if !warnings.is_empty() {
        ui.separator();
        list(ui, warnings);
    }
}

/// Returns the warnings of the runs about manual edits. Lanes with the same warning share one entry.
fn warnings(input: &OpenSession<'_>) -> Vec<LanesWarning> {
    let mut grouped: Vec<(&Warning, Vec<&str>)> = Vec::new();
    for (label, lane) in input.runs.labels.iter().zip(&input.runs.lanes) {
        let warnings = lane.outcome.warnings.iter();
        for warning in warnings.filter(|warning| warning.edit.is_some()) {
            match grouped.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, labels)) => labels.push(label),
                None => grouped.push((warning, vec![label])),
            }
        }
    }
    let n_lanes = input.runs.lanes.len();
    let grouped = grouped.into_iter().map(|(warning, labels)| LanesWarning {
        lanes: match labels.len() {
            n if n == n_lanes && n > 1 => "Every lane".to_owned(),
            _ => labels.join(", "),
        },
        text: safe_text::visible(&warning.to_string()).into_owned(),
        is_relevant: warning.edit == Some(EditWarning::NotApplied),
    });
    grouped.collect()
}

fn n_relevant(warnings: &[LanesWarning]) -> usize {
    warnings.iter().filter(|warning| warning.is_relevant).count()
}

fn list(ui: &mut Ui, warnings: &[LanesWarning]) {
    // The menu's own layout would justify the lines.
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        for warning in warnings.iter().take(MAX_WARNINGS) {
            let text = wording::with_grouped(&warning.text);
            let text = format!("{}: {text}", warning.lanes);
            let color = if warning.is_relevant { palette(ui).warn } else { palette(ui).weak };
            ui.add(Label::new(RichText::new(text).color(color)).wrap());
        }
        if warnings.len() > MAX_WARNINGS {
            let more = wording::grouped((warnings.len() - MAX_WARNINGS) as u64);
            ui.label(weak(ui, format!("and {more} more, in Insights")));
        }
    });
}
