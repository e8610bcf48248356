//! What profiles say of kernels: the one form that every target's profile can be read as.

use std::collections::BTreeMap;

use planner::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What counts time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// What it is: `tile cycles`, `tsc`, `wall`.
    pub name: String,
    /// Unit of every value: `cycles`, `ns`.
    pub unit: String,
    /// Ticks per second, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hz: Option<f64>,
}

/// One sample of a profile: one call of a kernel, or several that the profiler could not tell apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelSample {
    /// The kernel: the family that prices it has the same name, or names it.
    pub kernel: String,
    /// Its scalar arguments by name; `null` or absent where the profile does not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, Value>>,
    /// Extents without padding, where they are told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logical: BTreeMap<String, u64>,
    /// Extents that the kernel really runs over, padding included, where they are told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub physical: BTreeMap<String, u64>,
    /// Value of all calls of this sample together, in the clock's unit; positive and finite.
    pub value: f64,
    /// Consecutive calls that are merged in it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub calls: u64,
    /// Whether metadata certifies that all of its calls have the same symbol and the same scalar arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub certified: bool,
    /// How many samples of the profile are exactly like this one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u64,
    /// Whether something disturbed the machine meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_one(n: &u64) -> bool {
    *n == 1
}

impl KernelSample {
    /// One undisturbed call with these whole arguments.
    #[must_use]
    pub fn call<'a>(kernel: &str, arguments: impl IntoIterator<Item = (&'a str, u64)>, value: f64) -> Self {
        let arguments = arguments
            .into_iter()
            .map(|(name, n)| (name.to_owned(), Value::Integer(i64::try_from(n).unwrap_or(i64::MAX))));
        Self {
            kernel: kernel.to_owned(),
            arguments: Some(arguments.collect()),
            logical: BTreeMap::new(),
            physical: BTreeMap::new(),
            value,
            calls: 1,
            certified: false,
            times: 1,
            disturbed: false,
        }
    }
}

/// All samples of one profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelProfile {
    /// What counted.
    pub clock: Clock,
    /// The samples.
    pub samples: Vec<KernelSample>,
}
