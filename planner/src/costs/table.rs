//! A whole table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compiled::Compiled;
use super::error::CostError;
use super::family::Family;
use crate::expression::Kind;

/// What kernels cost on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostTable {
    /// Its name.
    pub name: String,
    /// What it describes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Families in which other prices stand in for prices that are not public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpublished: Vec<String>,
    /// Where it was fitted, and on what; none for one that a person wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Families by name.
    #[serde(flatten)]
    pub families: BTreeMap<String, Family>,
}

/// Where a fitted table comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// When it was fitted, RFC 3339.
    pub fitted_at: String,
    /// By which program and version.
    pub by: String,
    /// The table whose terms it took over: name and SHA-256 of its canonical text.
    pub old: SourceOf,
    /// What it was fitted on.
    pub fit: Vec<SourceOf>,
    /// What it was judged on: empty if it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holdout: Vec<SourceOf>,
    /// The machine's class that the samples come from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// Figures of the fit and of the judgement, in words: name -> value with unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, String>,
}

/// A file or folder, and its digest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceOf {
    /// As it was given.
    pub path: String,
    /// SHA-256: of a cohort its manifest's, of a file its content's.
    pub sha256: String,
}

impl CostTable {
    /// Checks that every family can be compiled.
    pub fn check(&self) -> Result<(), CostError> {
        for (name, family) in &self.families {
            family.check(name)?;
        }
        if self.families.is_empty() {
            return Err(CostError::Form("it has no family: expected at least one".to_owned()));
        }
        Ok(())
    }

    /// The families of the kernels that a target prices, compiled for whole arguments in the target's order. Each must be
    /// there, and its prices in `unit`.
    pub fn compile_all(&self, kernels: &[(&str, Vec<&str>)], unit: &str) -> Result<Vec<Compiled>, CostError> {
        let wrong = |key: String, message: String| CostError::Key { key, message };
        let compile = |(name, arguments): &(&str, Vec<&str>)| {
            let family = self.family(name).ok_or_else(|| {
                let listed = |names: Vec<String>| names.join("`, `");
                let expected = listed(kernels.iter().map(|(name, _)| (*name).to_owned()).collect());
                let has = listed(self.families.keys().cloned().collect());
                let message = format!("the table lacks this family: it has `{has}`, expected `{expected}`");
                wrong((*name).to_owned(), message)
            })?;
            if family.unit() != unit {
                let message = format!("its unit is `{}`: expected `{unit}`", family.unit());
                return Err(wrong(format!("{name}.terms"), message));
            }
            let arguments: Vec<(&str, Kind)> = arguments.iter().map(|own| (*own, Kind::Integer)).collect();
            family.compile_with(name, &arguments)
        };
        kernels.iter().map(compile).collect()
    }

    /// The family of this name.
    #[must_use]
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.get(name)
    }
}
