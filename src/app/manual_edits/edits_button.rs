//! The button above the message table that counts manual edits, and its menu: edits of the selected and the filtered
//! messages, a command that removes all edits, and warnings about edits that were not possible.

use super::marks::{Mark, MarkCommand, is_about_marks, summary};
use super::menu::menu;
use crate::app::command::Commands;
use crate::app::messages::input::MessagesInput;
use crate::app::messages::order::{Filter, chosen};
use crate::app::messages::state::MessagesCommand;
use crate::app::theme::{palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::safe_text;
use egui::{Align, Button, Label, Layout, Popup, PopupCloseBehavior, RichText, TextStyle, Ui};

/// Width of the menu, in points.
const WIDTH: f32 = 300.0;
/// Maximum number of warnings in the menu. The tab Insights lists all.
const MAX_WARNINGS: usize = 6;
/// Width of the badge and of the button's margins, in points.
const BADGE: f32 = 40.0;
const PADDING: f32 = 24.0 + space::S;

/// The button in the form that fits next to the other tools.
pub(in crate::app) struct AllMarks {
    /// Button text.
    name: String,
    /// Width in points, or 0 if the button does not fit.
    pub(in crate::app) width: f32,
    marks: String,
    warnings: Vec<(String, String)>,
    n_relevant: usize,
}

impl AllMarks {
    /// Returns the longest form that leaves `others` points to the other tools.
    pub(in crate::app) fn fitting(ui: &Ui, input: &MessagesInput<'_>, others: f32) -> Self {
        let manual_edits = &input.config.manual_edits;
        let (marks, warnings) = (summary(manual_edits), warnings(input));
        let n_relevant = warnings.iter().filter(|(_, w)| is_relevant(w)).count();
        let n_marks: usize = Mark::ALL.iter().map(|m| m.list(manual_edits).len()).sum();
        let number = wording::grouped(n_marks as u64);
        let forms = if marks.is_empty() {
            vec!["Manual edits".to_owned()]
        } else {
            vec![marks.clone(), wording::count(n_marks, "edit"), number]
        };
        let font = TextStyle::Button.resolve(ui.style());
        let badge = if n_relevant > 0 { BADGE } else { 0.0 };
        let width = |name: &String| {
            let color = palette(ui).text;
            let galley = ui
                .painter()
                .layout_no_wrap(name.clone(), font.clone(), color);
            galley.size().x + PADDING + badge
        };
        let room = ui.available_width() - others;
        let fits = forms.into_iter().map(|name| (width(&name), name));
        let (width, name) = fits
            .into_iter()
            .find(|(width, _)| *width <= room)
            .unwrap_or_default();
        Self {
            name,
            width,
            marks,
            warnings,
            n_relevant,
        }
    }

    /// Shows the button, and its menu while open.
    pub(in crate::app) fn show(
        &self,
        ui: &mut Ui,
        input: &MessagesInput<'_>,
        commands: &mut Commands,
    ) {
        if self.name.is_empty() {
            return;
        }
        let marks = if self.marks.is_empty() {
            "none"
        } else {
            &self.marks
        };
        let mut opened = ui
            .add(Button::new(&self.name))
            .on_hover_text(format!(
                "Manual edits: {marks}. Pin, clear or drop messages here."
            ))
            .accessible_name(format!("Manual edits: {marks}"));
        if self.n_relevant > 0 {
            let badge = widgets::badge(ui, self.n_relevant, Tone::Warn);
            opened = opened.union(badge.on_hover_ui(|ui| list(ui, &self.warnings)));
        }
        Popup::menu(&opened)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .width(WIDTH)
            .show(|ui| self.menu(ui, input, commands));
    }

    fn menu(&self, ui: &mut Ui, input: &MessagesInput<'_>, commands: &mut Commands) {
        ui.set_max_width(WIDTH);
        let selected = chosen(&input.selection, &input.view.added, input.order);
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
    input: &MessagesInput<'_>,
    is_second: bool,
    commands: &mut Commands,
) -> bool {
    if input.view.filter.is_empty() || input.order.is_empty() {
        return false;
    }
    if is_second {
        ui.separator();
    }
    let n = wording::count(input.order.len(), "message");
    ui.label(small(ui, format!("Filtered messages: {n}")));
    for mark in Mark::ALL {
        let (set, _) = mark.verbs();
        let button = ui.button(format!("{set} all of them"));
        if button.on_hover_text(mark.help()).clicked() {
            let messages = input.order.iter().map(|m| *m as usize).collect();
            commands.push(MarkCommand::Set(messages, Some(mark)));
            ui.close();
        }
    }
    true
}

/// Shows the commands for existing edits and the warnings.
fn marked(
    ui: &mut Ui,
    input: &MessagesInput<'_>,
    warnings: &[(String, String)],
    commands: &mut Commands,
) {
    let mut is_marked = input.view.filter.is_marked;
    if ui
        .checkbox(&mut is_marked, "Show only edited messages")
        .changed()
    {
        let filter = Filter {
            is_marked,
            ..input.view.filter.clone()
        };
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

/// Returns the runs' warnings about edits that were not possible, each with its lanes.
fn warnings(input: &MessagesInput<'_>) -> Vec<(String, String)> {
    let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, lane) in input.runs.labels.iter().zip(&input.runs.lanes) {
        let warnings = lane.outcome.warnings.iter();
        for warning in warnings.filter(|warning| is_about_marks(warning)) {
            match grouped.iter_mut().find(|(known, _)| known == warning) {
                Some((_, labels)) => labels.push(label),
                None => grouped.push((warning, vec![label])),
            }
        }
    }
    let n_lanes = input.runs.lanes.len();
    let lanes = |labels: Vec<&str>| match labels.len() {
        n if n == n_lanes && n > 1 => "Every lane".to_owned(),
        _ => labels.join(", "),
    };
    let grouped = grouped.into_iter();
    grouped
        .map(|(warning, labels)| (lanes(labels), safe_text::visible(warning).into_owned()))
        .collect()
}

fn list(ui: &mut Ui, warnings: &[(String, String)]) {
    // The menu's own layout would justify the lines.
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        for (lanes, warning) in warnings.iter().take(MAX_WARNINGS) {
            let text = format!("{lanes}: {}", wording::with_grouped(warning));
            let color = if is_relevant(warning) {
                palette(ui).warn
            } else {
                palette(ui).weak
            };
            ui.add(Label::new(RichText::new(text).color(color)).wrap());
        }
        if warnings.len() > MAX_WARNINGS {
            let more = wording::grouped((warnings.len() - MAX_WARNINGS) as u64);
            ui.label(weak(ui, format!("and {more} more, in Insights")));
        }
    });
}

/// Returns whether a warning is shown. Dropping a message that was already removed needs no warning.
fn is_relevant(warning: &str) -> bool {
    !warning.contains(": gone already")
}
