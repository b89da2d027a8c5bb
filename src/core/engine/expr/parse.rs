//! Parses expressions with a small precedence-climbing parser that checks names and types.

use super::node::{Binary, Function, MAX_ARGUMENTS, Node};
use super::{Definition, ExprError, Moment, Type, Vocabulary, quantity};

/// Maximum number of nodes of an expression after its names are replaced by their expressions. Preset files are
/// untrusted input, and `let`s that double each other would exhaust the memory of a run.
const MAX_NODES: usize = 4_096;

/// Maximum nesting depth, for the same reason.
const MAX_DEPTH: usize = 64;

/// Maximum number of operators, for the same reason: a chain is as deep as it is long.
const MAX_OPERATORS: usize = 500;

/// Binary operators with their precedence: comparisons bind weaker than sums, `and` weaker than these, `or` weakest.
const OPERATORS: [(&str, Binary, u8); 12] = [
    ("or", Binary::Or, 1),
    ("and", Binary::And, 2),
    ("<=", Binary::LessOrEqual, 3),
    (">=", Binary::GreaterOrEqual, 3),
    ("==", Binary::Equal, 3),
    ("!=", Binary::NotEqual, 3),
    ("<", Binary::Less, 3),
    (">", Binary::Greater, 3),
    ("+", Binary::Add, 4),
    ("-", Binary::Subtract, 4),
    ("*", Binary::Multiply, 5),
    ("/", Binary::Divide, 5),
];

/// A node and its type.
type Typed = (Node, Type);

/// Parses and checks an expression.
pub(super) fn parse(text: &str, vocabulary: &Vocabulary) -> Result<(Node, Definition), ExprError> {
    let mut parser = Parser { text, at: 0, depth: 0, operators: 0, vocabulary };
    let (node, kind) = parser.binary(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.error("unexpected token"));
    }
    let n_nodes = node.n_nodes(&vocabulary.names);
    if n_nodes > MAX_NODES {
        let what =
            format!("too long: {n_nodes} terms with those of its names, at most {MAX_NODES},");
        return Err(parser.error_at(0, &what));
    }
    Ok((node, Definition { kind, n_nodes }))
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the next token.
    at: usize,
    depth: usize,
    operators: usize,
    vocabulary: &'a Vocabulary,
}

impl<'a> Parser<'a> {
    fn binary(&mut self, weakest: u8) -> Result<Typed, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let mut left = self.unary()?;
        while let Some((symbol, op, strength)) =
            self.peek_operator().filter(|(_, _, s)| *s > weakest)
        {
            let column = self.at;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.error("too long"));
            }
            self.at += symbol.len();
            let right = self.binary(strength)?;
            left = self.join(op, left, right, column)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn join(&self, op: Binary, left: Typed, right: Typed, at: usize) -> Result<Typed, ExprError> {
        let (operands, result) = match op {
            Binary::And | Binary::Or => (Type::Truth, Type::Truth),
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => {
                (Type::Number, Type::Number)
            }
            _ => (Type::Number, Type::Truth),
        };
        if left.1 != operands || right.1 != operands {
            let what = match operands {
                Type::Number => "this operator joins numbers, not conditions",
                Type::Truth => "this operator joins conditions, not numbers",
            };
            return Err(self.error_at(at, what));
        }
        if op == Binary::Divide && right.0.is_constant() && right.0.value(&Moment::default()) == 0.0
        {
            return Err(self.error_at(at, "division by zero"));
        }
        Ok((Node::Binary(op, Box::new(left.0), Box::new(right.0)), result))
    }

    fn unary(&mut self) -> Result<Typed, ExprError> {
        self.skip_space();
        let at = self.at;
        if self.eat("-") {
            return match self.deeper(Self::unary)? {
                (node, Type::Number) => Ok((Node::Negate(Box::new(node)), Type::Number)),
                _ => Err(self.error_at(at, "`-` needs a number")),
            };
        }
        if self.eat("(") {
            let inner = self.binary(0)?;
            return if self.eat(")") { Ok(inner) } else { Err(self.error("expected `)`")) };
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        match self.word() {
            Some("not") => match self.deeper(|p| p.binary(2))? {
                (node, Type::Truth) => Ok((Node::Not(Box::new(node)), Type::Truth)),
                _ => Err(self.error_at(at, "`not` needs a condition")),
            },
            Some("true") => Ok((Node::Constant(1.0), Type::Truth)),
            Some("false") => Ok((Node::Constant(0.0), Type::Truth)),
            Some(word) if self.eat("(") => self.call(word, at),
            Some(word) => self.name(word, at),
            None => Err(self.error("expected a number, a name or `(`")),
        }
    }

    /// Parses one level down, so that `- - - …` is limited too.
    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Typed, ExprError>,
    ) -> Result<Typed, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let typed = read(self);
        self.depth -= 1;
        typed
    }

    fn number(&mut self) -> Result<Typed, ExprError> {
        let start = self.at;
        let rest = self.rest();
        let len =
            rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(rest.len());
        self.at += len;
        match rest[..len].replace('_', "").parse() {
            Ok(value) => Ok((Node::Constant(value), Type::Number)),
            Err(_) => Err(self.error_at(start, "not a number")),
        }
    }

    fn name(&self, word: &str, at: usize) -> Result<Typed, ExprError> {
        // A policy's own names take precedence: a knob may have the name of a quantity.
        if let Some(found) = self.vocabulary.names.get(word) {
            return Ok((Node::Name(word.to_owned()), found.kind));
        }
        match quantity(word) {
            Some(quantity) => Ok((Node::Quantity(quantity), Type::Number)),
            None => Err(self.error_at(at, &format!("unknown name `{word}`"))),
        }
    }

    fn call(&mut self, word: &str, at: usize) -> Result<Typed, ExprError> {
        if matches!(word, "since" | "fired") {
            let stage = self.stage()?;
            return Ok(if word == "since" {
                (Node::Since(stage), Type::Number)
            } else {
                (Node::Fired(stage), Type::Truth)
            });
        }
        let args = self.arguments()?;
        let types: Vec<_> = args.iter().map(|a| a.1).collect();
        let nodes = args.into_iter().map(|a| a.0).collect();
        let numbers = types.iter().all(|t| *t == Type::Number);
        let (function, fits, result) = match (word, types.as_slice()) {
            ("min", types) => (Function::Min, numbers && !types.is_empty(), Type::Number),
            ("max", types) => (Function::Max, numbers && !types.is_empty(), Type::Number),
            ("clamp", types) => (Function::Clamp, numbers && types.len() == 3, Type::Number),
            ("floor", types) => (Function::Floor, numbers && types.len() == 1, Type::Number),
            ("if", [Type::Truth, a, b]) => (Function::If, a == b, *a),
            ("if", _) => (Function::If, false, Type::Number),
            _ => return Err(self.error_at(at, &format!("unknown function `{word}`"))),
        };
        if !fits {
            return Err(self.error_at(at, &format!("wrong arguments for `{word}`")));
        }
        Ok((Node::Call(function, nodes), result))
    }

    fn arguments(&mut self) -> Result<Vec<Typed>, ExprError> {
        let mut args = Vec::new();
        while !self.eat(")") {
            if !args.is_empty() && !self.eat(",") {
                return Err(self.error("expected `,` or `)`"));
            }
            args.push(self.binary(0)?);
            if args.len() > MAX_ARGUMENTS {
                return Err(self.error("too many arguments"));
            }
        }
        Ok(args)
    }

    /// Parses a stage's id in quotes and the closing parenthesis.
    fn stage(&mut self) -> Result<usize, ExprError> {
        self.skip_space();
        let at = self.at;
        let quoted =
            self.rest().strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(id, _)| id);
        let id = quoted.ok_or_else(|| self.error("expected a stage's id in single quotes"))?;
        let found = self.vocabulary.stages.iter().position(|s| s == id);
        let stage =
            found.ok_or_else(|| self.error_at(at, &format!("no stage has the id '{id}'")))?;
        self.at += id.len() + 2;
        if self.eat(")") { Ok(stage) } else { Err(self.error("expected `)`")) }
    }

    fn peek_operator(&mut self) -> Option<(&'static str, Binary, u8)> {
        self.skip_space();
        let rest = self.rest();
        OPERATORS.into_iter().find(|(symbol, ..)| {
            rest.strip_prefix(symbol).is_some_and(|after| {
                // `order` does not start with the operator `or`.
                !symbol.starts_with(char::is_alphabetic) || !after.starts_with(is_word)
            })
        })
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| &rest[..len])
    }

    fn eat(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: &str) -> ExprError {
        self.error_at(self.at, what)
    }

    fn error_at(&self, at: usize, what: &str) -> ExprError {
        ExprError {
            text: self.text.to_owned(),
            column: self.text[..at].chars().count() + 1,
            what: what.to_owned(),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use crate::engine::expr::{Definition, Expr, Moment, Quantity, Type, Vocabulary};

    fn vocabulary() -> Vocabulary {
        let names = [("trigger".to_owned(), Definition::SETTING)].into();
        Vocabulary { names, stages: vec!["prune".to_owned()] }
    }

    fn value(text: &str) -> f64 {
        let (expr, _) = Expr::parse_any(text, &vocabulary()).unwrap();
        let mut moment = Moment { since: vec![3.0], fired: vec![true], ..Moment::default() };
        moment.set(Quantity::Used, 100.0);
        expr.bind(&[("trigger".to_owned(), Expr::constant(0.5))].into()).value(&moment)
    }

    #[test]
    fn operators_have_the_usual_precedence() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(value("10 - 3 - 2"), 5.0);
        assert_eq!(value("used > trigger * 100 and not (used >= 101 or false)"), 1.0);
        assert_eq!(value("since('prune') + if(fired('prune'), 1, 2)"), 4.0);
        assert_eq!(value("clamp(-used, 0, 5) + min(2, 3, 1) + max(2, 7) + floor(2.9)"), 10.0);
        assert_eq!(value("20_000"), 20_000.0);
    }

    #[test]
    fn errors_contain_the_position_and_the_cause() {
        let error =
            |text: &str| Expr::parse(text, Type::Truth, &vocabulary()).unwrap_err().to_string();
        assert_eq!(error("used > limit"), "unknown name `limit` at column 8 of `used > limit`");
        assert_eq!(
            error("used + 1"),
            "expected a condition, found a number at column 1 of `used + 1`"
        );
        assert_eq!(error("used > 1 / 0"), "division by zero at column 10 of `used > 1 / 0`");
        assert_eq!(
            error("since('cut') > 1"),
            "no stage has the id 'cut' at column 7 of `since('cut') > 1`"
        );
        assert_eq!(error("(used > 1"), "expected `)` at column 10 of `(used > 1`");
        assert!(error(&"(".repeat(100_000)).starts_with("nested too deeply"));
        assert!(error(&"-".repeat(100_000)).starts_with("nested too deeply"));
        assert!(error(&"1+".repeat(200_000)).starts_with("too long"));
        assert!(error("used > 1 / (2 - 2)").starts_with("division by zero"));
    }
}
