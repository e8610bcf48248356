//! Cost tables of the tile array: [`planner::costs`] with the families that it must have, compiled.

use planner::costs::{Compiled, CostError, CostTable as Families, Kernels, Number, PriceList};
use serde::{Deserialize, Serialize};

use super::price::Kernel;

/// Prices in cycles. Built-in tables are `sweep`, `before` and `after`; a table of one's own has the same families, with
/// any terms over the same arguments, and may have more. Every call has a price: no term may divide by an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Families", into = "Families")]
pub struct CostTable(PriceList<Kernel>);

impl From<CostTable> for Families {
    fn from(table: CostTable) -> Self {
        table.0.into()
    }
}

impl TryFrom<Families> for CostTable {
    type Error = CostError;

    fn try_from(families: Families) -> Result<Self, CostError> {
        PriceList::try_from(families)?.never_failing().map(Self)
    }
}

impl CostTable {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        Families::parse(text)?.try_into()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.families().name
    }

    /// What it describes.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.families().about
    }

    /// The table as data.
    #[must_use]
    pub fn families(&self) -> &Families {
        self.0.families()
    }

    /// The same prices, with fragments for nothing: what lanes and kernels take at least.
    #[must_use]
    pub fn without_fragments(&self) -> Self {
        let mut families = self.families().clone();
        if let (Some(family), Some(nothing)) = (families.families.get_mut(Kernel::Fragment.name()), Number::new(0.0)) {
            for term in family.terms.values_mut() {
                term.coefficient = nothing;
            }
        }
        // Coefficients do not decide whether a table can be used.
        Self::try_from(families).unwrap_or_else(|_| self.clone())
    }

    pub(super) fn compiled(&self, kernel: Kernel) -> Option<&Compiled> {
        self.0.compiled(kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    #[test]
    fn slips_are_named() {
        let after = builtin("after").unwrap().families().text();
        for (from, to, word) in [
            (
                "ceil_div(elements, 96)",
                "ceil_div(elements, 0 * elements)",
                "plain number",
            ),
            ("ceil_div(elements, 96)", "ceil_div(elments, 96)", "elments"),
            ("[barrier", "[barier", "lacks this family: it has `"),
            (
                "{ of = \"ceil_div(bytes, 4)\", cycles",
                "{ of = \"bytes\", ns",
                "expected `cycles`",
            ),
        ] {
            let text = after.replace(from, to);
            assert_ne!(text, after, "{from}");
            let error = CostTable::parse(&text).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn fragments_can_be_left_out() {
        let after = builtin("after").unwrap();
        let without = after.without_fragments();
        assert_eq!((after.fragments(3), without.fragments(3)), (Ok(480), Ok(0)));
        assert_eq!(after.gemm(16, 16, 16), without.gemm(16, 16, 16));
    }
}
