//! What can stop an analysis.

use std::path::PathBuf;

use crate::analysis::Analysis;

/// Why there is no analysis, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// The cohort can't be read.
    #[error(transparent)]
    Cohort(Box<cohort::CohortError>),
    /// Nothing was measured, so nothing can be ranked. The overview was written all the same: it lists every case with
    /// its outcome and reason.
    #[error("no case of the cohort has a correct result that can be compared; the overview lies in `{}`", report.display())]
    NoCorrectCase {
        /// The folder with the overview.
        report: PathBuf,
        /// What is known: cases, outcomes, reasons; as [`crate::analyze()`] gives it.
        analyses: Vec<Analysis>,
    },
    /// Another process writes into the report's folder.
    #[error("report folder `{}` is in use by another `analyze`", report.display())]
    InUse {
        /// The folder.
        report: PathBuf,
    },
    /// A case names a workload that the manifest does not have.
    #[error("case `{case}` belongs to workload `{workload}`, which the manifest does not have")]
    UnknownWorkload {
        /// The case.
        case: String,
        /// What it names.
        workload: String,
    },
    /// The control of a workload is not among its cases.
    #[error("workload `{workload}`: its control `{control}` is not among the cases")]
    NoControl {
        /// The workload.
        workload: String,
        /// Name of its control.
        control: String,
    },
    /// A measured value or prediction is not a number that can be used.
    #[error("case `{case}`: {what} is {value}, expected {expected}")]
    BadNumber {
        /// The case.
        case: String,
        /// Which number.
        what: String,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A case has no sample of the control although others of its workload have.
    #[error("case `{case}`, round {}: {cases} counted calls of the case but {controls} of the control", .round + 1)]
    Unpaired {
        /// The case.
        case: String,
        /// The round.
        round: u32,
        /// Calls of the case.
        cases: usize,
        /// Calls of the control.
        controls: usize,
    },
    /// Probes can't be matched with pairs.
    #[error("case `{case}`, round {}: {probes} peak probes for {pairs} pairs, of which {counted} count", .round + 1)]
    Probes {
        /// The case.
        case: String,
        /// The round.
        round: u32,
        /// How many probes.
        probes: usize,
        /// How many pairs, warm-up included.
        pairs: usize,
        /// How many pairs without warm-up.
        counted: usize,
    },
    /// Two estimates of one case have the same name.
    #[error("case `{case}` has two estimates called `{name}`")]
    DuplicateEstimate {
        /// The case.
        case: String,
        /// The name.
        name: String,
    },
    /// An estimate has another unit than the same estimate of the case before.
    #[error("estimate `{name}` is in `{unit}` for case `{case}`, in `{expected}` for others")]
    MixedUnits {
        /// The estimate.
        name: String,
        /// The case that differs.
        case: String,
        /// Its unit.
        unit: String,
        /// The unit of the others.
        expected: String,
    },
    /// A count of screened geometries can't be read.
    #[error("the manifest's screened count `{key}` is `{value}`, expected a decimal number of at most 128 bits")]
    BadCount {
        /// Its key.
        key: String,
        /// What stands there.
        value: String,
    },
    /// A statistic refused samples that were checked before: a bug.
    #[error("workload `{workload}`: {statistic} can't be computed")]
    Statistic {
        /// The workload.
        workload: String,
        /// Which figure.
        statistic: String,
        /// What it says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What calibrations left in a report's folder can't be read.
    #[error("`{}` is no list of calibrations: remove it, or calibrate again", path.display())]
    Calibrations {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A file can't be written.
    #[error("the report can't be written")]
    Write(#[from] std::io::Error),
    /// A table can't be written as CSV.
    #[error("`summary.csv` can't be written")]
    Csv(#[from] csv::Error),
    /// Statistics can't be written as JSON.
    #[error("`statistics.json` can't be written")]
    Json(#[from] serde_json::Error),
    /// A plot can't be drawn.
    #[error("`{file}` can't be drawn: {message}")]
    Plot {
        /// The plot.
        file: String,
        /// What the drawing library says.
        message: String,
    },
}

impl From<cohort::CohortError> for AnalyzeError {
    fn from(error: cohort::CohortError) -> Self {
        Self::Cohort(Box::new(error))
    }
}
