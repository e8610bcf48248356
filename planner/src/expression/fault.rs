//! What can go wrong while an expression is evaluated.

use std::fmt::{self, Write};

use super::tree::Span;
use crate::value::Value;

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The divisor of `/`, `//`, `%` or `ceil_div` is zero, or zero is raised to a negative power.
    DivisionByZero,
    /// An integer that doesn't fit into 64 bits.
    IntegerOverflow,
    /// A float beyond the largest finite one.
    FloatOverflow,
    /// An integer to the power of a negative integer.
    NegativeExponent,
    /// A negative float to a broken power.
    NotReal,
    /// A value that was given is not finite.
    NotFinite,
    /// A value that was given is of another kind than declared.
    WrongKind,
    /// Fewer values were given than the expression has names.
    MissingValue,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DivisionByZero => "division by zero",
            Self::IntegerOverflow => "an integer that doesn't fit into 64 bits",
            Self::FloatOverflow => "a float beyond the largest finite one",
            Self::NegativeExponent => "a negative exponent of an integer (write one of the two as a float)",
            Self::NotReal => "a broken power of a negative number",
            Self::NotFinite => "a value that is not finite",
            Self::WrongKind => "a value of another kind than declared",
            Self::MissingValue => "a name without a value",
        })
    }
}

/// An expression without a result, with the part that has none and all values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationError {
    /// Why.
    pub fault: Fault,
    /// The part of the expression where it happened.
    pub part: String,
    /// The whole expression.
    pub expression: String,
    /// Its names with their values.
    pub values: Vec<(String, Value)>,
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in `{}`", self.fault, self.part)?;
        if self.part != self.expression {
            write!(f, " of `{}`", self.expression)?;
        }
        if !self.values.is_empty() {
            f.write_str(" with ")?;
        }
        write_values(f, self.values.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

impl std::error::Error for EvaluationError {}

/// Adds `tile = 16, mode = 'fast', scale = 1.0`.
pub(super) fn write_values<'a>(
    out: &mut impl Write,
    values: impl Iterator<Item = (&'a str, &'a Value)>,
) -> fmt::Result {
    let mut between = "";
    for (name, value) in values {
        write!(out, "{between}{name} = {}", Literal(value))?;
        between = ", ";
    }
    Ok(())
}

/// A value as it would stand in an expression.
struct Literal<'a>(&'a Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Boolean(b) => write!(f, "{b}"),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }
}

/// A value as it would stand in an expression.
pub(crate) fn literal(value: &Value) -> String {
    Literal(value).to_string()
}

/// A fault and its place: small, as it travels through every step of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    pub(super) fault: Fault,
    pub(super) span: Span,
}

impl Fault {
    pub(super) fn at(self, span: Span) -> Failure {
        Failure { fault: self, span }
    }
}
