//! Shared by all features: the session, the selection, the configuration of the lanes with their replays, and the places
//! for view settings and results, which know no feature.

pub mod background;
pub mod billing;
pub mod config;
pub mod derived;
pub mod document;
pub mod history;
pub mod knobs;
pub mod lane_context;
pub mod lane_option;
pub mod marks;
pub mod pasted;
pub mod policies;
pub mod runs;
pub mod selection;
pub mod session_list;
pub mod subject;
pub mod tab;
pub mod tone;
pub mod view;
