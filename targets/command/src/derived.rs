//! `[derived]`: numbers that follow from others.

use std::collections::BTreeMap;

use planner::definition::command::{Derived, Ordered};
use planner::expression::{Expression, ExpressionError, Formula, Kind};
use planner::{Attributes, Value};
use target_api::OptionError;

/// A derived number.
#[derive(Debug, Clone)]
pub(crate) struct DerivedSpec {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    formula: Formula,
}

/// Checks all formulas, in order: each may use numbers, parameters, and those before it.
pub(crate) fn parse(
    table: &Ordered<Derived>,
    parameters: &[(&str, Kind)],
    numbers: &[String],
) -> Result<Vec<DerivedSpec>, OptionError> {
    let mut names: Vec<String> = numbers.to_vec();
    let mut specs = Vec::new();
    for (name, derived) in table.iter() {
        let key = format!("derived.{name}");
        check_name(&key, name, parameters, &names)?;
        let mut declared = parameters.to_vec();
        declared.extend(names.iter().map(|name| (name.as_str(), Kind::Float)));
        let key = if derived.table { format!("{key}.formula") } else { key };
        let formula = formula(&key, &derived.formula, &declared)?;
        specs.push(DerivedSpec {
            name: name.to_owned(),
            unit: derived.unit.clone(),
            formula,
        });
        names.push(name.to_owned());
    }
    Ok(specs)
}

/// Checks the name of a number: it can stand in an expression, and means one thing.
pub(crate) fn check_name(
    key: &str,
    name: &str,
    parameters: &[(&str, Kind)],
    numbers: &[String],
) -> Result<(), OptionError> {
    let wrong = |message: String| OptionError {
        key: key.to_owned(),
        message,
    };
    let readable =
        Expression::parse(name).is_ok_and(|expression| expression.names() == [name] && expression.text() == name);
    if !readable || name.contains('.') {
        return Err(wrong(format!(
            "`{name}` can't be named in an expression: expected letters, digits and `_`, a letter first"
        )));
    }
    if parameters.iter().any(|(own, _)| *own == name) {
        return Err(wrong(format!("`{name}` is the name of a parameter already")));
    }
    if numbers.iter().any(|own| own == name) {
        return Err(wrong(format!("`{name}` is the name of another number already")));
    }
    Ok(())
}

/// Checks an expression that gives a number; `key` is its path in the definition.
pub(crate) fn formula(key: &str, text: &str, declared: &[(&str, Kind)]) -> Result<Formula, OptionError> {
    let wrong = |error: ExpressionError| OptionError {
        key: format!("{key}{}", part(text, &error)),
        message: sentence(&error),
    };
    let expression = Expression::parse(text).map_err(wrong)?;
    expression.formula(declared, &expression.names()).map_err(wrong)
}

/// The bytes that an error is about, as the end of a path.
fn part(text: &str, error: &ExpressionError) -> String {
    let shown = error.to_string();
    let carets = shown
        .lines()
        .find(|line| line.starts_with("  | ") && line.ends_with('^'));
    let width = carets.map_or(1, |line| line.chars().filter(|c| *c == '^').count());
    let bytes = |characters: usize| text.chars().take(characters).map(char::len_utf8).sum::<usize>();
    let before = error.column() - 1;
    format!(":{}..{}", bytes(before), bytes(before + width))
}

/// What is wrong, without the excerpt that the definition shows itself.
fn sentence(error: &ExpressionError) -> String {
    let message = error.kind().to_string().trim_end_matches(',').to_owned();
    match error.to_string().split_once("\nhelp: ") {
        Some((_, help)) => format!("{message}\nhelp: {help}"),
        None => message,
    }
}

impl DerivedSpec {
    /// Its value, or why there is none.
    pub(crate) fn evaluate(&self, parameters: &Attributes, numbers: &BTreeMap<String, f64>) -> Result<f64, String> {
        let mut values = Vec::new();
        for slot in self.formula.program().slots() {
            let number = || numbers.get(slot).map(|number| Value::Float(*number));
            let value = parameters.get(slot).cloned().or_else(number);
            values.push(value.ok_or_else(|| format!("there is no `{slot}`"))?);
        }
        let values: Vec<&Value> = values.iter().collect();
        self.formula.number(&values).map_err(|error| error.to_string())
    }
}
