//! Custom controls. They do not depend on sessions and policies beyond their arguments.

mod bidi;
mod buttons;
pub(super) mod dialog;
pub(crate) mod drag;
mod elements;
pub(super) mod in_view;
mod knob_choice;
mod knob_curve;
mod knob_slider;
mod knob_spec;
mod labelled;
mod level;
mod long_text;
mod mark_icon;
mod number;
pub(super) mod path_field;
mod query_help;
pub(crate) mod slider;
mod snippet;
mod status_bar;
pub(super) mod table;
mod table_column;
mod table_copy;
pub(super) mod text;
mod virtual_list;

pub use bidi::one_line;
pub use buttons::{
    ChipText, badge, chip, choice, lane_chip, primary_button, primary_with_menu, secondary_button,
    tabs, toggle,
};
pub use elements::{figure, hairline, section, swatch};
pub use knob_choice::{knob_choice, knob_menu};
pub use knob_curve::knob_curve;
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
pub(in crate::app) use table_copy::take_copied_table;
pub use virtual_list::{selectable, virtual_list};

use crate::app::theme::Palette;
use egui::{Color32, Rect, Ui};

/// Severity of a displayed value, shown by its color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A plain value.
    #[default]
    Plain,
    /// A minor value.
    Weak,
    /// A good value.
    Ok,
    /// A value that needs attention.
    Warn,
    /// An error.
    Bad,
    /// A value that can be acted upon.
    Accent,
}

impl Tone {
    /// Returns the color of the tone.
    pub fn color(self, palette: &Palette) -> Color32 {
        match self {
            Self::Plain => palette.text,
            Self::Weak => palette.weak,
            Self::Ok => palette.ok,
            Self::Warn => palette.warn,
            Self::Bad => palette.bad,
            Self::Accent => palette.accent,
        }
    }
}

/// Clips drawing to the space beside the panels of an area, so that nothing covers their edges. Returns the previous clip
/// rectangle.
pub fn clip_to_rest(ui: &mut Ui) -> Rect {
    let (rest, before) = (ui.available_rect_before_wrap(), ui.clip_rect());
    ui.set_clip_rect(rest.intersect(before));
    before
}
