//! A table in a target's hands: the kernels that the target prices, by number.

use std::marker::PhantomData;

use super::compiled::Compiled;
use super::error::CostError;
use super::table::CostTable;

/// The kernels that a target prices. Each has a family of its name in every table that the target takes.
pub trait Kernels: Copy + 'static {
    /// Unit of all prices.
    const UNIT: &'static str;
    /// All of them, in the order of their numbers.
    const ALL: &'static [Self];

    /// Its place in [`Kernels::ALL`].
    fn number(self) -> usize;

    /// Name of its family, and of its samples.
    fn name(self) -> &'static str;

    /// What its terms may look at: whole numbers, in the order in which the target gives them.
    fn arguments(self) -> Vec<&'static str>;
}

/// A cost table with the families of all kernels `K`, compiled. It may have more families, and any terms over the same
/// arguments.
#[derive(Debug, Clone)]
pub struct PriceList<K> {
    families: CostTable,
    /// One for each of [`Kernels::ALL`].
    compiled: Vec<Compiled>,
    kernels: PhantomData<K>,
}

impl<K> PartialEq for PriceList<K> {
    fn eq(&self, other: &Self) -> bool {
        self.families == other.families
    }
}

impl<K> Eq for PriceList<K> {}

impl<K> From<PriceList<K>> for CostTable {
    fn from(list: PriceList<K>) -> Self {
        list.families
    }
}

impl<K: Kernels> TryFrom<CostTable> for PriceList<K> {
    type Error = CostError;

    fn try_from(families: CostTable) -> Result<Self, CostError> {
        families.check()?;
        let kernels: Vec<_> = K::ALL.iter().map(|own| (own.name(), own.arguments())).collect();
        let compiled = families.compile_all(&kernels, K::UNIT)?;
        Ok(Self {
            families,
            compiled,
            kernels: PhantomData,
        })
    }
}

impl<K: Kernels> PriceList<K> {
    /// Reads a table.
    ///
    /// # Errors
    /// No table, or one that lacks a family, has another unit, or looks at what the target does not give.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        CostTable::parse(text)?.try_into()
    }

    /// The table as data.
    #[must_use]
    pub fn families(&self) -> &CostTable {
        &self.families
    }

    /// The compiled family of a kernel.
    #[must_use]
    pub fn compiled(&self, kernel: K) -> Option<&Compiled> {
        self.compiled.get(kernel.number())
    }

    /// The same list, if no term can be without a value.
    ///
    /// # Errors
    /// The first family with a term that divides by something that is not a plain number.
    pub fn never_failing(self) -> Result<Self, CostError> {
        let failing = K::ALL.iter().zip(&self.compiled).find(|(_, own)| own.may_fail());
        match failing {
            None => Ok(self),
            Some((kernel, _)) => Err(CostError::key(
                format!("{}.terms", kernel.name()),
                "a term divides by something that is not a plain number: expected a price for every call",
            )),
        }
    }

    /// The coefficient of a term that the target reads by name.
    ///
    /// # Errors
    /// The table has no such term.
    pub fn coefficient(&self, kernel: K, term: &str) -> Result<f64, CostError> {
        let family = kernel.name();
        let found = self.families.family(family).and_then(|family| family.terms.get(term));
        found.map(|term| term.coefficient.value()).ok_or_else(|| {
            let message = format!("there is no term `{term}`: screening reads its coefficient by this name (0 is one)");
            CostError::key(format!("{family}.terms"), message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled::Priced;
    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Two {
        Add,
        Copy,
    }

    impl Kernels for Two {
        const UNIT: &'static str = "cycles";
        const ALL: &'static [Self] = &[Self::Add, Self::Copy];

        fn number(self) -> usize {
            self as usize
        }

        fn name(self) -> &'static str {
            match self {
                Self::Add => "add",
                Self::Copy => "copy",
            }
        }

        fn arguments(self) -> Vec<&'static str> {
            vec!["bytes"]
        }
    }

    const TABLE: &str = "name = \"two\"\n\
        [add]\narguments = [\"bytes\"]\n[add.terms]\nlaunch = { of = \"1\", cycles = 7 }\n\
        [copy]\narguments = [\"bytes\"]\n[copy.terms]\nwords = { of = \"ceil_div(bytes, 4)\", cycles = 3 }\n";

    #[test]
    fn kernels_are_priced_by_their_own_family() {
        let list = PriceList::<Two>::parse(TABLE).unwrap();
        let price = |kernel| list.compiled(kernel).and_then(|own| own.price(&[9])).map(Priced::value);
        assert_eq!((price(Two::Add), price(Two::Copy)), (Some(7.0), Some(9.0)));
        assert_eq!(list.coefficient(Two::Copy, "words"), Ok(3.0));
        let none = list.coefficient(Two::Copy, "word").unwrap_err().to_string();
        assert!(none.contains("`copy.terms`") && none.contains("`word`"), "{none}");
        assert_eq!(PriceList::<Two>::parse(&list.families().text()), Ok(list.clone()));
        assert!(list.never_failing().is_ok());
    }

    #[test]
    fn what_a_target_needs_must_be_there() {
        for (from, to, word) in [
            ("[copy", "[kopy", "lacks this family: it has `"),
            ("cycles = 3", "ns = 3", "expected `cycles`"),
            ("ceil_div(bytes", "ceil_div(words", "words"),
        ] {
            let error = PriceList::<Two>::parse(&TABLE.replace(from, to))
                .unwrap_err()
                .to_string();
            assert!(error.contains(word), "{error}");
        }
        // A term without a value for some call is a table all the same; whether it may stand is the target's own question.
        let dividing = PriceList::<Two>::parse(&TABLE.replace("(bytes, 4)", "(16, bytes)")).unwrap();
        let error = dividing.never_failing().unwrap_err().to_string();
        assert!(
            error.contains("`copy.terms`") && error.contains("plain number"),
            "{error}"
        );
    }
}
