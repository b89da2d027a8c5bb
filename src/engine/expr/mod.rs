//! The expression language of presets: numbers, comparisons, `and or not`, `min max clamp floor if`.
//!
//! Parsed once against a [`Vocabulary`] (names and types are checked then, errors carry their position),
//! bound once a run (knobs and `let`s folded into constants), evaluated before every call. Numbers are `f64`;
//! truth is 1 and 0 inside. Dividing by zero gives infinity or NaN, and a comparison with NaN is false:
//! a run cannot fail, the check at load refuses a constant zero divisor.

mod moment;
mod node;
mod parse;

pub use moment::{Moment, Quantity};

use node::{Binary, Node};
use std::collections::BTreeMap;

/// What an expression may name.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Knobs and `let`s with their types.
    pub names: BTreeMap<String, Type>,
    /// Ids of the policy's stages, for `since` and `fired`.
    pub stages: Vec<String>,
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Number,
    /// True or false.
    Truth,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at column {column} of `{text}`")]
pub struct ExprError {
    /// The expression.
    pub text: String,
    /// Where, in characters from 1.
    pub column: usize,
    /// What.
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
    /// Parses and checks an expression of this type.
    ///
    /// # Errors
    /// Where and what, if it does not parse, names what is not there, or has another type.
    pub fn parse(text: &str, expected: Type, vocabulary: &Vocabulary) -> Result<Self, ExprError> {
        let (node, found) = parse::parse(text, vocabulary)?;
        if found == expected {
            return Ok(Self {
                text: text.to_owned(),
                node,
            });
        }
        let what = match expected {
            Type::Truth => "this is a number, but a condition is wanted",
            Type::Number => "this is a condition, but a number is wanted",
        };
        Err(ExprError {
            text: text.to_owned(),
            column: 1,
            what: what.to_owned(),
        })
    }

    /// Parses an expression of either type.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_any(text: &str, vocabulary: &Vocabulary) -> Result<(Self, Type), ExprError> {
        let (node, found) = parse::parse(text, vocabulary)?;
        Ok((
            Self {
                text: text.to_owned(),
                node,
            },
            found,
        ))
    }

    /// A constant.
    pub fn constant(value: f64) -> Self {
        Self {
            text: value.to_string(),
            node: Node::Constant(value),
        }
    }

    /// What is measured of this quantity.
    pub(super) fn quantity(quantity: Quantity) -> Self {
        Self {
            text: quantity.name().to_owned(),
            node: Node::Quantity(quantity),
        }
    }

    /// Replaces names by what they stand for and folds what is then constant.
    #[must_use]
    pub fn bind(&self, names: &BTreeMap<String, Self>) -> Self {
        let node = self.node.rewrite(&|node| match node {
            Node::Name(name) => names.get(name).map(|e| e.node.clone()),
            _ => None,
        });
        Self {
            text: self.text.clone(),
            node,
        }
    }

    /// Its value; a condition gives 1 or 0. Names must have been bound (an unbound one is NaN).
    pub fn value(&self, moment: &Moment) -> f64 {
        // Once bound, most are constants: these are asked for before every call.
        match &self.node {
            Node::Constant(value) => *value,
            node => node.value(moment),
        }
    }

    /// Whether a condition holds.
    pub fn holds(&self, moment: &Moment) -> bool {
        self.value(moment) == 1.0
    }

    /// The value of `quantity` from which on it holds, where it is plainly `quantity >= constant` or
    /// `quantity > constant`: nothing else needs to be measured then.
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

    /// The constant that it is, if nothing that is measured decides.
    pub(super) fn constant_value(&self) -> Option<f64> {
        match self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The same with a quantity that is constant in a run replaced by its value.
    #[must_use]
    pub fn fix(&self, quantity: Quantity, value: f64) -> Self {
        let node = self.node.rewrite(&|node| match node {
            Node::Quantity(q) if *q == quantity => Some(Node::Constant(value)),
            _ => None,
        });
        Self {
            text: self.text.clone(),
            node,
        }
    }

    /// Its size once names of these sizes are written out.
    pub fn written_out(&self, sizes: &BTreeMap<String, usize>) -> usize {
        self.node.written_out(sizes)
    }

    /// Whether it mentions a quantity itself, not by a name.
    pub(super) fn mentions(&self, quantity: Quantity) -> bool {
        self.terms().iter().any(|term| term == quantity.name())
    }

    /// Quantities and names it mentions, each once, in the order written.
    pub fn terms(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.node.terms(&mut found);
        found
    }
}

/// The quantity of this name.
pub(super) fn quantity(name: &str) -> Option<Quantity> {
    Quantity::ALL
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, q)| *q)
}
