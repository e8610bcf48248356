//! `[explore]`: which of the enumerated plans become cases.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::located::{Located, Named};
use super::values::{Choices, at_least_one, at_least_zero};
use crate::value::Value;

/// `[explore]`: which of the enumerated plans become cases.
///
/// `*.name` stands for the attribute `name` of every operation that has it; a name without a dot belongs to the whole
/// plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explore {
    /// The case that strata start from, and that supplies every attribute that the screen does not vary. Default: the
    /// control.
    pub base: Option<Located<String>>,
    /// Which attributes screening varies, and over which values. A target may offer to compute an attribute from the
    /// others: "derived".
    #[serde(default)]
    pub screen: Named<Choices>,
    /// The best screened geometries that have a given value.
    #[serde(default)]
    pub strata: Vec<Located<Stratum>>,
    /// Changes of a case, one at a time: the case's name (every other legal value of every attribute with a list of
    /// values), or a table.
    #[serde(default)]
    pub vary: Vec<Located<Vary>>,
    /// The best screened geometry of each operation with a given value, together.
    #[serde(default)]
    pub joint: Vec<Located<Joint>>,
    /// Every legal plan of the screened space: `true` (at most 100,000) or a table with `limit`. Default false.
    #[serde(default)]
    pub exhaustive: Option<Located<Exhaustive>>,
    /// Plans drawn from the screened space.
    #[serde(default)]
    pub random: Option<Located<Random>>,
    /// What is added once all of these are measured.
    #[serde(default)]
    pub adaptive: Option<Adaptive>,
}

/// One stratum: for each operation and each value the geometries of the screened set with the smallest proxy that have
/// exactly this value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stratum {
    /// `up.inner`, or `*.inner` for every operation. May be an attribute that the target derives.
    pub attribute: Located<String>,
    /// The values, in order.
    pub values: Located<Choices>,
    /// What else must hold: attributes of the same operation, named without it.
    #[serde(default, rename = "where")]
    pub conditions: Named<Value>,
    /// How many geometries per value. Default 1.
    #[serde(default = "one", deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub count: u32,
}

/// The best screened geometry of each operation that has a value, together in one plan: `joint-<attribute>-<value>`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// `*.rows`.
    pub attribute: Located<String>,
    /// The values, in order.
    pub values: Located<Choices>,
    /// What else must hold: attributes of the same operation, named without it.
    #[serde(default, rename = "where")]
    pub conditions: Named<Value>,
}

/// One kind of change of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vary {
    /// Every other legal value of every attribute with a list of values, of the case with this name.
    Everything(String),
    /// Chosen values of one attribute, one at a time.
    Attribute {
        /// The case to start from; the base where it is not given.
        from: Option<Located<String>>,
        /// `up.unroll`, `*.unroll` (each operation by itself), or an attribute of the whole plan.
        attribute: Located<String>,
        /// The values, in order.
        values: Located<Choices>,
    },
    /// Several attributes at once.
    Set {
        /// The case to start from; the base where it is not given.
        from: Option<Located<String>>,
        /// What changes. If all names begin with `*.` and there is no `name`, each operation is changed by itself.
        set: Located<Named<Value>>,
        /// Name of the case. Default: an index in the operation's list, when one operation is changed.
        name: Option<Located<String>>,
    },
}

/// The table form of [`Vary`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Change")]
struct Table {
    /// The case to start from. Default: the base.
    from: Option<Located<String>>,
    /// One attribute, with `values`.
    attribute: Option<Located<String>>,
    /// Values of the attribute, one at a time.
    values: Option<Located<Choices>>,
    /// Several attributes that change together.
    set: Option<Located<Named<Value>>>,
    /// Name of the case, with `set`.
    name: Option<Located<String>>,
}

impl<'de> Deserialize<'de> for Vary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = Vary;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a case, or a table with `attribute` and `values`, or one with `set`")
            }
            fn visit_str<E>(self, name: &str) -> Result<Vary, E> {
                Ok(Vary::Everything(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vary, A::Error> {
                match Table::deserialize(MapAccessDeserializer::new(map))? {
                    Table {
                        from,
                        attribute: Some(attribute),
                        values: Some(values),
                        set: None,
                        name: None,
                    } => Ok(Vary::Attribute {
                        from,
                        attribute,
                        values,
                    }),
                    Table {
                        from,
                        attribute: None,
                        values: None,
                        set: Some(set),
                        name,
                    } => Ok(Vary::Set { from, set, name }),
                    _ => Err(serde::de::Error::custom(
                        "expected either `attribute` and `values`, or `set` (with `name` if wanted)",
                    )),
                }
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for Vary {
    fn schema_name() -> Cow<'static, str> {
        "Vary".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Table>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

/// Every legal plan of the screened space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhaustive {
    /// Whether it is wanted at all.
    pub wanted: bool,
    /// More plans than this are an error.
    pub limit: u64,
}

impl Exhaustive {
    /// The limit of `exhaustive = true`.
    pub const LIMIT: u64 = 100_000;
}

/// The table form of [`Exhaustive`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExhaustiveLimit")]
struct Limit {
    /// More plans than this are an error.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    limit: u64,
}

impl<'de> Deserialize<'de> for Exhaustive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoolOrLimit;
        impl<'de> Visitor<'de> for BoolOrLimit {
            type Value = Exhaustive;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or `{ limit = 1000 }`")
            }
            fn visit_bool<E>(self, wanted: bool) -> Result<Exhaustive, E> {
                Ok(Exhaustive {
                    wanted,
                    limit: Exhaustive::LIMIT,
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Exhaustive, A::Error> {
                let Limit { limit } = Limit::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Exhaustive { wanted: true, limit })
            }
        }
        deserializer.deserialize_any(BoolOrLimit)
    }
}

impl JsonSchema for Exhaustive {
    fn schema_name() -> Cow<'static, str> {
        "Exhaustive".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = generator.subschema_for::<Limit>();
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, limit] })
    }
}

/// Distinct plans drawn uniformly from the screened space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// How many; all of them when the space is smaller.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The same seed draws the same plans on every machine; a larger count keeps those of a smaller one. Default 1.
    #[serde(default = "one_seed", deserialize_with = "at_least_zero")]
    pub seed: u64,
}

/// What is added once every initial case is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// Cross this many of the fastest choices of each operation.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub cross: u32,
}

const fn one() -> u32 {
    1
}

const fn one_seed() -> u64 {
    1
}
