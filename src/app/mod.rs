//! The window: `state` knows and computes, `ui` draws, `shell` owns all state and executes commands. Each may use only
//! those before it. Sessions are analyzed in [`crate::analysis`].
//!
//! A panel draws what `OpenSession` (`state/open_session.rs`) contains, and sends commands, which `shell/execute` executes
//! after the frame. Panels share `ui/widgets`, `ui/parts`, `state/wording` (numbers, units and names as text) and `ui/theme`
//! (colors and spacing). Neither folders nor files import each other in a circle.
//!
//! # How to write a drawer tab
//!
//! A tab implements `DrawerTab` (`ui/drawer_tab.rs`), which owns its name, key, results, drawing and commands. `ui/about.rs`
//! is a tab of one file; `state/tools` and `ui/tools` are one with a table that sorts, a background result, commands and kept
//! view settings.
//!
//! 1. Add `ui/NAME` with a type that implements `DrawerTab`, and `state/NAME` for what it computes, if anything. Declare them in
//!    `ui/mod.rs` and `state/mod.rs`. Name the tab by a `const TAB: Tab` in its own file; only a tab that other panels open
//!    has a constant in `state/model/tab.rs`.
//! 2. Add a row at the end of `DRAWER_TABS` in `shell/drawer_tabs.rs`, so that the keys of other tabs stay. Workspaces, keys and the command palette use the row. The keys
//!    Alt+1 to Alt+9 open the first nine tabs. Tabs that do not fit beside each other are in the menu *More* at the end of
//!    the row; the command palette lists all.
//! 3. Test it in `tests/window/NAME.rs`, declared in `tests/window/main.rs`. Add it to *Features* in `README.md`, and draw the
//!    pictures there again: `UPDATE_DOCS=1 cargo test --test window readme_pictures`.
//!
//! | a tab with | uses | example |
//! |---|---|---|
//! | figures of the session | `session.runs.case`: the session, counted by the selected tokenizer | `ui/import.rs` |
//! | figures of a lane | `session.runs.focused(&session.selection)` | `ui/about.rs` |
//! | work that may take longer than a frame | a type that implements `DerivedResult`, requested in `DrawerTab::update` | `state/tools/result.rs` |
//! | a filter, an order or pages | a type that is stored in `View` (`state/model/view.rs`) and replaced by `ViewCommand`; `DrawerTab::kept_view` if workspaces keep it | `state/tools/view.rs` |
//! | commands in the command palette | `DrawerTab::commands` | `ui/tools` |
//! | links to calls, messages and lanes | `SelectCommand` (`state/model/selection.rs`) | `ui/events` |
//! | commands that change more than its view | a type in `state/NAME`, a row of `commands!` in `state/command.rs`, an `execute_` function in `shell/execute`, and its call in `shell/dispatch.rs` | `state/tune` |
//!
//! Tests of the window are in `tests/window`.

pub mod shell;
pub mod state;
pub mod ui;

pub use shell::drawer_tabs::tabs as drawer_tabs;
pub use shell::{App, Options, has_display, run, screenshot};
pub use state::model::lane_option::LaneOption;
