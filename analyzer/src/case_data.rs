//! One case: how it stands, what was predicted of it and what was measured.

use std::collections::BTreeMap;

use planner::Attributes;
use schemars::JsonSchema;
use serde::Serialize;
use target_api::Moment;

/// How a case stands, from the cohort's state and the latest attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All its rounds were measured, every result was right.
    Correct,
    /// Some rounds were measured and right, more are wanted.
    Unfinished,
    /// The target says no: a result.
    Rejected,
    /// A build step failed.
    BuildFailed,
    /// It ended without a result.
    RunFailed,
    /// It took longer than its limit.
    TimedOut,
    /// It computed something wrong: never ranked.
    Incorrect,
    /// It began and never ended.
    Lost,
    /// Nothing is known of it yet.
    Waiting,
}

impl Outcome {
    /// The word for it, as in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Unfinished => "unfinished",
            Self::Rejected => "rejected",
            Self::BuildFailed => "build-failed",
            Self::RunFailed => "run-failed",
            Self::TimedOut => "timed-out",
            Self::Incorrect => "incorrect",
            Self::Lost => "lost",
            Self::Waiting => "waiting",
        }
    }

    /// Whether its measurements are ranked.
    #[must_use]
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Correct | Self::Unfinished)
    }

    /// Whether it is terminal without a measurement.
    #[must_use]
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Correct | Self::Unfinished | Self::Waiting)
    }
}

/// How a case came into the cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// Frozen before anything was measured.
    Initial,
    /// A cross of the fastest choices: chosen by results.
    Cross,
    /// A fresh build of the winner or the control: chosen by results.
    Confirmation,
}

impl Chosen {
    /// Whether results decided that this case exists. Such cases stay out of every statistic of an estimate: a sample
    /// that was chosen for being fast would flatter whatever predicted it.
    #[must_use]
    pub fn is_adaptive(self) -> bool {
        self != Self::Initial
    }

    /// The word for it, as in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Cross => "cross",
            Self::Confirmation => "confirmation",
        }
    }
}

/// One counted call of the case beside one of the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The round, from 0.
    pub round: u32,
    /// Value of the case that is compared: in the objective's unit, or one over it; see [`crate::objective::Objective::shown`].
    pub case: f64,
    /// Value of the control, in the same unit; where values do not vary and no control is run beside the case, the
    /// median of the control's own values.
    pub control: f64,
    /// What the machine could give just then, in GFLOP/s, where it was probed.
    pub peak_gflops: Option<f64>,
    /// Whether a call beside the probe did more than [`MOST_SHARE`] of what the probe says the machine could give:
    /// something disturbed the probe, so the pair counts in no share of the peak and in no normalised value.
    pub disturbed: bool,
}

/// Largest share of its own probe that a call can have reached: the peak, and 5 % for what the probe misses. Beyond it
/// the probe is wrong.
pub const MOST_SHARE: f64 = 1.05;

impl Pair {
    /// Value of the case over that of the control; below 1 the case is faster.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.case / self.control
    }

    /// Share of the peak that the case reached: `flops / time / peak`, with time in ns and the peak of this pair's own
    /// probe in GFLOP/s (operations per ns). `None` without a probe.
    #[must_use]
    pub fn share_of_peak(&self, flops: f64) -> Option<f64> {
        self.peak_gflops.map(|peak| flops / self.case / peak)
    }

    /// Whether its probe can't be true; see [`MOST_SHARE`]. The control's call counts where it is one of this pair.
    #[must_use]
    pub fn contradicts_probe(&self, flops: f64, paired: bool) -> bool {
        let shortest = if paired { self.case.min(self.control) } else { self.case };
        self.peak_gflops
            .is_some_and(|peak| flops / shortest / peak > MOST_SHARE)
    }
}

/// One model's prediction for one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The predicted value: less is better. In the objective's unit it is what is compared, see [`crate::objective::Objective::shown`].
    pub value: f64,
    /// Its unit; [`crate::dataset::SCORE`] when only the order means anything.
    pub unit: String,
    /// When it was made.
    pub moment: Moment,
    /// What it is made of, in the same unit: name, value.
    pub parts: Vec<(String, f64)>,
}

/// Numerical error of the latest attempt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ErrorFigures {
    /// Largest absolute difference from the float64 reference over all rounds; `null` when one was not finite.
    pub max_absolute: Option<f64>,
    /// Largest absolute difference that passes.
    pub tolerance: f64,
    /// Root mean square of the reference.
    pub reference_rms: f64,
}

/// One phase of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PhaseFigure {
    /// Its name: `up.pack`.
    pub name: String,
    /// Its kind: `compute`, `wait`.
    pub kind: String,
    /// Median over the counted calls that have it, in the objective's unit.
    pub median: f64,
}

/// One attempt of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rounds that ended right.
    pub rounds: usize,
    /// Whether somebody accepted that its result is wrong, so that the sweep went on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
}

/// When one round was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundTime {
    /// When its record was written, in milliseconds since 1970.
    pub at_ms: i64,
    /// The record's number among those of its writer: parts rounds of one millisecond.
    pub sequence: u64,
    /// The round, from 0.
    pub round: u32,
}

/// Everything known of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseData {
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
    pub attributes: Attributes,
    /// The case whose plan it repeats on purpose.
    pub repeat_of: Option<String>,
    /// How it stands.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub reason: Option<String>,
    /// Every attempt; the last one counts.
    pub attempts: Vec<Attempt>,
    /// Predictions by name.
    pub estimates: BTreeMap<String, Prediction>,
    /// Models that predict nothing for it -> why.
    pub unestimated: BTreeMap<String, String>,
    /// Counted pairs of the attempt that counts, in order of round and time; empty unless it is measured.
    pub pairs: Vec<Pair>,
    /// Medians of its phases, in order of appearance.
    pub phases: Vec<PhaseFigure>,
    /// The same of the control's calls beside it.
    pub control_phases: Vec<PhaseFigure>,
    /// Kind of phase -> time of all its phases, call by call as in `pairs`.
    pub kinds: BTreeMap<String, Vec<f64>>,
    /// Pairs of calls that count in nothing: why, how many.
    pub left_out: BTreeMap<String, usize>,
    /// When its right rounds were measured.
    pub times: Vec<RoundTime>,
    /// Medians of its other numbers, by name with unit.
    pub other: BTreeMap<String, f64>,
    /// How far its result lay from the reference.
    pub error: Option<ErrorFigures>,
}

impl CaseData {
    /// Pairs whose probe can be believed, or that have none.
    pub fn undisturbed(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| !pair.disturbed)
    }

    /// Its paired ratios, in order.
    #[must_use]
    pub fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(Pair::ratio).collect()
    }

    /// Median ratio of each round, in order of the rounds.
    #[must_use]
    pub fn ratios_by_round(&self) -> Vec<f64> {
        self.pairs
            .chunk_by(|a, b| a.round == b.round)
            .filter_map(|round| stats::order::median(&round.iter().map(Pair::ratio).collect::<Vec<f64>>()))
            .collect()
    }

    /// How many rounds its pairs come from.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.pairs.chunk_by(|a, b| a.round == b.round).count()
    }

    /// Whether estimates are judged by it: measured, and not chosen by results.
    #[must_use]
    pub fn is_judge(&self) -> bool {
        !self.pairs.is_empty() && !self.chosen.is_adaptive()
    }
}
