//! The tab Cost: costs of the session and of every lane, and the prices.
//!
//! Here is how it is drawn; its state and results are in `state/cost`.

pub mod cache;
pub mod calls;
pub mod compactions;
pub mod difference_page;
pub mod lanes;
pub mod panel;
pub mod prices;
pub mod sum_cell;
