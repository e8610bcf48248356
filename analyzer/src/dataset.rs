//! What was measured and predicted, case by case: the input of every statistic.

pub use crate::case_data::{
    Attempt, CaseData, Chosen, ErrorFigures, MOST_SHARE, Outcome, Pair, PhaseFigure, Prediction, RoundTime,
};
use crate::ceiling::Repeated;
pub use crate::objective::Objective;
pub use crate::setup::{Consent, DiffersIn, Imported, MachineClass, Setup, ToolUsed};

/// Unit of an estimate of which only the order means anything.
pub const SCORE: &str = "score";

/// Unit of times from which operations per second follow.
pub(crate) const NANOSECONDS: &str = "ns";

/// One workload's share of a cohort.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadData {
    /// Its name.
    pub name: String,
    /// Its operations with their extents, in words.
    pub extents: String,
    /// Floating-point operations of all matrix products.
    pub flops: u128,
    /// Those of them that no plan can leave out: none that a causal mask hides.
    pub least_flops: u128,
    /// How much it counts where one plan is wanted for all workloads; 1 unless the definition says otherwise.
    pub weight: f64,
    /// Name of its control; where it has none, of the case that ratios are relative to.
    pub control: String,
    /// Whether it has a control.
    pub has_control: bool,
    /// Whether case and control were measured side by side. Otherwise every ratio is a value over the median of the
    /// control's own.
    pub paired: bool,
    /// Whether values vary: some case, or the control beside the cases, has two values that differ, or nobody has looked
    /// (every case was measured once).
    pub varies: bool,
    /// What its cases were measured by again and again: where every case was measured in one round, with repeats that are no
    /// pairs, as files of other tuners have them, each repeat is taken as a round of its own.
    pub repeated: Repeated,
    /// Its cases, in the order of the cohort: the manifest's first, then those of each addition.
    pub cases: Vec<CaseData>,
    /// Screened geometries: operation, orientation, how many.
    pub screened: Vec<(String, String, u128)>,
    /// Legal plans of the whole space, in decimal, where they were counted.
    pub legal_plans: Option<String>,
    /// Plans that were asked for and that the target refuses: name and reason.
    pub refused: Vec<(String, String)>,
}

impl WorkloadData {
    /// Operations per call from which rates in GFLOP/s follow; `None` where values are no time in ns, or there are no
    /// matrix products.
    #[must_use]
    pub fn rated_flops(&self, unit: &str) -> Option<f64> {
        in_nanoseconds(self.flops, unit)
    }

    /// Those of them that no plan can leave out: shares of the peak count nothing else.
    #[must_use]
    pub fn least_flops(&self, unit: &str) -> Option<f64> {
        in_nanoseconds(self.least_flops, unit)
    }

    /// Marks the pairs whose probe can't be true.
    pub(crate) fn mark_disturbed(&mut self, unit: &str) {
        let Some(flops) = self.least_flops(unit) else {
            return;
        };
        let paired = self.paired;
        for pair in self.cases.iter_mut().flat_map(|case| &mut case.pairs) {
            pair.disturbed = pair.contradicts_probe(flops, paired);
        }
    }

    /// Median of all undisturbed peak probes beside counted pairs, in GFLOP/s.
    #[must_use]
    pub fn median_peak(&self) -> Option<f64> {
        let probes: Vec<f64> = self
            .cases
            .iter()
            .flat_map(CaseData::undisturbed)
            .filter_map(|pair| pair.peak_gflops)
            .collect();
        stats::order::median(&probes)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "far below 2^53, or rounded in its last digits"
)]
fn in_nanoseconds(flops: u128, unit: &str) -> Option<f64> {
    Some(flops as f64).filter(|flops| unit == NANOSECONDS && *flops > 0.0)
}

/// A cohort as the analyzer sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// How it was frozen.
    pub setup: Setup,
    /// Consents to differences of the machine, in the order of writers.
    pub consents: Vec<Consent>,
    /// Its workloads, in the definition's order.
    pub workloads: Vec<WorkloadData>,
}
