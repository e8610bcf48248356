//! Cost tables of the CPU: [`planner::costs`] with the families that it must have, compiled.

use planner::Refusal;
use planner::costs::{Compiled, CostError, CostTable as Families};

use super::kernel::{Kernel, Work};

/// Prices in core cycles. A table has the families of the one that ships, with the same arguments and any terms; those that
/// screening reads by name ([`crate::estimate::Constants`]) must be among them.
#[derive(Debug, Clone)]
pub struct CostTable {
    families: Families,
    /// One for each of [`Kernel::ALL`].
    compiled: Vec<Compiled>,
}

impl PartialEq for CostTable {
    fn eq(&self, other: &Self) -> bool {
        self.families == other.families
    }
}

impl Eq for CostTable {}

/// The table that ships: constants that were fitted on a Zen 3 guest with AVX2, or taken from paired measurements there.
pub fn shipped() -> Result<CostTable, CostError> {
    CostTable::parse(include_str!("zen3-guest.toml"))
}

impl TryFrom<Families> for CostTable {
    type Error = CostError;

    fn try_from(families: Families) -> Result<Self, CostError> {
        families.check()?;
        let kernels = Kernel::ALL.map(|kernel| {
            let arguments = kernel.arguments().iter().map(|(own, _)| *own);
            (kernel.name(), arguments.collect())
        });
        let compiled = families.compile_all(&kernels, "cycles")?;
        Ok(Self { families, compiled })
    }
}

impl CostTable {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        Families::parse(text)?.try_into()
    }

    /// Whether it is the one that ships, which has a price for every phase of every plan.
    #[must_use]
    pub fn is_shipped(&self) -> bool {
        shipped().is_ok_and(|own| own == *self)
    }

    /// The table as data.
    #[must_use]
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// The coefficient of a term, in cycles for each of what it counts.
    pub fn coefficient(&self, kernel: Kernel, term: &str) -> Result<f64, CostError> {
        let family = kernel.name();
        let found = self
            .families
            .family(family)
            .and_then(|family| family.terms.get(term))
            .map(|term| term.coefficient.value());
        found.ok_or_else(|| CostError::Key {
            key: format!("{family}.terms"),
            message: format!("there is no term `{term}`: screening reads its coefficient by this name (0 is one)"),
        })
    }

    /// Cycles of one worker; a number below zero is no price.
    ///
    /// # Errors
    /// Where the table gives none: the rule `price`.
    pub fn cycles(&self, work: &Work) -> Result<f64, Refusal> {
        let name = work.kernel.name();
        let price = self
            .compiled
            .get(work.kernel as usize)
            .and_then(|compiled| compiled.price(&work.arguments))
            .map(planner::costs::Priced::value);
        price.filter(|cycles| *cycles >= 0.0).ok_or_else(|| {
            let found = price.map_or("no number".to_owned(), |cycles| format!("{cycles} cycles"));
            let arguments = work.kernel.arguments().iter().zip(&work.arguments);
            let arguments: Vec<String> = arguments.map(|((name, _), value)| format!("{name} {value}")).collect();
            Refusal::new(
                "price",
                format!(
                    "the cost table has no price of `{name}` with {}: its terms give {found}",
                    arguments.join(", ")
                ),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_prices_what_its_terms_say() {
        let table = shipped().unwrap();
        assert_eq!(table.families().name, "zen3-guest");
        // 0.4 cycles per byte; panels that come from DRAM cost no more in this table.
        let pack = Work::new(Kernel::Pack, [1000.0, 500.0, 300.0]);
        assert_eq!(table.cycles(&pack), Ok(400.0));
        assert_eq!(table.coefficient(Kernel::Pack, "bytes"), Ok(0.4));
        assert_eq!(CostTable::parse(&table.families().text()), Ok(table));
    }

    #[test]
    fn slips_are_named() {
        let text = shipped().unwrap().families().text();
        for (from, to, word) in [
            ("[copy", "[kopy", "no such family"),
            ("\"dram_fill_strided\"", "\"dram_fill_stride\"", "dram_fill_strid"),
            (
                "bytes = { of = \"bytes\", cycles",
                "bytes = { of = \"bytes\", ns",
                "unit",
            ),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            let error = CostTable::parse(&changed).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let none = shipped().unwrap().coefficient(Kernel::Gemm, "kalls").unwrap_err();
        assert!(none.to_string().contains("kalls"), "{none}");
    }

    #[test]
    fn what_has_no_price_has_none() {
        let text = shipped().unwrap().families().text();
        let negative = CostTable::parse(&text.replace("cycles = 0.4 }", "cycles = -0.4 }")).unwrap();
        let refusal = negative.cycles(&Work::new(Kernel::Pack, [10.0, 0.0, 0.0])).unwrap_err();
        assert_eq!(refusal.rule, "price");
        assert!(
            refusal.message.contains("`pack` with bytes 10") && refusal.message.contains("-4"),
            "{refusal}"
        );
        let beyond = negative.cycles(&Work::new(Kernel::Copy, [1e300; 5]));
        assert!(beyond.is_ok_and(|cycles| cycles > 1e18), "a very large price is one");
    }
}
