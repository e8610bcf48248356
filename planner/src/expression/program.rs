//! Checked expressions: what can be evaluated.

use std::fmt::Write;
use std::sync::Arc;

use super::fault::{EvaluationError, Failure, Fault, write_values};
use super::tree::{Kind, Span};
use super::typed::{Any, Scalar, Values};
use crate::value::Value;

/// A checked expression of any kind. It takes values by position and can only fail by [`Fault`].
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) source: Arc<str>,
    /// The part of `source` that this is.
    pub(super) span: Span,
    pub(super) slots: Vec<String>,
    pub(super) body: Any,
}

impl Program {
    /// What it gives.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// The names whose values it takes, in this order.
    #[must_use]
    pub fn slots(&self) -> &[String] {
        &self.slots
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.span.of(&self.source)
    }

    /// The result for `values`, in the order of [`Program::slots`].
    ///
    /// # Errors
    /// Where there is no result, or where a value is missing or of another kind than declared.
    pub fn evaluate(&self, values: &[&Value]) -> Result<Value, EvaluationError> {
        self.body
            .evaluate(values)
            .map(Scalar::value)
            .map_err(|failure| self.error(failure, values))
    }

    #[cold]
    fn error(&self, failure: Failure, values: Values<'_>) -> EvaluationError {
        EvaluationError {
            fault: failure.fault,
            part: failure.span.of(&self.source).to_owned(),
            expression: self.text().to_owned(),
            values: self.named(values),
        }
    }

    fn named(&self, values: Values<'_>) -> Vec<(String, Value)> {
        self.slots
            .iter()
            .cloned()
            .zip(values.iter().map(|value| (*value).clone()))
            .collect()
    }
}

/// A checked expression that gives a boolean.
#[derive(Debug, Clone)]
pub struct Condition(pub(super) Program);

impl Condition {
    /// Whether it holds for `values`, in the order of [`Program::slots`].
    ///
    /// # Errors
    /// As [`Program::evaluate`].
    pub fn holds(&self, values: &[&Value]) -> Result<bool, EvaluationError> {
        let result = match &self.0.body {
            Any::Boolean(body) => body.evaluate(values),
            _ => Err(Fault::WrongKind.at(self.0.span)),
        };
        result.map_err(|failure| self.0.error(failure, values))
    }

    /// One sentence that says that it doesn't hold for `values`, and where it is a comparison, of what.
    ///
    /// # Errors
    /// As [`Program::evaluate`].
    pub fn refusal(&self, values: &[&Value]) -> Result<String, EvaluationError> {
        let sides = match &self.0.body {
            Any::Boolean(body) => body.sides(values).map_err(|failure| self.0.error(failure, values))?,
            _ => None,
        };
        // Walks through a space refuse millions of times: one text, nothing cloned.
        let mut text = String::with_capacity(160);
        let written = write!(text, "`{}` does not hold", self.0.text()).and_then(|()| {
            if !self.0.slots.is_empty() {
                text.push_str(" with ");
            }
            let names = self.0.slots.iter().map(String::as_str);
            write_values(&mut text, names.zip(values.iter().copied()))
        });
        // Writing into a text never fails.
        debug_assert!(written.is_ok());
        if let Some(sides) = sides {
            text.extend([": ", &sides, " is false"]);
        }
        Ok(text)
    }

    /// The expression itself.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.0
    }
}

/// A checked expression that gives a number.
#[derive(Debug, Clone)]
pub struct Formula(pub(super) Program);

impl Formula {
    /// Its value as a float, for `values` in the order of [`Program::slots`].
    ///
    /// # Errors
    /// As [`Program::evaluate`].
    pub fn number(&self, values: &[&Value]) -> Result<f64, EvaluationError> {
        let result = match self.0.body.evaluate(values) {
            Ok(Scalar::Integer(n)) => Ok(n as f64),
            Ok(Scalar::Float(x)) => Ok(x),
            Ok(_) => Err(Fault::WrongKind.at(self.0.span)),
            Err(failure) => Err(failure),
        };
        result.map_err(|failure| self.0.error(failure, values))
    }

    /// The expression itself.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.0
    }
}
