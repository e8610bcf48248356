//! Results against those of Python 3: `tests/fixtures/expressions/generate.py` says how they were made.

use super::super::Expression;
use super::{declared, values};
use crate::value::Value;

const TABLE: &str = include_str!("../../../tests/fixtures/expressions/python.tsv");

/// Evaluates `text` and writes the result as the table does.
fn evaluated(text: &str) -> Result<Value, String> {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let program = expression
        .check(&declared())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let values = values(&expression.names());
    let values: Vec<&Value> = values.iter().collect();
    let result = program.evaluate(&values).map_err(|error| format!("!{:?}", error.fault));
    if let Ok(value) = &result {
        assert_eq!(super::kind(value), program.kind(), "{text}");
    }
    result
}

/// Powers of floats may differ in the last bit: Python takes the system's `pow`, the planner one that is the same on all
/// systems. All else is the same to the bit.
fn agree(expected: f64, found: f64, power: bool) -> bool {
    let (a, b) = (expected.to_bits(), found.to_bits());
    a.abs_diff(b) <= u64::from(power)
}

#[test]
fn results_are_those_of_python() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in TABLE.lines() {
        let (text, expected) = row.split_once('\t').unwrap();
        rows += 1;
        let same = match evaluated(text) {
            Err(fault) => fault == expected,
            Ok(Value::Boolean(b)) => expected == if b { "True" } else { "False" },
            Ok(Value::Integer(n)) => expected == n.to_string(),
            // Both print the shortest digits that read back as the same float.
            Ok(Value::Float(x)) => {
                !expected.starts_with('!')
                    && expected.contains(['.', 'e'])
                    && agree(expected.parse().unwrap(), x, text.contains("**"))
            }
            Ok(Value::Text(_)) => false,
        };
        if !same {
            wrong.push(format!("{text}: expected {expected}, found {:?}", evaluated(text)));
        }
    }
    assert!(rows > 800, "{rows}");
    assert!(wrong.is_empty(), "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
}
