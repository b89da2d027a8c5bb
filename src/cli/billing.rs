//! Prices and cache rules: options of every command that shows costs.

use super::args::first_given;
use crate::analysis::cost::{Billing, Lifetime};
use crate::presets::prices::{Price, Prices};
use crate::session::Session;
use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Options that select prices and cache rules.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Cost")]
pub(super) struct BillingArgs {
    /// Use the prices of this model for every call
    #[arg(long, value_name = "MODEL")]
    price_as: Option<String>,
    /// Cache lifetime: usual (such as 5 minutes) or long [default: as recorded]
    #[arg(long = "cache-time", value_name = "TIME", value_parser = lifetime(), hide_possible_values = true)]
    lifetime: Option<Lifetime>,
    /// Bill calls that the provider rejects as too long
    #[arg(long = "bill-rejected")]
    bills_rejected: bool,
}

/// Parser of a cache lifetime.
fn lifetime() -> impl TypedValueParser<Value = Lifetime> {
    PossibleValuesParser::new(["usual", "long"]).map(|name| match name.as_str() {
        "usual" => Lifetime::Usual,
        _ => Lifetime::Long,
    })
}

impl BillingArgs {
    /// Returns the name of the first option that was given.
    pub(super) fn first(&self) -> Option<&'static str> {
        first_given([
            ("--price-as", self.price_as.is_some()),
            ("--cache-time", self.lifetime.is_some()),
            ("--bill-rejected", self.bills_rejected),
        ])
    }

    /// Returns the rules for billing calls.
    pub(super) fn billing<'a>(&'a self, prices: &'a Prices) -> anyhow::Result<Billing<'a>> {
        if let Some(model) = &self.price_as
            && prices.lookup(model, None).is_none()
        {
            bail!("--price-as {model}: no price is known for it; give one with --prices FILE");
        }
        Ok(Billing {
            prices,
            model: self.price_as.as_deref(),
            bills_rejected: self.bills_rejected,
            lifetime: self.lifetime,
        })
    }
}

/// A model of a session with its price.
pub(super) struct ModelPrice<'a> {
    pub(super) model: &'a str,
    /// `None` if unknown.
    pub(super) price: Option<&'a Price>,
}

/// Returns the prices of the session's models at the time of their first calls.
pub(super) fn model_prices<'a>(session: &'a Session, billing: Billing<'a>) -> Vec<ModelPrice<'a>> {
    let models = session.models.iter().enumerate();
    let models =
        models.map(|(idx, model)| ModelPrice { model, price: billing.price(session, Some(idx)) });
    models.collect()
}
