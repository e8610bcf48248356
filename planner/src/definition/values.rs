//! Lists of values, ranges in words, and whole numbers with a smallest one.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::value::Value;

/// Most values that a range may stand for.
const RANGE_LIMIT: i128 = 1 << 20;

/// Values of an attribute: a list, `"start:stop:step"` (stop included), or, in a screen, `"derived"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    /// Exactly these, in this order.
    These(Vec<Value>),
    /// The target computes the value from the attributes that are screened.
    Derived,
}

impl Choices {
    /// The listed values, none if they are derived.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        match self {
            Self::These(values) => values,
            Self::Derived => &[],
        }
    }

    fn from_words(words: &str) -> Result<Self, String> {
        if words == "derived" {
            return Ok(Self::Derived);
        }
        let wrong = || format!("expected a list of values or \"start:stop:step\", found \"{words}\"");
        let numbers: Vec<i64> = words
            .split(':')
            .map(|part| part.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| wrong())?;
        let (start, stop, step) = match numbers[..] {
            [start, stop] => (start, stop, 1),
            [start, stop, step] => (start, stop, step),
            _ => return Err(wrong()),
        };
        if step < 1 || stop < start {
            return Err(format!(
                "\"{words}\" holds no values: expected start <= stop and a step of at least 1"
            ));
        }
        let size = (i128::from(stop) - i128::from(start)) / i128::from(step) + 1;
        if size > RANGE_LIMIT {
            return Err(format!(
                "\"{words}\" holds {size} values, at most {RANGE_LIMIT} are possible"
            ));
        }
        let values = std::iter::successors(Some(start), |n| n.checked_add(step).filter(|next| *next <= stop));
        Ok(Self::These(values.map(Value::Integer).collect()))
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrRange;
        impl<'de> Visitor<'de> for ListOrRange {
            type Value = Choices;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values or \"start:stop:step\"")
            }
            fn visit_str<E: serde::de::Error>(self, words: &str) -> Result<Choices, E> {
                Choices::from_words(words).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Choices, A::Error> {
                let mut values: Vec<Value> = Vec::new();
                while let Some(value) = items.next_element()? {
                    if values.contains(&value) {
                        return Err(A::Error::custom(format!("{value} stands in the list twice")));
                    }
                    values.push(value);
                }
                if values.is_empty() {
                    return Err(A::Error::custom("the list is empty: expected at least one value"));
                }
                Ok(Choices::These(values))
            }
        }
        deserializer.deserialize_any(ListOrRange)
    }
}

impl JsonSchema for Choices {
    fn schema_name() -> Cow<'static, str> {
        "Choices".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<Value>();
        schemars::json_schema!({
            "description": "a list of values, \"start:stop:step\" (stop included), or, in a screen, \"derived\"",
            "anyOf": [
                { "type": "array", "items": value, "minItems": 1, "uniqueItems": true },
                { "type": "string", "pattern": "^(-?[0-9]+:-?[0-9]+(:[0-9]+)?|derived)$" }
            ]
        })
    }
}

/// Reads a whole number that is at least 1.
pub(super) fn at_least_one<'de, D: Deserializer<'de>, N: TryFrom<i64>>(deserializer: D) -> Result<N, D::Error> {
    whole(deserializer, 1)
}

/// Reads a whole number that is at least 1, where one is given.
pub(super) fn maybe_at_least_one<'de, D: Deserializer<'de>, N: TryFrom<i64>>(
    deserializer: D,
) -> Result<Option<N>, D::Error> {
    at_least_one(deserializer).map(Some)
}

/// Reads a whole number that is at least 0.
pub(super) fn at_least_zero<'de, D: Deserializer<'de>, N: TryFrom<i64>>(deserializer: D) -> Result<N, D::Error> {
    whole(deserializer, 0)
}

fn whole<'de, D: Deserializer<'de>, N: TryFrom<i64>>(deserializer: D, least: i64) -> Result<N, D::Error> {
    let n = i64::deserialize(deserializer)?;
    if n < least {
        return Err(D::Error::custom(format!(
            "expected a whole number of at least {least}, found {n}"
        )));
    }
    N::try_from(n).map_err(|_| D::Error::custom(format!("{n} is too large")))
}
/// A finite number that is not negative.
pub(super) fn not_negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    number(deserializer, "a number that is not negative", |number| number >= 0.0)
}

/// A finite number above zero.
pub(super) fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    number(deserializer, "a number above zero", |number| number > 0.0)
}

fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &str,
    good: impl Fn(f64) -> bool,
) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.is_finite() && good(number) {
        Ok(Some(number))
    } else {
        Err(D::Error::custom(format!("expected {expected}, found {number}")))
    }
}
