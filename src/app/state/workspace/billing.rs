//! Billing settings as workspaces contain them.

use crate::analysis::cost::Lifetime;
use crate::app::state::model::billing::{BillingChoice, OwnPrice, PriceChoice};
use crate::exec::KeptPrice;
use crate::presets::prices::Prices;
use serde::{Deserialize, Serialize};

/// Billing settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KeptBilling {
    /// The model whose prices apply to all calls; null for those of each call's own model.
    model: Option<String>,
    /// Custom prices; null if none are used.
    own: Option<KeptPrice>,
    bills_rejected: bool,
    /// The longer lifetime of the cache is assumed, or the shorter one; null to derive it from the file.
    has_long_lifetime: Option<bool>,
}

impl KeptBilling {
    pub(crate) fn new(billing: &BillingChoice) -> Self {
        let (model, own) = match &billing.price {
            PriceChoice::Recorded => (None, None),
            PriceChoice::Model(name) => (Some(name.clone()), None),
            PriceChoice::Own(own) => (None, Some(own.to_kept())),
        };
        Self {
            model,
            own,
            bills_rejected: billing.bills_rejected,
            has_long_lifetime: billing.lifetime.map(|lifetime| lifetime == Lifetime::Long),
        }
    }

    /// Returns the settings. Unknown models and invalid prices are left out, since anyone can edit the file.
    pub(crate) fn choice(self) -> BillingChoice {
        let own = self.own.as_ref().and_then(OwnPrice::from_kept);
        let is_known = |name: &String| Prices::bundled().rows().iter().any(|row| row.name == *name);
        let price = match (own, self.model.filter(is_known)) {
            (Some(own), _) => PriceChoice::Own(own),
            (None, Some(name)) => PriceChoice::Model(name),
            (None, None) => PriceChoice::Recorded,
        };
        BillingChoice {
            price,
            bills_rejected: self.bills_rejected,
            lifetime: self
                .has_long_lifetime
                .map(|is_long| if is_long { Lifetime::Long } else { Lifetime::Usual }),
        }
    }
}
