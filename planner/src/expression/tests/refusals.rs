//! What is said when an expression has no result, or is false; names, scopes and parts.

use std::fmt::Write;

use super::super::{Expression, Fault};
use super::{declared, values};
use crate::value::Value;

#[test]
fn failures_and_refusals_show_the_values() {
    let mut shown = String::new();
    for text in [
        "n % z == 0",
        "k // (n - 7) > 1",
        "x / (y + 0.75) > 1",
        "big * 4 > 1",
        "huge * huge > 1.0",
        "n ** m > 1",
        "y ** 0.5 > 0",
        "1 / z > 0",
        "9223372036854775807 + 1 > 0",
        "n * k <= 64",
        "(n * k) <= 64",
        "1 <= n <= 6",
        "9 <= n <= 1 // z",
        "x < 2",
        "x in (1, 2)",
        "n not in (1, 7, 1 // z)",
        "s == 'columns'",
        "s == 'it\\'s'",
        "t == f",
        "f",
        "not t",
        "n == 1 or k == 1",
        "1 == 2",
    ] {
        let expression = Expression::parse(text).unwrap();
        let condition = expression.condition(&declared(), &expression.names()).unwrap();
        let values = values(&expression.names());
        let values: Vec<&Value> = values.iter().collect();
        match condition.holds(&values) {
            Ok(holds) => {
                assert!(!holds, "{text}");
                writeln!(shown, "{}", condition.refusal(&values).unwrap()).unwrap();
            }
            Err(error) => writeln!(shown, "{error}").unwrap(),
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn values_that_are_not_as_declared_are_failures() {
    let expression = Expression::parse("n + x").unwrap();
    let program = expression.check(&declared()).unwrap();
    let fault = |values: &[&Value]| program.evaluate(values).unwrap_err().fault;
    let (integer, float, text) = (Value::Integer(1), Value::Float(1.0), Value::text("one"));
    assert_eq!(fault(&[]), Fault::MissingValue);
    assert_eq!(fault(&[&integer]), Fault::MissingValue);
    assert_eq!(fault(&[&text, &float]), Fault::WrongKind);
    assert_eq!(fault(&[&integer, &integer]), Fault::WrongKind);
    assert_eq!(fault(&[&integer, &Value::Float(f64::NAN)]), Fault::NotFinite);
    assert_eq!(program.evaluate(&[&integer, &float]).unwrap(), Value::Float(2.0));
}

#[test]
fn the_scope_is_the_names_in_order() {
    let expression = Expression::parse("up.inner * k <= n and min(k, up.width) in (n, 3) or not t").unwrap();
    assert_eq!(expression.names(), ["up.inner", "k", "n", "up.width", "t"]);
}

#[test]
fn parts_are_what_stands_between_the_outermost_ands() {
    let parts = |text: &str| -> Vec<String> {
        Expression::parse(text)
            .unwrap()
            .conjuncts()
            .iter()
            .map(|part| part.text().to_owned())
            .collect()
    };
    assert_eq!(parts(" n > 1 "), ["n > 1"]);
    assert_eq!(
        parts("n > 1 and (k % n == 0 and t) and (f or t)"),
        ["n > 1", "k % n == 0", "t", "(f or t)"]
    );
    assert_eq!(parts("(n > 1 and t) or f"), ["(n > 1 and t) or f"]);
    assert_eq!(parts("not (t and f)"), ["not (t and f)"]);
}

#[test]
fn formulas_give_floats() {
    let number = |text: &str| {
        let expression = Expression::parse(text).unwrap();
        let values = values(&expression.names());
        let values: Vec<&Value> = values.iter().collect();
        expression
            .formula(&declared(), &expression.names())
            .unwrap()
            .number(&values)
    };
    assert_eq!(number("n"), Ok(7.0));
    assert_eq!(number("1 / k"), Ok(1.0 / 12.0));
    assert_eq!(number("1 / z").unwrap_err().fault, Fault::DivisionByZero);
}
