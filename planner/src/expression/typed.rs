//! The typed form of an expression, in which names are indices, and how it is evaluated.

use std::cmp::Ordering;
use std::sync::Arc;

use super::arithmetic as math;
use super::fault::{Failure, Fault, literal};
use super::tree::{Arithmetic, Comparison, Kind, Span};
use crate::value::Value;

/// Gives an integer.
#[derive(Debug, Clone)]
pub(super) enum Integer {
    Constant(i64),
    Slot(usize, Span),
    Negate(Span, Box<Integer>),
    Arithmetic(Arithmetic, Span, Box<(Integer, Integer)>),
    CeilDivide(Span, Box<(Integer, Integer)>),
    /// The first and all others.
    Extreme(Extreme, Box<Integer>, Vec<Integer>),
}

/// Gives a float.
#[derive(Debug, Clone)]
pub(super) enum Float {
    Constant(f64),
    Slot(usize, Span),
    Of(Box<Integer>),
    /// The true quotient of integers.
    Ratio(Span, Box<(Integer, Integer)>),
    Negate(Box<Float>),
    Arithmetic(Arithmetic, Span, Box<(Float, Float)>),
    /// The first and all others.
    Extreme(Extreme, Box<Float>, Vec<Float>),
}

/// Which of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extreme {
    Smallest,
    Largest,
}

/// Gives a text.
#[derive(Debug, Clone)]
pub(super) enum Text {
    Constant(Arc<str>),
    Slot(usize, Span),
}

/// Gives a boolean.
#[derive(Debug, Clone)]
pub(super) enum Boolean {
    Constant(bool),
    Slot(usize, Span),
    Not(Box<Boolean>),
    And(Vec<Boolean>),
    Or(Vec<Boolean>),
    /// What most constraints are: two integers compared.
    Integers(Comparison, Box<(Integer, Integer)>),
    /// Whether an integer is (`true`) or is not (`false`) among these.
    Listed(bool, Box<Integer>, Vec<i64>),
    Chain(Box<Any>, Vec<Link>),
}

/// One comparison of a chain, with its right side.
#[derive(Debug, Clone)]
pub(super) enum Link {
    Compare(Comparison, Any),
    /// Whether the left side is (`true`) or is not (`false`) among these.
    Among(bool, Vec<Any>),
}

/// Any of them.
#[derive(Debug, Clone)]
pub(super) enum Any {
    Integer(Integer),
    Float(Float),
    Text(Text),
    Boolean(Boolean),
}

impl Any {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Integer(_) => Kind::Integer,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::Boolean(_) => Kind::Boolean,
        }
    }
}

/// A result, without owning it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'a> {
    Integer(i64),
    Float(f64),
    Text(&'a str),
    Boolean(bool),
}

/// Values by slot.
pub(super) type Values<'a> = &'a [&'a Value];

fn slot(values: Values<'_>, slot: usize, span: Span) -> Result<&Value, Failure> {
    values.get(slot).copied().ok_or_else(|| Fault::MissingValue.at(span))
}

impl Integer {
    /// As `evaluate`, without a call where there is nothing to compute: most operands are names and numbers.
    #[inline]
    fn operand(&self, values: Values<'_>) -> Result<i64, Failure> {
        match self {
            Self::Constant(n) => Ok(*n),
            Self::Slot(at, _) => match values.get(*at) {
                Some(Value::Integer(n)) => Ok(*n),
                _ => self.evaluate(values),
            },
            _ => self.evaluate(values),
        }
    }

    pub(super) fn evaluate(&self, values: Values<'_>) -> Result<i64, Failure> {
        match self {
            Self::Constant(n) => Ok(*n),
            Self::Slot(at, span) => match slot(values, *at, *span)? {
                Value::Integer(n) => Ok(*n),
                _ => Err(Fault::WrongKind.at(*span)),
            },
            Self::Negate(span, inner) => math::negate(inner.evaluate(values)?).map_err(|fault| fault.at(*span)),
            Self::Arithmetic(operation, span, pair) => {
                let (a, b) = (pair.0.operand(values)?, pair.1.operand(values)?);
                let result = match operation {
                    Arithmetic::Add => math::add(a, b),
                    Arithmetic::Subtract => math::subtract(a, b),
                    Arithmetic::Multiply => math::multiply(a, b),
                    // Lowered to `Float::Ratio`; between integers only the rounded quotient is an integer.
                    Arithmetic::Divide | Arithmetic::FloorDivide => math::floor_divide(a, b),
                    Arithmetic::Remainder => math::remainder(a, b),
                    Arithmetic::Power => math::power(a, b),
                };
                result.map_err(|fault| fault.at(*span))
            }
            Self::CeilDivide(span, pair) => {
                let (a, b) = (pair.0.operand(values)?, pair.1.operand(values)?);
                math::ceil_divide(a, b).map_err(|fault| fault.at(*span))
            }
            Self::Extreme(which, first, others) => {
                let mut best = first.evaluate(values)?;
                for other in others {
                    let next = other.evaluate(values)?;
                    best = if *which == Extreme::Smallest {
                        best.min(next)
                    } else {
                        best.max(next)
                    };
                }
                Ok(best)
            }
        }
    }
}

impl Float {
    pub(super) fn evaluate(&self, values: Values<'_>) -> Result<f64, Failure> {
        match self {
            Self::Constant(x) => Ok(*x),
            Self::Slot(at, span) => match slot(values, *at, *span)? {
                Value::Float(x) if x.is_finite() => Ok(*x),
                Value::Float(_) => Err(Fault::NotFinite.at(*span)),
                _ => Err(Fault::WrongKind.at(*span)),
            },
            Self::Of(inner) => inner.evaluate(values).map(|n| n as f64),
            Self::Ratio(span, pair) => {
                let (a, b) = (pair.0.evaluate(values)?, pair.1.evaluate(values)?);
                math::divide_integers(a, b).map_err(|fault| fault.at(*span))
            }
            Self::Negate(inner) => inner.evaluate(values).map(|x| -x),
            Self::Arithmetic(operation, span, pair) => {
                let (a, b) = (pair.0.evaluate(values)?, pair.1.evaluate(values)?);
                let result = match operation {
                    Arithmetic::Add => math::add_floats(a, b),
                    Arithmetic::Subtract => math::subtract_floats(a, b),
                    Arithmetic::Multiply => math::multiply_floats(a, b),
                    Arithmetic::Divide => math::divide_floats(a, b),
                    Arithmetic::FloorDivide => math::floor_divide_floats(a, b),
                    Arithmetic::Remainder => math::remainder_floats(a, b),
                    Arithmetic::Power => math::power_floats(a, b),
                };
                result.map_err(|fault| fault.at(*span))
            }
            Self::Extreme(which, first, others) => {
                let mut best = first.evaluate(values)?;
                for other in others {
                    let next = other.evaluate(values)?;
                    // As Python: the first of equal ones (0.0 and -0.0).
                    let better = if *which == Extreme::Smallest {
                        next < best
                    } else {
                        next > best
                    };
                    best = if better { next } else { best };
                }
                Ok(best)
            }
        }
    }
}

impl Text {
    pub(super) fn evaluate<'a>(&'a self, values: Values<'a>) -> Result<&'a str, Failure> {
        match self {
            Self::Constant(text) => Ok(text),
            Self::Slot(at, span) => slot(values, *at, *span)?
                .as_text()
                .ok_or_else(|| Fault::WrongKind.at(*span)),
        }
    }
}

impl Boolean {
    pub(super) fn evaluate(&self, values: Values<'_>) -> Result<bool, Failure> {
        match self {
            Self::Constant(b) => Ok(*b),
            Self::Slot(at, span) => slot(values, *at, *span)?
                .as_boolean()
                .ok_or_else(|| Fault::WrongKind.at(*span)),
            Self::Not(inner) => inner.evaluate(values).map(|b| !b),
            Self::And(parts) => {
                for part in parts {
                    if !part.evaluate(values)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(parts) => {
                for part in parts {
                    if part.evaluate(values)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Integers(comparison, pair) => Ok(matches(
                *comparison,
                pair.0.operand(values)?.cmp(&pair.1.operand(values)?),
            )),
            Self::Listed(wanted, member, list) => Ok(list.contains(&member.evaluate(values)?) == *wanted),
            Self::Chain(first, links) => {
                let mut left = first.evaluate(values)?;
                for link in links {
                    if let Link::Compare(comparison, right) = link {
                        let right = right.evaluate(values)?;
                        if !matches(*comparison, left.order(right)) {
                            return Ok(false);
                        }
                        left = right;
                    } else if !link.holds(left, values)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Where the whole is a comparison that is false: the first of its links that is, with the values of both sides.
    pub(super) fn sides(&self, values: Values<'_>) -> Result<Option<String>, Failure> {
        match self {
            Self::Integers(comparison, pair) => {
                let (a, b) = (pair.0.evaluate(values)?, pair.1.evaluate(values)?);
                Ok(Some(format!("{a} {} {b}", comparison.sign())))
            }
            Self::Listed(wanted, member, list) => {
                let sign = if *wanted { Comparison::In } else { Comparison::NotIn }.sign();
                let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                Ok(Some(format!(
                    "{} {sign} ({})",
                    member.evaluate(values)?,
                    list.join(", ")
                )))
            }
            Self::And(parts) => {
                for part in parts {
                    if !part.evaluate(values)? {
                        return part.sides(values);
                    }
                }
                Ok(None)
            }
            Self::Chain(first, links) => {
                let mut left = first.evaluate(values)?;
                for link in links {
                    if !link.holds(left, values)? {
                        return link.written(left, values).map(Some);
                    }
                    if let Link::Compare(_, right) = link {
                        left = right.evaluate(values)?;
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

impl Link {
    fn holds(&self, left: Scalar<'_>, values: Values<'_>) -> Result<bool, Failure> {
        match self {
            Self::Compare(comparison, right) => Ok(matches(*comparison, left.order(right.evaluate(values)?))),
            Self::Among(wanted, members) => {
                for member in members {
                    if left.order(member.evaluate(values)?).is_eq() {
                        return Ok(*wanted);
                    }
                }
                Ok(!wanted)
            }
        }
    }

    /// Its sides with their values; members that `holds` doesn't come to may have none, and are left out.
    fn written(&self, left: Scalar<'_>, values: Values<'_>) -> Result<String, Failure> {
        let left_text = left.written();
        match self {
            Self::Compare(comparison, right) => Ok(format!(
                "{left_text} {} {}",
                comparison.sign(),
                right.evaluate(values)?.written()
            )),
            Self::Among(wanted, members) => {
                let mut shown = Vec::new();
                for member in members {
                    let member = member.evaluate(values)?;
                    shown.push(member.written());
                    if left.order(member).is_eq() {
                        break;
                    }
                }
                let sign = if *wanted { Comparison::In } else { Comparison::NotIn }.sign();
                Ok(format!("{left_text} {sign} ({})", shown.join(", ")))
            }
        }
    }
}

impl Any {
    pub(super) fn evaluate<'a>(&'a self, values: Values<'a>) -> Result<Scalar<'a>, Failure> {
        Ok(match self {
            Self::Integer(inner) => Scalar::Integer(inner.evaluate(values)?),
            Self::Float(inner) => Scalar::Float(inner.evaluate(values)?),
            Self::Text(inner) => Scalar::Text(inner.evaluate(values)?),
            Self::Boolean(inner) => Scalar::Boolean(inner.evaluate(values)?),
        })
    }
}

fn matches(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal | Comparison::In => order.is_eq(),
        Comparison::Unequal | Comparison::NotIn => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

impl Scalar<'_> {
    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            // No value is a NaN, so two floats always have an order; unlike `total_cmp` it holds both zeros equal.
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Less),
            (Self::Integer(a), Self::Float(b)) => math::compare_integer_float(a, b),
            (Self::Float(a), Self::Integer(b)) => math::compare_integer_float(b, a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(&b),
            // The checker lets no other pair through.
            (Self::Text(_) | Self::Boolean(_), _) | (_, Self::Text(_) | Self::Boolean(_)) => Ordering::Less,
        }
    }

    pub(super) fn value(self) -> Value {
        match self {
            Self::Integer(n) => Value::Integer(n),
            Self::Float(x) => Value::Float(x),
            Self::Text(text) => Value::text(text),
            Self::Boolean(b) => Value::Boolean(b),
        }
    }

    fn written(self) -> String {
        literal(&self.value())
    }
}
