//! The command palette (Ctrl+K): its entries and its dialog. `state/command_palette` ranks the entries.

pub mod dialog;
pub mod entries;
