//! The tab About: a description of the focused lane's policy, its stages and sources, and the differences of the
//! documentation from the system's code and of the replay from the system.

use crate::app::state::command::Commands;
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::app::ui::{theme, widgets};
use crate::engine::{Count, Policy, Stage};
use egui::{Label, RichText, ScrollArea, TextStyle, Ui};

/// The tab About.
pub(crate) struct AboutTab;

impl DrawerTab for AboutTab {
    fn tab(&self) -> Tab {
        Tab::ABOUT
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }
}

/// Width of the description column, as a share of the tab's width.
const LEFT: f32 = 0.36;

/// Shows the description of the focused lane's policy.
fn show(ui: &mut Ui, session: &OpenSession<'_>, _commands: &mut Commands) {
    let policy = &session.runs.focused(&session.selection).policy;
    ScrollArea::vertical().id_salt(("about", &policy.name)).auto_shrink(false).show(ui, |ui| {
        padded(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let width = ui.available_width() - space::XL;
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = space::XL;
                ui.vertical(|ui| {
                    ui.set_width((width * LEFT).round());
                    description(ui, session, policy);
                });
                ui.vertical(|ui| {
                    ui.set_width((width * (1.0 - LEFT)).round());
                    documentation_differences(ui, policy);
                    list(ui, "Differences of the replay from the system", &policy.differences);
                    list(ui, "Unknown", &policy.unknowns);
                    list(ui, "Sources", &policy.sources);
                });
            });
        });
    });
}

fn description(ui: &mut Ui, session: &OpenSession<'_>, policy: &Policy) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        if let Some(lane) = session.selection.lane {
            widgets::swatch(ui, palette(ui).lane(lane));
        }
        ui.label(RichText::new(&policy.label).text_style(theme::strong()));
    });
    ui.add(Label::new(&policy.help).wrap());
    let counts = match &policy.meter.count {
        Count::Named(meter) => Some(meter.help),
        _ => None,
    };
    if let Some(help) = counts {
        ui.add_space(space::S);
        widgets::section(ui, "Token counting");
        ui.add(Label::new(help).wrap());
    }
    if !policy.stages.is_empty() {
        ui.add_space(space::S);
        widgets::section(ui, "Stages");
        for stage in &policy.stages {
            show_stage(ui, stage);
        }
    }
}

fn show_stage(ui: &mut Ui, stage: &Stage) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(RichText::new(&stage.id).text_style(theme::strong()));
        let at = wording::hook(stage.at);
        ui.label(weak(ui, format!("{at}: {}", stage.action.kind())));
    });
    let when = stage.when.text.replace(">=", "≥").replace("<=", "≤");
    if when.trim() != "true" {
        let when = RichText::new(when).text_style(TextStyle::Monospace).color(palette(ui).weak);
        ui.add(Label::new(when).wrap());
    }
}

/// Shows where the system's documentation differs from its code, in three columns.
fn documentation_differences(ui: &mut Ui, policy: &Policy) {
    if policy.documentation_differences.is_empty() {
        return;
    }
    widgets::section(ui, "Differences of the documentation from the code");
    let width = ((ui.available_width() - 2.0 * space::L) / 3.0).floor();
    let columns = |ui: &mut Ui, texts: [(&str, bool); 3]| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::L;
            for (text, is_weak) in texts {
                ui.vertical(|ui| {
                    ui.set_width(width);
                    let text = text.replace('`', "");
                    let text = if is_weak { weak(ui, text) } else { RichText::new(text) };
                    ui.add(Label::new(text).wrap());
                });
            }
        });
    };
    let mut has_heads = false;
    for difference in &policy.documentation_differences {
        let Some([document, code, you]) = split_difference(difference) else {
            ui.add(Label::new(difference).wrap());
            widgets::hairline(ui);
            continue;
        };
        if !has_heads {
            has_heads = true;
            let heads = ["documentation", "shipped code", "for you"];
            columns(ui, heads.map(|head| (head, true)));
            widgets::hairline(ui);
        }
        columns(ui, [(&document, true), (&code, false), (&you, false)]);
        widgets::hairline(ui);
    }
    ui.add_space(space::S);
}

/// Splits `Document: … Code: … For you: …` into its three parts.
fn split_difference(difference: &str) -> Option<[String; 3]> {
    let rest = difference.strip_prefix("Document: ")?;
    let (document, rest) = rest.split_once(" Code: ")?;
    let (code, you) = rest.split_once(" For you: ")?;
    Some([document, code, you].map(wording::capitalized))
}

fn list(ui: &mut Ui, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    widgets::section(ui, title);
    for line in lines {
        ui.add(Label::new(small(ui, line)).wrap());
    }
    ui.add_space(space::S);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_differences_that_have_all_three_parts() {
        let text = "Document: a. Code: b. For you: c.";
        let parts = ["A.", "B.", "C."].map(str::to_owned);
        assert_eq!(split_difference(text), Some(parts));
        assert_eq!(split_difference("Document: a. Code: b."), None);
    }
}
