//! Converts the palettes to egui styles for its built-in widgets.

use crate::app::ui::theme::{
    DARK, Palette, SMALL, TEXT, TITLE, fonts, small_strong, space, strong,
};
use egui::style::{HandleShape, ScrollStyle, Selection, WidgetVisuals, Widgets};
use egui::{
    Align, Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle,
    Visuals, vec2,
};

/// Returns the style of a palette.
pub(crate) fn of(palette: &Palette) -> Style {
    let mut style = Style { visuals: visuals(palette), ..Style::default() };
    let semibold = || FontFamily::Name(fonts::SEMIBOLD.into());
    style.text_styles = [
        (TextStyle::Body, FontId::new(TEXT, FontFamily::Proportional)),
        (TextStyle::Button, FontId::new(TEXT, FontFamily::Proportional)),
        (TextStyle::Small, FontId::new(SMALL, FontFamily::Proportional)),
        (TextStyle::Heading, FontId::new(TITLE, semibold())),
        (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        (strong(), FontId::new(TEXT, semibold())),
        (small_strong(), FontId::new(SMALL, semibold())),
    ]
    .into();
    style.override_text_valign = Some(Align::Center);
    style.animation_time = 0.1;
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(space::S, space::XS);
    spacing.button_padding = vec2(12.0, 5.0);
    spacing.interact_size = vec2(28.0, space::CONTROL);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(8);
    spacing.slider_rail_height = 4.0;
    spacing.combo_height = 320.0;
    spacing.icon_width = 16.0;
    spacing.icon_width_inner = 8.0;
    spacing.tooltip_width = 360.0;
    spacing.scroll = ScrollStyle { bar_width: 8.0, floating_width: 4.0, ..ScrollStyle::floating() };
    // A list that grows during a scroll would otherwise be pulled back to its former end.
    spacing.scroll.kinetic.rubber_band = false;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.35;
    style
}

fn visuals(palette: &Palette) -> Visuals {
    let mut visuals = if palette.is_dark { Visuals::dark() } else { Visuals::light() };
    visuals.widgets = widgets(palette);
    visuals.weak_text_color = Some(palette.weak);
    visuals.selection =
        Selection { bg_fill: palette.selection, stroke: Stroke::new(1.0, palette.text) };
    visuals.hyperlink_color = palette.accent;
    visuals.faint_bg_color = palette.background.lerp_to_gamma(palette.panel, 0.5);
    visuals.extreme_bg_color = if palette.is_dark { palette.background } else { palette.panel };
    visuals.text_edit_bg_color = Some(palette.raised);
    visuals.code_bg_color = palette.raised;
    visuals.warn_fg_color = palette.warn;
    visuals.error_fg_color = palette.bad;
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = palette.line();
    visuals.window_corner_radius = CornerRadius::same(10);
    visuals.menu_corner_radius = CornerRadius::same(8);
    let shadow = Shadow {
        offset: [0, 8],
        blur: 24,
        spread: 0,
        color: DARK.background.gamma_multiply(if palette.is_dark { 0.7 } else { 0.14 }),
    };
    visuals.window_shadow = shadow;
    visuals.popup_shadow = shadow;
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = HandleShape::Circle;
    visuals.striped = false;
    visuals.indent_has_left_vline = false;
    visuals.text_cursor.stroke = Stroke::new(1.5, palette.accent);
    visuals
}

fn widgets(palette: &Palette) -> Widgets {
    let state = |fill: Color32, stroke: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, stroke),
        corner_radius: CornerRadius::same(space::RADIUS),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    Widgets {
        noninteractive: state(palette.panel, palette.hairline, palette.text),
        inactive: WidgetVisuals {
            // Checkboxes and radio buttons have no outline, so their fill must differ from the background.
            bg_fill: palette.hairline.lerp_to_gamma(palette.outline, 0.5),
            ..state(palette.raised, palette.hairline, palette.text)
        },
        hovered: state(palette.hover, palette.outline, palette.text),
        active: state(palette.hover, palette.accent, palette.text),
        open: state(palette.hover, palette.outline, palette.text),
    }
}
