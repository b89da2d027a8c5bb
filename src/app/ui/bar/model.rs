//! The chip with the model and its context window, and the menu for choosing both.

use crate::app::state::command::Commands;
use crate::app::state::model::billing::{BillingChoice, PriceChoice};
use crate::app::state::model::document::Document;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;
use crate::app::ui::bar::detail::Detail;
use crate::app::ui::bar::input::BarInput;
use crate::app::ui::parts::model_menu;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::ChipText;
use crate::app::ui::widgets::text::{small, weak};
use crate::engine::WindowSource;
use crate::safe_text;
use crate::units::Tokens;
use egui::{DragValue, Popup, PopupCloseBehavior, Ui, vec2};

/// Selectable context windows, in tokens.
const WINDOWS: [u64; 7] = [32_768, 128_000, 200_000, 256_000, 400_000, 1_000_000, 2_000_000];
/// Minimum and maximum context window that can be typed, in tokens.
const RANGE: std::ops::RangeInclusive<u64> = 2_000..=10_000_000;

/// Returns the texts of the chip.
pub(crate) fn texts(
    input: &BarInput<'_>,
    document: &Document,
    runs: &Runs,
    detail: Detail,
) -> Vec<ChipText> {
    let windows = &runs.case.windows;
    let model = match &input.config.billing.price {
        PriceChoice::Model(name) => name,
        _ => document.session().models.last().map_or("unknown model", |model| model),
    };
    let mut texts = Vec::new();
    if detail <= Detail::ModelName {
        let model = safe_text::one_line(model, 60);
        texts.push(ChipText::plain(format!("{model} · ")));
    }
    texts.push(ChipText::strong(wording::tokens(windows.largest())));
    let source = match windows.source {
        // Always shown because the window is a guess.
        WindowSource::Assumed => " window, assumed".to_owned(),
        source if detail == Detail::WindowSource => {
            format!(" window, {}", wording::window_source(source))
        }
        _ => " window".to_owned(),
    };
    texts.push(ChipText::plain(source));
    texts
}

/// Shows the chip that opens the menu.
pub(crate) fn show(
    ui: &mut Ui,
    input: &BarInput<'_>,
    document: &Document,
    runs: &Runs,
    texts: &[ChipText],
    commands: &mut Commands,
) {
    let windows = &runs.case.windows;
    let mut hint = format!(
        "Models: {}. The window is {}.",
        recorded(document),
        wording::window_source(windows.source)
    );
    for warning in &windows.warnings {
        hint.push_str("\n\n");
        hint.push_str(warning);
    }
    hint.push_str("\n\nClick to choose another window or model.");
    let chip = widgets::chip(ui, None, texts).on_hover_text(safe_text::visible(&hint));
    Popup::menu(&chip).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        ui.set_width(model_menu::WIDTH);
        window(ui, input, document, commands);
        ui.add_space(space::S);
        model(ui, input, document, commands);
    });
}

/// Returns the names of the recorded models.
fn recorded(document: &Document) -> String {
    let models = &document.session().models;
    if models.is_empty() {
        return "not recorded".to_owned();
    }
    safe_text::one_line(&models.join(", "), 200)
}

/// Shows the choice of the context window.
fn window(ui: &mut Ui, input: &BarInput<'_>, document: &Document, commands: &mut Commands) {
    let known = &document.loaded.case.windows;
    let chosen = input.config.window;
    widgets::section(ui, "Context window");
    let name =
        format!("{}, {}", wording::tokens(known.largest()), wording::window_source(known.source));
    if ui.radio(chosen.is_none(), name).clicked() {
        commands.push(SettingsCommand::SetWindow(None));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(2.0, 2.0);
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = vec2(6.0, 1.0);
        for window in WINDOWS.map(Tokens) {
            let short = wording::short(window);
            let label = ui.selectable_label(chosen == Some(window), small(ui, &short));
            let named = label.accessible_name(format!("Window of {short} tokens"));
            if named.clicked() {
                commands.push(SettingsCommand::SetWindow(Some(window)));
            }
        }
    });
    ui.horizontal(|ui| {
        ui.label(weak(ui, "Other:"));
        let mut typed = chosen.unwrap_or(known.largest()).0;
        let field = DragValue::new(&mut typed)
            .range(RANGE)
            .speed(1_000.0)
            .custom_formatter(|n, _| wording::grouped(n as u64))
            .custom_parser(|text| Some(wording::typed_tokens(text)?.as_f64()))
            .suffix(" tokens");
        if ui.add(field).accessible_name("Window in tokens").changed() {
            commands.push(SettingsCommand::SetWindow(Some(Tokens(typed))));
        }
    });
}

/// Shows the choice of the model that sets the prices of all calls and the context window.
fn model(ui: &mut Ui, input: &BarInput<'_>, document: &Document, commands: &mut Commands) {
    let billing = &input.config.billing;
    let mut choose = |price: PriceChoice, window: Option<Tokens>| {
        let billing = BillingChoice { price, ..billing.clone() };
        commands.push(SettingsCommand::SetBilling(billing));
        commands.push(SettingsCommand::SetWindow(window));
    };
    widgets::section(ui, "Model");
    let is_recorded = billing.price == PriceChoice::Recorded;
    let name = format!("As recorded: {}", safe_text::one_line(&recorded(document), 40));
    if ui.radio(is_recorded, name).clicked() {
        choose(PriceChoice::Recorded, None);
    }
    let chosen = match &billing.price {
        PriceChoice::Model(name) => Some(name.as_str()),
        _ => None,
    };
    if let Some(model) = model_menu::list(ui, chosen) {
        let window = model_menu::window(model).or(input.config.window);
        choose(PriceChoice::Model(model.to_owned()), window);
        ui.close();
    }
}
