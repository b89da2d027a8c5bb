//! The expression language of presets: numbers, comparisons, `and or not`, `min max clamp floor if`.
//!
//! An expression is parsed once against a [`Vocabulary`]. This checks names and types, and errors carry their position.
//! It is bound once per run (knobs and `let`s are folded into constants) and evaluated before every call. Numbers are
//! `f64`; truth is 1 and 0. Division by zero gives infinity or NaN, and a comparison with NaN is false: a run cannot
//! fail. The check at load rejects a constant zero divisor.

mod moment;
mod node;
mod parse;

pub use moment::{Moment, Quantity};

use node::{Binary, Node};
use std::collections::BTreeMap;

/// Names that an expression may use.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Settings and `let`s.
    pub names: BTreeMap<String, Definition>,
    /// Ids of the policy's stages, for `since` and `fired`.
    pub stages: Vec<String>,
}

/// The expression that defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its type.
    pub kind: Type,
    /// Number of its nodes (numbers, quantities, operators) after its own names are replaced by their expressions.
    pub n_nodes: usize,
}

impl Definition {
    /// A setting: a number.
    pub const SETTING: Self = Self { kind: Type::Number, n_nodes: 1 };
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Number,
    /// True or false.
    Truth,
}

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at column {column} of `{text}`")]
pub struct ExprError {
    /// The expression.
    pub text: String,
    /// Column of the error, in characters from 1.
    pub column: usize,
    /// The message.
    pub what: String,
}

/// A checked expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// As written.
    pub text: String,
    node: Node,
}

impl Expr {
    /// Parses and checks an expression of the expected type.
    ///
    /// # Errors
    /// Returns the position and a message if it does not parse, uses an unknown name, has another type, or is too long.
    pub fn parse(text: &str, expected: Type, vocabulary: &Vocabulary) -> Result<Self, ExprError> {
        let (expr, found) = Self::parse_any(text, vocabulary)?;
        if found.kind == expected {
            return Ok(expr);
        }
        let what = match expected {
            Type::Truth => "expected a condition, found a number",
            Type::Number => "expected a number, found a condition",
        };
        Err(ExprError { text: text.to_owned(), column: 1, what: what.to_owned() })
    }

    /// Parses an expression of either type. Also returns its definition, for a name.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_any(text: &str, vocabulary: &Vocabulary) -> Result<(Self, Definition), ExprError> {
        let (node, definition) = parse::parse(text, vocabulary)?;
        let text = text.to_owned();
        Ok((Self { text, node }, definition))
    }

    /// Creates a constant.
    pub fn constant(value: f64) -> Self {
        Self { text: value.to_string(), node: Node::Constant(value) }
    }

    /// Creates an expression that reads a quantity.
    pub(super) fn quantity(quantity: Quantity) -> Self {
        Self { text: quantity.name().to_owned(), node: Node::Quantity(quantity) }
    }

    /// Replaces names by their expressions and folds the resulting constants.
    #[must_use]
    pub fn bind(&self, names: &BTreeMap<String, Self>) -> Self {
        let node = self.node.rewrite(&|node| match node {
            Node::Name(name) => names.get(name).map(|e| e.node.clone()),
            _ => None,
        });
        Self { text: self.text.clone(), node }
    }

    /// Returns its value; a condition gives 1 or 0. Names must be bound (an unbound one is NaN).
    pub fn value(&self, moment: &Moment) -> f64 {
        // Most bound expressions are constants, and they are evaluated before every call.
        match &self.node {
            Node::Constant(value) => *value,
            node => node.value(moment),
        }
    }

    /// Returns whether a condition is true.
    pub fn holds(&self, moment: &Moment) -> bool {
        self.value(moment) == 1.0
    }

    /// Returns the lowest value of `quantity` at which it is true, if it has the form `quantity >= constant` or
    /// `quantity > constant`. Then no other quantity has to be measured.
    pub fn floor_of(&self, quantity: Quantity) -> Option<f64> {
        let Node::Binary(op, left, right) = &self.node else {
            return None;
        };
        match (op, &**left, &**right) {
            (_, Node::Quantity(q), _) if *q != quantity => None,
            (Binary::GreaterOrEqual, Node::Quantity(_), Node::Constant(floor)) => Some(*floor),
            (Binary::Greater, Node::Quantity(_), Node::Constant(floor)) => Some(floor.next_up()),
            _ => None,
        }
    }

    /// Returns its constant value, if it does not depend on a quantity.
    pub(super) fn constant_value(&self) -> Option<f64> {
        match self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Replaces a quantity that is constant in a run by its value.
    #[must_use]
    pub fn fix(&self, quantity: Quantity, value: f64) -> Self {
        let node = self.node.rewrite(&|node| match node {
            Node::Quantity(q) if *q == quantity => Some(Node::Constant(value)),
            _ => None,
        });
        Self { text: self.text.clone(), node }
    }

    /// Returns the quantities and names that it uses, without duplicates, in the order written.
    pub fn terms(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.node.terms(&mut found);
        found
    }
}

/// Returns the quantity of this name.
pub(super) fn quantity(name: &str) -> Option<Quantity> {
    Quantity::ALL.iter().find(|(n, _)| *n == name).map(|(_, q)| *q)
}
