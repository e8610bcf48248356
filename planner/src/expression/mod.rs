//! Expressions over named parameters: constraints, terms of cost models, derived figures.
//!
//! They look and count as in Python, and are never given to an interpreter or a shell. Four steps: text to tokens, tokens
//! to a tree ([`Expression::parse`]), the tree checked against the kinds of its names and lowered to a typed form with
//! indices ([`Expression::check`]), and that evaluated ([`Program`]).
//!
//! The same as in Python 3: precedence and associativity (`-2 ** 2` is -4, `2 ** 3 ** 2` is 512), `/` is the true quotient,
//! `//` and `%` round towards minus infinity (the remainder has the sign of the divisor), comparisons chain
//! (`1 <= x <= 8`), integers and floats compare exactly, `and` and `or` stop early, texts compare by code point.
//!
//! Stricter than Python, each of these being an error that says so:
//!
//! * integers are 64 bits wide, and a result that doesn't fit is an error; so is a float that isn't finite;
//! * types are known before anything is evaluated: `and`, `or`, `not` take booleans only, booleans are no numbers,
//!   values of different kinds are never compared with `==` (integers and floats are);
//! * an integer to the power of a negative integer is an error (its type would depend on a value): write a float;
//! * a negative float to a broken power is an error, not a complex number;
//! * `min` and `max` take two or more numbers; they give a float as soon as one of them is a float;
//! * `in` looks into a tuple or list that is written out and not empty, never into a text; lists stand nowhere else;
//! * texts are not added, multiplied or formatted; there are no calls but `min`, `max` and `ceil_div`, no `if`, `is`,
//!   attributes, indices or bit operations. A dot between words is part of a name (`up.inner`).
//!
//! Float powers may differ from Python's in the last bit, as they are the same on every machine here and not there.
//! `ceil_div(a, b)` is `-(-a // b)` for integers. `true` and `false` are written in either case.

mod arithmetic;
mod check;
mod error;
mod fault;
mod flat;
mod parse;
mod program;
mod token;
mod tree;
mod typed;

pub use error::{ExpressionError, ExpressionErrorKind};
pub(crate) use fault::literal;
pub use fault::{EvaluationError, Fault};
pub(crate) use flat::Flat;
pub use program::{Condition, Formula, Program};
pub(crate) use tree::is_name;
pub use tree::{Expression, Kind, vocabulary};

#[cfg(test)]
mod tests;
