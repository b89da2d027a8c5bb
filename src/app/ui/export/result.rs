//! The result of an export: the written file and the checks after reading it back.

use crate::app::state::command::Commands;
use crate::app::state::export::draft::ExportContent;
use crate::app::state::export::job::Export;
use crate::app::state::export::stage::Written;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::parts::output_path::output_path;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::exec::{Exported, Resumed, Sidecars};
use egui::{Align, Id, Label, Layout, RichText, TextStyle, Ui};

/// Shows the result.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    written: &Written,
    commands: &mut Commands,
) {
    let exported = &written.exported;
    for note in &exported.notes {
        let note = RichText::new(wording::with_grouped(note));
        ui.label(note.color(palette(ui).warn));
    }
    let text = RichText::new(headline(input, export, exported));
    ui.label(text.text_style(theme::strong()));
    checks(ui, exported);
    if let Some(resumed) = &written.resumed {
        resume(ui, resumed, commands);
    } else if let Some(path) = &exported.output {
        output_path(ui, path, commands);
    }
    if let Some(sidecars) = &exported.sidecars {
        sidecar_files(ui, sidecars);
    }
}

/// Returns the sizes before and after the export.
fn headline(input: &OpenSession<'_>, export: &Export, exported: &Exported) -> String {
    let n_calls = input.document.session().calls.len();
    let at = wording::place(export.draft.call, n_calls);
    let (before, after) = (wording::tokens(exported.before), wording::tokens(exported.after));
    let (subject, result) = match export.draft.content {
        ExportContent::Context => return format!("Context {at}: {after} tokens"),
        ExportContent::AsShown => (format!("History {at}"), "context "),
        ExportContent::CompactNow | ExportContent::CompactNowForced => {
            ("Last recorded context".to_owned(), "")
        }
    };
    if exported.changed {
        format!("{subject}: {before} → {result}{after} tokens")
    } else {
        format!("{subject}: {before} tokens, unchanged")
    }
}

fn checks(ui: &mut Ui, exported: &Exported) {
    // The checks appear one after another.
    let shown = ui.ctx().animate_value_with_time(
        Id::unique(("checks", &exported.output)),
        exported.checks.len() as f32,
        0.12 * exported.checks.len() as f32,
    );
    for check in exported.checks.iter().take(shown.ceil() as usize) {
        ui.horizontal_wrapped(|ui| {
            let (sign, tone) = match (check.ok, check.warning) {
                (true, false) => ("✔", Tone::Ok),
                (true, true) => ("⚠", Tone::Warn),
                (false, _) => ("✖", Tone::Bad),
            };
            ui.label(RichText::new(sign).color(palette(ui).tone(tone)));
            ui.label(check.name);
            ui.label(small(ui, wording::with_grouped(&check.detail)));
        });
    }
}

/// Shows the command that resumes the exported session.
fn resume(ui: &mut Ui, resumed: &Resumed, commands: &mut Commands) {
    output_path(ui, &resumed.path, commands);
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Copy command", "").clicked() {
                commands.push(ShellCommand::Copy("the command", resumed.command.clone()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(weak(ui, "Resume with"));
                let command = RichText::new(&resumed.command).text_style(TextStyle::Monospace);
                ui.add(Label::new(command).truncate()).on_hover_text(&resumed.command);
            });
        });
    });
}

/// Shows the files written with the managed conversation.
fn sidecar_files(ui: &mut Ui, sidecars: &Sidecars) {
    let text = "Also written: the removed content and a manifest. `plimsoll restore` recreates the source.";
    ui.label(small(ui, text)).on_hover_ui(|ui| {
        ui.label(sidecars.removed.display().to_string());
        ui.label(sidecars.manifest.display().to_string());
    });
    if let Some(folder) = &sidecars.files {
        let (files, path) = (wording::count(folder.n_files, "file"), folder.path.display());
        let text = format!("{files} written by the policy, in {path}");
        ui.add(Label::new(small(ui, text)).truncate()).on_hover_text(path.to_string());
    }
}
