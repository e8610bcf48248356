//! Cost tables of the CPU: prices in core cycles.

use planner::Refusal;
use planner::costs::{CostError, Kernels, PriceList, Priced};

use super::kernel::{Kernel, Work};
use crate::isa::Isa;

/// Prices in core cycles. A table has the families of those that ship, with the same arguments and any terms; those that
/// screening reads by name ([`crate::estimate::Constants`]) must be among them.
pub type CostTable = PriceList<Kernel>;

/// Tables that ship, with the instruction set that each was fitted for.
const SHIPPED: &[(Isa, &str)] = &[
    (Isa::Avx2, include_str!("zen3-guest.toml")),
    (Isa::Avx512, include_str!("zen4-guest.toml")),
];

/// The table that ships for kernels of `isa`: the one that was fitted for it, else the first.
pub fn shipped(isa: Isa) -> Result<CostTable, CostError> {
    let own = SHIPPED.iter().find(|(of, _)| *of == isa).or(SHIPPED.first());
    CostTable::parse(own.map_or("", |(_, text)| text))
}

/// Whether it is one that ships: those have a price for every phase of every plan.
#[must_use]
pub fn is_shipped(table: &CostTable) -> bool {
    let mut all = SHIPPED.iter().map(|(_, text)| CostTable::parse(text));
    all.any(|own| own.is_ok_and(|own| own == *table))
}

impl Work {
    /// Cycles of one worker; a number below zero is no price.
    ///
    /// # Errors
    /// Where the table gives none: the rule `price`.
    pub fn cycles(&self, costs: &CostTable) -> Result<f64, Refusal> {
        let name = self.kernel.name();
        let price = costs
            .compiled(self.kernel)
            .and_then(|compiled| compiled.price(&self.arguments))
            .map(Priced::value);
        price.filter(|cycles| *cycles >= 0.0).ok_or_else(|| {
            let found = price.map_or("no number".to_owned(), |cycles| format!("{cycles} cycles"));
            let arguments = self.kernel.meanings().iter().zip(&self.arguments);
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

    fn zen3() -> CostTable {
        shipped(Isa::Avx2).unwrap()
    }

    #[test]
    fn the_shipped_table_prices_what_its_terms_say() {
        let table = zen3();
        assert_eq!(table.families().name, "zen3-guest");
        // 0.4 cycles per byte; panels that come from DRAM cost no more in this table.
        let pack = Work::new(Kernel::Pack, [1000.0, 500.0, 300.0]);
        assert_eq!(pack.cycles(&table), Ok(400.0));
        assert_eq!(table.coefficient(Kernel::Pack, "bytes"), Ok(0.4));
        assert_eq!(CostTable::parse(&table.families().text()), Ok(table.clone()));
        assert!(is_shipped(&table));
    }

    #[test]
    fn every_instruction_set_has_a_table() {
        for isa in Isa::ALL {
            let table = shipped(isa).unwrap();
            assert!(is_shipped(&table), "{isa}");
            assert!(crate::estimate::Constants::of(&table).is_ok(), "{isa}");
        }
    }

    #[test]
    fn slips_are_named() {
        let text = zen3().families().text();
        for (from, to, word) in [
            ("[copy", "[kopy", "lacks this family: it has `"),
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
        let none = zen3().coefficient(Kernel::Gemm, "kalls").unwrap_err();
        assert!(none.to_string().contains("kalls"), "{none}");
    }

    #[test]
    fn what_has_no_price_has_none() {
        let text = zen3().families().text();
        let negative = CostTable::parse(&text.replace("cycles = 0.4 }", "cycles = -0.4 }")).unwrap();
        let refusal = Work::new(Kernel::Pack, [10.0, 0.0, 0.0]).cycles(&negative).unwrap_err();
        assert_eq!(refusal.rule, "price");
        assert!(
            refusal.message.contains("`pack` with bytes 10") && refusal.message.contains("-4"),
            "{refusal}"
        );
        let beyond = Work::new(Kernel::Copy, [1e300; 5]).cycles(&negative);
        assert!(beyond.is_ok_and(|cycles| cycles > 1e18), "a very large price is one");
    }
}
