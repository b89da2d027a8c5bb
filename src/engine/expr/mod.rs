//! The expression language of presets: numbers, comparisons, `and or not`, `min max clamp floor if`.
//!
//! Parsed once against a [`Vocabulary`] (names and types are checked then, errors carry their position),
//! bound once a run (knobs and `let`s folded into constants), evaluated before every call. Numbers are `f64`;
//! truth is 1 and 0 inside. Dividing by zero gives infinity or NaN, and a comparison with NaN is false:
//! a run cannot fail, the check at load refuses a constant zero divisor.

mod parse;

use super::rewrite::NamedWindow;
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

/// What a run measures at every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Tokens in the context, on the policy's own meter.
    Used,
    /// The context window.
    Window,
    /// The input budget: window minus output reserve.
    Input,
    /// Room kept for the answer.
    OutputReserve,
    /// Messages in the context.
    Msgs,
    /// Turns so far.
    Turns,
    /// The step, from 1.
    Step,
    /// Definitions of tools, on the policy's own meter.
    Tools,
    /// The window that the system itself takes the model to have.
    ModelWindow,
    /// The longest answer that the system itself takes the model to give; 0 if it does not know.
    ModelOutput,
    /// How often this step's call was rejected so far.
    Attempt,
    /// The call within its turn, from 0.
    Call,
    /// The last call's prompt, as its provider reported it, on the policy's own meter; once something was taken out, no
    /// more than what is there. 0 before the first.
    LastInput,
    /// The same with the answer.
    LastTotal,
    /// What would be in the context had nothing been taken out of it, on the policy's own meter: what a client sends
    /// where the server edits.
    Sent,
    /// Minutes since the call before: beyond a provider's time the prompt cache is empty, and removing costs nothing
    /// extra.
    Idle,
}

impl Quantity {
    /// All quantities with their names.
    pub const ALL: [(&'static str, Self); 16] = [
        ("used", Self::Used),
        ("window", Self::Window),
        ("input", Self::Input),
        ("output_reserve", Self::OutputReserve),
        ("msgs", Self::Msgs),
        ("turns", Self::Turns),
        ("step", Self::Step),
        ("tools", Self::Tools),
        ("model_window", Self::ModelWindow),
        ("model_output", Self::ModelOutput),
        ("attempt", Self::Attempt),
        ("call", Self::Call),
        ("last_input", Self::LastInput),
        ("last_total", Self::LastTotal),
        ("sent", Self::Sent),
        ("idle", Self::Idle),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// The values at one moment of a run.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// By quantity, in the order of [`Quantity::ALL`].
    pub quantities: [f64; Quantity::ALL.len()],
    /// Steps since each stage last acted, by stage; infinite before it did.
    pub since: Vec<f64>,
    /// Whether each stage acted in this pass of this step.
    pub fired: Vec<bool>,
}

impl Moment {
    /// Sets what a system's own table says of a model.
    pub(super) fn set_model(&mut self, known: Option<&NamedWindow>, model: &str) {
        self.set(
            Quantity::ModelWindow,
            known.map_or(0, |k| (k.window)(model)) as f64,
        );
        self.set(
            Quantity::ModelOutput,
            known.map_or(0, |k| (k.output)(model)) as f64,
        );
    }

    /// Sets one quantity.
    pub fn set(&mut self, quantity: Quantity, value: f64) {
        self.quantities[quantity as usize] = value;
    }
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

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Constant(f64),
    Quantity(Quantity),
    /// A knob or a `let`; gone once bound.
    Name(String),
    Since(usize),
    Fired(usize),
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(Binary, Box<Self>, Box<Self>),
    Call(Function, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
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
enum Function {
    Min,
    Max,
    Clamp,
    Floor,
    If,
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
            // Not f64::clamp, which panics when a knob turns the bounds around.
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
    fn value(&self, moment: &Moment) -> f64 {
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
                let mut values = [0.0; parse::MAX_ARGUMENTS];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = arg.value(moment);
                }
                function.apply(&values[..args.len()])
            }
        }
    }

    /// Replaces nodes from the leaves up and folds what is then constant.
    fn rewrite(&self, replace: &dyn Fn(&Self) -> Option<Self>) -> Self {
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
            node
        }
    }

    fn written_out(&self, sizes: &BTreeMap<String, usize>) -> usize {
        let inner: usize = match self {
            Self::Name(name) => sizes.get(name).copied().unwrap_or(0),
            Self::Not(a) | Self::Negate(a) => a.written_out(sizes),
            Self::Binary(_, a, b) => a.written_out(sizes) + b.written_out(sizes),
            Self::Call(_, args) => args.iter().map(|a| a.written_out(sizes)).sum(),
            _ => 0,
        };
        inner.saturating_add(1)
    }

    fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Quantity(_) | Self::Name(_) | Self::Since(_) | Self::Fired(_) => false,
            Self::Not(inner) | Self::Negate(inner) => inner.is_constant(),
            Self::Binary(_, a, b) => a.is_constant() && b.is_constant(),
            Self::Call(_, args) => args.iter().all(Self::is_constant),
        }
    }

    fn terms(&self, found: &mut Vec<String>) {
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
