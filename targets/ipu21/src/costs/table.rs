//! Cost tables.

use serde::{Deserialize, Serialize};

/// Prices in cycles. Built-in tables are `sweep`, `before` and `after`; a table of one's own has the same keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostTable {
    /// Its name.
    pub name: String,
    /// What it describes.
    pub about: String,
    /// Sections in which other prices stand in for prices that are not public.
    pub unpublished: Vec<String>,
    /// Exchange phases, before they are scheduled.
    pub exchange: PhasePrice,
    /// Local copies as a planner prices them.
    pub copy: Linear,
    /// Clearing memory.
    pub fill: Linear,
    /// Products with native output.
    pub gemm: Gemm,
    /// Sums of partials.
    pub reduction: Reduction,
    /// The tanh form of GELU.
    pub gelu: Block,
    /// What the unit model charges beside kernels.
    pub unit: Unit,
}

/// The price of an exchange phase that is not scheduled yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasePrice {
    /// Bytes that one tile sends, and independently receives, per cycle.
    pub bytes_per_cycle: usize,
    /// Cycles of one phase's synchronisation.
    pub phase: usize,
    /// Cycles that one fragment takes at least.
    pub fragment: usize,
    /// Bytes of a fragment where its size is not known.
    pub fragment_bytes: usize,
}

/// `call + ceil(bytes / bytes_per_cycle)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Cycles of one call.
    pub call: usize,
    /// Bytes per cycle.
    pub bytes_per_cycle: usize,
}

/// `call + panels * (row * rows + panel)` over panels of 16 x 16 coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gemm {
    /// Cycles of one call.
    pub call: usize,
    /// Cycles of one row in one panel.
    pub row: usize,
    /// Cycles of one panel: its coefficients, and the synchronisation at its end.
    pub panel: usize,
}

/// `call + group * ceil(n / elements) * (start + partial * (partials - 1))`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reduction {
    /// Cycles of one call.
    pub call: usize,
    /// Elements that the six workers sum in one turn.
    pub elements: usize,
    /// Cycles of one issue slot of a worker.
    pub group: usize,
    /// Issue slots of one turn, whatever the number of partials.
    pub start: usize,
    /// Issue slots of each further partial.
    pub partial: usize,
}

/// `call + block * ceil(n / elements)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Cycles of one call.
    pub call: usize,
    /// Elements of one block.
    pub elements: usize,
    /// Cycles of one block.
    pub block: usize,
}

/// What the unit model charges beside kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Cycles of a phase beyond its scheduled horizon.
    pub barrier: usize,
    /// Cycles of one copy call beyond its bytes, profiling included.
    pub copy_call: usize,
}

/// A cost table that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// Not TOML, or not these keys.
    #[error("not a cost table: {0}")]
    Form(String),
    /// A divisor is zero.
    #[error("`{0}` is 0: expected at least 1")]
    Zero(&'static str),
}

const BUILTIN: &[(&str, &str)] = &[
    ("sweep", include_str!("sweep.toml")),
    ("before", include_str!("before.toml")),
    ("after", include_str!("after.toml")),
];

/// Names of the built-in tables.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The built-in table with this name; none when there is no such table.
#[must_use]
pub fn builtin(name: &str) -> Option<CostTable> {
    let (_, text) = BUILTIN.iter().find(|(n, _)| *n == name)?;
    CostTable::parse(text).ok()
}

impl CostTable {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        let table: Self = toml::from_str(text).map_err(|error| CostError::Form(error.to_string()))?;
        let divisors = [
            ("exchange.bytes_per_cycle", table.exchange.bytes_per_cycle),
            ("exchange.fragment_bytes", table.exchange.fragment_bytes),
            ("copy.bytes_per_cycle", table.copy.bytes_per_cycle),
            ("fill.bytes_per_cycle", table.fill.bytes_per_cycle),
            ("reduction.elements", table.reduction.elements),
            ("gelu.elements", table.gelu.elements),
        ];
        match divisors.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(CostError::Zero(key)),
            None => Ok(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_table_can_be_read() {
        let names: Vec<&str> = builtin_names().collect();
        assert_eq!(names, ["sweep", "before", "after"]);
        for name in names {
            assert_eq!(builtin(name).unwrap().name, name);
        }
        assert_eq!(builtin("later"), None);
    }

    #[test]
    fn slips_are_named() {
        let after = BUILTIN[2].1;
        let error = CostTable::parse(&after.replace("elements = 96", "elements = 0")).unwrap_err();
        assert_eq!(error, CostError::Zero("gelu.elements"));
        let error = CostTable::parse(&after.replace("elements = 96", "size = 96")).unwrap_err();
        assert!(error.to_string().contains("size"), "{error}");
    }
}
