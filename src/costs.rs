//! Cost tables from files.

use std::path::{Path, PathBuf};

use clap::Args;
use cohort::FrozenCosts;
use coordinator::ExitCode;
use planner::costs::CostTable;
use target_api::{Options, Target};

use crate::failure::Failure;

/// The option of every command that estimates.
#[derive(Args)]
pub(crate) struct CostsFile {
    /// A cost table (TOML) in the place of the definition's prices; what `calibrate` writes.
    #[arg(long = "costs", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

impl CostsFile {
    /// The table, if one was given.
    pub(crate) fn read(&self) -> Result<Option<Costs>, Failure> {
        self.file.as_deref().map(Costs::read).transpose()
    }
}

/// A cost table and the file that it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    /// As it was given.
    pub(crate) file: String,
    /// The table.
    pub(crate) table: CostTable,
}

impl Costs {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs_err::read_to_string(path)
            .map_err(|error| Failure::because(ExitCode::Usage, "the cost table can't be read", error))?;
        let file = path.display().to_string();
        let table = CostTable::parse_file(&file, &text).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self { file, table })
    }

    /// The table of a manifest.
    pub(crate) fn of_frozen(frozen: &FrozenCosts) -> Result<Self, Failure> {
        let table = CostTable::parse(&frozen.table)
            .map_err(|error| Failure::because(ExitCode::Mismatch, "the frozen cost table can't be read", error))?;
        Ok(Self {
            file: frozen.file.clone(),
            table,
        })
    }

    /// The options with this table in force.
    pub(crate) fn in_force(&self, target: &dyn Target, options: &Options) -> Result<Options, Failure> {
        target
            .with_costs(options, &self.table)
            .map_err(|error| Failure::usage(format!("`{}` is no cost table for this: {error}", self.file)))
    }

    /// SHA-256 of its canonical text: equal tables have equal digests, however they are written.
    pub(crate) fn digest(&self) -> String {
        cohort::sha256_hex(self.table.text().as_bytes())
    }
}
