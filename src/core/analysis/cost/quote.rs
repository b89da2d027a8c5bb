//! Price estimates of requests before they are sent.

use crate::engine::RequestSize;
use crate::figure::usd;
use crate::presets::prices::{Price, Prices};
use crate::units::Usd;
use std::fmt;

/// Estimated price of requests to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Quote {
    /// No price: the server is this machine.
    Local,
    /// The price of this model is unknown.
    Unknown {
        /// The model, as its server names it.
        model: String,
    },
    /// An estimate from the list price.
    Listed(ListedPrice),
}

impl RequestSize {
    /// Returns the price of the request if no part of its prompt is in the cache.
    pub fn uncached_price(self, price: &Price) -> PriceRange {
        let (on_prompt, on_answer) = price.factors(self.sent);
        let sent = price.input.times(on_prompt).of(self.sent);
        PriceRange { sent, most: sent + price.output.times(on_answer).of(self.answer) }
    }
}

/// Lowest and highest price of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriceRange {
    /// Price of the sent tokens.
    pub sent: Usd,
    /// Maximum price, if every answer has its maximum length.
    pub most: Usd,
}

/// An estimate from a list price.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedPrice {
    /// The estimate.
    pub price: PriceRange,
    /// Model of the price, as the table names it.
    pub model: String,
    /// Date on which the price was read: `2026-11-22`.
    pub read: String,
    /// Host of a third-party server, which may charge different prices.
    pub reseller: Option<String>,
}

/// The server that receives the requests.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// Host, with a port if given.
    pub host: &'a str,
    /// The server is known to be the vendor's own.
    pub is_own: bool,
}

/// Estimates the price of requests. Assumes no caching.
pub fn quote(prices: &Prices, model: &str, server: Server<'_>, requests: &[RequestSize]) -> Quote {
    let Some(price) = prices.lookup(model, None) else {
        return Quote::Unknown { model: model.to_owned() };
    };
    let each = || requests.iter().map(|request| request.uncached_price(price));
    let is_vendors = server.is_own || is_vendors(prices, price, server.host);
    Quote::Listed(ListedPrice {
        price: PriceRange {
            sent: each().map(|range| range.sent).sum(),
            most: each().map(|range| range.most).sum(),
        },
        model: price.name.clone(),
        read: price.read.to_string(),
        reseller: (!is_vendors).then(|| server.host.to_owned()),
    })
}

/// Returns true if the host belongs to the domain of the vendor's documentation: `api-docs.deepseek.com`,
/// `api.deepseek.com`. Vendors with documentation on another domain count as third parties.
fn is_vendors(prices: &Prices, price: &Price, host: &str) -> bool {
    let rule = prices.rule(&price.caching);
    let rest = rule.and_then(|rule| rule.source.split("//").nth(1));
    let source = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    !source.is_empty() && domain(source) == domain(host)
}

/// Returns the last two labels of a host name.
fn domain(host: &str) -> &str {
    let start = host.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    &host[start..]
}

impl fmt::Display for Quote {
    /// Writes the expected price and the maximum: `≈ $0.012, at most $0.030 (price of claude-sonnet-4-5 of
    /// 2026-11-22)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("none, the server is this machine"),
            Self::Unknown { model } => write!(f, "unknown, no price of {model} is listed"),
            Self::Listed(listed) => {
                let (sent, most) = (cents(listed.price.sent), cents(listed.price.most));
                write!(
                    f,
                    "≈ {sent}, at most {most} (price of {} of {}",
                    listed.model, listed.read
                )?;
                if let Some(host) = &listed.reseller {
                    write!(f, "; {host} may charge a different price")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Formats a sum with two significant digits below a dollar.
fn cents(sum: Usd) -> String {
    if !(0.01..1.0).contains(&sum.0) {
        return usd(sum);
    }
    let places = if sum.0 < 0.0995 { 3 } else { 2 };
    format!("${:.places$}", sum.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Tokens;

    fn listed(quote: Quote) -> ListedPrice {
        match quote {
            Quote::Listed(listed) => listed,
            other => panic!("{other:?}"),
        }
    }

    fn request(sent: u64, answer: u64) -> RequestSize {
        RequestSize { sent: Tokens(sent), answer: Tokens(answer) }
    }

    #[test]
    fn prompts_and_the_longest_answers_are_priced_by_the_list() {
        let prices = Prices::bundled();
        let requests = [request(100_000, 2_000), request(1_000, 0)];
        let model = "claude-sonnet-4-5-20250929";
        let own = Server { host: "api.anthropic.com", is_own: true };
        let quote = listed(quote(prices, model, own, &requests));
        // 3 and 15 dollars for a million.
        assert!((quote.price.sent.0 - 0.303).abs() < 1e-9, "{quote:?}");
        assert!((quote.price.most.0 - 0.333).abs() < 1e-9, "{quote:?}");
        assert_eq!(quote.model, "claude-sonnet-4-5");
        assert!(quote.read.starts_with("20") && quote.read.len() == 10);
        assert_eq!(quote.reseller, None);
    }

    #[test]
    fn each_prompt_is_long_or_not_by_itself() {
        let own = "[[price]]\nmatch = \"m\"\ncaching = \"own\"\ninput = 1\noutput = 10\ncache_read = 0.1\n\
                   long = { above = 1_000, input = 2, output = 3 }\nsource = \"https://prices.example.net/x\"\nread = 2026-01-02\nverified = true\n\
                   [[caching]]\nname = \"own\"\nhow = \"automatic\"\nminimum = 1\nstep = 1\nrefreshes = true\n\
                   source = \"https://docs.example.com/x\"\nread = 2026-01-02\nverified = true\n";
        let prices = Prices::with_own(own).unwrap();
        let cost = |requests: &[(u64, u64)]| {
            let requests: Vec<_> = requests.iter().map(|(a, b)| request(*a, *b)).collect();
            let server = Server { host: "api.example.com:8443", is_own: false };
            let quote = listed(quote(&prices, "m", server, &requests));
            assert_eq!((&*quote.read, quote.reseller), ("2026-01-02", None));
            [quote.price.sent.0 * 1e6, quote.price.most.0 * 1e6].map(f64::round)
        };
        assert_eq!(cost(&[(1_000, 10), (1_000, 10)]), [2_000.0, 2_200.0]);
        assert_eq!(cost(&[(2_000, 10)]), [4_000.0, 4_300.0]);
        assert_eq!(cost(&[]), [0.0, 0.0]);
    }

    #[test]
    fn unlisted_models_have_no_price_and_third_parties_may_charge_others() {
        let of = |model: &str, host: &str| {
            let is_own = false;
            quote(Prices::bundled(), model, Server { host, is_own }, &[])
        };
        let unknown = Quote::Unknown { model: "my-model".to_owned() };
        assert_eq!(of("my-model", "api.openai.com"), unknown);
        let resold = listed(of("openai/gpt-4o", "openrouter.ai"));
        assert_eq!(resold.reseller.as_deref(), Some("openrouter.ai"));
        assert_eq!(listed(of("gpt-4o", "api.openai.com")).reseller, None);
        let deepseek = listed(of("deepseek-v4-pro", "api.deepseek.com"));
        assert_eq!(deepseek.reseller, None);
        assert_eq!(domain("localhost"), "localhost");
    }

    #[test]
    fn names_the_price_list_and_its_date() {
        let listed = |sent, most, reseller: Option<&str>| {
            Quote::Listed(ListedPrice {
                price: PriceRange { sent: Usd(sent), most: Usd(most) },
                model: "m".to_owned(),
                read: "2026-11-22".to_owned(),
                reseller: reseller.map(str::to_owned),
            })
            .to_string()
        };
        assert_eq!(
            listed(0.012_4, 0.03, None),
            "≈ $0.012, at most $0.030 (price of m of 2026-11-22)"
        );
        assert_eq!(
            listed(0.000_42, 0.25, Some("a.example")),
            "≈ $0.00042, at most $0.25 (price of m of 2026-11-22; a.example may charge a different price)"
        );
        assert!(listed(0.1, 12.5, None).starts_with("≈ $0.10, at most $12.50 ("));
        assert!(Quote::Local.to_string().contains("this machine"));
        let unknown = Quote::Unknown { model: "x".to_owned() };
        assert_eq!(unknown.to_string(), "unknown, no price of x is listed");
    }
}
