//! Named, typed attributes: all that is known of a plan outside its target's own crate.

use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value of an attribute.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Float(f64),
    /// A word.
    Text(String),
}

impl Value {
    /// A word as a value.
    #[must_use]
    pub fn text(word: &str) -> Self {
        Self::Text(word.to_owned())
    }

    /// The whole number, if it is one.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(n) = self { Some(*n) } else { None }
    }

    /// The word, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(word) = self { Some(word) } else { None }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        if let Self::Boolean(b) = self { Some(*b) } else { None }
    }

    /// The number as a float, if it is a whole or a finite number.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Integer(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            Self::Boolean(_) | Self::Text(_) => None,
        }
    }

    /// What kind of value it is, as messages name it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Text(_) => "text",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Boolean(_) => 0,
            Self::Integer(_) => 1,
            Self::Float(_) => 2,
            Self::Text(_) => 3,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(b) => write!(f, "{b}"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(word) => f.write_str(word),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::text(value)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl<'de> Visitor<'de> for Scalar {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, a finite number or a word")
            }
            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Boolean(b))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
                Ok(Value::Integer(n))
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Value, E> {
                i64::try_from(n)
                    .map(Value::Integer)
                    .map_err(|_| E::custom(format!("{n} is too large for a whole number of 64 bits with a sign")))
            }
            fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<Value, E> {
                if x.is_finite() {
                    Ok(Value::Float(x))
                } else {
                    Err(E::custom(format!("expected a finite number, found {x}")))
                }
            }
            fn visit_str<E>(self, word: &str) -> Result<Value, E> {
                Ok(Value::text(word))
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
                Err(A::Error::custom(
                    "expected a boolean, a number or a word, found a table: attribute names with a dot stand in quotes, \
                     as in `\"up.height\" = 6`",
                ))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

/// An ordered map of names to values; the order is the one in which the target lists them, and it is kept in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes(Vec<(String, Value)>);

/// A value in one word: texts that are none stand in quotes.
fn word(value: &Value) -> String {
    match value {
        Value::Text(text) => {
            let plain = |c: char| c.is_alphanumeric() || "-_./+:,".contains(c);
            if !text.is_empty() && text.chars().all(plain) {
                text.clone()
            } else {
                format!("{text:?}")
            }
        }
        other => other.to_string(),
    }
}

impl Attributes {
    /// No attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Sets `name`, in place when it is there, else at the end.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(n, _)| n == name) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// All names with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// `tile=8 unroll=2`, in order; of one operation (`gemm.tile=8`) or of all. Texts that are no single word stand in quotes.
    #[must_use]
    pub fn words(&self, operation: Option<&str>) -> String {
        let own = self.iter().filter(|(name, _)| {
            operation.is_none_or(|operation| name.split_once('.').is_some_and(|(theirs, _)| theirs == operation))
        });
        let words: Vec<String> = own.map(|(name, value)| format!("{name}={}", word(value))).collect();
        words.join(" ")
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Value)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Attributes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of attribute names to booleans, numbers or words")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut attributes = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    attributes.push(entry);
                }
                Ok(Attributes(attributes))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}
