//! What can go wrong.

use planner::costs::CostError;
use stats::linear::DesignError;

/// Why something can't be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// Two clocks in one database.
    #[error(
        "`{source_name}` counts {found}, the database counts {expected}: all profiles of one database share a clock"
    )]
    Clocks {
        /// Whose profile.
        source_name: String,
        /// Its clock, in words.
        found: String,
        /// The database's clock.
        expected: String,
    },
    /// Two targets in one database.
    #[error("`{found}` and `{expected}` are two targets: a database is of one")]
    Targets {
        /// One.
        found: String,
        /// The other.
        expected: String,
    },
    /// The same source twice.
    #[error("`{path}` is in both databases already: each cohort or file counts once")]
    SourceTwice {
        /// Which.
        path: String,
    },
    /// A database that can't be read.
    #[error("`{path}` is no database of kernel samples: {message}")]
    Database {
        /// As it was given.
        path: String,
        /// Why.
        message: String,
    },
    /// A table of foreign measurements that can't be read.
    #[error("`{path}`: {message}")]
    Import {
        /// As it was given.
        path: String,
        /// What, and what was expected.
        message: String,
    },
    /// A file that is no table.
    #[error(transparent)]
    NoTable(#[from] formats::ImportError),
    /// What is fitted on and what is judged on have something in common.
    #[error("what the fit sees and what it is judged on overlap: {what}")]
    Overlap {
        /// What they have in common.
        what: String,
    },
    /// A family of the table can't be compiled.
    #[error("the cost table can't be used: {0}")]
    Table(#[from] CostError),
    /// Samples and prices in two units.
    #[error(
        "the samples of `{kernel}` are in {found}, the cost table prices family `{family}` in {expected}: a table takes \
         samples in its own unit"
    )]
    Units {
        /// Whose samples.
        kernel: String,
        /// The unit of the database's clock.
        found: String,
        /// Whose prices.
        family: String,
        /// The family's unit.
        expected: String,
    },
    /// No family has a sample.
    #[error("no sample is of a kernel that the table prices: it has {families}, the samples are of {kernels}")]
    Nothing {
        /// Kernels of the table's families.
        families: String,
        /// Kernels of the database.
        kernels: String,
    },
    /// Numbers that are no design: a bug.
    #[error("the samples can't be fitted: {0}")]
    Design(#[from] DesignError),
    /// A statistic that can't be computed.
    #[error("{statistic}: {message}")]
    Statistic {
        /// Which.
        statistic: &'static str,
        /// Why.
        message: String,
    },
}
