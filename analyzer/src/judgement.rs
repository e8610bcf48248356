//! What is said of one estimate and one quantity: the whole time, or the time of one kind of phase.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use target_api::Moment;

use crate::ceiling::Ceiling;
use crate::format::counted;

/// A percentile bootstrap interval over the cases, at the level and with the resamples of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Ends {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Cases that each resample drew: all samples, or fewer (m out of n), where the interval is shrunk by the root of
    /// m / n.
    pub drawn: usize,
}

/// Where the threshold comes from beyond which two cases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieRule {
    /// Given in the definition, in the objective's unit.
    Definition,
    /// Pair by pair from the intervals of both; see [`crate::evaluate::comparable`].
    Intervals,
    /// One for all pairs, from the median half-width of all intervals: with so many cases pairs are not looked at one by
    /// one.
    MedianInterval,
    /// Values do not vary: any difference counts.
    AnyDifference,
}

impl TieRule {
    /// What it says, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Definition => "the definition's threshold",
            Self::Intervals => "the intervals of both",
            Self::MedianInterval => "the median interval, one threshold for all pairs of so many cases",
            Self::AnyDifference => "any difference, values do not vary",
        }
    }
}

/// What trying the first `k` cases in the estimate's order gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct AtK {
    /// How many cases are tried.
    pub k: usize,
    /// The best of them over the best of all samples: at least 1.
    pub regret_ratio: f64,
    /// Share of the `k` best measured samples among the `k` best predicted ones.
    pub hit_rate: f64,
}

/// The line `measured = slope predicted + intercept`, or the same of the logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LineFigure {
    /// Measured unit per predicted unit; of logarithms a plain exponent.
    pub slope: f64,
    /// In the objective's unit; of logarithms the logarithm of a factor.
    pub intercept: f64,
}

/// How good one estimate is for one quantity. Undefined figures are `null`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judgement {
    /// Cases that it is judged by: measured, chosen before anything was measured, predicted by it.
    pub samples: usize,
    /// Cases that it is not judged by: reason, how many.
    pub left_out: BTreeMap<String, usize>,
    /// Spearman's rho (mid-ranks) of prediction and what cases are ranked by; `null` under 3 samples or if either side is
    /// constant.
    pub spearman: Option<f64>,
    /// Its interval.
    pub spearman_interval: Option<Ends>,
    /// Kendall's tau-b of the same; `null` in the same cases.
    pub kendall: Option<f64>,
    /// Its interval.
    pub kendall_interval: Option<Ends>,
    /// About the highest Spearman that a perfect model would reach against measurements this noisy.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// What makes two cases comparable.
    pub tie_rule: TieRule,
    /// The one threshold of all pairs, in what cases are ranked by (where more is better: in the objective's unit); `null`
    /// where each pair has its own.
    pub tie_threshold: Option<f64>,
    /// Pairs of cases that differ by more than that.
    pub comparable_pairs: u64,
    /// Comparable pairs that were predicted in the opposite order.
    pub inversions: u64,
    /// Comparable pairs with equal predictions, which are no inversions.
    pub ties_predicted: u64,
    /// The case with the smallest prediction; the first in the cohort's order among equals.
    pub selected: Option<String>,
    /// The sample that was measured to be the best.
    pub best: Option<String>,
    /// What the selected case takes over what the best one takes: at least 1.
    pub regret_ratio: Option<f64>,
    /// The difference of the two, in the objective's unit; positive: so much worse.
    pub regret_value: Option<f64>,
    /// The same ratio where the best is chosen on odd rounds and compared on even ones, and the other way round: free of
    /// the flattery of the least of noisy values, so it may fall below 1. `null` where values do not vary, or if any
    /// sample has fewer than 2 rounds.
    pub cross_fitted_regret: Option<f64>,
    /// At which place, from 1, the model puts the best sample.
    pub rank_of_best: Option<usize>,
    /// Regret and hit rate of several budgets.
    pub at_k: Vec<AtK>,
    /// Share of resamples (of each sample's own measurements) in which another sample comes out as the best: how far the
    /// best, and with it every regret, is a matter of noise. 0 where values do not vary; `null` where they do and one that
    /// can win was measured once.
    pub winner_flip_rate: Option<f64>,
    /// Median of predicted / normalised measured value; `null` for units other than the objective's.
    pub bias: Option<f64>,
    /// Median absolute percentage error against the normalised measured value, in percent; `null` likewise.
    pub mdape_percent: Option<f64>,
    /// Theil-Sen line of the normalised measured value over the prediction.
    pub line: Option<LineFigure>,
    /// Theil-Sen line of the logarithms of both; `null` unless all are positive.
    pub log_line: Option<LineFigure>,
}

/// One kind of phase that both sides know: a part of the estimate has the kind's name, or the name of a phase of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PhaseJudgement {
    /// The kind: `compute`, `exchange`.
    pub kind: String,
    /// Cases are ranked by the normalised time of all phases of this kind, in the objective's unit.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// An estimate that has no value for some cases, which were run all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unestimated {
    /// Its name.
    pub estimate: String,
    /// For how many cases it has none.
    pub cases: usize,
    /// The first of them, in the order of the cohort.
    pub first: String,
    /// Why it has none for that one.
    pub why: String,
}

impl Unestimated {
    /// `` `model` has no value for 2 cases; for `case-03`: division by zero ``.
    #[must_use]
    pub fn words(&self) -> String {
        let cases = counted(self.cases, "case");
        format!(
            "`{}` has no value for {cases}; for `{}`: {}",
            self.estimate, self.first, self.why
        )
    }
}

/// How good one estimate is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EstimateRow {
    /// Its name.
    pub name: String,
    /// Its unit; `score` when only its order means anything.
    pub unit: String,
    /// When it was made.
    #[schemars(with = "String")]
    pub moment: Moment,
    /// For the whole time; cases are ranked by their median paired ratio to the control.
    #[serde(flatten)]
    pub whole: Judgement,
    /// For each kind of phase that both sides know, by name.
    pub phases: Vec<PhaseJudgement>,
}
