//! How calls are billed: the options that every verb with prices knows.

use super::args::Words;
use crate::analysis::cost::{Billing, Lifetime};
use crate::exec::load_prices;
use crate::presets::prices::Prices;
use anyhow::bail;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

/// As typed.
#[derive(Default)]
pub(super) struct BillingArgs {
    prices: Option<OsString>,
    model: Option<String>,
    lifetime: Option<Lifetime>,
    bills_rejected: bool,
}

impl BillingArgs {
    /// Takes an option if it is one of these.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--bill-rejected" => self.bills_rejected = true,
            "--prices" => self.prices = Some(words.raw_value(option)?),
            "--price-as" => self.model = Some(words.value(option)?),
            "--cache-time" => {
                self.lifetime = Some(match words.value(option)?.as_str() {
                    "usual" => Lifetime::Usual,
                    "long" => Lifetime::Long,
                    other => bail!("--cache-time {other}: give usual or long"),
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The table to go by.
    pub(super) fn prices(&self) -> anyhow::Result<Cow<'static, Prices>> {
        Ok(match &self.prices {
            Some(file) => Cow::Owned(load_prices(Path::new(file))?),
            None => Cow::Borrowed(Prices::bundled()),
        })
    }

    /// How calls are billed.
    pub(super) fn billing<'a>(&'a self, prices: &'a Prices) -> anyhow::Result<Billing<'a>> {
        if let Some(model) = &self.model
            && prices.lookup(model, None).is_none()
        {
            bail!("--price-as {model}: no price is known for it; give one with --prices FILE.toml");
        }
        Ok(Billing {
            prices,
            model: self.model.as_deref(),
            bills_rejected: self.bills_rejected,
            lifetime: self.lifetime,
        })
    }
}
