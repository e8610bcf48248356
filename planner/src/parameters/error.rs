//! What is wrong with a table of parameters.

use std::fmt;

use super::MAX_VALUES;
use crate::expression::{ExpressionError, literal};
use crate::value::Value;

/// A table of parameters that makes no space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterError {
    /// A name that can't stand in an expression.
    Name {
        /// The name.
        name: String,
    },
    /// The same name twice.
    Twice {
        /// The name.
        name: String,
    },
    /// One value instead of several.
    Single {
        /// The parameter.
        name: String,
        /// Its value.
        value: Value,
    },
    /// An array without values.
    NoValues {
        /// The parameter.
        name: String,
    },
    /// Values of different kinds.
    Mixed {
        /// The parameter.
        name: String,
        /// Its first value.
        first: Value,
        /// The first value of another kind.
        other: Value,
    },
    /// NaN or an infinity.
    NotFinite {
        /// The parameter.
        name: String,
    },
    /// A value twice.
    Repeated {
        /// The parameter.
        name: String,
        /// The value.
        value: Value,
    },
    /// More than [`MAX_VALUES`] values.
    TooMany {
        /// The parameter.
        name: String,
        /// How many.
        count: usize,
    },
    /// A range that can't be used.
    Range {
        /// The parameter.
        name: String,
        /// The range as written.
        text: String,
        /// Why.
        error: RangeError,
    },
    /// A constraint that can't be used.
    Constraint {
        /// Its place among the constraints, from 1.
        number: usize,
        /// Why, with the place.
        error: ExpressionError,
    },
    /// A constraint, or a part of one, without names.
    Constant {
        /// Its place among the constraints, from 1.
        number: usize,
        /// The part.
        text: String,
    },
}

/// What is wrong with a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeError {
    /// Not two or three parts.
    Form,
    /// A part that is no number, or one too large or too precise.
    Number {
        /// The part.
        part: String,
    },
    /// A step of zero.
    ZeroStep,
    /// A step that leads away from the stop.
    Empty,
    /// More than [`MAX_VALUES`] values.
    TooMany {
        /// How many.
        count: i128,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write!(
                f,
                "parameter `{}` can't be named in an expression, expected letters, digits and `_`, a letter first, and \
                 no word of the expressions",
                name.escape_debug()
            ),
            Self::Twice { name } => write!(f, "parameter `{name}` is listed twice"),
            Self::Single { name, value } => write!(
                f,
                "parameter `{name}` is the single value {}, expected an array of values or a range\nhelp: write `[{0}]`",
                literal(value)
            ),
            Self::NoValues { name } => write!(f, "parameter `{name}` has no values"),
            Self::Mixed { name, first, other } => {
                let (a, b) = (literal(first), literal(other));
                let (kind_a, kind_b) = (first.kind(), other.kind());
                write!(f, "parameter `{name}` mixes kinds: {a} ({kind_a}) and {b} ({kind_b})")?;
                match (kind_a, kind_b) {
                    ("integer", "float") => write!(f, "\nhelp: write `{a}.0` for a float"),
                    ("float", "integer") => write!(f, "\nhelp: write `{b}.0` for a float"),
                    _ => Ok(()),
                }
            }
            Self::NotFinite { name } => write!(f, "parameter `{name}` has a value that is not finite"),
            Self::Repeated { name, value } => write!(f, "parameter `{name}` has the value {} twice", literal(value)),
            Self::TooMany { name, count } => {
                write!(
                    f,
                    "parameter `{name}` has {count} values, at most {MAX_VALUES} are accepted"
                )
            }
            Self::Range { name, text, error } => {
                write!(f, "parameter `{name}`: range `{}` {error}", text.escape_debug())
            }
            Self::Constraint { number, error } => write!(f, "constraint {number}: {error}"),
            Self::Constant { number, text } => {
                write!(
                    f,
                    "constraint {number}: `{text}` names no parameter, so it decides nothing"
                )
            }
        }
    }
}

impl std::error::Error for ParameterError {}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str(
                "is a text of another form, expected integers or floats as `start:stop` or `start:stop:step`\nhelp: single values, \
                 numbers without quotes and texts with them, stand in an array",
            ),
            Self::Number { part } => {
                write!(
                    f,
                    "has the part `{}`, expected an integer or a float in range",
                    part.escape_debug()
                )
            }
            Self::ZeroStep => f.write_str("has a step of zero, so it never ends"),
            Self::Empty => f.write_str("is empty: its step leads away from its stop"),
            Self::TooMany { count } => write!(f, "has {count} values, at most {MAX_VALUES} are accepted"),
        }
    }
}
