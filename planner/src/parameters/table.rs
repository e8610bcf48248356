//! The table `[parameters]` as it is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::Value;

/// The key that is no parameter.
const CONSTRAINTS: &str = "constraints";

/// Parameters in the order of the file, and constraints; nothing is checked yet, see [`super::Parameters::new`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParameterTable {
    /// Names with their choices.
    pub parameters: Vec<(String, Choices)>,
    /// Expressions that must all hold.
    pub constraints: Vec<String>,
}

/// The choices of one parameter, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Choices {
    /// An array.
    List(Vec<Value>),
    /// A text, which is to be a range.
    Range(String),
    /// One value alone, which is a mistake.
    Single(Value),
}

impl Serialize for ParameterTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let constrained = usize::from(!self.constraints.is_empty());
        let mut map = serializer.serialize_map(Some(self.parameters.len() + constrained))?;
        for (name, choices) in &self.parameters {
            map.serialize_entry(name, choices)?;
        }
        if constrained > 0 {
            map.serialize_entry(CONSTRAINTS, &self.constraints)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ParameterTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = ParameterTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of parameters")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ParameterTable, A::Error> {
                let mut table = ParameterTable::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == CONSTRAINTS {
                        table.constraints = map.next_value()?;
                    } else {
                        table.parameters.push((key, map.next_value()?));
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = Choices;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of booleans, numbers or texts, or a range `start:stop:step`")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Choices, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = items.next_element()? {
                    values.push(value);
                }
                Ok(Choices::List(values))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Choices, E> {
                Ok(Choices::Range(text.to_owned()))
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Choices, E> {
                Ok(Choices::Single(Value::Boolean(value)))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Choices, E> {
                Ok(Choices::Single(Value::Integer(value)))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Choices, E> {
                integer(value).map(Choices::Single)
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Choices, E> {
                Ok(Choices::Single(Value::Float(value)))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

fn integer<E: Error>(value: u64) -> Result<Value, E> {
    i64::try_from(value)
        .map(Value::Integer)
        .map_err(|_| E::custom(format!("{value} doesn't fit into 64 bits with sign")))
}

impl JsonSchema for ParameterTable {
    fn schema_name() -> Cow<'static, str> {
        "ParameterTable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Free parameters: arrays of values or ranges `start:stop:step` (stop included)",
            "properties": {
                "constraints": {
                    "description": "Expressions over the parameters that must all hold",
                    "type": "array",
                    "items": { "type": "string" }
                }
            },
            "additionalProperties": {
                "anyOf": [
                    { "type": "array", "minItems": 1, "items": { "type": ["boolean", "number", "string"] } },
                    { "type": "string", "pattern": "^[^:]+:[^:]+(:[^:]+)?$" }
                ]
            }
        })
    }
}
