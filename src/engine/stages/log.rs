//! Says a line, as a system's own log does. Nothing changes.

use crate::engine::expr::{Expr, Moment, Quantity};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Settings of the action `log`.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The line, in pieces.
    pub pieces: Vec<LogPiece>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum LogPiece {
    /// As it is.
    Text(String),
    /// What an expression stands at, with so many decimals: `{used / usable:.1}`.
    Value(Expr, usize),
}

impl Log {
    /// Reads a line with expressions in braces.
    ///
    /// # Errors
    /// What `expr` says of an expression, or that a brace is not closed.
    pub(in crate::engine) fn parse<E>(
        line: &str,
        expr: impl Fn(&str) -> Result<Expr, E>,
    ) -> Result<Self, E> {
        let mut pieces = Vec::new();
        let mut rest = line;
        while let Some((text, more)) = rest.split_once('{') {
            let (inside, behind) = more.split_once('}').unwrap_or((more, ""));
            let (value, decimals) = match inside.rsplit_once(":.") {
                Some((value, decimals)) => (value, decimals.parse().unwrap_or(0)),
                None => (inside, 0),
            };
            pieces.push(LogPiece::Text(text.to_owned()));
            pieces.push(LogPiece::Value(expr(value)?, decimals));
            rest = behind;
        }
        pieces.push(LogPiece::Text(rest.to_owned()));
        Ok(Self { pieces })
    }

    /// The line now.
    pub(in crate::engine) fn line(&self, moment: &Moment) -> String {
        let mut line = String::new();
        for piece in &self.pieces {
            match piece {
                LogPiece::Text(text) => line.push_str(text),
                LogPiece::Value(expr, decimals) => {
                    let _ = write!(line, "{:.decimals$}", expr.value(moment));
                }
            }
        }
        line
    }

    /// Whether it tells a quantity.
    pub(in crate::engine) fn mentions(&self, quantity: Quantity) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, LogPiece::Value(expr, _) if expr.mentions(quantity)))
    }

    /// The same with names replaced by what they stand for.
    pub(in crate::engine) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        let bind = |piece: &LogPiece| match piece {
            LogPiece::Text(text) => LogPiece::Text(text.clone()),
            LogPiece::Value(expr, decimals) => LogPiece::Value(expr.bind(names), *decimals),
        };
        Self {
            pieces: self.pieces.iter().map(bind).collect(),
        }
    }
}
