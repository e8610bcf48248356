//! Names to slots, and kinds: a tree becomes a typed form.

use std::sync::Arc;

use super::error::{ExpressionError, ExpressionErrorKind, closest, with_article};
use super::program::Program;
use super::tree::{Arithmetic, Comparison, Expression, Function, Kind, Node, Shape, Span};
use super::typed::{Any, Boolean, Extreme, Float, Integer, Link, Text};

/// See [`Expression::check_in`].
pub(super) fn check(
    expression: &Expression,
    declared: &[(&str, Kind)],
    slots: &[&str],
) -> Result<Program, ExpressionError> {
    let checker = Checker {
        source: &expression.source,
        declared,
        slots,
    };
    let body = checker.any(&expression.root)?;
    Ok(Program {
        source: Arc::clone(&expression.source),
        span: expression.root.span,
        slots: slots.iter().map(|&slot| slot.to_owned()).collect(),
        body,
    })
}

/// The error that a whole expression gives `found` where `context` wants `expected`.
pub(super) fn wrong_result(
    expression: &Expression,
    context: &str,
    expected: &'static str,
    found: Kind,
) -> ExpressionError {
    let checker = Checker {
        source: &expression.source,
        declared: &[],
        slots: &[],
    };
    checker.wrong(
        expression.root.span,
        context,
        expected,
        with_article(found),
        hint(expected, found),
    )
}

struct Checker<'a> {
    source: &'a str,
    declared: &'a [(&'a str, Kind)],
    slots: &'a [&'a str],
}

type Checked<T> = Result<T, ExpressionError>;

impl Checker<'_> {
    fn error(&self, span: Span, kind: ExpressionErrorKind) -> ExpressionError {
        ExpressionError::new(self.source, span, kind)
    }

    fn wrong(
        &self,
        span: Span,
        context: &str,
        expected: &'static str,
        found: &'static str,
        help: Option<String>,
    ) -> ExpressionError {
        let context = context.to_owned();
        self.error(
            span,
            ExpressionErrorKind::Type {
                context,
                expected,
                found,
                help,
            },
        )
    }

    fn any(&self, node: &Node) -> Checked<Any> {
        let span = node.span;
        Ok(match &node.shape {
            Shape::Integer(n) => Any::Integer(Integer::Constant(*n)),
            Shape::Float(x) => Any::Float(Float::Constant(*x)),
            Shape::Text(text) => Any::Text(Text::Constant(Arc::clone(text))),
            Shape::Boolean(b) => Any::Boolean(Boolean::Constant(*b)),
            Shape::Name(name) => self.name(name, span)?,
            Shape::Negate(inner) => match self.number(inner, "`-` takes")? {
                Number::Integer(inner) => Any::Integer(Integer::Negate(span, Box::new(inner))),
                Number::Float(inner) => Any::Float(Float::Negate(Box::new(inner))),
            },
            Shape::Plus(inner) => match self.number(inner, "`+` takes")? {
                Number::Integer(inner) => Any::Integer(inner),
                Number::Float(inner) => Any::Float(inner),
            },
            Shape::Not(inner) => Any::Boolean(Boolean::Not(Box::new(self.boolean(inner, "`not` takes")?))),
            Shape::Arithmetic(operation, pair) => {
                let context = format!("`{}` takes", operation.sign());
                let (left, right) = (self.number(&pair.0, &context)?, self.number(&pair.1, &context)?);
                arithmetic(*operation, span, left, right)
            }
            Shape::Chain(first, rest) => Any::Boolean(self.chain(first, rest)?),
            Shape::And(parts) => Any::Boolean(Boolean::And(self.booleans(parts, "`and` takes")?)),
            Shape::Or(parts) => Any::Boolean(Boolean::Or(self.booleans(parts, "`or` takes")?)),
            Shape::List(_) => {
                let help = Some("lists stand only to the right of `in`".to_owned());
                return Err(self.wrong(span, "this place takes", "a single value", "a list", help));
            }
            Shape::Call(function, arguments) => self.call(*function, arguments, span)?,
        })
    }

    fn name(&self, name: &str, span: Span) -> Checked<Any> {
        let kind = self
            .declared
            .iter()
            .find(|(declared, _)| *declared == name)
            .map(|(_, kind)| *kind);
        let slot = self.slots.iter().position(|slot| *slot == name);
        let (Some(kind), Some(slot)) = (kind, slot) else {
            let kind = ExpressionErrorKind::UnknownName {
                name: name.to_owned(),
                near: closest(name, self.declared.iter().map(|(declared, _)| *declared)),
                known: self
                    .declared
                    .iter()
                    .map(|(declared, _)| (*declared).to_owned())
                    .collect(),
            };
            return Err(self.error(span, kind));
        };
        Ok(match kind {
            Kind::Integer => Any::Integer(Integer::Slot(slot, span)),
            Kind::Float => Any::Float(Float::Slot(slot, span)),
            Kind::Text => Any::Text(Text::Slot(slot, span)),
            Kind::Boolean => Any::Boolean(Boolean::Slot(slot, span)),
        })
    }

    fn number(&self, node: &Node, context: &str) -> Checked<Number> {
        match self.any(node)? {
            Any::Integer(n) => Ok(Number::Integer(n)),
            Any::Float(x) => Ok(Number::Float(x)),
            other => {
                let kind = other.kind();
                Err(self.wrong(
                    node.span,
                    context,
                    "a number",
                    with_article(kind),
                    hint("a number", kind),
                ))
            }
        }
    }

    fn boolean(&self, node: &Node, context: &str) -> Checked<Boolean> {
        match self.any(node)? {
            Any::Boolean(checked) => Ok(checked),
            other => {
                let kind = other.kind();
                Err(self.wrong(
                    node.span,
                    context,
                    "a boolean",
                    with_article(kind),
                    hint("a boolean", kind),
                ))
            }
        }
    }

    fn booleans(&self, parts: &[Node], context: &str) -> Checked<Vec<Boolean>> {
        parts.iter().map(|part| self.boolean(part, context)).collect()
    }

    fn chain(&self, first: &Node, rest: &[(Comparison, Span, Node)]) -> Checked<Boolean> {
        let first = self.any(first)?;
        let mut left = first.kind();
        let mut links = Vec::with_capacity(rest.len());
        for (comparison, sign, node) in rest {
            if matches!(comparison, Comparison::In | Comparison::NotIn) {
                let members = self.members(node, *comparison, *sign, left)?;
                links.push(Link::Among(*comparison == Comparison::In, members));
                continue;
            }
            let right = self.any(node)?;
            self.comparable(*comparison, *sign, left, right.kind())?;
            left = right.kind();
            links.push(Link::Compare(*comparison, right));
        }
        // After `in (...)` a chain would go on with the list itself, which compares with nothing.
        let listed = rest
            .iter()
            .position(|(comparison, _, _)| matches!(comparison, Comparison::In | Comparison::NotIn));
        if let Some((_, _, list)) = listed.filter(|at| at + 1 < rest.len()).and_then(|at| rest.get(at)) {
            let help = Some("put brackets around `... in (...)`".to_owned());
            return Err(self.wrong(list.span, "a comparison takes", "a single value", "a list", help));
        }
        Ok(quick(&first, &links).unwrap_or_else(|| Boolean::Chain(Box::new(first), links)))
    }

    fn members(&self, node: &Node, comparison: Comparison, sign: Span, left: Kind) -> Checked<Vec<Any>> {
        let Shape::List(nodes) = &node.shape else {
            let kind = self.any(node)?.kind();
            let help = Some("a list is written `(1, 2)` or `[1, 2]`, of one member `(1,)` or `[1]`".to_owned());
            let context = format!("`{}` takes", comparison.sign());
            return Err(self.wrong(node.span, &context, "a list", with_article(kind), help));
        };
        if nodes.is_empty() {
            return Err(self.error(node.span, ExpressionErrorKind::EmptyList));
        }
        let member = |node: &Node| {
            let member = self.any(node)?;
            self.comparable(comparison, sign, left, member.kind())?;
            Ok(member)
        };
        nodes.iter().map(member).collect()
    }

    fn comparable(&self, comparison: Comparison, sign: Span, left: Kind, right: Kind) -> Checked<()> {
        use Comparison::{Equal, In, NotIn, Unequal};
        let number = |kind| matches!(kind, Kind::Integer | Kind::Float);
        let ordered = !matches!(comparison, Equal | Unequal | In | NotIn);
        if (left == right && !(ordered && left == Kind::Boolean)) || (number(left) && number(right)) {
            return Ok(());
        }
        Err(self.error(
            sign,
            ExpressionErrorKind::Comparison {
                sign: comparison.sign(),
                left,
                right,
            },
        ))
    }

    fn call(&self, function: Function, arguments: &[Node], span: Span) -> Checked<Any> {
        let (fits, expected) = match function {
            Function::Min | Function::Max => (arguments.len() >= 2, "two or more"),
            Function::CeilDiv => (arguments.len() == 2, "two"),
        };
        if !fits {
            let found = arguments.len();
            return Err(self.error(
                span,
                ExpressionErrorKind::Arity {
                    function: function.name(),
                    expected,
                    found,
                },
            ));
        }
        let context = format!("`{}` takes", function.name());
        let mut numbers = Vec::with_capacity(arguments.len());
        for node in arguments {
            let number = self.number(node, &context)?;
            if function == Function::CeilDiv && matches!(number, Number::Float(_)) {
                return Err(self.wrong(node.span, &context, "an integer", with_article(Kind::Float), None));
            }
            numbers.push(number);
        }
        let mut integers: Vec<Integer> = numbers.iter().filter_map(Number::integer).cloned().collect();
        let mut floats: Vec<Float> = numbers.into_iter().map(float).collect();
        let which = if function == Function::Min {
            Extreme::Smallest
        } else {
            Extreme::Largest
        };
        if integers.len() < floats.len() {
            return Ok(Any::Float(Float::Extreme(which, Box::new(floats.remove(0)), floats)));
        }
        let first = integers.remove(0);
        Ok(Any::Integer(match (function, integers.pop()) {
            (Function::CeilDiv, Some(divisor)) => Integer::CeilDivide(span, Box::new((first, divisor))),
            (_, last) => Integer::Extreme(which, Box::new(first), integers.into_iter().chain(last).collect()),
        }))
    }
}

/// Comparisons of integers in a form that is evaluated faster: pairs, where what stands between two signs costs nothing
/// to be evaluated twice, and lists of plain integers.
fn quick(first: &Any, links: &[Link]) -> Option<Boolean> {
    let Any::Integer(start) = first else { return None };
    if let [Link::Among(wanted, members)] = links {
        let constant = |member: &Any| match member {
            Any::Integer(Integer::Constant(n)) => Some(*n),
            _ => None,
        };
        let list: Option<Vec<i64>> = members.iter().map(constant).collect();
        return list.map(|list| Boolean::Listed(*wanted, Box::new(start.clone()), list));
    }
    let mut left = start;
    let mut pairs = Vec::with_capacity(links.len());
    for (at, link) in links.iter().enumerate() {
        let Link::Compare(comparison, Any::Integer(right)) = link else {
            return None;
        };
        let last = at + 1 == links.len();
        if !last && !matches!(right, Integer::Constant(_) | Integer::Slot(..)) {
            return None;
        }
        pairs.push(Boolean::Integers(*comparison, Box::new((left.clone(), right.clone()))));
        left = right;
    }
    let only = if pairs.len() == 1 { pairs.pop() } else { None };
    Some(only.unwrap_or(Boolean::And(pairs)))
}

/// What arithmetic takes.
enum Number {
    Integer(Integer),
    Float(Float),
}

impl Number {
    fn integer(&self) -> Option<&Integer> {
        if let Self::Integer(n) = self { Some(n) } else { None }
    }
}

/// A number as a float.
fn float(number: Number) -> Float {
    match number {
        Number::Integer(n) => Float::Of(Box::new(n)),
        Number::Float(x) => x,
    }
}

fn arithmetic(operation: Arithmetic, span: Span, left: Number, right: Number) -> Any {
    match (operation, left, right) {
        (Arithmetic::Divide, Number::Integer(a), Number::Integer(b)) => {
            Any::Float(Float::Ratio(span, Box::new((a, b))))
        }
        (_, Number::Integer(a), Number::Integer(b)) => {
            Any::Integer(Integer::Arithmetic(operation, span, Box::new((a, b))))
        }
        (_, left, right) => Any::Float(Float::Arithmetic(
            operation,
            span,
            Box::new((float(left), float(right))),
        )),
    }
}

/// What people coming from Python mean.
fn hint(expected: &str, found: Kind) -> Option<String> {
    match (expected, found) {
        ("a boolean", Kind::Integer | Kind::Float) => Some("say what it is compared with: `x != 0`".to_owned()),
        ("a number", Kind::Boolean) => Some("booleans are not 0 and 1 here".to_owned()),
        _ => None,
    }
}
