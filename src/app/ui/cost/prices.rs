//! The choice of prices and billing rules. Changes can be undone like any setting.

use crate::analysis::cost::Lifetime;
use crate::app::state::command::Commands;
use crate::app::state::cost::compute::{Costs, ModelPrice};
use crate::app::state::model::billing::{
    BillingChoice, MAX_PRICE, OwnPrice, PriceChoice, seconds, typed_price,
};
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;
use crate::app::ui::parts::model_menu;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{small, weak};
use crate::presets::prices::{Price, Prices};
use crate::safe_text;
use crate::units::Rate;
use egui::{
    Button, ComboBox, DragValue, Grid, Popup, PopupCloseBehavior, RichText, ScrollArea, Ui,
};

/// Shows the prices and billing rules.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, commands: &mut Commands) {
    let mut billing = input.config.billing.clone();
    ScrollArea::vertical().id_salt("prices").auto_shrink(false).show(ui, |ui| {
        let margin = egui::Margin::symmetric(14, 8);
        egui::Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            ui.spacing_mut().interact_size.y = 22.0;
            widgets::section(ui, "Prices");
            choose(ui, input, costs, &mut billing);
            if let PriceChoice::Own(own) = &mut billing.price {
                custom_prices(ui, own);
            } else {
                for model in &costs.models {
                    recorded_model(ui, model);
                }
            }
            ui.add_space(space::S);
            widgets::section(ui, "Billing");
            lifetime(ui, costs, &mut billing);
            ui.checkbox(&mut billing.bills_rejected, "Rejected calls are billed")
                .on_hover_text("No known provider bills a call that it rejects as too long");
        });
    });
    if billing != input.config.billing {
        commands.push(SettingsCommand::SetBilling(billing));
    }
}

/// Shows the choice of prices: those of the recorded models, of another model, or custom.
fn choose(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, billing: &mut BillingChoice) {
    let text = match &billing.price {
        PriceChoice::Recorded => "Recorded models".to_owned(),
        PriceChoice::Model(name) => format!("All as {name}"),
        PriceChoice::Own(_) => "Custom".to_owned(),
    };
    let button = Button::new(text).right_text("⏷").truncate();
    let button = ui.add_sized([ui.available_width(), 24.0], button);
    let button = button.accessible_name("Prices").on_hover_text("Prices of all calls");
    Popup::menu(&button).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        ui.set_width(model_menu::WIDTH);
        let choice = &mut billing.price;
        if ui.radio(*choice == PriceChoice::Recorded, "Recorded models").clicked() {
            *choice = PriceChoice::Recorded;
            ui.close();
        }
        if ui
            .radio(matches!(choice, PriceChoice::Own(_)), "Custom…")
            .on_hover_text("Prices that you enter; they are saved")
            .clicked()
        {
            let known = costs.models.iter().find_map(|model| model.price.as_ref());
            let before = input.own_price.clone();
            *choice = PriceChoice::Own(before.unwrap_or_else(|| OwnPrice::starting_at(known)));
            ui.close();
        }
        ui.separator();
        let chosen = match choice {
            PriceChoice::Model(name) => Some(name.as_str()),
            _ => None,
        };
        if let Some(model) = model_menu::list(ui, chosen) {
            *choice = PriceChoice::Model(model.to_owned());
            ui.close();
        }
    });
}

/// Shows a recorded model with its prices, or that no price is known.
fn recorded_model(ui: &mut Ui, model: &ModelPrice) {
    ui.add_space(space::XS);
    let name = if model.model.is_empty() {
        "The file names no model".to_owned()
    } else {
        safe_text::one_line(&model.model, 60)
    };
    let Some(price) = &model.price else {
        ui.label(RichText::new(name).color(palette(ui).text));
        let sentence = "No price is known: choose another model or enter custom prices. Until then costs stay blank.";
        ui.label(small(ui, sentence).color(palette(ui).warn));
        return;
    };
    ui.label(name);
    figures(ui, price);
    let source =
        if price.verified { "from the vendor's price page" } else { "from another source" };
    let sentence = format!("read {} {source}", price.read);
    ui.label(small(ui, sentence)).on_hover_ui(|ui| {
        ui.label(&price.source);
        if let Some(note) = &price.note {
            ui.label(note);
        }
    });
}

/// Shows the prices of a model.
fn figures(ui: &mut Ui, price: &Price) {
    let write = price.cache_write.unwrap_or(price.input);
    let hour = price
        .cache_write_hour
        .map_or_else(String::new, |hour| format!(" ({})", wording::rate(hour)));
    let pairs = [
        ("input", wording::rate(price.input)),
        ("output", wording::rate(price.output)),
        ("cache read", wording::rate(price.cache_read)),
        ("write", format!("{}{hour}", wording::rate(write))),
    ];
    Grid::new(("price", &price.name))
        .num_columns(4)
        .spacing([space::S, 1.0])
        .min_row_height(16.0)
        .show(ui, |ui| {
            for pair in pairs.chunks(2) {
                for (name, text) in pair {
                    ui.label(weak(ui, *name));
                    ui.label(text);
                }
                ui.end_row();
            }
        })
        .response
        .on_hover_text(
            "USD per million tokens; in parentheses, writes with the long cache lifetime",
        );
}

/// Shows the fields for custom prices.
fn custom_prices(ui: &mut Ui, own: &mut OwnPrice) {
    ui.label(small(ui, "USD per million tokens"));
    Grid::new("own price").num_columns(2).spacing([12.0, 4.0]).show(ui, |ui| {
        let rates = [
            ("input", &mut own.input),
            ("cache read", &mut own.cache_read),
            ("cache write", &mut own.cache_write),
            ("output", &mut own.output),
        ];
        for (name, rate) in rates {
            rate_field(ui, name, rate);
        }
        let rule = Prices::in_use().rule(&own.caching);
        if rule.is_some_and(|rule| seconds(rule, Lifetime::Long).is_some()) {
            let before = own.cache_write_hour.unwrap_or(own.cache_write);
            let mut rate = before;
            rate_field(ui, "long write", &mut rate);
            if rate != before {
                own.cache_write_hour = Some(rate);
            }
        }
        ui.label(weak(ui, "caches like"));
        ComboBox::from_id_salt("caching rule").selected_text(&*own.caching).show_ui(ui, |ui| {
            for rule in Prices::in_use().rules() {
                let is_chosen = own.caching == rule.name;
                if ui.selectable_label(is_chosen, &rule.name).clicked() {
                    own.caching.clone_from(&rule.name);
                }
            }
        });
        ui.end_row();
    });
}

fn rate_field(ui: &mut Ui, name: &str, rate: &mut Rate) {
    ui.label(weak(ui, name));
    let field = DragValue::new(&mut rate.0)
        .range(0.0..=MAX_PRICE)
        .speed(0.01)
        .max_decimals(4)
        .custom_parser(typed_price)
        .update_while_editing(false)
        .prefix("$");
    ui.add(field).accessible_name(format!("Price of {name}"));
    ui.end_row();
}

/// Shows the choice of the cache lifetime.
fn lifetime(ui: &mut Ui, costs: &Costs, billing: &mut BillingChoice) {
    let rule = costs.models.iter().find_map(|model| model.price.as_ref());
    let prices = billing.prices();
    let rule = match &billing.price {
        PriceChoice::Own(own) => prices.rule(&own.caching),
        _ => rule.and_then(|price| prices.rule(&price.caching)),
    };
    let time = |lifetime: Lifetime| {
        let known = rule.and_then(|rule| seconds(rule, lifetime));
        known.map(wording::duration)
    };
    let named = |lifetime: Lifetime| match (lifetime, time(lifetime)) {
        (_, Some(time)) => time,
        (Lifetime::Usual, None) => "default".to_owned(),
        (Lifetime::Long, None) => "long".to_owned(),
    };
    let text = named(billing.lifetime.unwrap_or(costs.lifetime));
    let is_default = billing.lifetime.is_none();
    ui.horizontal(|ui| {
        ui.label(weak(ui, "cache lifetime"));
        let combo = ComboBox::from_id_salt("cache time").selected_text(text).truncate();
        let shown = combo.width(ui.available_width()).show_ui(ui, |ui| {
            let mut offer = |lifetime: Option<Lifetime>, name: String| {
                let is_chosen = billing.lifetime == lifetime;
                if ui.selectable_label(is_chosen, name).clicked() {
                    billing.lifetime = lifetime;
                }
            };
            offer(None, "as recorded".to_owned());
            offer(Some(Lifetime::Usual), named(Lifetime::Usual));
            if time(Lifetime::Long).is_some() {
                offer(Some(Lifetime::Long), named(Lifetime::Long));
            }
        });
        shown
            .response
            .accessible_name("Cache lifetime")
            .on_hover_text("Time for which the provider keeps an unused prefix")
    });
    if is_default {
        ui.label(small(ui, "as recorded"));
    }
}
