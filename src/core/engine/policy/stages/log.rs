//! Writes a line, like a system's own log. The context does not change.

use crate::engine::expr::{Expr, Moment};
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
    /// Literal text.
    Text(String),
    /// The value of an expression, with this number of decimals: `{used / usable:.1}`.
    Value(Expr, usize),
}

impl Log {
    /// Returns the line at this moment.
    pub(crate) fn line(&self, moment: &Moment) -> String {
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

    /// Returns the expressions in its line.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            if let LogPiece::Value(expr, _) = piece {
                found.push(expr);
            }
        }
        found
    }

    /// Replaces names by their expressions.
    pub(crate) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        let bind = |piece: &LogPiece| match piece {
            LogPiece::Text(text) => LogPiece::Text(text.clone()),
            LogPiece::Value(expr, decimals) => LogPiece::Value(expr.bind(names), *decimals),
        };
        Self { pieces: self.pieces.iter().map(bind).collect() }
    }
}
