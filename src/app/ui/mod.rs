//! Drawing of the window. Panels read `OpenSession` (`state/open_session.rs`) and send
//! `Commands` (`state/command.rs`).
//!
//! `theme`, `widgets`, `plots` and `parts` stand below the other folders, which are features. Features do not know each
//! other: what two of them draw is in `parts`.

pub mod about;
pub mod bar;
pub mod compare;
pub mod context;
pub mod convert;
pub mod cost;
pub mod drawer_tab;
pub mod evaluate;
pub mod events;
pub mod export;
pub mod import;
pub mod insights;
pub mod lanes;
pub mod measure;
pub mod messages;
pub mod open;
pub mod parts;
pub mod picture;
pub mod plots;
pub mod repaint;
pub mod report_export;
pub mod restore;
pub mod run_logs;
pub mod session_tabs;
pub mod sessions;
pub mod settings_panel;
pub mod theme;
pub mod timeline;
pub mod tools;
pub mod tune;
pub mod verdict;
pub mod widgets;
