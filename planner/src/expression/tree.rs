//! What an expression looks like before its types are known.

use std::fmt;
use std::sync::Arc;

use super::error::ExpressionError;
use super::parse;
use super::program::{Condition, Formula, Program};
use super::{check, token};

/// What a name may hold, and what an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number of 64 bits.
    Integer,
    /// A finite number.
    Float,
    /// A word.
    Text,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Text => "text",
        })
    }
}

/// Bytes `start..end` of an expression's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    /// Texts are never longer than [`token::MAX_BYTES`]; what lies beyond 2^32 would be cut to it.
    pub(super) fn new(start: usize, end: usize) -> Self {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            start: narrow(start),
            end: narrow(end),
        }
    }

    pub(super) fn to(self, end: Self) -> Self {
        Self {
            start: self.start,
            end: end.end,
        }
    }

    pub(super) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Two numbers to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

impl Arithmetic {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "**",
        }
    }
}

/// Two values to a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Comparison {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}

/// The functions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    CeilDiv,
}

impl Function {
    pub(super) const ALL: [Self; 3] = [Self::Min, Self::Max, Self::CeilDiv];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::CeilDiv => "ceil_div",
        }
    }

    /// How it is called, and what it gives.
    fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Min => ("min(a, b, ...)", "the smallest of two or more numbers"),
            Self::Max => ("max(a, b, ...)", "the largest of two or more numbers"),
            Self::CeilDiv => ("ceil_div(a, b)", "a / b of integers, rounded up"),
        }
    }
}

/// A part of an expression with its place in the text (brackets around it included).
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) shape: Shape,
    /// Longest way down to a leaf; bounded by the parser, so that walking down never exhausts the stack.
    pub(super) depth: u32,
}

/// What a part is; `Vec`s of `And` and `Or` have two or more members, none of which is of the same shape.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Integer(i64),
    Float(f64),
    Text(Arc<str>),
    Boolean(bool),
    Name(String),
    Negate(Box<Node>),
    Plus(Box<Node>),
    Not(Box<Node>),
    Arithmetic(Arithmetic, Box<(Node, Node)>),
    /// `first op a op b`: all neighbours are compared.
    Chain(Box<Node>, Vec<(Comparison, Span, Node)>),
    And(Vec<Node>),
    Or(Vec<Node>),
    List(Vec<Node>),
    Call(Function, Vec<Node>),
}

impl Node {
    /// The parts right below, in the order of the text.
    pub(super) fn children(&self) -> Vec<&Self> {
        match &self.shape {
            Shape::Integer(_) | Shape::Float(_) | Shape::Text(_) | Shape::Boolean(_) | Shape::Name(_) => Vec::new(),
            Shape::Negate(a) | Shape::Plus(a) | Shape::Not(a) => vec![a],
            Shape::Arithmetic(_, pair) => vec![&pair.0, &pair.1],
            Shape::Chain(first, rest) => std::iter::once(&**first)
                .chain(rest.iter().map(|(_, _, n)| n))
                .collect(),
            Shape::And(all) | Shape::Or(all) | Shape::List(all) | Shape::Call(_, all) => all.iter().collect(),
        }
    }

    fn collect_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        if let Shape::Name(name) = &self.shape
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
        for child in self.children() {
            child.collect_names(names);
        }
    }

    fn may_fail(&self) -> bool {
        use Arithmetic as A;
        let divides = match &self.shape {
            Shape::Arithmetic(A::Divide | A::FloorDivide | A::Remainder | A::Power, pair) => {
                !matches!(pair.1.shape, Shape::Integer(_) | Shape::Float(_))
            }
            Shape::Call(Function::CeilDiv, arguments) => {
                !matches!(arguments.get(1).map(|n| &n.shape), Some(Shape::Integer(_)))
            }
            _ => false,
        };
        divides || self.children().into_iter().any(Self::may_fail)
    }
}

/// A parsed expression. Its names need not exist yet; see [`Expression::check`].
#[derive(Debug, Clone)]
pub struct Expression {
    /// The whole text as it was written, for messages.
    pub(super) source: Arc<str>,
    pub(super) root: Node,
}

impl Expression {
    /// Reads an expression. Line ends count as spaces.
    ///
    /// # Errors
    /// What can't be read, with its place and what was expected.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let root = parse::parse(text)?;
        Ok(Self {
            source: Arc::from(text),
            root,
        })
    }

    /// The text of the expression; for one of [`Expression::conjuncts`] its part of the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.root.span.of(&self.source)
    }

    /// The names that occur in it, in order of first occurrence: its scope.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.collect_names(&mut names);
        names
    }

    /// The expressions whose conjunction it is: what stands between its outermost `and`s, or itself.
    #[must_use]
    pub fn conjuncts(&self) -> Vec<Self> {
        match &self.root.shape {
            Shape::And(parts) => {
                let part = |root: &Node| Self {
                    source: Arc::clone(&self.source),
                    root: root.clone(),
                };
                parts.iter().map(part).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// Whether it divides by, or raises to, something that is not a plain number: then an earlier condition may be what
    /// keeps it from failing.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.root.may_fail()
    }

    /// Finds names and types: `declared` lists all names with what they hold, and the program takes values in the order
    /// of `slots`, which holds at least the names of the expression.
    ///
    /// # Errors
    /// The first unknown name, wrong type or wrong number of arguments, with its place.
    pub fn check_in(&self, declared: &[(&str, Kind)], slots: &[&str]) -> Result<Program, ExpressionError> {
        check::check(self, declared, slots)
    }

    /// As [`Expression::check_in`], with values in the order of [`Expression::names`].
    ///
    /// # Errors
    /// As [`Expression::check_in`].
    pub fn check(&self, declared: &[(&str, Kind)]) -> Result<Program, ExpressionError> {
        self.check_in(declared, &self.names())
    }

    /// As [`Expression::check_in`], and it must give a boolean.
    ///
    /// # Errors
    /// As [`Expression::check_in`], and where it gives something else.
    pub fn condition(&self, declared: &[(&str, Kind)], slots: &[&str]) -> Result<Condition, ExpressionError> {
        let program = self.check_in(declared, slots)?;
        match program.kind() {
            Kind::Boolean => Ok(Condition(program)),
            found => Err(check::wrong_result(self, "a condition is", "a boolean", found)),
        }
    }

    /// As [`Expression::check_in`], and it must give a number.
    ///
    /// # Errors
    /// As [`Expression::check_in`], and where it gives something else.
    pub fn formula(&self, declared: &[(&str, Kind)], slots: &[&str]) -> Result<Formula, ExpressionError> {
        let program = self.check_in(declared, slots)?;
        match program.kind() {
            Kind::Integer | Kind::Float => Ok(Formula(program)),
            found => Err(check::wrong_result(self, "a formula is", "a number", found)),
        }
    }
}

/// Whether `name` can be a name in an expression: a word that is not one of the language's own.
#[must_use]
pub(crate) fn is_name(name: &str) -> bool {
    token::is_word(name) && !parse::is_reserved(name)
}

/// Operators, as they are written, with what they do.
const OPERATORS: [(&str, &str); 7] = [
    (
        "a + b, a - b, a * b",
        "of integers (64 bits, an overflow is an error) and floats",
    ),
    (
        "a / b",
        "the true quotient, a float; `a // b` is rounded down, `a % b` is what is left then (sign of b)",
    ),
    (
        "a ** b",
        "power; of integers an integer, so b must not be negative then",
    ),
    (
        "a == b, a != b, a < b, a <= b, a > b, a >= b",
        "comparisons, which chain: `1 <= a <= 8`; numbers with numbers, texts with texts",
    ),
    ("a in (x, y), a not in [x, y]", "whether a is one of what is listed"),
    (
        "p and q, p or q, not p",
        "of booleans only; the right side is not looked at where the left one decides",
    ),
    (
        "true, false, 'text', 1.5e3, up.rows",
        "values, and names of parameters (in `[derived]` of numbers too)",
    ),
];

/// Everything that can stand in an expression: functions, operators and values, each with its meaning.
#[must_use]
pub fn vocabulary() -> Vec<(String, String)> {
    let functions = Function::ALL.into_iter().map(Function::about);
    functions
        .chain(OPERATORS)
        .map(|(word, about)| (word.to_owned(), about.to_owned()))
        .collect()
}
