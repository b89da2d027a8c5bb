#![doc = include_str!("README.md")]

// What programs of others use, with an example above. All else is public for Plimsoll itself, may change in any version, and is
// not in the published documentation.
pub use engine::{Case, Event, Outcome, Policy, PolicyError, Sample, recorded, simulate};
pub use formats::{Input, Parsed, Refused, parse};
pub use live::Manager;
pub use presets::models::window_plan;
pub use presets::{by_name as preset, names as preset_names, parse as parse_policy};
pub use session::{Kind, Session};
pub use tokens::{Accuracy, Cancelled, Progress, TokenLedger, default_counter};
pub use units::Tokens;

#[cfg_attr(docsrs, doc(hidden))]
pub mod analysis;
#[cfg_attr(docsrs, doc(hidden))]
pub mod chat;
#[cfg_attr(docsrs, doc(hidden))]
pub mod engine;
#[cfg_attr(docsrs, doc(hidden))]
pub mod figure;
#[cfg_attr(docsrs, doc(hidden))]
pub mod formats;
#[cfg_attr(docsrs, doc(hidden))]
pub mod json;
#[cfg_attr(docsrs, doc(hidden))]
pub mod languages;
pub mod live;
#[cfg_attr(docsrs, doc(hidden))]
pub mod names;
#[cfg_attr(docsrs, doc(hidden))]
pub mod presets;
#[cfg_attr(docsrs, doc(hidden))]
pub mod progress;
#[cfg_attr(docsrs, doc(hidden))]
pub mod providers;
#[cfg_attr(docsrs, doc(hidden))]
pub mod report;
#[cfg_attr(docsrs, doc(hidden))]
pub mod safe_text;
#[cfg_attr(docsrs, doc(hidden))]
pub mod session;
#[cfg_attr(docsrs, doc(hidden))]
pub mod systems;
#[cfg_attr(docsrs, doc(hidden))]
pub mod tokens;
#[cfg_attr(docsrs, doc(hidden))]
pub mod units;

/// A layer that is a crate of its own.
#[cfg_attr(docsrs, doc(hidden))]
pub use token_counter;
