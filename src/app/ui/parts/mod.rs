//! Drawn parts that several features share.

pub mod changes;
pub mod connection_fields;
pub mod conversations;
pub mod diff_rows;
pub mod edits_button;
pub mod form_row;
pub mod mark_menu;
pub mod model_fields;
pub mod model_menu;
pub mod note;
pub mod open_item;
pub mod output_path;
pub mod preset_menu;
pub mod progress;
pub mod section;
pub mod stage_views;
