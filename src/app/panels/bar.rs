//! The bar at the top: what is open, how well it is known, and what can be done with all of it.

use super::{Frame, conversations};
use crate::app::command::Command;
use crate::app::conversion::ConversionWish;
use crate::app::document::Document;
use crate::app::handout::Form;
use crate::app::live::LiveState;
use crate::app::run_logs::LogsWish;
use crate::app::runs::Runs;
use crate::app::sessions::SessionsWish;
use crate::app::state::Tab;
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::engine::WindowSource;
use crate::safe_text;
use crate::tokens::{Basis, COUNTERS};
use egui::{
    Frame as UiFrame, Margin, Panel, Popup, RichText, TextStyle, ThemePreference, Ui, UiBuilder,
    vec2,
};

/// Shows the bar.
pub fn show(ui: &mut Ui, frame: &Frame<'_>, runs: Option<&Runs>, commands: &mut Vec<Command>) {
    let margin = Margin::symmetric(16, 6);
    let panel =
        Panel::top("bar").frame(UiFrame::new().fill(palette(ui).panel).inner_margin(margin));
    panel.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.label(
                RichText::new("Plimsoll")
                    .text_style(theme::strong())
                    .size(14.0),
            );
            // What acts stays whole at the right edge; the chips give way. The keyboard goes from left to right, so
            // that the chips come first and have to know how much the buttons took before.
            let id = ui.make_persistent_id("actions");
            let before: Option<f32> = ui.data(|data| data.get_temp(id));
            let row = ui.available_rect_before_wrap();
            let split = row.right() - before.unwrap_or(row.width() / 2.0);
            if let (Some(document), Some(runs)) = (frame.document, runs) {
                let left = row
                    .with_max_x(split - space::M)
                    .translate(vec2(space::XS, 0.0));
                ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
                    chips(ui, document, runs, commands);
                    if let Some(state) = frame.live.filter(|_| ui.available_width() > 64.0) {
                        live(ui, state);
                    }
                });
            }
            let right = UiBuilder::new().max_rect(row.with_min_x(split));
            let taken = ui.scope_builder(right, |ui| {
                actions(ui, frame, runs.is_some(), commands);
                ui.min_rect().width()
            });
            if before.is_none_or(|before| (before - taken.inner).abs() > 0.5) {
                ui.data_mut(|data| data.insert_temp(id, taken.inner));
                ui.ctx()
                    .request_discard("the width of the buttons is known only now");
            }
        });
    });
}

fn actions(ui: &mut Ui, frame: &Frame<'_>, is_ready: bool, commands: &mut Vec<Command>) {
    if is_ready {
        let mut arrow = |is_enabled: bool, name: &str, sign: &str, keys: &str, does: Command| {
            let button = egui::Button::new(sign).min_size(vec2(28.0, space::CONTROL));
            let button = ui.add_enabled(is_enabled, button);
            if button
                .on_hover_text(format!("{name} ({keys})"))
                .accessible_name(name)
                .clicked()
            {
                commands.push(does);
            }
        };
        arrow(frame.can_undo, "Undo", "⟲", "Ctrl+Z", Command::Undo);
        arrow(frame.can_redo, "Redo", "⟳", "Ctrl+Shift+Z", Command::Redo);
    }
    menu(ui, frame, commands);
    let open = widgets::secondary_button(ui, "Open…", "Ctrl O");
    if open
        .on_hover_text("Open a session file. You can also drop one on the window.")
        .clicked()
    {
        commands.push(Command::OpenDialog);
    }
    if is_ready {
        export(ui, frame, commands);
    }
}

/// The button for what is exported most often, and a menu with all there is beside it.
fn export(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    let [button, more] = widgets::primary_with_menu(ui, "Export…", "More to export");
    if button
        .on_hover_text("Write the focused lane's conversation to a new file (Ctrl+E)")
        .clicked()
    {
        commands.push(Command::StartExport(None));
    }
    Popup::menu(&more).show(|ui| {
        ui.set_min_width(280.0);
        let mut item = |name: &str, help: &str, does: Command| {
            if ui.button(name).on_hover_text(help).clicked() {
                commands.push(does);
            }
        };
        item(
            "Managed conversation…",
            "The focused lane's conversation as a new file, or as a session that its program can resume (Ctrl+E)",
            Command::StartExport(None),
        );
        item(
            &format!("What the model saw at call {}…", wording::number(frame.step)),
            "As a conversation file: really, or in the focused lane",
            Command::StartSaw,
        );
        item(
            "Convert to another format…",
            "The whole session as it is, in another program's form; you see before what that cannot hold",
            Command::Convert(ConversionWish::Start),
        );
        item(
            "Report…",
            "What happened and what each lane would have done, as a page or as Markdown, redacted where you want",
            Command::StartHandout(Form::Page),
        );
        item(
            "Curve…",
            "How full the context is at every call, as a picture or a table",
            Command::StartHandout(Form::Png),
        );
    });
}

fn menu(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    let button = ui.add(egui::Button::new("☰").min_size(egui::vec2(28.0, space::CONTROL)));
    let button = button
        .accessible_name("Menu")
        .on_hover_text("Recent files, examples, theme, shortcuts");
    Popup::menu(&button).show(|ui| {
        ui.set_min_width(240.0);
        if ui.button("Sessions on this machine…").clicked() {
            commands.push(Command::Sessions(SessionsWish::Show(None)));
        }
        let paste =
            egui::Button::new("Paste a conversation").right_text(super::small(ui, "Ctrl V"));
        if ui.add(paste).clicked() {
            commands.push(Command::Paste);
        }
        ui.add_space(space::S);
        if !frame.recent.is_empty() {
            widgets::section(ui, "Recent");
            for path in frame.recent {
                let name = path
                    .file_name()
                    .unwrap_or(path.as_os_str())
                    .to_string_lossy();
                if ui
                    .button(name)
                    .on_hover_text(path.display().to_string())
                    .clicked()
                {
                    commands.push(Command::OpenPath(path.clone()));
                }
            }
            ui.add_space(space::S);
        }
        widgets::section(ui, "Examples");
        for example in crate::app::examples::EXAMPLES {
            if ui
                .button(example.story)
                .on_hover_text(example.name)
                .clicked()
            {
                commands.push(Command::OpenExample(example.name));
            }
        }
        ui.add_space(space::S);
        widgets::section(ui, "Theme");
        let now = ui.ctx().options(|o| o.theme_preference);
        for (theme, name) in [
            (ThemePreference::Dark, "Dark"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::System, "As the system"),
        ] {
            if ui.radio(now == theme, name).clicked() {
                commands.push(Command::SetTheme(theme));
            }
        }
        ui.add_space(space::S);
        if ui.button("Keyboard shortcuts").clicked() {
            commands.push(Command::ShowKeys(true));
        }
        let logs = ui.button("Run logs…");
        if logs
            .on_hover_text("What models were asked and answered when they wrote summaries")
            .clicked()
        {
            commands.push(Command::Logs(LogsWish::Show));
        }
        if frame.document.is_some() && ui.button("Close this session").clicked() {
            commands.push(Command::CloseDocument);
        }
    });
}

/// What is said of a file that grows.
const LIVE: &str = "This file is still being written, and is read again as it grows. At the last call the view follows. \
    Counts are fitted to all that calls have reported by then, so that figures of earlier calls, and where lanes compacted, may \
    shift a little.";

/// That the file is still being written.
fn live(ui: &mut Ui, state: LiveState<'_>) {
    let (dot, word, said) = match state {
        LiveState::Gone => (
            palette(ui).bad,
            "gone",
            "The file is no longer there. What was read of it stays here; it is read again if it comes back.".to_owned(),
        ),
        LiveState::Followed => (
            palette(ui).ok,
            "live",
            LIVE.to_owned(),
        ),
        LiveState::Unread(why) => (
            palette(ui).warn,
            "live",
            format!("The file has changed, but cannot be read as it is now: {why}"),
        ),
    };
    widgets::chip(ui, Some(dot), &[(word, false)]).on_hover_text(said);
}

/// How much the chips say, from everything to the least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    WindowSource,
    FileFormat,
    ModelName,
    WholeName,
    Least,
}

const DETAILS: [Detail; 5] = [
    Detail::WindowSource,
    Detail::FileFormat,
    Detail::ModelName,
    Detail::WholeName,
    Detail::Least,
];

/// Words of a chip, each with whether it is strong.
type Words = Vec<(String, bool)>;

fn chips(ui: &mut Ui, document: &Document, runs: &Runs, commands: &mut Vec<Command>) {
    let place: Words = match conversations::place(document) {
        Some(place) => vec![(place, false), (" ⏷".to_owned(), false)],
        None => Words::new(),
    };
    // What does not fit is left out rather than cut off; the tooltips say all of it.
    let words = |least: Detail| {
        [
            file_words(document, least),
            window_words(document, runs, least),
            vec![(wording::basis(&runs.case.ledger), false)],
            place.clone(),
        ]
    };
    let fitting = DETAILS
        .into_iter()
        .map(words)
        .find(|chips| width(ui, chips) <= ui.available_width());
    let [file, window, ..] = fitting.unwrap_or_else(|| words(Detail::Least));
    let session = document.session();
    let hint = format!(
        "{}\n{}\n\nClick to see how the file was read.",
        safe_text::one_line(&session.title, 200),
        document.place()
    );
    if chip(ui, &file)
        .on_hover_text(safe_text::visible(&hint))
        .clicked()
    {
        commands.push(Command::ShowTab(Tab::Import));
    }
    if !place.is_empty() {
        let place = chip(ui, &place).on_hover_text(conversations::help(document));
        conversations::menu(&place, document, commands);
    }
    if ui.available_width() > width(ui, std::slice::from_ref(&window)) {
        let models = if session.models.is_empty() {
            "not recorded".to_owned()
        } else {
            session.models.join(", ")
        };
        let windows = &runs.case.windows;
        let mut hint = format!(
            "Models: {models}. The window is {}.",
            wording::window_source(windows.source)
        );
        for warning in &windows.warnings {
            hint.push_str("\n\n");
            hint.push_str(warning);
        }
        chip(ui, &window).on_hover_text(safe_text::visible(&hint));
    }
    basis(ui, runs, commands);
}

fn file_words(document: &Document, detail: Detail) -> Words {
    let name = &document.session().source.name;
    let longest = match detail {
        Detail::Least => 18,
        Detail::WholeName => 28,
        _ => 60,
    };
    let mut words = vec![(safe_text::one_line(name, longest), true)];
    if detail <= Detail::FileFormat {
        words.push((format!(" · {}", document.format_label()), false));
    }
    if detail <= Detail::WholeName {
        words.push((
            format!(
                " · {}",
                wording::count(document.session().steps.len(), "call")
            ),
            false,
        ));
    }
    words
}

fn window_words(document: &Document, runs: &Runs, detail: Detail) -> Words {
    let windows = &runs.case.windows;
    let model = document
        .session()
        .models
        .last()
        .map_or("unknown model", String::as_str);
    let mut words = Words::new();
    if detail <= Detail::ModelName {
        words.push((format!("{} · ", safe_text::one_line(model, 60)), false));
    }
    words.push((wording::tokens(windows.largest()), true));
    let source = match windows.source {
        // Worth saying at any width: it is a guess.
        WindowSource::Assumed => " window, assumed".to_owned(),
        source if detail == Detail::WindowSource => {
            format!(" window, {}", wording::window_source(source))
        }
        _ => " window".to_owned(),
    };
    words.push((source, false));
    words
}

fn chip(ui: &mut Ui, words: &Words) -> egui::Response {
    let words: Vec<_> = words
        .iter()
        .map(|(word, is_strong)| (word.as_str(), *is_strong))
        .collect();
    widgets::chip(ui, None, &words)
}

/// Width of chips side by side.
fn width(ui: &Ui, chips: &[Words]) -> f32 {
    let text = |(word, is_strong): &(String, bool)| {
        let style = if *is_strong {
            theme::strong()
        } else {
            TextStyle::Body
        };
        ui.painter()
            .layout_no_wrap(word.clone(), style.resolve(ui.style()), palette(ui).text)
            .size()
            .x
    };
    // Padding and the space to the next; one dot.
    chips
        .iter()
        .filter(|words| !words.is_empty())
        .map(|words| words.iter().map(text).sum::<f32>() + 2.0 * space::S + space::S)
        .sum::<f32>()
        + 16.0
}

fn basis(ui: &mut Ui, runs: &Runs, commands: &mut Vec<Command>) {
    let ledger = &runs.case.ledger;
    let dot = match ledger.basis {
        Basis::Reported | Basis::Exact | Basis::Calibrated(_) => palette(ui).ok,
        Basis::Estimated => palette(ui).warn,
    };
    let whole = wording::basis(ledger);
    // Where it has no room its sign says whether to trust the figures; the tooltip says all of it.
    let words = [whole.as_str(), wording::basis_sign(ledger)];
    let room = ui.available_width();
    let has_room = |words: &&str| width(ui, &[vec![((*words).to_owned(), false)]]) <= room;
    let Some(words) = words.into_iter().find(has_room) else {
        return;
    };
    let chip = widgets::chip(ui, Some(dot), &[(words, false)]);
    let chip = chip.on_hover_text(format!(
        "{}\n\n{}\n\nClick to count with something else.",
        whole,
        wording::basis_help(ledger)
    ));
    Popup::menu(&chip).show(|ui| {
        ui.set_min_width(260.0);
        widgets::section(ui, "Count with");
        for counter in COUNTERS {
            if ui
                .radio(ledger.counter.name == counter.name, counter.name)
                .on_hover_text(counter.help)
                .clicked()
            {
                commands.push(Command::SetCounter(counter.name));
            }
        }
    });
}
