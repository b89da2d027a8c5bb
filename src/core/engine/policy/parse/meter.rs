//! The section of a preset that defines its counting rule.

use crate::engine::meter::{Count, Meter};
use crate::engine::named::Registry;
use crate::engine::policy::PolicyError;
use crate::session::Kind;
use crate::tokens;
use serde::Deserialize;

/// `count` names a counter, or is `true`; `name` names a real system's own meter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeterToml {
    count: Option<String>,
    name: Option<String>,
    pub(super) believed_fill: Option<String>,
    #[serde(default)]
    per_message: u32,
    per_media: Option<u32>,
    #[serde(default)]
    leaves_out: Vec<String>,
}

pub(super) fn meter(meter: &MeterToml, registry: &Registry) -> Result<Meter, PolicyError> {
    let invalid = |what: String| PolicyError::Invalid(format!("[meter]: {what}"));
    let kind = |name: &String| {
        let found = Kind::ALL.into_iter().find(|k| k.name() == name);
        found.ok_or_else(|| invalid(format!("unknown kind `{name}`")))
    };
    let leaves_out: Vec<Kind> = meter.leaves_out.iter().map(kind).collect::<Result<_, _>>()?;
    let is_plain = meter.per_message == 0 && meter.per_media.is_none() && leaves_out.is_empty();
    let count = match (&meter.count, &meter.name) {
        (None, Some(name)) => {
            let found = registry.meters.iter().find(|m| m.name == *name);
            Count::Named(found.ok_or_else(|| invalid(format!("unknown meter `{name}`")))?)
        }
        (Some(count), None) if count == "true" => Count::True,
        (Some(count), None) => {
            let found = tokens::by_name(count);
            Count::Counter(found.ok_or_else(|| invalid(format!("unknown counter `{count}`")))?)
        }
        _ => return Err(invalid("needs either `count` or `name`".to_owned())),
    };
    if !matches!(count, Count::Counter(_)) && !is_plain {
        return Err(invalid(
            "`per_message`, `per_media` and `leaves_out` need a counter as `count`".to_owned(),
        ));
    }
    Ok(Meter { count, per_message: meter.per_message, per_media: meter.per_media, leaves_out })
}
