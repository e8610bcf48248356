//! Tokens to a tree, by binding power (Pratt).

use std::sync::Arc;

use super::error::{ExpressionError, ExpressionErrorKind, closest};
use super::token::{Token, tokens};
use super::tree::{Arithmetic, Comparison, Function, Node, Shape, Span};

/// Deepest nesting: of brackets and signs, and of the tree. `a + b + c` nests once per sign; `and`, `or`, comparisons and
/// arguments don't.
pub(super) const MAX_DEPTH: u32 = 200;

/// Words that mean something already, or would in Python.
const RESERVED: [&str; 14] = [
    "and", "or", "not", "in", "is", "if", "else", "for", "lambda", "true", "false", "True", "False", "None",
];

/// Whether `word` can't be the name of a parameter.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || Function::ALL.iter().any(|function| function.name() == word)
}

/// Binding powers, weakest first, as in Python's grammar.
mod power {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const COMPARE: u8 = 4;
    pub(super) const SUM: u8 = 5;
    pub(super) const PRODUCT: u8 = 6;
    pub(super) const SIGN: u8 = 7;
    pub(super) const POWER: u8 = 8;
}

/// The tree of `text`.
pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        nesting: 0,
    };
    let mut root = parser.expression(0)?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    // The whole text is the root's, so that messages show brackets and spaces as they were written.
    root.span = Span::new(text.len() - text.trim_start().len(), text.trim_end().len());
    Ok(root)
}

/// The members of both sides: `a and (b and c)` means the same as `a and b and c`.
fn flat(left: Node, right: Node, open: impl Fn(Shape) -> Result<Vec<Node>, Shape>) -> Vec<Node> {
    let members = |node: Node| match open(node.shape) {
        Ok(parts) => parts,
        Err(shape) => vec![Node { shape, ..node }],
    };
    let mut all = members(left);
    all.extend(members(right));
    all
}

#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    nesting: u32,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        let end = Span::new(self.text.len(), self.text.len());
        self.tokens.get(self.at).map_or(end, |(_, span)| *span)
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at += 1;
        span
    }

    fn takes_sign(&mut self, sign: &str) -> Option<Span> {
        matches!(self.peek(), Token::Sign(s) if *s == sign).then(|| self.advance())
    }

    fn is_word(&self, at: usize, word: &str) -> bool {
        matches!(self.tokens.get(at), Some((Token::Word(w), _)) if w == word)
    }

    fn error(&self, span: Span, kind: ExpressionErrorKind) -> ExpressionError {
        ExpressionError::new(self.text, span, kind)
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let help = match self.peek() {
            Token::Sign("=") => Some("equality is written `==`"),
            Token::Word(w) if w == "is" => Some("equality is written `==`"),
            Token::Word(w) if w == "if" || w == "else" => {
                Some("write `A and B or C` with booleans, or two constraints")
            }
            Token::Word(w) if w == "for" || w == "lambda" => Some("lists are written out"),
            Token::Word(w) if w == "None" => Some("every parameter has a value"),
            Token::Sign("**") => Some("the left side of a power is missing"),
            _ => None,
        };
        let found = self.peek().describe();
        self.error(self.span(), ExpressionErrorKind::Unexpected { found, expected, help })
    }

    fn node(&self, span: Span, shape: Shape) -> Result<Node, ExpressionError> {
        let mut node = Node { span, shape, depth: 0 };
        node.depth = node.children().iter().map(|child| child.depth + 1).max().unwrap_or(0);
        if node.depth > MAX_DEPTH {
            return Err(self.error(span, ExpressionErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        Ok(node)
    }

    /// An expression whose operators all bind more strongly than `than`.
    fn expression(&mut self, than: u8) -> Result<Node, ExpressionError> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(self.error(self.span(), ExpressionErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        let mut left = self.operand(than)?;
        while let Some((operator, power, width)) = self.operator().filter(|(_, power, _)| *power > than) {
            let sign = self.span().to(self.tokens[self.at + width - 1].1);
            self.at += width;
            left = self.extend(left, operator, power, sign)?;
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// The operator here, its power, and how many tokens it has.
    fn operator(&self) -> Option<(Operator, u8, usize)> {
        use Operator::{And, Arithmetic as A, Compare, Or};
        let found = match self.peek() {
            Token::Word(word) => match word.as_str() {
                "or" => (Or, power::OR, 1),
                "and" => (And, power::AND, 1),
                "in" => (Compare(Comparison::In), power::COMPARE, 1),
                "not" if self.is_word(self.at + 1, "in") => (Compare(Comparison::NotIn), power::COMPARE, 2),
                _ => return None,
            },
            Token::Sign(sign) => match *sign {
                "==" => (Compare(Comparison::Equal), power::COMPARE, 1),
                "!=" => (Compare(Comparison::Unequal), power::COMPARE, 1),
                "<" => (Compare(Comparison::Less), power::COMPARE, 1),
                "<=" => (Compare(Comparison::LessOrEqual), power::COMPARE, 1),
                ">" => (Compare(Comparison::Greater), power::COMPARE, 1),
                ">=" => (Compare(Comparison::GreaterOrEqual), power::COMPARE, 1),
                "+" => (A(Arithmetic::Add), power::SUM, 1),
                "-" => (A(Arithmetic::Subtract), power::SUM, 1),
                "*" => (A(Arithmetic::Multiply), power::PRODUCT, 1),
                "/" => (A(Arithmetic::Divide), power::PRODUCT, 1),
                "//" => (A(Arithmetic::FloorDivide), power::PRODUCT, 1),
                "%" => (A(Arithmetic::Remainder), power::PRODUCT, 1),
                "**" => (A(Arithmetic::Power), power::POWER, 1),
                _ => return None,
            },
            _ => return None,
        };
        Some(found)
    }

    fn extend(&mut self, left: Node, operator: Operator, power: u8, sign: Span) -> Result<Node, ExpressionError> {
        // A power binds to the right, and its exponent may carry a sign: `2 ** -1`.
        let right_power = if power == power::POWER { power::SIGN - 1 } else { power };
        let right = self.expression(right_power)?;
        let span = left.span.to(right.span);
        let shape = match operator {
            Operator::Arithmetic(operation) => Shape::Arithmetic(operation, Box::new((left, right))),
            Operator::Compare(comparison) => {
                let (first, mut rest) = (Box::new(left), vec![(comparison, sign, right)]);
                while let Some((Operator::Compare(next), _, width)) = self.operator() {
                    let sign = self.span().to(self.tokens[self.at + width - 1].1);
                    self.at += width;
                    rest.push((next, sign, self.expression(power::COMPARE)?));
                }
                let span = rest.last().map_or(span, |(_, _, last)| span.to(last.span));
                return self.node(span, Shape::Chain(first, rest));
            }
            Operator::And => Shape::And(flat(left, right, |shape| match shape {
                Shape::And(parts) => Ok(parts),
                other => Err(other),
            })),
            Operator::Or => Shape::Or(flat(left, right, |shape| match shape {
                Shape::Or(parts) => Ok(parts),
                other => Err(other),
            })),
        };
        self.node(span, shape)
    }

    fn operand(&mut self, than: u8) -> Result<Node, ExpressionError> {
        let start = self.span();
        match self.peek().clone() {
            Token::Integer(n) => {
                let Ok(n) = i64::try_from(n) else {
                    let kind = ExpressionErrorKind::BadNumber { written: n.to_string() };
                    return Err(self.error(start, kind));
                };
                self.advance();
                self.node(start, Shape::Integer(n))
            }
            Token::Float(x) => {
                self.advance();
                self.node(start, Shape::Float(x))
            }
            Token::Text(text) => {
                self.advance();
                self.node(start, Shape::Text(Arc::from(text)))
            }
            Token::Word(word) => self.word(&word, than),
            Token::Sign("(") => self.bracket(")"),
            Token::Sign("[") => self.bracket("]"),
            Token::Sign(sign @ ("-" | "+")) => {
                self.advance();
                self.signed(start, sign)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn signed(&mut self, start: Span, sign: &str) -> Result<Node, ExpressionError> {
        // The smallest integer has no positive counterpart: it is read together with its sign.
        let power_follows = matches!(self.tokens.get(self.at + 1), Some((Token::Sign("**"), _)));
        if sign == "-" && *self.peek() == Token::Integer(1 << 63) && !power_follows {
            let end = self.advance();
            return self.node(start.to(end), Shape::Integer(i64::MIN));
        }
        let inner = self.expression(power::SIGN - 1)?;
        let span = start.to(inner.span);
        let shape = if sign == "-" { Shape::Negate } else { Shape::Plus };
        self.node(span, shape(Box::new(inner)))
    }

    fn word(&mut self, word: &str, than: u8) -> Result<Node, ExpressionError> {
        let start = self.span();
        match word {
            "true" | "True" | "false" | "False" => {
                self.advance();
                return self.node(start, Shape::Boolean(word.eq_ignore_ascii_case("true")));
            }
            // `a == not b` is no Python either: `not` binds less than a comparison.
            "not" if than < power::NOT => {
                self.advance();
                let inner = self.expression(power::NOT - 1)?;
                let span = start.to(inner.span);
                return self.node(span, Shape::Not(Box::new(inner)));
            }
            "not" => {
                let help = Some("put `not ...` into brackets");
                let kind = ExpressionErrorKind::Unexpected {
                    found: "`not`".to_owned(),
                    expected: "a value",
                    help,
                };
                return Err(self.error(start, kind));
            }
            _ if RESERVED.contains(&word) => return Err(self.unexpected("a value")),
            _ => {}
        }
        let function = Function::ALL.into_iter().find(|function| function.name() == word);
        self.advance();
        let called = matches!(self.peek(), Token::Sign("("));
        match (function, called) {
            (Some(function), true) => {
                self.advance();
                let (arguments, _, end) = self.members(")")?;
                self.node(start.to(end), Shape::Call(function, arguments))
            }
            (None, false) => self.node(start, Shape::Name(word.to_owned())),
            (Some(_), false) => Err(self.unexpected("`(` after the name of a function")),
            (None, true) => {
                let near = closest(word, Function::ALL.iter().map(|function| function.name()));
                let kind = ExpressionErrorKind::UnknownFunction {
                    name: word.to_owned(),
                    near,
                };
                Err(self.error(start, kind))
            }
        }
    }

    /// `(a)` is a, `(a,)` and `[a]` are lists.
    fn bracket(&mut self, close: &'static str) -> Result<Node, ExpressionError> {
        let start = self.advance();
        let (mut members, comma, end) = self.members(close)?;
        let span = start.to(end);
        if close == ")" && members.len() == 1 && !comma {
            let mut inner = members.remove(0);
            inner.span = span;
            return Ok(inner);
        }
        self.node(span, Shape::List(members))
    }

    /// Expressions between commas up to `close`; whether there was a comma; the place of `close`.
    fn members(&mut self, close: &'static str) -> Result<(Vec<Node>, bool, Span), ExpressionError> {
        let (mut members, mut comma) = (Vec::new(), false);
        loop {
            if let Some(end) = self.takes_sign(close) {
                return Ok((members, comma, end));
            }
            members.push(self.expression(0)?);
            if self.takes_sign(",").is_some() {
                comma = true;
            } else if !matches!(self.peek(), Token::Sign(sign) if *sign == close) {
                return Err(self.unexpected(if close == ")" { "`,` or `)`" } else { "`,` or `]`" }));
            }
        }
    }
}
