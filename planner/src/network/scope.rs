//! Names with values, and expressions over them.

use crate::definition::{DefinitionError, Located, Source};
use crate::expression::{Expression, ExpressionError, Kind};
use crate::value::Value;

/// Names that expressions may use; later ones hide earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Vec<(String, Value)>);

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Boolean(_) => Kind::Boolean,
        Value::Integer(_) => Kind::Integer,
        Value::Float(_) => Kind::Float,
        Value::Text(_) => Kind::Text,
    }
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    pub(super) fn values(&self) -> &[(String, Value)] {
        &self.0
    }

    /// A number or flag as written, or what an expression gives; `field` is named in messages.
    pub(super) fn evaluate(
        &self,
        source: &Source,
        field: &str,
        written: &Located<Value>,
    ) -> Result<Value, DefinitionError> {
        match &written.value {
            Value::Text(text) => self.expression(source, field, text, &written.span),
            plain => Ok(plain.clone()),
        }
    }

    /// What an expression gives.
    pub(super) fn expression(
        &self,
        source: &Source,
        field: &str,
        text: &str,
        span: &std::ops::Range<usize>,
    ) -> Result<Value, DefinitionError> {
        let declared = self.declared();
        let wrong = |error: &ExpressionError| about(source, field, text, span, error);
        let expression = Expression::parse(text).map_err(|error| wrong(&error))?;
        let program = expression.check(&declared).map_err(|error| wrong(&error))?;
        let values: Vec<&Value> = program.slots().iter().filter_map(|name| self.get(name)).collect();
        program
            .evaluate(&values)
            .map_err(|error| source.error(span, format!("`{field}`: {error}")))
    }

    /// What a condition says where it does not hold.
    pub(super) fn refusal(
        &self,
        source: &Source,
        field: &str,
        text: &str,
        span: &std::ops::Range<usize>,
    ) -> Result<Option<String>, DefinitionError> {
        let wrong = |error: &ExpressionError| about(source, field, text, span, error);
        let expression = Expression::parse(text).map_err(|error| wrong(&error))?;
        let names = expression.names();
        let condition = expression
            .condition(&self.declared(), &names)
            .map_err(|error| wrong(&error))?;
        let values: Vec<&Value> = names.iter().filter_map(|name| self.get(name)).collect();
        let failed = |error| source.error(span, format!("`{field}`: {error}"));
        if condition.holds(&values).map_err(failed)? {
            return Ok(None);
        }
        condition.refusal(&values).map(Some).map_err(failed)
    }

    fn declared(&self) -> Vec<(&str, Kind)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), kind_of(value)))
            .collect()
    }

    /// A whole number of at least `least`.
    pub(super) fn whole(
        &self,
        source: &Source,
        field: &str,
        written: &Located<Value>,
        least: i64,
    ) -> Result<i64, DefinitionError> {
        let value = self.evaluate(source, field, written)?;
        let found = match &value {
            Value::Integer(n) if *n >= least => return Ok(*n),
            Value::Integer(n) => n.to_string(),
            other => format!("the {} {other}", other.kind()),
        };
        let error = source.error(
            &written.span,
            format!("`{field}`: expected a whole number of at least {least}, found {found}"),
        );
        Err(match &value {
            Value::Float(_) if matches!(written.value, Value::Text(_)) => {
                error.help("`/` is the true quotient; `//` rounds down, `ceil_div(a, b)` rounds up")
            }
            _ => error,
        })
    }

    /// True or false.
    pub(super) fn flag(&self, source: &Source, field: &str, written: &Located<Value>) -> Result<bool, DefinitionError> {
        match self.evaluate(source, field, written)? {
            Value::Boolean(flag) => Ok(flag),
            other => {
                let message = format!(
                    "`{field}`: expected true, false or a condition, found {} {other}",
                    other.kind()
                );
                Err(source.error(&written.span, message))
            }
        }
    }
}

/// An expression's own error with the place in the file: the caret stands under what is meant where the text is a plain
/// one of one line.
fn about(
    source: &Source,
    field: &str,
    text: &str,
    span: &std::ops::Range<usize>,
    error: &ExpressionError,
) -> DefinitionError {
    let literal = source.text.get(span.clone()).unwrap_or_default();
    let inside = literal.trim_matches(['"', '\'']);
    let place = if inside == text && !text.contains('\n') {
        let before: usize = text.chars().take(error.column() - 1).map(char::len_utf8).sum();
        let start = span.start + (literal.len() - inside.len()) / 2 + before;
        start..span.end - 1
    } else {
        span.clone()
    };
    let shown = error.to_string();
    let message = format!("`{field}`: {}", error.kind().to_string().trim_end_matches(','));
    let wrong = source.error(&place, message);
    match shown.split_once("\nhelp: ") {
        Some((_, help)) => wrong.help(help),
        None => wrong,
    }
}
