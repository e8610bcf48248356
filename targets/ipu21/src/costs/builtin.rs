//! The tables that ship.

use super::table::CostTable;

const BUILTIN: &[(&str, &str)] = &[
    ("sweep", include_str!("sweep.toml")),
    ("before", include_str!("before.toml")),
    ("after", include_str!("after.toml")),
];

/// Families of kernels that no plan calls: every built-in table has them, so that they can be fitted.
const BESIDE: &str = include_str!("beside.toml");

/// Names of the built-in tables.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The built-in table with this name; none when there is no such table.
#[must_use]
pub fn builtin(name: &str) -> Option<CostTable> {
    let (_, text) = BUILTIN.iter().find(|(n, _)| *n == name)?;
    CostTable::parse(&format!("{text}{BESIDE}")).ok()
}

impl CostTable {
    /// Whether it is one that ships: those have a price for every call of every plan that fits the array.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        builtin(self.name()).is_some_and(|own| own == *self)
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
            assert_eq!(builtin(name).unwrap().name(), name);
            assert!(builtin(name).unwrap().is_builtin());
        }
        assert_eq!(builtin("later"), None);
    }
}
