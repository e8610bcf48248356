mod errors;
mod naive;
mod properties;
mod python;
mod refusals;

use super::Kind;
use crate::value::Value;

/// The names that `tests/fixtures/expressions/generate.py` knows, with the same values.
pub(super) fn names() -> Vec<(&'static str, Value)> {
    let integers = [
        ("n", 7),
        ("m", -3),
        ("z", 0),
        ("k", 12),
        ("big", 1 << 62),
        ("low", i64::MIN),
        ("odd", (1 << 53) + 1),
    ];
    let floats = [
        ("x", 2.5),
        ("y", -0.75),
        ("w", 0.1),
        ("huge", 1e300),
        ("wide", 9_007_199_254_740_992.0),
    ];
    let texts = [("s", "rows"), ("u", "columns")];
    let booleans = [("t", true), ("f", false)];
    let mut names = Vec::new();
    names.extend(integers.map(|(name, n)| (name, Value::Integer(n))));
    names.extend(floats.map(|(name, x)| (name, Value::Float(x))));
    names.extend(texts.map(|(name, text)| (name, Value::text(text))));
    names.extend(booleans.map(|(name, b)| (name, Value::Boolean(b))));
    names
}

pub(super) fn kind(value: &Value) -> Kind {
    match value {
        Value::Boolean(_) => Kind::Boolean,
        Value::Integer(_) => Kind::Integer,
        Value::Float(_) => Kind::Float,
        Value::Text(_) => Kind::Text,
    }
}

pub(super) fn declared() -> Vec<(&'static str, Kind)> {
    names().iter().map(|(name, value)| (*name, kind(value))).collect()
}

/// The values of an expression's names, in its order.
pub(super) fn values(of: &[&str]) -> Vec<Value> {
    let all = names();
    of.iter()
        .map(|name| all.iter().find(|(known, _)| known == name).unwrap().1.clone())
        .collect()
}
