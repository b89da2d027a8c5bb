//! The tab Cost: costs of the session and of every lane, and the prices.

pub mod billing;
mod cache;
mod calls;
mod compactions;
pub mod compute;
pub mod difference;
mod difference_page;
pub(super) mod input;
mod lanes;
pub(super) mod model_menu;
pub(super) mod panel;
mod prices;
pub mod state;
mod sum_cell;
