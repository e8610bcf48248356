//! Which phase misleads an estimate.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use stats::order::{median, quantile};

use crate::judge::{HeldOutCase, Predicted};

/// Kind of the phases that move data between tiles.
const EXCHANGE: &str = "exchange";
/// Kind that parts belong to whose name is no kind.
const COMPUTE: &str = "compute";

/// One kind of phase over all held-out cases: predicted less measured, as shares of the whole measured value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Component {
    /// The kind.
    pub kind: String,
    /// Median share of the whole that it takes.
    pub share: f64,
    /// Median residual of the old table; `null` where no part of the estimate speaks of this kind.
    pub old: Option<f64>,
    /// The same of the new table.
    pub new: Option<f64>,
    /// Width of the middle half of the new residuals: what varies from plan to plan misleads, what is constant does not.
    pub spread: Option<f64>,
}

/// What a wrong choice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Bytes, fragments and barriers of the exchange are priced wrong.
    Exchange,
    /// The schedule takes longer than its lanes need: a matter of where things were placed.
    Placement,
    /// Kernels are priced right, and what they add up to is not: something has no term.
    MissingTerm,
}

/// Why the plan that a table chooses is worse than another one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Misled {
    /// The plan that the new table chooses.
    pub chosen: String,
    /// The plan that it is compared with: the old table's choice, or the best one.
    pub instead_of: String,
    /// How much longer the chosen one took.
    pub measured: f64,
    /// How much longer the new table predicted (below zero: shorter).
    pub predicted: f64,
    /// The kind of phase that the prediction is most wrong about.
    pub kind: String,
    /// How much longer that kind took than predicted, of the chosen plan beside the other.
    pub surprise: f64,
    /// What it comes from.
    pub cause: Cause,
}

impl Misled {
    /// In words; `unit` is that of all values.
    #[must_use]
    pub fn words(&self, unit: &str) -> String {
        let cause = match self.cause {
            Cause::Exchange => "the price of the exchange",
            Cause::Placement => "placement: schedules that are longer than their lanes need",
            Cause::MissingTerm => {
                "a missing term: kernels are priced, and what they add up to is not what was measured"
            }
        };
        format!(
            "`{}` was chosen over `{}`, predicted {:+.0} {unit}, measured {:+.0} {unit}; `{}` misleads by {:+.0} {unit}: {cause}",
            self.chosen, self.instead_of, self.predicted, self.measured, self.kind, self.surprise
        )
    }
}

/// Measured time of each kind.
fn measured(case: &HeldOutCase) -> BTreeMap<&str, f64> {
    let mut kinds = BTreeMap::new();
    for phase in &case.phases {
        *kinds.entry(phase.kind.as_str()).or_default() += phase.value;
    }
    kinds
}

/// Predicted time of each kind that was measured: a part belongs to the kind of its name, else to the work of kernels.
fn predicted<'a>(kinds: &BTreeSet<&'a str>, prediction: &Predicted) -> BTreeMap<&'a str, f64> {
    let mut sums = BTreeMap::new();
    for (part, value) in &prediction.parts {
        let own = kinds.get(part.as_str()).or_else(|| kinds.get(COMPUTE));
        if let Some(kind) = own {
            *sums.entry(*kind).or_default() += value;
        }
    }
    sums
}

/// Residuals by kind of phase; empty where phases were not measured.
pub(crate) fn components(cases: &[HeldOutCase]) -> Vec<Component> {
    let kinds: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.phases.iter().map(|phase| phase.kind.as_str()))
        .collect();
    let residuals = |kind: &str, side: fn(&HeldOutCase) -> &Predicted| -> Option<Vec<f64>> {
        let one = |case: &HeldOutCase| {
            let predicted = *predicted(&kinds, side(case)).get(kind)?;
            Some((predicted - measured(case).get(kind).copied().unwrap_or(0.0)) / case.value)
        };
        let all: Vec<f64> = cases.iter().filter_map(one).collect();
        (!all.is_empty()).then_some(all)
    };
    let component = |kind: &&str| {
        let shares = cases
            .iter()
            .map(|case| measured(case).get(kind).copied().unwrap_or(0.0) / case.value);
        let new = residuals(kind, |case| &case.new);
        let middle = new
            .as_ref()
            .and_then(|all| Some(quantile(all, 0.75)? - quantile(all, 0.25)?));
        Component {
            kind: (*kind).to_owned(),
            share: median(&shares.collect::<Vec<f64>>()).unwrap_or(0.0),
            old: residuals(kind, |case| &case.old).and_then(|all| median(&all)),
            new: new.and_then(|all| median(&all)),
            spread: middle,
        }
    };
    kinds.iter().map(component).collect()
}

/// Why `chosen` is slower than `other`, although the new table predicts it to be faster. `None` where phases were not
/// measured.
pub(crate) fn misled(chosen: &HeldOutCase, other: &HeldOutCase) -> Option<Misled> {
    let (of_chosen, of_other) = (measured(chosen), measured(other));
    let kinds: BTreeSet<&str> = of_chosen.keys().chain(of_other.keys()).copied().collect();
    let (told_chosen, told_other) = (predicted(&kinds, &chosen.new), predicted(&kinds, &other.new));
    let difference = |a: &BTreeMap<&str, f64>, b: &BTreeMap<&str, f64>, kind: &str| {
        a.get(kind).copied().unwrap_or(0.0) - b.get(kind).copied().unwrap_or(0.0)
    };
    let surprise = |kind: &str| difference(&of_chosen, &of_other, kind) - difference(&told_chosen, &told_other, kind);
    let kind = kinds
        .iter()
        .copied()
        .max_by(|a, b| surprise(a).total_cmp(&surprise(b)))?;
    let surprise = surprise(kind);
    let placed = chosen.beyond_lanes.zip(other.beyond_lanes).map(|(a, b)| a - b);
    let cause = match kind {
        EXCHANGE if placed.is_some_and(|placed| placed > surprise / 2.0) => Cause::Placement,
        EXCHANGE => Cause::Exchange,
        _ => Cause::MissingTerm,
    };
    Some(Misled {
        chosen: chosen.name.clone(),
        instead_of: other.name.clone(),
        measured: chosen.value - other.value,
        predicted: chosen.new.value - other.new.value,
        kind: kind.to_owned(),
        surprise,
        cause,
    })
}
