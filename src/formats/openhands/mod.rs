//! `OpenHands`: events of version 0 (and evaluations that contain them) and events of the SDK.

mod sdk;
mod totals;
mod v0;
mod view;

pub(super) use sdk::SDK;
pub(super) use v0::V0;
