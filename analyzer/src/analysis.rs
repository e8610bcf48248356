//! What an analysis says: the content of `statistics.json`, from which report, tables and plots are made.
//!
//! Undefined figures are `null`, never a number that stands for "undefined".

use std::collections::BTreeMap;

use planner::{Attributes, Value};
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::across::{Across, OnWorkload, SinglePlan, WeightedSum};
use crate::calibration::OfCohort;
pub use crate::ceiling::Ceiling;
pub use crate::coverage::{Coverage, FailureRow, RefusedRow, ScreenedRow};
use crate::dataset::{Attempt, Chosen, Consent, ErrorFigures, Outcome, PhaseFigure, Setup};
pub use crate::drift::{DisturbedRound, Drift, DriftPoint, DriftTest};
pub use crate::judgement::{AtK, Ends, EstimateRow, Judgement, LineFigure, PhaseJudgement, TieRule, Unestimated};
pub use crate::roofline::{LimitRow, Reached, Roofline};

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// Lower end of its distribution-free interval; `null` when the samples are too few for the level.
    pub lower: Option<f64>,
    /// Upper end; `null` when the samples are too few.
    pub upper: Option<f64>,
    /// How many samples; 0 for the control's ratio to itself, which is 1 by definition and not measured.
    pub samples: usize,
}

impl Figure {
    /// The control's ratio to itself.
    pub const OF_CONTROL: Self = Self {
        median: 1.0,
        lower: None,
        upper: None,
        samples: 0,
    };

    /// Whether it holds by definition: without samples, exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.samples == 0
    }

    /// Half the width of the interval; 0 for what is exact.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        if self.is_exact() {
            return Some(0.0);
        }
        self.lower.zip(self.upper).map(|(lower, upper)| (upper - lower) / 2.0)
    }
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseRow {
    /// Its name.
    pub name: String,
    /// Group in plots and tables.
    pub family: String,
    /// How it came into the cohort.
    pub chosen: Chosen,
    /// Why it was chosen, in words.
    pub because: String,
    /// Canonical text of its plan.
    pub plan: String,
    /// Its plan as attributes, in the target's order.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub attributes: Attributes,
    /// The case whose plan it repeats on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_of: Option<String>,
    /// How it stands.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub reason: Option<String>,
    /// Every attempt; the last one counts.
    pub attempts: Vec<Attempt>,
    /// Rounds that its pairs come from.
    pub rounds: usize,
    /// Its place by ratio among the measured cases of its workload, confirmations left out, from 1; of equal ones the control
    /// first, then in the cohort's order.
    pub rank: Option<usize>,
    /// Counted pairs of case and control.
    pub pairs: usize,
    /// Pairs whose probe was disturbed (a call did more than 1.05 of what the probe says the machine could give): they
    /// count neither in `share_of_peak` nor in `normalised_value`.
    pub disturbed_probes: usize,
    /// Pairs of calls that count in nothing, since one of them is no positive number: why, how many.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, usize>,
    /// Rounds in which the control beside it took another time than usual; see [`Drift::disturbed`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disturbed_rounds: Vec<u32>,
    /// Median paired ratio to the control; below 1 the case is faster. Measured. The control's own is 1 by definition,
    /// without interval and samples; what it measured beside itself is the workload's `noise`.
    pub ratio: Option<Figure>,
    /// Median value of the case, in the objective's unit. Measured.
    pub value: Option<f64>,
    /// Median of `value x peak probe of the same pair / median peak probe of the workload`, in the objective's unit:
    /// what the case would have taken had the machine always given its median. Equal to `value` where nothing was
    /// probed, `null` where every probe was disturbed. Derived.
    pub normalised_value: Option<f64>,
    /// `flops / value`, in GFLOP/s; only where the objective is a time in ns. Derived.
    pub gflops: Option<f64>,
    /// Median of `flops / value / peak probe of the same pair`, without operations that a causal mask hides; only where the
    /// objective is a time in ns and the peak was probed; `null` where every probe was disturbed. Derived.
    pub share_of_peak: Option<f64>,
    /// Least time of the workload's [`Roofline`] over its own: how near it is to what no plan can beat; `null` where that is
    /// not known. Derived.
    pub share_of_limit: Option<f64>,
    /// How far its result lay from the float64 reference. Measured.
    pub error: Option<ErrorFigures>,
    /// Medians of its phases. Measured.
    pub phases: Vec<PhaseFigure>,
    /// Medians of the other numbers that were measured beside the objective, by name with unit. Measured.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, f64>,
    /// Predictions by name, each in its own unit. Modelled.
    pub estimates: BTreeMap<String, f64>,
}

impl CaseRow {
    /// Share of the phases of one kind in all phases, by their medians; `None` where there is no such phase. Derived.
    #[must_use]
    pub fn share_of(&self, kind: &str) -> Option<f64> {
        let sum = |own: &dyn Fn(&PhaseFigure) -> bool| -> f64 {
            let phases = self.phases.iter().filter(|phase| own(phase));
            phases.map(|phase| phase.median).sum()
        };
        let (own, all) = (sum(&|phase| phase.kind == kind), sum(&|_| true));
        (own > 0.0 && all > 0.0).then(|| own / all)
    }
}

/// A confirmation of the winner by a fresh build that did not choose it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Confirmed {
    /// The confirming case.
    pub case: String,
    /// Its median paired ratio to the control.
    pub ratio: Figure,
}

/// One case that may be the best.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Member {
    /// Its name.
    pub case: String,
    /// Its ratio to the control.
    pub ratio: Figure,
    /// Attributes in which its plan differs from the control's.
    pub changes: usize,
}

/// The plan to take.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Winner {
    /// The case with the smallest median paired ratio; of equal ones the control, whose ratio is 1. A single pair chooses
    /// nothing as long as another case has two.
    pub case: String,
    /// Its ratio to the control.
    pub ratio: Figure,
    /// Cases that can't be told from it (simultaneous bootstrap of the paired ratios), in the order of their ratios;
    /// `null` when it has a single pair, or no case has two, so that nothing is known of the noise. Of cases with fewer than
    /// 6 pairs the errors of all cases together decide, never their own range.
    pub ties: Option<Vec<String>>,
    /// The case and its ties, the simplest first: by the number of attributes that differ from the control's plan, then by
    /// the length of the canonical text, then by ratio.
    pub simplest_first: Vec<Member>,
    /// Share of resamples of every case's pairs in which another case comes out as the best; `null` where one that can win has
    /// a single pair, unless values do not vary.
    pub flip_rate: Option<f64>,
    /// Cases that can't be told from anything and may be better or worse: those with a single pair, and where no case has
    /// two, so that nothing is known of the noise, all with too few for an interval.
    pub undecided: Vec<String>,
    /// Fresh builds of it, if there were any.
    pub confirmed: Vec<Confirmed>,
    /// Its ratio over the pairs of all these fresh builds: the headline gain, since they did not choose it.
    pub confirmed_ratio: Option<Figure>,
}

/// How noisy the measurements are: the control measured beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// The control's own median ratio: 1 but for noise.
    pub ratio: Figure,
    /// 5 % quantile of its single ratios; `null` for a single pair, which shows no noise.
    pub q05: Option<f64>,
    /// 95 % quantile of its single ratios; `null` likewise.
    pub q95: Option<f64>,
}

impl Noise {
    /// The 5 % and 95 % quantiles, where it has both.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        self.q05.zip(self.q95)
    }
}

/// One workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkloadRow {
    /// Its name.
    pub name: String,
    /// Its operations with their extents (rows x inner x columns).
    pub extents: String,
    /// Floating-point operations of its matrix products, in decimal; those that a causal mask hides included.
    pub flops: String,
    /// Name of its control; where it has none, of the first case in the order of the cohort that was
    /// measured (a run takes that one first): ratios are relative to it.
    pub control: String,
    /// Whether it has a control.
    pub has_control: bool,
    /// Whether case and control were measured side by side; otherwise every case stands by itself.
    pub paired: bool,
    /// Whether values vary; where they do not, any difference counts.
    pub varies: bool,
    /// Median of the control's normalised values over the pairs of all cases, in the objective's unit.
    pub control_value: Option<f64>,
    /// Median of all peak probes, in GFLOP/s. Measured.
    pub median_peak_gflops: Option<f64>,
    /// The control against itself; `null` where it was not measured, or where values do not vary.
    pub noise: Option<Noise>,
    /// How well its measurements tell cases apart; `null` where values do not vary.
    pub ceiling: Option<Ceiling>,
    /// The control over the sweep; `null` under 2 rounds.
    pub drift: Option<Drift>,
    /// The plan to take; `null` when nothing could be compared.
    pub winner: Option<Winner>,
    /// What no plan can beat; `null` where nothing is known of what the machine gives.
    pub roofline: Option<Roofline>,
    /// Each estimate, by name.
    pub estimates: Vec<EstimateRow>,
    /// Estimates that have no value for some cases, by name.
    pub unestimated: Vec<Unestimated>,
    /// What failed, and why.
    pub failures: Vec<FailureRow>,
    /// What was looked at.
    pub coverage: Coverage,
    /// Every case, in the order of the cohort.
    pub cases: Vec<CaseRow>,
}

impl WorkloadRow {
    /// Whether there is anything to say of estimates.
    #[must_use]
    pub fn has_models(&self) -> bool {
        !self.estimates.is_empty() || !self.unestimated.is_empty()
    }

    /// Whether there is anything to say of failures: a case without a result, or one that was tried again.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty() || self.cases.iter().any(|case| case.attempts.len() > 1)
    }

    /// What [`WorkloadRow::control`] is.
    #[must_use]
    pub fn reference(&self) -> &'static str {
        if self.has_control {
            "control"
        } else {
            "no control, ratios are relative to the first case (in the order of the cohort) that was measured,"
        }
    }

    /// Whether it has matrix products: otherwise nothing is said of operations.
    #[must_use]
    pub fn has_products(&self) -> bool {
        self.flops != "0"
    }

    /// What its cases have: `pair`s of calls, or `sample`s where each stands by itself.
    #[must_use]
    pub fn counts(&self) -> &'static str {
        if self.paired { "pair" } else { "sample" }
    }

    /// How cases were called, in words.
    #[must_use]
    pub fn calling(&self) -> &'static str {
        if self.paired {
            "case and control called in turn"
        } else if self.varies {
            "no control beside the case"
        } else {
            "values do not vary, no control beside the case"
        }
    }

    /// The case called `name`.
    #[must_use]
    pub fn case(&self, name: &str) -> Option<&CaseRow> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Cases with a place, best first.
    #[must_use]
    pub fn best(&self) -> Vec<(&CaseRow, Figure)> {
        let mut ranked: Vec<(usize, &CaseRow, Figure)> = self
            .cases
            .iter()
            .filter_map(|case| Some((case.rank?, case, case.ratio?)))
            .collect();
        ranked.sort_by_key(|(rank, _, _)| *rank);
        ranked.into_iter().map(|(_, case, figure)| (case, figure)).collect()
    }

    /// Those and the confirmations that have a ratio, each after the cases with a smaller or the same ratio.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&CaseRow, Figure)> {
        let mut ranked = self.best();
        let confirmations = self.cases.iter().filter(|case| case.rank.is_none());
        ranked.extend(confirmations.filter_map(|case| Some((case, case.ratio?))));
        // Stable: equal ones keep their places.
        ranked.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
        ranked
    }

    /// Pairs of all cases that count in nothing: why, how many of how many cases.
    #[must_use]
    pub fn left_out(&self) -> BTreeMap<&str, (usize, usize)> {
        let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (reason, pairs) in self.cases.iter().flat_map(|case| &case.left_out) {
            let (sum, cases) = sums.entry(reason).or_default();
            *sum += pairs;
            *cases += 1;
        }
        sums
    }

    /// Pairs of all cases whose probe was disturbed.
    #[must_use]
    pub fn disturbed_probes(&self) -> usize {
        self.cases.iter().map(|case| case.disturbed_probes).sum()
    }
}

/// Everything that an analysis says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// Version of this format: [`Analysis::FORMAT`].
    pub format: u32,
    /// Level of all intervals, as a share of 1.
    pub level: f64,
    /// Resamples behind every winner set.
    pub resamples: u32,
    /// How the cohort was frozen.
    pub setup: Setup,
    /// Consents to differences between the machine that measured and the frozen one. Figures of a machine that differs
    /// may not be alike.
    pub consents: Vec<Consent>,
    /// Each workload, in the definition's order.
    pub workloads: Vec<WorkloadRow>,
    /// What they say together; `null` for a single one.
    pub across: Option<Across>,
    /// Calibrations that the cohort had a part in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calibrations: Vec<OfCohort>,
    /// Names of the files of the report, in the order in which they are written.
    pub files: Vec<String>,
}

impl Analysis {
    /// The format that this version writes.
    pub const FORMAT: u32 = 1;

    /// Whether anything could be compared.
    #[must_use]
    pub fn has_winner(&self) -> bool {
        self.workloads.iter().any(|workload| workload.winner.is_some())
    }
}
