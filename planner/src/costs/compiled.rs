//! Families that are ready to price.

use super::error::CostError;
use super::family::Family;
use crate::expression::{EvaluationError, Expression, Flat, Formula, Kind};
use crate::value::Value;

/// A family that was compiled: prices calls.
#[derive(Debug, Clone)]
pub struct Compiled {
    names: Vec<String>,
    slots: Vec<String>,
    coefficients: Vec<f64>,
    /// All coefficients, where each is a whole number.
    whole: Option<Vec<i64>>,
    formulas: Vec<Formula>,
    /// All terms in one, where they are whole numbers of whole arguments.
    flat: Option<Flat>,
    may_fail: bool,
}

/// A price of whole arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Priced {
    /// Exactly so many units.
    Whole(i64),
    /// Coefficients or terms are broken numbers.
    Broken(f64),
}

impl Priced {
    /// The price, rounded to the nearest whole unit (halves away from zero).
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a price beyond 64 bits stops at the largest number there is"
    )]
    pub fn rounded(self) -> i64 {
        match self {
            Self::Whole(whole) => whole,
            Self::Broken(broken) => broken.round() as i64,
        }
    }

    /// The price.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Broken(broken) => broken,
        }
    }
}

impl Family {
    /// Compiles the family for callers who give its arguments in its own order. `path` is its name, for messages.
    pub fn compile(&self, path: &str) -> Result<Compiled, CostError> {
        self.compile_with(path, &self.arguments.kinds())
    }

    /// Compiles the family for callers who give these arguments, in this order: terms may look at no others.
    pub fn compile_with(&self, path: &str, arguments: &[(&str, Kind)]) -> Result<Compiled, CostError> {
        let mut compiled = Compiled {
            names: self.terms.keys().cloned().collect(),
            slots: arguments.iter().map(|(name, _)| (*name).to_owned()).collect(),
            coefficients: self.terms.values().map(|term| term.coefficient.value()).collect(),
            whole: self.terms.values().map(|term| term.coefficient.whole()).collect(),
            formulas: Vec::new(),
            flat: None,
            may_fail: false,
        };
        let mut flat = Flat::new(arguments.len());
        for (name, term) in &self.terms {
            let (expression, formula): (Expression, Formula) = term.formula(path, name, arguments)?;
            compiled.may_fail |= expression.may_fail();
            flat = flat.and_then(|mut flat| flat.add(formula.program()).map(|()| flat));
            compiled.formulas.push(formula);
        }
        compiled.flat = flat.filter(|_| arguments.iter().all(|(_, kind)| *kind == Kind::Integer));
        Ok(compiled)
    }
}

impl Compiled {
    /// Names of the terms, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Names of the arguments, in the order in which they are given.
    #[must_use]
    pub fn slots(&self) -> &[String] {
        &self.slots
    }

    /// Coefficients, in the order of the terms.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Whether some term divides by (or raises to) something that is not a plain number, so that it may have no value.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.may_fail
    }

    /// The price of whole arguments, in the order of [`Compiled::slots`]. `None` where it has none: a division by zero, a
    /// number beyond 64 bits, an argument too few.
    #[must_use]
    #[inline]
    pub fn price(&self, arguments: &[i64]) -> Option<Priced> {
        let Some(flat) = &self.flat else {
            let values: Vec<Value> = arguments.iter().map(|n| Value::Integer(*n)).collect();
            let values: Vec<&Value> = values.iter().collect();
            return self
                .number(&values)
                .ok()
                .filter(|sum| sum.is_finite())
                .map(Priced::Broken);
        };
        if let Some(whole) = &self.whole {
            let mut coefficients = whole.iter();
            let sum = flat.fold(arguments, 0_i64, |sum, term| {
                sum.checked_add(coefficients.next()?.checked_mul(term)?)
            });
            return sum.map(Priced::Whole);
        }
        let mut coefficients = self.coefficients.iter();
        let sum = flat.fold(arguments, 0.0_f64, |sum, term| {
            Some(sum + coefficients.next()? * term as f64)
        });
        sum.map(Priced::Broken)
    }

    /// The price of arguments of any kind, in the order of [`Compiled::slots`].
    pub fn number(&self, arguments: &[&Value]) -> Result<f64, EvaluationError> {
        let mut sum = 0.0;
        for (formula, coefficient) in self.formulas.iter().zip(&self.coefficients) {
            sum += coefficient * formula.number(arguments)?;
        }
        Ok(sum)
    }

    /// The value of each term, in order, without its coefficient.
    pub fn terms(&self, arguments: &[&Value]) -> Result<Vec<f64>, EvaluationError> {
        self.formulas.iter().map(|formula| formula.number(arguments)).collect()
    }
}
