//! Custom controls. They do not depend on sessions and policies beyond their arguments.

pub mod below_notices;
pub mod resizable_panel;

mod bidi;
mod buttons;
pub(crate) mod dialog;
pub(crate) mod drag;
mod elements;
pub(crate) mod in_view;
mod knob_choice;
mod knob_slider;
mod knob_spec;
mod labelled;
mod level;
mod long_text;
mod mark_icon;
mod number;
pub(crate) mod path_field;
mod query_help;
pub(crate) mod slider;
mod snippet;
mod status_bar;
pub(crate) mod table;
mod table_column;
mod table_copy;
mod tabs;
pub(crate) mod text;
mod virtual_list;

pub use bidi::one_line;
pub use buttons::{
    ChipText, badge, chip, choice, lane_chip, primary_button, primary_with_menu, secondary_button,
    toggle,
};
pub use elements::{figure, hairline, section, swatch};
pub use knob_choice::{knob_choice, knob_menu};
pub(crate) use knob_slider::KNOB_RADIUS;
pub use knob_slider::knob_slider;
pub use knob_spec::{KnobResponse, KnobSpec};
pub use labelled::labelled;
pub use level::{level_sign, level_tone};
pub use long_text::{Highlights, long_text};
pub use mark_icon::mark_icon;
pub use number::grouped;
pub use query_help::explain_query;
pub use snippet::snippet;
pub use status_bar::status_bar;
pub(crate) use table_copy::take_copied_table;
pub use tabs::tabs;
pub use virtual_list::{selectable, virtual_list};

use egui::{Rect, Ui};

/// Clips drawing to the space beside the panels of an area, so that nothing covers their edges. Returns the previous clip
/// rectangle.
pub fn clip_to_rest(ui: &mut Ui) -> Rect {
    let (rest, before) = (ui.available_rect_before_wrap(), ui.clip_rect());
    ui.set_clip_rect(rest.intersect(before));
    before
}
