//! The tree of an expression, its evaluation and queries on it.

use super::{Definition, Moment, Quantity};
use std::collections::BTreeMap;

/// Maximum number of arguments of `min` and `max`; `clamp` and `if` take three. Chosen: the bundled presets pass two,
/// and more can be nested.
pub(super) const MAX_ARGUMENTS: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Constant(f64),
    Quantity(Quantity),
    /// A knob or a `let`; replaced when bound.
    Name(String),
    Since(usize),
    Fired(usize),
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(Binary, Box<Self>, Box<Self>),
    Call(Function, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Clamp,
    Floor,
    If,
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterOrEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::And => truth(a == 1.0 && b == 1.0),
            Self::Or => truth(a == 1.0 || b == 1.0),
        }
    }
}

impl Function {
    fn apply(self, args: &[f64]) -> f64 {
        match (self, args) {
            (Self::Min, _) => args.iter().copied().fold(f64::INFINITY, f64::min),
            (Self::Max, _) => args.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            // Not `f64::clamp`, which panics if a knob makes the lower bound exceed the upper.
            (Self::Clamp, [x, low, high]) => x.min(*high).max(*low),
            (Self::Floor, [x]) => x.floor(),
            (Self::If, [condition, then, otherwise]) => {
                if *condition == 1.0 {
                    *then
                } else {
                    *otherwise
                }
            }
            _ => f64::NAN,
        }
    }
}

impl Node {
    pub(super) fn value(&self, moment: &Moment) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Quantity(quantity) => moment.quantities[*quantity as usize],
            Self::Name(_) => f64::NAN,
            Self::Since(stage) => moment.since.get(*stage).copied().unwrap_or(f64::INFINITY),
            Self::Fired(stage) => truth(moment.fired.get(*stage).copied().unwrap_or(false)),
            Self::Not(inner) => 1.0 - inner.value(moment),
            Self::Negate(inner) => -inner.value(moment),
            Self::Binary(op, a, b) => op.apply(a.value(moment), b.value(moment)),
            Self::Call(function, args) => {
                let mut values = [0.0; MAX_ARGUMENTS];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = arg.value(moment);
                }
                function.apply(&values[..args.len()])
            }
        }
    }

    /// Replaces nodes from the leaves up and folds the resulting constants.
    pub(super) fn rewrite(&self, replace: &dyn Fn(&Self) -> Option<Self>) -> Self {
        let inner = |node: &Self| Box::new(node.rewrite(replace));
        let node = match self {
            Self::Not(a) => Self::Not(inner(a)),
            Self::Negate(a) => Self::Negate(inner(a)),
            Self::Binary(op, a, b) => Self::Binary(*op, inner(a), inner(b)),
            Self::Call(function, args) => {
                Self::Call(*function, args.iter().map(|a| a.rewrite(replace)).collect())
            }
            leaf => replace(leaf).unwrap_or_else(|| leaf.clone()),
        };
        if node.is_constant() {
            Self::Constant(node.value(&Moment::default()))
        } else {
            node.settled().unwrap_or(node)
        }
    }

    /// Simplifies `and` and `or` if one side alone decides or is neutral.
    fn settled(&self) -> Option<Self> {
        let Self::Binary(op @ (Binary::And | Binary::Or), a, b) = self else {
            return None;
        };
        let (value, other) = match (&**a, &**b) {
            (Self::Constant(value), other) | (other, Self::Constant(value)) => (*value, other),
            _ => return None,
        };
        match (op, value == 1.0) {
            (Binary::And, false) | (Binary::Or, true) => Some(Self::Constant(value)),
            _ => Some(other.clone()),
        }
    }

    /// Returns its number of nodes after names are replaced by their expressions.
    pub(super) fn n_nodes(&self, names: &BTreeMap<String, Definition>) -> usize {
        match self {
            Self::Constant(_) | Self::Quantity(_) | Self::Since(_) | Self::Fired(_) => 1,
            Self::Name(name) => names.get(name).map_or(1, |definition| definition.n_nodes),
            Self::Not(a) | Self::Negate(a) => 1 + a.n_nodes(names),
            Self::Binary(_, a, b) => 1 + a.n_nodes(names) + b.n_nodes(names),
            Self::Call(_, args) => 1 + args.iter().map(|a| a.n_nodes(names)).sum::<usize>(),
        }
    }

    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Quantity(_) | Self::Name(_) | Self::Since(_) | Self::Fired(_) => false,
            Self::Not(inner) | Self::Negate(inner) => inner.is_constant(),
            Self::Binary(_, a, b) => a.is_constant() && b.is_constant(),
            Self::Call(_, args) => args.iter().all(Self::is_constant),
        }
    }

    pub(super) fn terms(&self, found: &mut Vec<String>) {
        let mut add = |name: &str| {
            if !found.iter().any(|f| f == name) {
                found.push(name.to_owned());
            }
        };
        match self {
            Self::Quantity(quantity) => add(quantity.name()),
            Self::Name(name) => add(name),
            Self::Not(inner) | Self::Negate(inner) => inner.terms(found),
            Self::Binary(_, a, b) => {
                a.terms(found);
                b.terms(found);
            }
            Self::Call(_, args) => args.iter().for_each(|a| a.terms(found)),
            Self::Constant(_) | Self::Since(_) | Self::Fired(_) => {}
        }
    }
}
