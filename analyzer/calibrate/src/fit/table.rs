//! A whole table.

use std::num::NonZeroU32;

use planner::costs::{CostTable, Number};
use serde::Serialize;

use super::family::fit_family;
use super::report::FamilyFit;
use super::rows::rows;
use crate::database::Database;
use crate::error::CalibrateError;

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitOptions {
    /// Resamples of each interval.
    pub resamples: NonZeroU32,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            resamples: NonZeroU32::MIN.saturating_add(999),
            seed: 1,
        }
    }
}

/// A fitted table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableFit {
    /// What became of each family, by name.
    pub families: Vec<FamilyFit>,
    /// Kernels that were measured and that no family prices, with their samples.
    pub unpriced: Vec<(String, u64)>,
    /// The new table: the old one with the coefficients that the samples decided.
    #[serde(skip)]
    pub table: CostTable,
}

/// Whether every family that the database has samples of has its prices in the unit of the samples.
pub(crate) fn same_units(database: &Database, table: &CostTable) -> Result<(), CalibrateError> {
    let kernels = database.kernels();
    let found = &database.clock.unit;
    for (name, family) in &table.families {
        let kernel = family.kernel(name);
        if kernels.contains(&kernel) && family.unit() != found {
            return Err(CalibrateError::Units {
                kernel: kernel.to_owned(),
                found: found.clone(),
                family: name.clone(),
                expected: family.unit().to_owned(),
            });
        }
    }
    Ok(())
}

/// Fits every family of `old` to the samples of its kernel. Families without samples, and terms that the samples can't
/// decide, keep their coefficients.
pub fn fit(database: &Database, old: &CostTable, options: FitOptions) -> Result<TableFit, CalibrateError> {
    same_units(database, old)?;
    let mut table = old.clone();
    let mut families = Vec::new();
    for (name, family) in &old.families {
        let compiled = family.compile(name)?;
        let rows = rows(database, name, family, &compiled)?;
        let fitted = fit_family(name, family, &compiled, &rows, options.resamples, options.seed)?;
        let own = table.families.get_mut(name);
        for (term, fit) in own
            .into_iter()
            .flat_map(|family| family.terms.values_mut())
            .zip(&fitted.terms)
        {
            if let (true, Some(number)) = (fit.decision.is_decided(), Number::new(fit.new)) {
                term.coefficient = number;
            }
        }
        families.push(fitted);
    }
    let priced = |kernel: &str| old.families.iter().any(|(name, family)| family.kernel(name) == kernel);
    let mut unpriced: Vec<(String, u64)> = Vec::new();
    for kernel in database.kernels().into_iter().filter(|kernel| !priced(kernel)) {
        let own = database.keys.iter().filter(|measured| measured.key.kernel == kernel);
        unpriced.push((kernel.to_owned(), own.map(|measured| measured.samples).sum()));
    }
    if families.iter().all(|family| family.keys == 0) {
        let listed = |mut names: Vec<&str>| {
            names.dedup();
            format!("`{}`", names.join("`, `"))
        };
        return Err(CalibrateError::Nothing {
            families: listed(old.families.iter().map(|(name, family)| family.kernel(name)).collect()),
            kernels: listed(database.kernels()),
        });
    }
    Ok(TableFit {
        families,
        unpriced,
        table,
    })
}
