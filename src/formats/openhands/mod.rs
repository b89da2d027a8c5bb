//! `OpenHands`: the events of version 0 (and the evaluations that hold them), and those of the SDK.

mod sdk;
mod totals;
mod v0;
mod view;

pub(super) use sdk::SDK;
pub(super) use v0::V0;
